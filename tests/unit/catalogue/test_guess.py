"""Kernels that nobody described: what their source says about entry, arguments and launch."""

import re
from pathlib import Path

import pytest
from guessed_texts import FILE, bare, written, wrong

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel, valid
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import set_language


@pytest.mark.parametrize(
    ("signature", "names", "args"),
    [
        ("float *P, int hA, int wA, int wB, float *Q, float *R", ("hA", "wB", "wA", "P", "Q", "R"), "A M K N B C"),
        # The names say M, N, K; the use says M, K, N.
        ("int m, int n, int k, float *a, float *b, float *c", ("m", "k", "n", "a", "b", "c"), "M K N A B C"),
        (
            "float *out, float *x, float *w, size_t u, size_t v, size_t t",
            ("u", "v", "t", "x", "w", "out"),
            "C A B M N K",
        ),
        (
            "float const *__restrict__ d_A, const float d_B[], float *d_C, const int width",
            ("width",) * 3 + ("d_A", "d_B", "d_C"),
            "A B C N",
        ),
    ],
)
def test_parameters_are_told_by_name_and_by_use(signature: str, names: tuple[str, ...], args: str) -> None:
    made = guess(written(signature, *names), Path("mine.cu"))
    assert " ".join(made.roles) == args
    kernel = guessed_kernel(made)
    size = nearest_size(kernel, Problem(40, 24, 33), {})
    assert size and wrong(kernel, size) == ""


def test_a_single_width_means_square_matrices() -> None:
    made = guess(written("float *A, float *B, float *C, int n", "n", "n", "n", "A", "B", "C"), Path("mine.cu"))
    size = nearest_size(guessed_kernel(made), Problem(40, 24, 33), {})
    assert size and size.m == size.n == size.k


def test_a_launch_in_the_file_is_believed() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    host = """
    #define SIDE 16
    void run(float *a, float *b, float *c, int rows, int cols, int inner) {
        dim3 threads(SIDE, SIDE);
        dim3 blocks((cols + threads.x - 1) / threads.x, CEIL_DIV(rows, SIDE), 1);
        gemm<<<blocks, threads, 0, 0>>>(a, b, c, rows, cols, inner);
    }"""
    made = guess(text + host, Path("mine.cu"))
    assert (made.block, made.grid) == (("16", "16"), ("ceil(N / 16)", "ceil(M / 16)"))
    assert "launches" in made.why["grid"].why


def test_a_kernel_without_bounds_checks_takes_only_whole_tiles() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text.replace("if (row >= M || col >= N) return;", ""), Path("mine.cu"))
    assert {"M % 16 == 0", "N % 16 == 0"} <= set(made.requires)


STEPS = """
#define STEP 8
__global__ void gemm(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float a[16][STEP], b[STEP][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float s = 0;
    LOOP {
        if (x < STEP) a[y][x] = LEFT;
        if (y < STEP) b[y][x] = RIGHT;
        __syncthreads();
        for (int i = 0; i < STEP; i++) s += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * N + col] = s;
}
"""


def stepping(loop: str, left: str, right: str) -> Guess:
    return guess(STEPS.replace("LOOP", loop).replace("LEFT", left).replace("RIGHT", right), Path("mine.cu"))


@pytest.mark.parametrize(
    ("loop", "left", "right", "asks"),
    [
        # It asks whether there is a step, which says nothing of a step that is not whole.
        (
            "for (int k = 0; k < K; k += STEP) if (k < K)",
            "A[row * K + k + x]",
            "B[(k + y) * N + col]",
            True,
        ),
        (
            "for (int k = 0; k < K; k += STEP)",
            "k + x < K ? A[row * K + k + x] : 0",
            "k + y < K ? B[(k + y) * N + col] : 0",
            False,
        ),
        (
            "int last = min(K, 4096); for (int k = 0; k < last; k += STEP)",
            "k + x < last ? A[row * K + k + x] : 0",
            "k + y < last ? B[(k + y) * N + col] : 0",
            False,
        ),
        (
            "auto at = [&](int t) { return t * STEP; }; int steps = K / STEP; for (int t = 0; t < steps; t++)",
            "A[row * K + at(t) + x]",
            "B[(at(t) + y) * N + col]",
            True,
        ),
        (
            "auto at = [&](int t) { return t * STEP; }; int steps = (K) >> 3; for (int t = 0; t < steps; t++)",
            "A[row * K + at(t) + x]",
            "B[(at(t) + y) * N + col]",
            True,
        ),
        (
            "auto at = [&](int t) { return t * STEP; }; for (int t = 0; t < (K + STEP - 1) / STEP; t++)",
            "at(t) + x < K ? A[row * K + at(t) + x] : 0",
            "at(t) + y < K ? B[(at(t) + y) * N + col] : 0",
            False,
        ),
    ],
)
def test_k_must_be_whole_steps_where_nothing_takes_care_of_the_rest(
    loop: str, left: str, right: str, asks: bool
) -> None:
    made = stepping(loop, left, right)
    assert [r for r in made.requires if r.startswith("K ")] == ["K % 8 == 0"] * asks
    size = nearest_size(guessed_kernel(made), Problem(48, 32, 44), {})
    assert size and wrong(guessed_kernel(made), size) == ""


def test_constants_of_the_host_code_are_the_values_offered() -> None:
    kernel = """
    template <const int BM, const int BN, const int TM>
    __global__ void gemm(int M, int N, int K, const float *A, const float *B, float *C) {
        int row = blockIdx.y * BM + threadIdx.x / BN * TM, col = blockIdx.x * BN + threadIdx.x % BN;
        for (int t = 0; t < TM; t++) {
            float s = 0;
            for (int k = 0; k < K; k++) s += A[(row + t) * K + k] * B[k * N + col];
            C[(row + t) * N + col] = s;
        }
    }
    """
    launches = """{
        const int BM = SIDE, BN = SIDE;
        dim3 grid(N / BN, M / BM), block(BM * BN / TM);
        gemm<BM, BN, TM><<<grid, block>>>(M, N, K, a, b, c);
    }"""
    host = "void run(int M, int N, int K, float *a, float *b, float *c) { const unsigned TM = 8; if (M > 64) "
    host += launches.replace("SIDE", "64") + " else " + launches.replace("SIDE", "32") + "}"
    made = guess(kernel + host, Path("mine.cu"))
    assert made.params == {"BM": (64, 32), "BN": (64, 32), "TM": (8,)}
    assert "BM == BN" in made.requires
    for side in (64, 32):
        ours = launch(guessed_kernel(made), Problem(128, 192, 40), {"BM": side, "BN": side})
        assert (ours.block, ours.grid) == ((side * side // 8, 1, 1), (192 // side, 128 // side, 1))
    tried = settle(made, lambda kernel, size: "half of C is wrong" if kernel.defaults["BM"] == 32 else "")
    assert tried.right and "with BM = 32, BN = 32, as the file launches it too, it is wrong" in tried.settled
    settled = settle(made, wrong)
    assert "as the file launches it too" not in settled.settled and settled.params == made.params
    # Values that nothing holds together are not offered side by side.
    mixed = guess(kernel + host.replace("BM = 32", "BM = 16"), Path("mine.cu"))
    assert mixed.params == {"BM": (64,), "BN": (64,), "TM": (8,)}


def test_a_size_that_the_host_code_fixes_stays_a_size() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    host = """void run(float *a, float *b, float *c) {
        const int rows = 512, cols = 256, inner = 64, across = (cols + 15) / 16;
        gemm<<<dim3(across, (rows + 15) / 16), dim3(16, 16)>>>(a, b, c, rows, cols, inner);
    }"""
    assert guess(text + host, Path("mine.cu")).grid == ("ceil(N / 16)", "ceil(M / 16)")


@pytest.mark.parametrize("order", ["M, int N, int K", "N, int K, int M", "K, int M, int N"])
def test_a_host_program_of_square_matrices_gives_each_side_of_the_grid_its_own_size(order: str) -> None:
    text = written(f"float *A, float *B, float *C, int {order}", "M", "N", "K", "A", "B", "C")
    host = """int main() {
        int n = 1024;
        dim3 threads(16, 16), blocks((n + 15) / 16, (n + 15) / 16);
        gemm<<<blocks, threads>>>(a, b, c, n, n, n);
    }"""
    made = guess(text + host, Path("mine.cu"))
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)") and "launches" in made.why["grid"].why
    assert wrong(guessed_kernel(made), Problem(40, 70, 3)) == ""


def test_a_grid_stride_loop_needs_threads_for_all_elements_not_blocks() -> None:
    text = """
    __global__ void gemm(float *C, int ldc, const float *B, int ldb, const float *A, int lda, int K, int N, int M) {
        for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < M * N; t += gridDim.x * blockDim.x) {
            int row = t / N, col = t % N;
            float s = 0;
            for (int k = 0; k < K; k++) s += A[row * lda + k] * B[k * ldb + col];
            C[row * ldc + col] = s;
        }
    }
    """
    made = guess(text, Path("mine.cu"))
    (extent,) = made.block
    assert made.grid == (f"ceil(M * N / {extent})",)
    assert "blockIdx.x chooses" not in made.why["grid"].why
    assert wrong(guessed_kernel(made), Problem(37, 45, 41)) == ""


def test_one_block_index_for_rows_and_columns_is_said_once() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    text = text.replace("blockIdx.y * 16", "blockIdx.x / (N / 16) * 16")
    text = text.replace("= blockIdx.x * 16", "= blockIdx.x % (N / 16) * 16")
    assert guess(text, Path("mine.cu")).why["grid"].why == "blockIdx.x chooses rows and columns of C"


def test_a_kernel_without_parameters_has_no_reason_for_them() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))
    assert not made.params and "params" not in made.why


def test_shares_of_the_sum_are_counted_and_a_c_that_is_added_to_starts_from_zero() -> None:
    text = """
    #define SHARES 3
    __global__ void gemm(int M, int N, int K, const float *A, const float *B, float *C) {
        int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
        int share = (K + SHARES - 1) / SHARES, first = blockIdx.z * share, last = min(K, first + share);
        __shared__ float a[16][16], b[16][16];
        float s = 0;
        for (int k = first; k < last; k += 16) {
            a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < last ? A[row * K + k + threadIdx.x] : 0;
            b[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < last ? B[(k + threadIdx.y) * N + col] : 0;
            __syncthreads();
            for (int i = 0; i < 16; i++) s += a[threadIdx.y][i] * b[i][threadIdx.x];
            __syncthreads();
        }
        if (row < M && col < N) atomicAdd(&C[row * N + col], s);
    }
    """
    made = guess(text, Path("mine.cu"))
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)", "3")
    assert made.requires == ()
    assert "blockIdx.z chooses a share of the sum" in made.why["grid"].why
    assert guessed_kernel(made).zeroed and wrong(guessed_kernel(made), Problem(20, 18, 40)) == ""
    once = guess(text.replace("atomicAdd(&C[row * N + col], s)", "C[row * N + col] = s"), made.path)
    assert not guessed_kernel(once).zeroed


@pytest.mark.parametrize(
    ("text", "name", "doubt"),
    [
        ("int main() { return 0; }", "mine.cu", "no function marked __global__"),
        ("void f(float *a) {}", "mine.c", "no function with three pointers"),
        (
            "__global__ void g(float *A, float *B, float *C, int n, bool t) { C[n] = A[n] * B[n]; }",
            "mine.cu",
            "Parameter t (bool)",
        ),
        ("__global__ void g(float *A, float *B, int n) { B[n] = A[n]; }", "mine.cu", "No parameter is B"),
    ],
)
def test_what_cannot_be_guessed_is_said(text: str, name: str, doubt: str) -> None:
    assert any(doubt in message for message in guess(text, Path(name)).doubts)


def test_names_after_a_comma_of_a_declaration_are_no_parameters() -> None:
    assert "LN" not in bare(find("warp_tiling", ladder())).params
    inside = (
        "    constexpr int LM = K < 4 ? 4 : max(TA, 2), LN = 8, LK[TB] = {}; int LX, LY, LZ; LZ = LX + LY + LM + LN;\n"
    )
    inside += "    float x = other<TC, TD, 4>(LK[0], TE, TF), y = 0;\n"
    made = guess(FILE.replace("{\n", "{\n" + inside, 1), Path("mine.cu"))
    assert {*made.params} & {"LM", "LN", "LK", "LX", "LY", "LZ"} == set()
    assert {"TA", "TB", "TC", "TD", "TE", "TF"} <= {*made.params}


def test_a_tensor_map_is_told_from_a_scalar_and_its_box_is_asked_for():
    text = (
        "#include <gemmviz/ptx.h>\nusing namespace gemmviz::ptx;\n"
        "__global__ void mine(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map b_map,\n"
        "                     float *C, int M, int N, int K)\n{\n"
        "    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;\n    C[i * N + j] = 0;\n}\n"
    )
    made = guess(text, Path("mine.cu"))
    assert made.roles == ("A.map", "B.map", "C", "M", "N", "K")
    assert '= { A = { box = ["?", "?"], swizzle = 0 }, B = { box = ["?", "?"]' in made.front_matter()
    assert "maps must give the size of a box of B and its swizzle." in made.doubts
    assert "'?' is not an expression" in valid(made)
    filled = made.front_matter().replace('"?"', '"16"') + text
    assert parse(filled, Path("mine.cu")).maps.keys() == {"A", "B"}


def test_a_function_that_the_product_calls_is_not_the_product(tmp_path):
    part = "static void tile(float *C, const float *A, const float *B, int N, int K)\n{\n    C[0] += A[0] * B[0];\n}\n"
    whole = (
        "void gemm(float *C, const float *A, const float *B, int M, int N, int K)\n{\n"
        "    for (int i = 0; i < M; i++)\n        tile(C + i * N, A + i * K, B, N, K);\n}\n"
    )
    program = "int main()\n{\n    float a[1], b[1], c[1];\n    gemm(c, a, b, 1, 1, 1);\n}\n"
    made = guess(part + whole + program, tmp_path / "mine.c")
    assert (made.entry, made.entries) == ("gemm", ("gemm",))
    assert guess(part + whole + program, tmp_path / "mine.c", "tile").entry == "tile"


def test_doubts_and_their_evidence_are_said_in_the_language_that_is_spoken():
    text = "__global__ void g(float *A, float *B, float *C, int q, int r, int s, bool turned) { C[0] = A[0] + B[0]; }"
    try:
        set_language("ko")
        made = guess(text, Path("mine.cu"))
        doubts = made.doubts
    finally:
        set_language("en")
    message = " ".join([*doubts, *(reason.why for reason in made.why.values())])
    assert len(doubts) > 3 and not re.search(r"\b(is|the|may|role|only|evidence|called)\b", message), message
