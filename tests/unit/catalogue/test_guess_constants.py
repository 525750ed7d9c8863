"""Guesses of kernels whose sizes are constants of the file: they become any size that is wanted."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import BuildError, FrontMatterError
from gemmviz.catalogue.given_constants import with_constants
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel, valid
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

BODY = """__global__ void product(const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < ROWS && col < COLS) {
        float sum = 0;
        for (int k = 0; k < DEPTH; k++) sum += A[row * DEPTH + k] * B[k * COLS + col];
        C[row * COLS + col] = sum;
    }
}
"""
MACROS = "#define ROWS 1024\n#define COLS 2048 // columns\n#define DEPTH (512)\n"
LAUNCH = "void run(float *a, float *b, float *c) {\n    dim3 block(16, 8), grid(COLS / 16, ROWS / 8);\n    "
LAUNCH += "product<<<grid, block>>>(a, b, c);\n}\n"


def guessed(text: str, path: Path = Path("mine.cu")) -> Guess:
    made = guess(text, path)
    assert valid(made) == ""
    return made


def is_right(made: Guess, problem: Problem) -> None:
    recording = record(launch(guessed_kernel(made), problem))
    assert (recording.wrong, recording.notes) == (0, ())


@pytest.mark.parametrize(
    "constants",
    [
        MACROS,
        "const int ROWS = 1024, COLS = 2048;\nstatic constexpr unsigned DEPTH{512};\n",
        "enum { ROWS = 1024, COLS = 2048, DEPTH = 512 };\n",
        MACROS.replace("#define ROWS 1024", "#ifndef ROWS\n#define ROWS 1024\n#endif"),
    ],
    ids=["macros", "variables", "enum", "macro that may be given"],
)
def test_constants_that_stand_for_sizes_follow_the_size_of_a_launch(constants: str) -> None:
    made = guessed(constants + BODY)
    assert made.constants == {"ROWS": "M", "COLS": "N", "DEPTH": "K"}
    assert made.roles == ("A", "B", "C")
    is_right(made, Problem(9, 37, 21))


def test_one_constant_for_a_square_matrix_gives_all_sizes() -> None:
    text = "#define WIDTH 4096\n" + BODY.replace("ROWS", "WIDTH").replace("COLS", "WIDTH").replace("DEPTH", "WIDTH")
    made = guessed(text)
    assert made.constants == {"WIDTH": "N"}
    assert {"M == N", "K == N"} <= {*made.requires}
    is_right(made, Problem.cube(20))


def test_the_host_code_launches_with_the_same_constants() -> None:
    made = guessed(MACROS + BODY + LAUNCH)
    assert (made.block, made.grid) == (("16", "8"), ("floor(N / 16)", "floor(M / 8)"))
    is_right(made, Problem(16, 32, 5))


def test_a_number_of_tiles_is_a_size_divided_by_the_tile() -> None:
    text = "#define T 16\n#define ROW_TILES 256\n#define M_SIZE (T * ROW_TILES)\n"
    body = BODY.replace("row < ROWS", "row / T < ROW_TILES").replace("DEPTH", "K_SIZE").replace("COLS", "N_SIZE")
    made = guessed(text + "#define K_SIZE 512\n#define N_SIZE 512\n" + body)
    assert made.constants == {"ROW_TILES": "M / 16", "K_SIZE": "K", "N_SIZE": "N"}
    assert "M % 16 == 0" in made.requires
    is_right(made, Problem(32, 9, 10))


def test_tiles_threads_and_sizes_that_are_parameters_stay_what_they_are() -> None:
    body = BODY.replace("const float *A,", "int ROWS, int COLS, int DEPTH, const float *A,")
    assert guessed("#define WIDTH 512\n#define BLOCK_SIZE 256\n" + body).constants == {}
    tiled = BODY.replace("blockDim.x", "THREADS").replace("blockDim.y", "TILE")
    made = guessed("#define THREADS 256\n#define TILE 1\n" + MACROS + tiled)
    assert {*made.constants} == {"ROWS", "COLS", "DEPTH"}


def test_only_the_definition_changes_and_lines_keep_their_numbers() -> None:
    text = (
        "#define N \\\n    512\n// #define N 3\nint f(int x) { int y = x == N; return y; }\n"
        "#define N_TILES (N / 16)\nstruct S { int N; };\nvoid g(S s) { s.N = 4; }\n"
    )
    changed = with_constants(text, {"N": 64})
    assert changed.count("64") == 1 and changed.count("\n") == text.count("\n")
    assert changed.splitlines()[2:] == text.splitlines()[2:]


def test_a_constant_that_is_not_defined_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="'WIDTH'"):
        with_constants("int x;", {"WIDTH": 1}, "mine.cu")
    made = guessed(MACROS + BODY)
    text = made.described().replace('"M"', '"HEIGHT"', 1).replace('ROWS = "M"', 'ROWS = "HEIGHT"')
    with pytest.raises(FrontMatterError, match="HEIGHT"):
        parse(text, Path("mine.cu"))


def test_the_digest_counts_constants_and_stays_as_it_was_without_them() -> None:
    made = guessed(MACROS + BODY)
    kernel = guessed_kernel(made)
    other = parse(made.described().replace('ROWS = "M"', 'ROWS = "2 * M"'), Path("mine.cu"))
    assert kernel.sha256 != other.sha256


C_TEXT = """#define SIDE 300
void product(const float *a, const float *b, float *c)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++) sum += a[i * SIDE + k] * b[k * SIDE + j];
            c[i * SIDE + j] = sum;
        }
}
"""


def test_constants_of_c_are_sizes_too() -> None:
    made = guessed(C_TEXT, Path("mine.c"))
    assert made.constants == {"SIDE": "N"}
    is_right(made, Problem.cube(7))


def test_the_constants_of_a_namespace_are_no_tiles_to_choose() -> None:
    text = """namespace mine {
const int TILE = 8, DEEP = 2 * TILE;
__device__ float deep(const float *a, const float *b, int pitch)
{
    float sum = 0;
    for (int k = 0; k < DEEP; k++) sum += a[k] * b[k * pitch];
    return sum;
}
__device__ void tile(const float *A, const float *B, float *C, int row, int col, int N, int K)
{
    float sum = 0;
    for (int at = 0; at < K; at += DEEP) sum += deep(A + row * K + at, B + at * N + col, N);
    C[row * N + col] = sum;
}
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    tile(A, B, C, blockIdx.y * 8 + threadIdx.y, blockIdx.x * 8 + threadIdx.x, N, K);
}
}
"""
    made = guess(text, Path("product.cu"))
    assert not made.params and "K % 16 == 0" in made.requires


def test_the_size_of_a_tile_that_has_the_depth_is_not_the_size() -> None:
    tile = "__global__ void other(float *C)\n{\n    constexpr int TILE_SIZE = DEPTH * 4;\n    C[TILE_SIZE] = 0;\n}\n"
    made = guessed(MACROS + tile + BODY + LAUNCH)
    assert made.constants == {"ROWS": "M", "COLS": "N", "DEPTH": "K"}


@pytest.mark.parametrize(
    ("product", "roles"),
    [
        ("W[row * DEPTH + k] * Rest[col * DEPTH + k]", ("A", "B", "C")),
        ("Rest[row * DEPTH + k] * W[col * DEPTH + k]", ("B", "A", "C")),
    ],
)
def test_weights_are_the_matrix_whose_rows_are_those_of_c(product: str, roles: tuple[str, ...]) -> None:
    body = BODY.replace("*A", "*W").replace("*B", "*Rest").replace("A[row * DEPTH + k] * B[k * COLS + col]", product)
    made = guessed(MACROS + body + LAUNCH)
    assert made.roles == roles and made.column_major == {"B"}
    is_right(made, Problem(8, 16, 5))


def test_a_size_that_only_the_grid_has_is_the_one_that_is_divided() -> None:
    """The kernel does not name ROWS; both numbers in this side of the grid are large."""
    body = BODY.replace("row < ROWS && ", "").replace("blockDim.y", "TALL")
    text = (
        MACROS
        + "#define TALL 64\n"
        + body
        + LAUNCH.replace("block(16, 8)", "block(4, 64)").replace(
            "grid(COLS / 16, ROWS / 8)", "grid((COLS + 3) / 4, (ROWS + TALL - 1) / TALL)"
        )
    )
    made = guessed(text)
    assert made.grid == ("ceil(N / 4)", "ceil(M / 64)")
