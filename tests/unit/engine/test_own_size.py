"""The launch in the file is tried at the size in the file; a race in it is said, whatever its arguments mean."""

from pathlib import Path

import pytest
from settled_files import settled

from gemmviz.catalogue.guessing.certainty import is_given
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.own_size import RIGHT_WITH_SHORTER_SUMS, WRONG_AT_ITS_SIZE
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

# A kernel for 8 x 8 x 8: its blocks take a column of C each, and its shared arrays have room for one tile.
COLUMNS = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[8][8], b[8];
    int row = threadIdx.y, k = threadIdx.x, column = blockIdx.x;
    a[row][k] = A[row * 8 + k];
    if (row == 0) b[k] = B[k * 8 + column];
    __syncthreads();
    if (k == 0) {
        float sum = 0;
        for (int i = 0; i < 8; ++i) sum += a[row][i] * b[i];
        C[row * 8 + column] = STORED;
    }
}
"""
HOST = """int main() {
    const int M = SIZE, N = SIZE, K = SIZE;
    float *a, *b, *c;
    cudaMalloc(&a, M * K * 4);
    cudaMalloc(&b, K * N * 4);
    cudaMalloc(&c, M * N * 4);
    dim3 block(8, 8), grid(BLOCKS);
    gemm<<<grid, block>>>(a, b, c, M, N, K);
    return 0;
}
"""


def program(stored: str, size: int, blocks: str = "8") -> str:
    return COLUMNS.replace("STORED", stored) + HOST.replace("SIZE", str(size)).replace("BLOCKS", blocks)


def test_the_size_in_the_file_is_known() -> None:
    made = guess(program("sum", 8), Path("mine.cu"))
    assert {one.size for one in (made, *made.others)} == {(8, 8, 8), None}


def test_a_size_that_the_program_asks_for_is_not_known() -> None:
    text = (
        program("sum", 8)
        .replace("main()", "main(int n, char **given)")
        .replace("const int M = 8, N = 8", "int M = atoi(given[1]), N = M")
    )
    made = guess(text, Path("mine.cu"))
    assert {one.size for one in (made, *made.others)} == {None}


def test_a_kernel_for_one_small_size_is_right_there(tmp_path: Path) -> None:
    made = settled(tmp_path, program("sum", 8))
    assert made.right and not made.wrong_itself


def test_it_is_called_wrong_where_its_own_launch_gives_a_wrong_c(tmp_path: Path) -> None:
    made = settled(tmp_path, program("sum + 1", 8))
    assert made.wrong_itself and not made.right
    assert made.settled == WRONG_AT_ITS_SIZE.format(size="8 x 8 x 8", fault="64 of 64 elements of C are wrong")
    assert {"M == 8", "N == 8", "K == 8"} == {*made.requires}


def test_it_is_not_where_its_size_is_not_small_or_not_known(tmp_path: Path) -> None:
    assert not settled(tmp_path, program("sum + 1", 4096)).wrong_itself
    assert not settled(
        tmp_path, program("sum + 1", 8).replace("const int M = 8, N = 8, K = 8", "int M, N, K")
    ).wrong_itself


# The tile of a step is read while slower threads still store it, and it is stored while others still read it.
TILED = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, int rounds) {
    __shared__ float a[16][16], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int round = 0; round < rounds; ++round)
    for (int k = 0; k < K; k += 16) {
        a[threadIdx.y][threadIdx.x] = A[row * K + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * N + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        BEHIND
    }
    C[row * N + column] = STORED;
}
void run(const float *a, const float *b, float *c, int M, int N, int K, int rounds) {
    dim3 block(16, 16), grid(N / 16, M / 16);
    gemm<<<grid, block>>>(a, b, c, M, N, K, GIVEN);
}
"""


def tiled(stored: str, behind: str, given: str = "2") -> str:
    return TILED.replace("STORED", stored).replace("BEHIND", behind).replace("GIVEN", given)


def test_a_race_in_the_launch_of_the_file_is_a_flaw(tmp_path: Path) -> None:
    made = settled(tmp_path, tiled("sum", ""))
    assert not made.right
    assert [(one.kind, one.line) for one in made.flaws] == [("race", 7)]
    assert "nothing orders the accesses to a here and in line 10" in made.flaws[0].text


@pytest.mark.parametrize(
    "text",
    [
        tiled("sum", "__syncthreads();"),  # C is wrong, and not because of a race
        tiled("sum", "", "rounds"),  # the launch has an argument that only a person knows
        tiled("sum", "").replace("<<<grid, block>>>", "<<<grid, other>>>"),
    ],
)
def test_no_race_is_said_where_there_is_none_or_the_launch_is_not_known(tmp_path: Path, text: str) -> None:
    made = settled(tmp_path, text)
    assert not made.right and not made.flaws


def test_a_number_that_the_host_passes_makes_a_launch_given() -> None:
    assert is_given(guess(tiled("sum", ""), Path("mine.cu")))
    assert not is_given(guess(tiled("sum", "", "rounds"), Path("mine.cu")))


# A block computes 32 x 32 elements: M and N stand in the file, K is too large to be recorded.
ONE_BLOCK = """#define M 32
#define N 32
#define K 102400
__global__ void gemm(const float *A, const float *B, float *C) {
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int at = 0; at < K; at += 64)
        for (int k = at; k < at + 64; ++k) sum += A[row * K + k] * B[k * N + column];
    if (row < M && column < N) C[row * N + column] = sum;
}
int main() {
    dim3 block(32, 32), grid((N + 31) / 32, (M + 31) / 32);
    gemm<<<grid, block>>>(a, b, c);
}
"""


def test_constants_show_the_size_in_the_file() -> None:
    made = guess(ONE_BLOCK, Path("mine.cu"))
    assert {one.size for one in (made, *made.others)} <= {(32, 32, 102400), None} and made.size


def test_a_large_k_is_replaced_by_a_small_one(tmp_path: Path) -> None:
    made = settled(tmp_path, ONE_BLOCK)
    assert made.right and {"M == 32", "N == 32"} <= {*made.requires}
    assert not any(one.startswith("K == ") for one in made.requires)
    assert made.settled.startswith(RIGHT_WITH_SHORTER_SUMS.format(size="32 x 32 x 64"))


def test_a_launch_that_is_wrong_at_other_sizes_is_tried_at_the_file_s_own() -> None:
    text = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
int main() {
    int m = 48, n = 32, k = 80;
    gemm<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
"""

    def only_there(kernel: Kernel, size: Problem) -> Verdict:
        return Verdict() if (size.m, size.n, size.k) == (48, 32, 80) else Verdict.of("wrong", comparable=True)

    made = settle(guess(text, Path("mine.cu")), only_there)
    assert made.right and not made.wrong_itself and {"M == 48", "N == 32", "K == 80"} <= {*made.requires}
    nowhere = settle(guess(text, Path("mine.cu")), lambda kernel, size: Verdict.of("wrong", comparable=True))
    assert nowhere.wrong_itself
