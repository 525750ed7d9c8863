"""Launches and blocks that stand in comments only, and launches of other kernels where the kernel's code says more."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.candidates import candidates, is_launched_so
from gemmviz.catalogue.guessing.guess import guess

KERNEL = """template <const int BM, const int BN>
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K) {
    // COMMENT
    int row = blockIdx.y * BM + threadIdx.x / BN, col = blockIdx.x * BN + threadIdx.x % BN;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
HOST = """int main() {
    const int BLOCK_M = 8, BLOCK_N = 64;
    int M = 512, N = 512, K = 512;
    float *A, *B, *C;
    dim3 threads(BLOCK_M * BLOCK_N);
    dim3 blocks(N / BLOCK_N, M / BLOCK_M);
    // product<BLOCK_M, BLOCK_N>
    //     <<<blocks, threads>>>(A, B, C, M, N, K);
}
"""
PLAIN = """__global__ void plain(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] += sum;
}
__global__ void other(const float *A, const float *B, float *C, int M, int N, int K) {
    C[blockIdx.x * 128 + threadIdx.x] = A[threadIdx.x] * B[threadIdx.x];
}
void run(const float *A, const float *B, float *C, int M, int N, int K) {
    other<<<dim3((N + 127) / 128, (M + 127) / 128), 256>>>(A, B, C, M, N, K);
}
"""


def test_a_launch_in_a_comment_of_two_lines_is_read() -> None:
    made = guess(KERNEL + HOST, Path("mine.cu"))
    assert made.params == {"BM": (8,), "BN": (64,)} and made.block == ("BM * BN",)
    assert not is_launched_so(made)  # the code may have changed since


def test_a_block_in_a_comment_of_the_kernel_is_tried_where_nothing_launches_it() -> None:
    launches = list(candidates(guess(KERNEL.replace("COMMENT", "block(BN * BM / 2, 2), 512 threads"), Path("mine.cu"))))
    assert ("BN * BM / 2", "2") in {one.block for one in launches[:20]}
    # Names that the kernel does not have say nothing.
    launches = list(candidates(guess(KERNEL.replace("COMMENT", "block(WIDTH, 2)"), Path("mine.cu"))))
    assert not any("WIDTH" in side for one in launches for side in one.block)


def test_a_kernel_without_a_launch_is_tried_as_its_code_says_before_variants_of_another_kernels_launch() -> None:
    launches = list(candidates(guess(PLAIN, Path("mine.cu"), "plain")))
    own = [at for at, one in enumerate(launches) if one.block == ("BX", "BY")]
    assert own[0] == 0
    # Nothing sets C, and the kernel adds to it.
    assert any(one.adds and one.block == ("BX", "BY") for one in launches[:8])


IN_A_TABLE = """template <int BM, int BN = 16>
void run(const float *a, const float *b, float *c, int m, int n, int k) {
    product<BM, BN><<<dim3(n / BN, m / BM), BM * BN>>>(a, b, c, m, n, k);
}
struct Entry { const char *name; void (*start)(const float *, const float *, float *, int, int, int); };
#define ENTRY(...) {#__VA_ARGS__, __VA_ARGS__}
int main() {
    Entry entries[] = {
        LINES
    };
}
"""


@pytest.mark.parametrize(
    ("lines", "values", "of_comment"),
    [
        ("// ENTRY(run<4>),", (4, 16), True),
        ("// run<4, 8>,", (4, 8), True),
        ("ENTRY(run<2, 32>),\n        // ENTRY(run<4, 8>),", (2, 32), False),
    ],
)
def test_a_template_of_the_host_that_only_a_comment_uses_gives_its_values(
    lines: str, values: tuple[int, int], of_comment: bool
) -> None:
    made = guess(KERNEL + IN_A_TABLE.replace("LINES", lines), Path("mine.cu"))
    assert made.params == {"BM": values[:1], "BN": values[1:]}
    assert is_launched_so(made) != of_comment


def test_a_template_in_a_sentence_of_a_comment_gives_no_values() -> None:
    made = guess(KERNEL + IN_A_TABLE.replace("LINES", "// faster than run<4, 8> before"), Path("mine.cu"))
    assert "comment" not in made.why["block"].why
