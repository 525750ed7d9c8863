"""A kernel that is wrong whatever its launch: what a recording or the compilers show is said with its line."""

import threading
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.engine.consent import Described
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import trier

HEAD = "// mine\n__global__ void gemm(const float *A, const float *B, float *C, int N) {\n"
PLACE = "int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n"
LOOP = (
    PLACE + "if (i >= N || j >= N) return;\n{kind} s = 0;\nfor (int k = 0; k < N; ++k) {term};\nC[i * N + j] = s;\n}}\n"
)
LAUNCH = "void run(float *A, float *B, float *C, int N) {\ndim3 block(16, 16), grid((N + 15) / 16, (N + 15) / 16);\n"
LAUNCH += "gemm<<<grid, block>>>(A, B, C, N);\n}\n"
RIGHT = "s += A[i * N + k] * B[k * N + j]"


def settled(tmp_path: Path, text: str, error: BuildError | None = None) -> Guess:
    file = tmp_path / "mine.cu"
    file.write_text(text)
    engine = Engine(Described(file, text))
    try:
        try_one, try_random = (trier(engine, threading.Event(), random=random) for random in (False, True))
        made = guess(text, file)
        return settle(made, try_one, try_random=try_random, try_device=lambda kernel, size: error)
    finally:
        engine.close()


def kernel(term: str, kind: str = "float") -> str:
    return HEAD + LOOP.format(kind=kind, term=term) + LAUNCH


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("s += A[i * N + k] + B[k * N + j]", "it adds where a product multiplies"),
        ("s = A[i * N + k] * B[k * N + j]", "each product replaces the one before it"),
        ("s += A[i * N + k] * A[k * N + j]", "C is A A: B does not count"),
    ],
)
def test_another_result_is_named(tmp_path: Path, term: str, said: str) -> None:
    found = settled(tmp_path, kernel(term))
    assert not found.right
    assert [(one.kind, one.line) for one in found.flaws] == [("another result", 2)]
    assert said in found.flaws[0].text


def test_a_right_kernel_has_no_flaw(tmp_path: Path) -> None:
    found = settled(tmp_path, kernel(RIGHT))
    assert found.right and not found.flaws


def test_a_sum_in_an_integer_is_named(tmp_path: Path) -> None:
    found = settled(tmp_path, kernel(RIGHT, "int"))
    assert not found.right and "every element of C is a whole number" in found.flaws[0].text


def test_a_kernel_of_one_dimension_is_of_vectors(tmp_path: Path) -> None:
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < N) C[i] = A[i] * B[i];\n}\n"
    launch = LAUNCH.replace("block(16, 16), grid((N + 15) / 16, (N + 15) / 16)", "block(256), grid((N + 255) / 256)")
    assert "no product of matrices" in settled(tmp_path, HEAD + body + launch).flaws[0].text


def test_an_empty_body_is_a_flaw(tmp_path: Path) -> None:
    found = settled(tmp_path, HEAD + "}\n" + LAUNCH)
    assert [str(one) for one in found.flaws] == ["line 2: the body of the kernel is empty: nothing computes C"]


WIDE = """
__global__ void gemm(const float *A, const float *B, float *C, int N) {
    __shared__ float a[64][64], b[64][64];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 64 + y, j = blockIdx.x * 64 + x;
    float s = 0;
    for (int k = 0; k < N; k += 64) {
        a[y][x] = A[i * N + k + x];
        b[y][x] = B[(k + y) * N + j];
        __syncthreads();
        for (int t = 0; t < 64; ++t) s += a[y][t] * b[t][x];
        __syncthreads();
    }
    C[i * N + j] = s;
}
"""


def test_a_block_with_too_many_threads_is_a_flaw(tmp_path: Path) -> None:
    found = settled(tmp_path, WIDE + LAUNCH.replace("16", "64").replace("15", "63"))
    assert [(one.kind, one.line) for one in found.flaws] == [("not started", 2)]
    assert "096 threads; CUDA allows 1024" in found.flaws[0].text


def test_so_is_one_of_a_file_with_one_small_size(tmp_path: Path) -> None:
    """Its launch at the file's own size cannot be made: that ended the trials without a guess."""
    text = """__global__ void gemm(float *C, float *A, float *B, int N) {
int x = threadIdx.x + blockDim.x * blockIdx.x, y = threadIdx.y + blockDim.y * blockIdx.y;
for (int row = y; row < N; row += blockDim.y * gridDim.y)
for (int col = x; col < N; col += blockDim.x * gridDim.x) {
float s = 0;
for (int k = 0; k < N; ++k) s += A[row * N + k] + threadIdx.z * B[k * N + col];
C[row * N + col] = s;
}
}
int main() { int n = 64; dim3 block(32, 32, 32), grid(2, 2, 2); gemm<<<grid, block>>>(C, A, B, n); }
"""
    found = settled(tmp_path, text)
    assert not found.right and [one.kind for one in found.flaws] == ["not started"]


UNKNOWN = kernel("s += times(A[i * N + k], B[k * N + j])")


def test_a_name_that_is_declared_nowhere_is_a_flaw_if_two_compilers_say_so(tmp_path: Path) -> None:
    line = UNKNOWN.splitlines().index("for (int k = 0; k < N; ++k) s += times(A[i * N + k], B[k * N + j]);") + 1
    found = settled(tmp_path, UNKNOWN, BuildError("mine.cu", line))
    assert [(one.kind, one.line) for one in found.flaws] == [("not compiled", line)]
    assert "times is declared nowhere in this file and its headers" in found.flaws[0].text
    assert not settled(tmp_path, UNKNOWN).flaws
    assert not settled(tmp_path, UNKNOWN, BuildError("mine.cu", line + 5)).flaws


def test_an_exercise_that_is_not_solved_is_a_flaw(tmp_path: Path) -> None:
    text = kernel("s += FIXME")
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "FIXME" in one)
    (flaw,) = settled(tmp_path, text, BuildError("mine.cu", line)).flaws
    assert (flaw.kind, flaw.line) == ("not compiled", line) and "FIXME is declared nowhere" in flaw.text


def test_the_file_beside_it_that_declares_the_name_is_named(tmp_path: Path) -> None:
    (tmp_path / "begin.cuh").write_text("__device__ float times(float a, float b) { return a * b; }\n")
    found = settled(tmp_path, UNKNOWN, BuildError("mine.cu", 6))
    assert "times is declared in begin.cuh, which this file does not include" in found.flaws[0].text


def test_a_name_between_if_0_and_endif_is_said_to_be_there(tmp_path: Path) -> None:
    off = "#if 0\n__device__ float times(float a, float b) { return a * b; }\n#endif\n"
    found = settled(tmp_path, off + UNKNOWN, BuildError("mine.cu", 9))
    assert "times is declared between `#if 0` and `#endif` only" in found.flaws[0].text


@pytest.mark.parametrize("head", ["#include <strange/times.h>\n", "float times(float a, float b) { return a * b; }\n"])
def test_a_name_that_may_come_from_elsewhere_is_no_flaw(tmp_path: Path, head: str) -> None:
    assert not settled(tmp_path, head + UNKNOWN, BuildError("mine.cu", 7)).flaws


def test_a_side_of_the_block_that_only_the_guess_has_is_not_what_they_refuse(tmp_path: Path) -> None:
    """The lambda returns nothing, so its value is no index."""
    text = kernel("s += A[at(i, k)] * B[at(k, j)]").replace(
        PLACE, PLACE + "auto at = [&](int y, int x) { y *N + x; };\n"
    )
    text = text[: text.index("void run")]  # no launch: the guess has names for the sides of the block
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "s +=" in one)
    found = settled(tmp_path, text, BuildError("mine.cu", line))
    assert [(one.kind, one.line) for one in found.flaws] == [("not compiled", line)]


def test_a_launch_that_was_compiled_is_none(tmp_path: Path) -> None:
    """Host code that could not be left out is no fault of the file."""
    text = "__device__ " + LAUNCH + kernel(RIGHT)[: kernel(RIGHT).index("void run")]
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "<<<" in one)
    assert not settled(tmp_path, text, BuildError("mine.cu", line)).flaws


# A macro that nobody gives a value: gemmviz guesses one.
GUESSED = HEAD + LOOP.format(kind="float", term="s += A[i * N + k] * B[k * N + j]").replace(
    "float s = 0;", "float s = 0;\nfloat part[DEPTH] = 0;"
)
GUESSED += LAUNCH
OF_A_TEMPLATE = """template <int WIDE> __global__ void gemm(const float *A, const float *B, float *C, int N) {
int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
float s = 0, few[4 - WIDE];
for (int k = 0; k < N; ++k) s += A[i * N + k] * B[k * N + j];
C[i * N + j] = s;
}
"""


@pytest.mark.parametrize("text", [GUESSED, OF_A_TEMPLATE])
def test_a_line_that_a_guessed_value_may_have_broken_is_no_flaw(tmp_path: Path, text: str) -> None:
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "[DEPTH]" in one or "[4 - WIDE]" in one)
    assert not settled(tmp_path, text, BuildError("mine.cu", line)).flaws


def test_a_line_that_no_value_can_mend_is_a_flaw(tmp_path: Path) -> None:
    text = GUESSED.replace("[DEPTH]", "[8]")
    line = text.splitlines().index("float part[8] = 0;") + 1
    assert [one.kind for one in settled(tmp_path, text, BuildError("mine.cu", line)).flaws] == ["not compiled"]


def test_a_missing_brace_is_named_where_its_body_begins(tmp_path: Path) -> None:
    text = kernel("{ " + RIGHT)
    assert [(one.kind, one.line) for one in settled(tmp_path, text).flaws] == [("not compiled", 2)]


def test_a_file_that_was_cut_off_is_not_compiled(tmp_path: Path) -> None:
    text = kernel(RIGHT) + "void more(float *A,\n"
    assert [(one.kind, one.line) for one in settled(tmp_path, text).flaws] == [("not compiled", len(text.splitlines()))]


def test_a_matrix_times_a_vector_is_named_whatever_their_names(tmp_path: Path) -> None:
    text = "__global__ void mv(const float *a, const float *x, float *y, int M, int N, int most) {\n"
    text += "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= M) return;\nfloat s = 0;\n"
    text += "for (int k = 0; k < N; ++k) s += a[i * N + k] * x[k];\ny[i] = s;\n}\n"
    text += "void run(float *a, float *x, float *y, int M, int N) { mv<<<(M + 63) / 64, 64>>>(a, x, y, M, N, 9); }\n"
    (flaw,) = settled(tmp_path, text).flaws
    assert (flaw.kind, flaw.line) == ("another result", 1) and "a matrix times a vector" in flaw.text


@pytest.mark.parametrize(("factor", "said"), [("/ sqrtf(N)", "times that of A B"), ("* 0.3f", "0.3 times that of A B")])
def test_a_kernel_that_scales_its_result_is_no_wrong_one(tmp_path: Path, factor: str, said: str) -> None:
    found = settled(tmp_path, kernel(RIGHT).replace("= s;", f"= s {factor};"))
    assert not found.right and not found.flaws and not found.wrong_itself
    assert said in found.settled and "front matter cannot say" in found.settled


def test_a_sum_that_counts_twice_is_a_wrong_one(tmp_path: Path) -> None:
    found = settled(tmp_path, kernel(RIGHT).replace("= s;", "= s * 2;"))
    assert not found.right and found.wrong_itself
