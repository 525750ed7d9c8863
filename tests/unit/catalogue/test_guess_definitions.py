"""Definitions from build scripts and from conditions, headers elsewhere in the project, and other names of types."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.guessing.asked_definitions import asked_definitions
from gemmviz.catalogue.guessing.build_definitions import build_definitions
from gemmviz.catalogue.guessing.certainty import is_known
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

TILED = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[SIDE][SIDE], Bs[SIDE][SIDE];
    int row = blockIdx.y * SIDE + threadIdx.y, col = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += SIDE) {
        As[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < SIDE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
"""
PLAIN = """__global__ void gemm(Values A, Values B, Result C, Size M, Size N, Size K)
{
    Size row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
NAMES = "using Values = const float*;\ntypedef float *Result;\nusing Size = const int;\n"
OF_CORES = """#include <mma.h>
using namespace nvcuda;
template <typename In, typename Out>
__global__ void gemm(const In *A, const In *B, Out *C, int M, int N, int K)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, In, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, In, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, Out> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}
"""


def read(folder: Path, text: str, where: str = "gemm.cu") -> Guess:
    path = folder / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return guess(text, path, None, surroundings(path, text))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("CMakeLists.txt", "target_compile_definitions(gemm PRIVATE SIDE=4)\n"),
        ("CMakeLists.txt", "set(WIDE 4)\nadd_compile_definitions(SIDE=${WIDE})\n"),
        ("Makefile", "WIDE ?= 4\nall:\n\tnvcc -DSIDE=$(WIDE) gemm.cu\n"),
        ("build.py", 'wide = 4\noptions = ["-O3", f"-DSIDE={wide}"]\n'),
        ("README.md", "    nvcc -O3 -D SIDE=4 gemm.cu -o gemm\n"),
    ],
)
def test_a_build_script_gives_the_value_of_a_macro(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    made = read(tmp_path, TILED)
    assert made.params["SIDE"] == (4,)
    assert record(launch(guessed_kernel(made), Problem(8, 4, 12))).wrong == 0


def test_a_value_from_outside_counts_before_a_default_and_not_before_a_plain_definition(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\tnvcc -DSIDE=4 gemm.cu\n")
    assert read(tmp_path, f"#ifndef SIDE\n#define SIDE 8\n#endif\n{TILED}").params["SIDE"] == (4,)
    assert "SIDE" not in read(tmp_path, f"#define SIDE 8\n{TILED}").params


def test_scripts_are_read_for_the_wanted_macros_only_and_only_numbers_count() -> None:
    script = "nvcc -DBM=128 -DBM=64 -DTYPE=float -DOTHER=3 -DFLAG x.cu\n"
    assert build_definitions([script], ["BM", "TYPE", "FLAG"]) == {"BM": (128, 64), "FLAG": (1,)}


def test_a_kernel_behind_a_condition_is_described_with_the_definition_that_it_asks_for(tmp_path: Path) -> None:
    made = read(tmp_path, f"#define SIDE 4\n#if defined(WITH_TILES) && LEVEL >= 3\n{TILED}#endif\n")
    assert made.params == {"WITH_TILES": (1,), "LEVEL": (3,)}
    assert record(launch(guessed_kernel(made), Problem(8, 4, 12))).wrong == 0


@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        ("#ifndef ONCE\n#define ONCE\n", "#endif\n", {}),
        ("#ifdef __CUDACC__\n", "#endif\n", {}),
        ("#define FAST\n#ifdef FAST\n", "#endif\n", {}),
        ("#ifdef FAST\nint x;\n#else\n", "#endif\n", {}),
        ("#if VERSION == 2\n", "#endif\n", {"VERSION": 2}),
        ("#if VERSION > 2\n", "#endif\n", {"VERSION": 3}),
        ("#ifdef SLOW\nint x;\n#elif defined(FAST)\n", "#endif\n", {"FAST": 1}),
    ],
)
def test_what_a_condition_asks_for(before: str, after: str, asked: dict[str, int]) -> None:
    assert asked_definitions([before + TILED + after], "gemm") == asked


def test_a_function_of_a_header_that_only_a_definition_gives_is_asked_for() -> None:
    header = "#if LEVEL >= 80\n__device__ void copy(float *to) { *to = 0; }\n#endif\n"
    kernel = "__global__ void gemm(float *C) { copy(C); }\n"
    assert asked_definitions([kernel, header], "gemm") == {"LEVEL": 80}
    other = f"{header}#if LEVEL < 80\n__device__ void copy(float *to) {{ *to = 1; }}\n#endif\n"
    assert asked_definitions([kernel, other], "gemm") == {}


def test_a_header_anywhere_in_the_project_gives_other_names_of_types(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("include_directories(Shared/names)\n")
    (tmp_path / "Shared" / "names").mkdir(parents=True)
    (tmp_path / "Shared" / "names" / "names.h").write_text(NAMES)
    made = read(tmp_path, f"#include <names.h>\n{PLAIN}", "part/one/gemm.cu")
    assert made.roles == ("A", "B", "C", "M", "N", "K")
    assert record(launch(guessed_kernel(made), Problem(5, 3, 7))).wrong == 0


def test_a_template_of_tensor_cores_takes_half_where_nothing_says_its_type() -> None:
    made = guess(OF_CORES, Path("mine.cu"))
    assert (made.entry, made.dtype, made.stores) == ("gemm<half, float>", "float16", "float32")


def test_a_kernel_whose_type_nothing_says_is_never_called_wrong() -> None:
    grid = "dim3((N + 15) / 16, (M + 15) / 16), dim3(32)"
    host = "void run(const {0} *A, const {0} *B, float *C, int M, int N, int K)\n{{\n"
    host += f"    gemm<TYPES><<<{grid}>>>(A, B, C, M, N, K);\n}}}}\n"
    text = guess(OF_CORES + host.format("half").replace("TYPES", "half, float"), Path("mine.cu"))
    assert is_known(text)
    several = OF_CORES + "".join(
        host.format(kind).replace("TYPES", f"{kind}, float").replace("run", f"run_{kind}") for kind in ("half", "float")
    )
    assert not is_known(guess(several, Path("mine.cu")))
    mixed = host.format("half").replace("TYPES", "half, __nv_fp8_e4m3, float").replace("const half *B", "const char *B")
    of_two = OF_CORES.replace("typename Out", "typename Other, typename Out").replace("In *B", "Other *B")
    assert not is_known(guess(of_two + mixed, Path("mine.cu")))
    unsaid = guess(OF_CORES + host.format("Value").replace("<TYPES>", ""), Path("mine.cu"))
    assert not is_known(unsaid)


def test_a_kernel_is_not_called_wrong_where_only_a_part_of_its_size_constants_was_found() -> None:
    host = "void run(float *A, float *B, float *C, int M, int N, int K)\n{\n"
    host += "    gemm<<<dim3((N + 3) / 4, (M + 3) / 4), dim3(4, 4)>>>(A, B, C, M, N, K);\n}\n"
    made = guess(f"#define SIDE 4\n{TILED}{host}", Path("mine.cu"))
    assert is_known(made)
    fixed = replace(made, parameters=made.parameters[:3], roles=made.roles[:3])  # its sizes are constants
    assert is_known(replace(fixed, constants={"ROWS": "M", "COLUMNS": "N"}))
    assert not is_known(replace(fixed, constants={"DEPTH": "N / 8"}))


def refused(made: Guess) -> str:
    def none(kernel: Kernel, size: Problem) -> str:
        raise BuildError("no")

    return settle(made, none).settled


def test_a_form_that_a_script_fills_in_is_named() -> None:
    text = "__global__ void gemm(float *A, float *B, float *C) { const int m = {{ROWS}}, n = {{COLUMNS}}; C[m] = n; }"
    assert "a script fills in {{ROWS}}, {{COLUMNS}}" in refused(guess(text, Path("mine.cu")))


def test_packed_weights_are_named() -> None:
    text = "__global__ void gemm(half *A, int *qweight, half *C, half *scales, half *zeros, int M, int N, int K) {}"
    assert "scales, zeros belong to packed" in guess(text, Path("mine.cu")).hindrance


def test_a_missing_header_is_named_with_the_empty_submodule_that_may_have_it(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x")
    text = '#include "tools/timer.hpp"\n#include <mma.h>\n' + TILED
    assert "tools/timer.hpp: no folder" in read(tmp_path, text).hindrance
    (tmp_path / ".gitmodules").write_text('[submodule "a"]\n\tpath = lib/other\n[submodule "b"]\n\tpath = lib/tools\n')
    assert refused(read(tmp_path, text)).endswith("`git submodule update --init lib/tools`")


def test_a_macro_goes_on_behind_a_text_that_goes_on() -> None:
    text = '#define STEP(x) asm volatile("one \\\n two;" : \\\n    "=r"(x))\nint y;\n'
    assert plain_code(text, directives=False).split() == ["int", "y;"]


def test_pointers_to_pointers_are_named_and_the_kernel_is_not_called_wrong() -> None:
    text = """__global__ void product(const float *const *A, const float *const *B, float **C, int n)
    {
        int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
        float sum = 0;
        for (int k = 0; k < n; k++) sum += A[row][k] * B[k][col];
        C[row][col] = sum;
    }
    void run(float **a, float **b, float **c, int n) { product<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(a, b, c, n); }
    """
    made = guess(text, Path("mine.cu"))
    assert "A, B, C are pointers to pointers" in made.hindrance
    found = settle(made, lambda kernel, size: Verdict.of("it crashes", crashed=True))
    assert not found.right and not found.wrong_itself and "A, B, C are pointers to pointers" in found.settled


def test_matrices_that_are_variables_of_the_file_are_named() -> None:
    text = """#define N 64
    __device__ float A[N][N], B[N][N];
    __device__ float C[N][N];
    __device__ int other[4];
    __global__ void product()
    {
        int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
        float sum = 0;
        for (int k = 0; k < N; k++) sum += A[row][k] * B[k][col];
        C[row][col] = sum;
    }
    int main() { product<<<dim3(8, 8), dim3(8, 8)>>>(); }
    """
    assert guess(text, Path("mine.cu")).hindrance.startswith("A, B, C are variables of the file")


@pytest.mark.parametrize("name", ["KIND", "product_##KIND"])
def test_kernels_that_a_macro_makes_are_described_and_recorded(name: str) -> None:
    text = f"""#define PRODUCT(KIND, TYPE) \\
    __global__ void {name}(const TYPE *A, const TYPE *B, TYPE *C, int M, int N, int K) {{ \\
        int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x; \\
        if (row >= M || col >= N) return; \\
        TYPE sum = 0; \\
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col]; \\
        C[row * N + col] = sum; \\
    }}
    PRODUCT(f32, float)
    PRODUCT(f64, double)
    void run(const double *a, const double *b, double *c, int m, int n, int k) {{
        dim3 grid((n + 7) / 8, (m + 7) / 8), block(8, 8);
        {name.replace("KIND", "f64").replace("##", "")}<<<grid, block>>>(a, b, c, m, n, k);
    }}
    """
    made = guess(text, Path("mine.cu"))
    assert made.entry == name.replace("KIND", "f64").replace("##", "") and made.dtype == "float64"
    assert made.grid == ("ceil(N / 8)", "ceil(M / 8)")
    recording = record(launch(guessed_kernel(made), Problem(21, 13, 18)))
    assert (recording.wrong, recording.diagnostics) == (0, ())
