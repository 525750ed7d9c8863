"""A grid that the host makes of its own sizes grows with the matrices, in whichever way it is written."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.candidates import is_launched_so
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

HEAD = "__global__ void gemm(const float *A, const float *B, float *C, {sizes})\n"
BODY = """{{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < {m} && col < {n}) {{
        float sum = 0;
        for (int i = 0; i < {k}; i++) sum += A[row * {k} + i] * B[i * {n} + col];
        C[row * {n} + col] = sum;
    }}
}}
"""
SQUARE = (HEAD + BODY).format(sizes="int n", m="n", n="n", k="n")
ANY = (HEAD + BODY).format(sizes="int m, int n, int k", m="m", n="n", k="k")
MAIN = "int main() {{\n    float *a, *b, *c;\n    {lines}\n    gemm<<<grid, block>>>(a, b, c, {given});\n}}\n"
BLOCK = "dim3 block(16, 16)"


def guessed(kernel: str, lines: str, given: str, top: str = "") -> Guess:
    """Return the guess for a file with a kernel and a main function that launches it."""
    return guess(top + kernel + MAIN.format(lines=lines, given=given), Path("mine.cu"))


@pytest.mark.parametrize(
    ("top", "lines"),
    [
        ("", f"int n = 256; {BLOCK}, grid((n + 15) / 16, (n + 15) / 16);"),
        ("", f"int n = 256; {BLOCK}, grid((n - 1) / 16 + 1, (n - 1) / 16 + 1);"),
        ("", f"int n = 256; {BLOCK}, grid(ceil(n / 16.0), ceil(n / 16.0), 1);"),
        ("", f"int n = 256; {BLOCK}, grid(ceil(1.0f * n / 16), ceil((double)n / 16));"),
        ("", f"int n = 256, side = ceil(float(n) / float(16)); {BLOCK}, grid(side, side);"),
        ("", f"int n = 1 << 10; {BLOCK}, grid(n >> 4, n >> 4);"),
        ("", f"int cols = 64, rows = 256, n = 127; {BLOCK}, grid(ceil(cols / 16.0), ceil(rows / 16.0));"),
        ("#define SIDE 256\n#define T 16\n", "int n = SIDE; dim3 block(T, T), grid(SIDE / T, SIDE / T);"),
        (
            "#define SIDE 256\n#define T 16\n#define BLOCKS(a, b) (((a) + (b) - 1) / (b))\n",
            "int n = SIDE; dim3 block(T, T), grid(BLOCKS(SIDE, T), BLOCKS(SIDE, T));",
        ),
        (
            "constexpr int SIDE = 256, T = 16;\n",
            "const int n = SIDE; constexpr int blocks = (SIDE + T - 1) / T; dim3 block(T, T), grid(blocks, blocks);",
        ),
    ],
)
def test_the_grid_of_a_square_product_grows_with_its_only_size(top: str, lines: str) -> None:
    made = guessed(SQUARE, lines, "n", top)
    for size in (64, 512):
        assert launch(guessed_kernel(made), Problem(size, size, size)).grid == (size // 16, size // 16, 1)


@pytest.mark.parametrize(
    ("top", "lines", "given"),
    [
        ("", f"int m = 256, k = 127, n = 64; {BLOCK}, grid(ceil(n / 16.0), ceil(m / 16.0));", "m, n, k"),
        ("", f"int ra = 256, ca = 127, cb = 64; {BLOCK}, grid(ceil(cb / 16.0), ceil(ra / 16.0));", "ra, cb, ca"),
        (
            "#define ROWS 256\n#define COLS 64\n",
            f"int m = ROWS, n = COLS, k = 96; {BLOCK}, grid(COLS / 16, ROWS / 16);",
            "m, n, k",
        ),
        ("enum { SIDE = 512 };\n", f"{BLOCK}, grid((SIDE + 15) / 16, (SIDE + 15) / 16);", "SIDE, SIDE, SIDE"),
        ("", f"{BLOCK}, grid(1024 / 16, 512 / 16);", "512, 1024, 256"),
    ],
)
def test_the_grid_of_any_product_grows_with_its_rows_and_columns(top: str, lines: str, given: str) -> None:
    made = guessed(ANY, lines, given, top)
    for m, n in ((64, 512), (512, 64)):
        assert launch(guessed_kernel(made), Problem(m, n, 96)).grid == (n // 16, m // 16, 1)


def test_columns_lie_along_x_where_only_ptx_has_the_indices() -> None:
    text = (Path(__file__).parents[1] / "inline_ptx/whole_kernel.cu").read_text(encoding="utf-8")
    kernel = text[text.index("__global__") :].replace("sgemm_edges", "gemm")
    made = guessed(kernel, f"int n = 256; {BLOCK}, grid((n + 15) / 16, (n + 15) / 16);", "n, n, n")
    for m, n in ((64, 512), (512, 64)):
        assert launch(guessed_kernel(made), Problem(m, n, 96)).grid == (n // 16, m // 16, 1)


def test_a_quotient_of_constants_grows_with_the_size_that_the_kernel_needs_there() -> None:
    lines = f"{BLOCK}, rows(5 * 4 * 16, 5 * 2 * 16), grid(rows.x / block.x, rows.y / block.y);"
    made = guessed(ANY, lines, "rows.y, rows.x, 5 * 3 * 16")
    for m, n in ((64, 512), (512, 64)):
        assert launch(guessed_kernel(made), Problem(m, n, 96)).grid == (n // 16, m // 16, 1)


def test_a_block_that_grows_with_the_size_has_its_tiles_alone() -> None:
    lines = "int m = 16, n = 16, k = 16; dim3 block((n / 16) * 16, (m / 16) * 16), grid(1);"
    made = guessed(ANY, lines, "m, n, k")
    # Its threads have a bound; its grid of one block is none for the sizes.
    assert [one for one in made.requires if "<=" in one] == ["(16 * floor(N / 16)) * (16 * floor(M / 16)) <= 1024"]


def test_a_grid_of_a_fixed_number_of_blocks_is_judged_only_where_it_covers_c() -> None:
    made = guessed(SQUARE, f"const int n = 96; {BLOCK}, grid(6, 6);", "n")
    assert made.grid == ("6", "6")
    assert "ceil(N / 16) <= 6" in made.requires and "ceil(M / 16) <= 6" in made.requires


def test_one_block_is_judged_at_the_size_of_its_tile() -> None:
    lines = f"int m = 16, n = 16, k = 16, grid = 1; {BLOCK};"
    made = guessed(ANY, lines, "m, n, k")
    assert {"ceil(N / 16) <= 1", "ceil(M / 16) <= 1"} <= {*made.requires}


def test_loops_over_a_fixed_grid_cover_any_c() -> None:
    kernel = (
        HEAD.format(sizes="int m, int n, int k")
        + """{
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < m * n; at += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int i = 0; i < k; i++) sum += A[at / n * k + i] * B[i * n + at % n];
        C[at] = sum;
    }
}
"""
    )
    made = guessed(kernel, "int m = 96, n = 64, k = 32; dim3 block(256), grid(4);", "m, n, k")
    assert made.grid == ("4",) and not any("<=" in one for one in made.requires)


@pytest.mark.parametrize("sets", ["void sizes(dim3 &grid, int m, int n);", ""])
def test_a_grid_that_a_function_fills_in_is_not_one_block(sets: str) -> None:
    lines = f"int m = 96, n = 64, k = 32; {BLOCK}; dim3 grid; sizes(grid, m, n);"
    made = guessed(ANY, lines, "m, n, k", f"{sets}\n")
    assert launch(guessed_kernel(made), Problem(64, 512, 96)).grid == (32, 4, 1)


def test_a_grid_without_values_that_gets_its_extents_later_has_them() -> None:
    lines = f"int m = 96, n = 64, k = 32; {BLOCK}; dim3 grid; grid.x = n / 16; grid.y = m / 16;"
    assert guessed(ANY, lines, "m, n, k").grid == ("floor(N / 16)", "floor(M / 16)")


def test_a_condition_of_numbers_alone_is_left_out() -> None:
    text = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    if (row < M && col < N) C[row * N + col] = sum;
}
void run(float *A, float *B, float *C, int M, int N, int K) {
    dim3 grid, block;
    block.x = 128;
    block.y = 4;
    grid.x = (M + (block.x / 32 - 1)) / (block.x / 32);
    grid.y = (N + block.y - 1) / block.y;
    gemm<<<grid, block>>>(A, B, C, M, N, K);
}
"""
    made = guess(text, Path("mine.cu"))
    assert made.block == ("128", "4") and "ceil(M / 4)" in made.grid
    assert not made.requires


@pytest.mark.parametrize(("columns", "rows", "sure"), [("rows", "columns", False), ("rows", "rows", True)])
def test_a_side_that_is_handed_to_no_kernel_is_the_one_that_the_kernels_code_shows(
    columns: str, rows: str, sure: bool
) -> None:
    host = f"""void run(float *a, float *b, float *c, int rows, int columns) {{
    dim3 block(4, 8), grid(({columns} + block.x - 1) / block.x, ({rows} + block.y - 1) / block.y);
    gemm<<<grid, block>>>(a, b, c, rows);
}}
"""
    made = guess(SQUARE + host, Path("mine.cu"))
    assert (made.block, made.grid[0]) == (("4", "8"), "ceil(N / 4)")
    assert made.grid[1] in ("ceil(M / 8)", "ceil(N / 8)")
    assert is_launched_so(made) == sure  # what is only assumed is no evidence against the kernel


def test_a_quotient_that_a_lambda_rounds_up_has_its_own_size() -> None:
    """The lambda's second parameter has the tile's side, 64: that is no size of the host's own."""
    kernel = ANY.replace("__global__", "template <int TILE>\n__global__").replace("blockDim.y", "TILE", 1)
    lines = "auto ceil_div = [](int x, int y) { return (x + y - 1) / y; };\n    constexpr int T = 64;\n"
    lines += "    int m = 5, n = 7, k = 9;\n    dim3 block(8, T), grid(ceil_div(n, 8), ceil_div(m, T));"
    text = kernel + MAIN.format(lines=lines, given="m, n, k")
    made = guess(text.replace("gemm<<<", "gemm<T><<<"), Path("mine.cu"))
    assert made.grid == ("ceil(N / 8)", "ceil(M / TILE)")


OF_STRUCTURES = """
struct Grid { int width, height; float *data; };
__device__ float at(Grid *one, int i, int j) { return one->data[i * one->width + j]; }
__global__ void gemm(Grid *A, Grid *B, Grid *C)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < A->width; i++) sum += at(A, row, i) * at(B, i, col);
    C->data[row * C->width + col] = sum;
}
Grid *made(int height, int width);
int main()
{
    const int ROWS = 40, DEPTH = 50, COLUMNS = 60;
    Grid *a = made(ROWS, DEPTH), *b = made(DEPTH, COLUMNS), *c = made(ROWS, COLUMNS);
    dim3 block(16, 8), grid((COLUMNS + 15) / 16, (ROWS + 7) / 8);
    gemm<<<grid, block>>>(a, b, c);
}
"""


@pytest.mark.parametrize("names", [("I", "J", "K"), ("M", "N", "K")])
def test_letters_of_the_host_are_its_own_where_one_of_them_is_k(names: tuple[str, str, str]) -> None:
    """K are the columns of C here, and with the second names N are the terms: blocks divide no terms."""
    text = OF_STRUCTURES
    for word, name in zip(("ROWS", "DEPTH", "COLUMNS"), names, strict=True):
        text = text.replace(word, name)
    made = guess(text, Path("mine.cu"))
    assert made.grid == ("ceil(N / 16)", "ceil(M / 8)")


def test_the_letters_m_and_n_keep_their_meaning() -> None:
    text = OF_STRUCTURES.replace("ROWS", "M").replace("COLUMNS", "N").replace("DEPTH", "K")
    turned = text.replace("grid((N + 15) / 16, (M + 7) / 8)", "grid((M + 15) / 16, (N + 7) / 8)")
    assert guess(text, Path("mine.cu")).grid == ("ceil(N / 16)", "ceil(M / 8)")
    assert guess(turned, Path("mine.cu")).grid == ("ceil(M / 16)", "ceil(N / 8)")
