"""Forms in which host code stands beside kernels: none stops a compile for the GPU, or for recording."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.backends.device_source import source_of_device
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import Kernel, load
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

KERNEL = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    if (row < M && col < N) {
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
"""
MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["16", "16"]
// grid = ["ceil(N / 16)", "ceil(M / 16)"]
// ---
"""
WORDS = """__device__ float zero(int K)
{
    uint32_t most = UINT_MAX;
    assert(most > 0);
    float large = -FLT_MAX, none[2];
    memset(none, 0, sizeof none);
    memcpy(&large, none, 4);
    return large + (ceil(K / 2.0f) < 0) + __dp4a(0x01010101, 0, 0);
}
"""
FORMS = {
    "host headers without a host function": "#include <iostream>\n#include <algorithm>\n#include <cstdlib>\n" + KERNEL,
    "prototypes": "void run(float *, cudaStream_t s = 0, dim3 g = dim3(1));\ntorch::Tensor mm(torch::Tensor a);\n"
    'cublasHandle_t make();\nextern "C" int host(int n);\n' + KERNEL,
    "macros of the host": '#define CHECK(call) do { cudaError_t e = call; if (e) { printf("%d", e); exit(1); } } '
    "while (0)\n#define DIV(a, b) (((a) + (b) - 1) / (b))\n"
    + KERNEL
    + "void run(float *a) { CHECK(cudaMalloc(&a, DIV(8, 4))); gemm<<<1, 2>>>(a, a, a, 1, 1, 1); }\n",
    "PyTorch's registrations": "#include <torch/extension.h>\n"
    + KERNEL
    + 'torch::Tensor mm(torch::Tensor a) { return a; }\nTORCH_LIBRARY(mine, m) { m.def("mm", &mm); }\n'
    'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("mm", &mm); }\nREGISTER(mm)\nstatic int after = 1;\n',
    "classes and variables of the host": "struct Timer { cudaEvent_t start; std::string name; };\n"
    "class Runner { public: Runner(int n) : n(n) {} void go() { std::cout << n; } private: int n; };\n"
    "static std::vector<float> kept;\nTimer timer;\ncublasHandle_t handle;\nint count = 0;\n"
    "using Clock = std::chrono::steady_clock;\n" + KERNEL,
    "an explicit instantiation of a launcher": "template <int BS> void run(float *a, cudaStream_t s) {\n"
    "    gemm<<<dim3(1), BS, 0, s>>>(a, a, a, 1, 1, 1);\n}\n"
    + KERNEL
    + "template void run<16>(float *a, cudaStream_t s);\n",
    "a constexpr function without a mark": "constexpr int side() { return 16; }\n" + KERNEL.replace("* 16", "* side()"),
    "words of the host's headers": WORDS + KERNEL.replace("float sum = 0", "float sum = zero(K)"),
    "two heads of one function": KERNEL + "#ifdef WIDE\nvoid run(double *a) {\n#else\nvoid run(float *a) {\n#endif\n"
    "    std::cout << a;\n}\n",
    "a limit of registers, and functions of the C++ library that are constexpr": KERNEL.replace(
        "__global__ void", "__global__ __maxnreg__(128) void"
    ).replace("* 16", "* std::max(16, 4 * std::min(4, 8))"),
    "a type of the C++ library whose header is not included": "#include <vector>\n"
    + KERNEL.replace("float sum = 0", "std::size_t at = 0; float sum = at"),
    "only where nvcc reads it": '#ifndef __CUDACC__\n#error "not for this compiler"\n#endif\n#if __CUDA_ARCH__ >= 700\n'
    + KERNEL
    + "#endif\n",
    "another kernel of the same name": "__global__ void gemm(const float *A, float *C, int n) { C[0] = A[n]; }\n"
    + KERNEL.replace("int M, int N, int K", "const unsigned int M, int N = 1, unsigned K = 1"),
    "a declaration with the kernel's name": "__global__ void gemm(float *C, int n);\n" + KERNEL,
    "brackets in texts": 'const char *usage() { return "} main( {"; }\n' + KERNEL + 'int main() { puts("}"); }\n',
}


def kernel(tmp_path: Path, text: str, name: str = "mine.cu") -> Kernel:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MATTER + text)
    return load(path)


def both_compilers(mine: Kernel) -> None:
    job = launch(mine, Problem(20, 18, 7))
    recording = record(job)
    assert (recording.wrong, recording.notes) == (0, ())
    if nvrtc_alone.library() is not None:
        for architecture in ("sm_80", "sm_90"):
            assert nvrtc_alone.errors(job, architecture) == ""


@pytest.mark.sweep("host headers*", "macros of the host", "words of*")
@pytest.mark.parametrize("form", FORMS)
def test_host_code_stops_no_compile(form: str, tmp_path: Path) -> None:
    both_compilers(kernel(tmp_path, FORMS[form]))


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
def test_nvrtc_refuses_what_is_wrong(tmp_path: Path) -> None:
    job = launch(kernel(tmp_path, KERNEL.replace("float sum", "flaot sum")), Problem.cube(16))
    assert "mine.cu(11): error" in nvrtc_alone.errors(job, "sm_80")


def test_only_what_the_chosen_kernel_needs_is_compiled(tmp_path: Path) -> None:
    other = 'struct handle_t { int x; };\n__global__ void second(not_a_type *p) { asm("nonsense"); }\n'
    both_compilers(kernel(tmp_path, other + KERNEL))


def test_headers_of_the_same_repository_are_found_and_filtered(tmp_path: Path) -> None:
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "repository/include/parts").mkdir(parents=True)
    (tmp_path / "repository/include/parts/tile.h").write_text(
        '#pragma once\n#include <iostream>\n#include "more.h"\nvoid show(std::ostream &);\n#define TILE EDGE\n'
    )
    (tmp_path / "repository/include/parts/more.h").write_text(
        "#ifndef MORE\n#define MORE\nenum { EDGE = 16 };\n#endif\n"
    )
    text = '#include "parts/tile.h"\n#include <parts/tile.h>\n' + KERNEL.replace("* 16", "* TILE")
    mine = kernel(tmp_path, text, "repository/src/deep/mine.cu")
    both_compilers(mine)
    lines = mine.text.split("\n")
    recording = record(launch(mine, Problem(20, 18, 7)))
    assert {lines[site.line - 1].split()[0] for site in recording.sites} == {"for", "C[row"}


def test_further_folders_are_named_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/tile.cuh").write_text("#define TILE 16\n")
    mine = kernel(tmp_path, '#include "tile.cuh"\n' + KERNEL.replace("* 16", "* TILE"), "a/b/c/d/e/mine.cu")
    assert "TILE 16" not in source_of_device(launch(mine, Problem.cube(16)))
    monkeypatch.setenv("GEMMVIZ_INCLUDE", str(tmp_path / "elsewhere"))
    both_compilers(mine)


def test_a_header_has_the_words_of_the_file_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text(
        '#include <iostream>\ntypedef float number;\nstatic const int side = 16;\n#include "parts/kernel.cuh"\n'
        "int main() { std::cout << 1; }\n"
    )
    text = KERNEL.replace("* 16", "* side").replace("float sum", "number sum")
    both_compilers(kernel(tmp_path, "#pragma once\n" + text, "parts/kernel.cuh"))


def test_a_header_that_a_second_header_of_its_program_includes_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text(
        '#include "parts/table.cuh"\n#include "parts/kernel.cuh"\nint main() { return 0; }\n'
    )
    text = "#pragma once\nnamespace tile { constexpr int SIDE = 16; }\nusing tile::SIDE;\n" + KERNEL.replace(
        "* 16", "* SIDE"
    )
    mine = kernel(tmp_path, text, "parts/kernel.cuh")
    (tmp_path / "parts/table.cuh").write_text('#pragma once\n#include "kernel.cuh"\n')
    both_compilers(mine)


def test_traits_of_types_need_no_header(tmp_path: Path) -> None:
    number = "std::conditional_t<std::is_same_v<int, float>, double, float> sum"
    both_compilers(kernel(tmp_path, KERNEL.replace("float sum", number)))


@pytest.mark.sweep(".cuh")
@pytest.mark.parametrize("suffix", [".cuh", ".h", ".hpp"])
def test_a_kernel_in_a_header_opens(suffix: str, tmp_path: Path) -> None:
    mine = kernel(tmp_path, KERNEL, f"mine{suffix}")
    assert mine.backend == "cuda"
    both_compilers(mine)


@pytest.mark.sweep("constexpr*")
@pytest.mark.parametrize(
    "declared",
    [
        "extern __shared__ float tile[][SIDE];",
        "extern __shared__ __align__(16) float tile[][16];",
        "constexpr int wide = SIDE;\n    extern __shared__ float tile[][wide];",
    ],
)
def test_dynamic_shared_memory_of_two_dimensions(declared: str, tmp_path: Path) -> None:
    text = f"""#define SIDE 16
namespace mine {{
template <class T> __global__ void gemm(const T *A, const T *B, T *C, int M, int N, int K)
{{
    {declared}
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    T sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {{
        tile[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0;
        tile[16 + threadIdx.y][threadIdx.x] = col < N && k0 + threadIdx.y < K ? B[(k0 + threadIdx.y) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += tile[threadIdx.y][k] * tile[16 + k][threadIdx.x];
        __syncthreads();
    }}
    if (row < M && col < N) C[row * N + col] = sum;
}}
}}
"""
    path = tmp_path / "mine.cu"
    matter = MATTER.replace('"gemm"', '"mine::gemm<float>"').replace("// ---\n", '// shared = "2048"\n// ---\n')
    path.write_text(matter + text)
    mine = load(path)
    both_compilers(mine)
    recording = record(launch(mine, Problem(20, 18, 7)))
    assert [(a.name, a.shape, a.dtype) for a in recording.arrays[3:]] == [("tile", (32, 16), "float32")]


def test_a_guess_of_a_program_compiles_for_the_gpu() -> None:
    program = (
        "#include <cstdio>\n"
        + KERNEL
        + "void run(float *a, float *b, float *c, int M, int N, int K) {\n"
        + "    gemm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, N, K);\n}\n"
    )
    both_compilers(guessed_kernel(guess(program, Path("program.cu"))))


def test_a_c_file_finds_its_header_in_a_usual_folder(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sums.h").write_text("static inline float times(float a, float b) { return a * b; }\n")
    path = tmp_path / "mine.c"
    path.write_text(
        """#include "sums.h"
void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            C[i * N + j] = 0;
            for (int k = 0; k < K; k++) C[i * N + j] += times(A[i * K + k], B[k * N + j]);
        }
}
"""
    )
    recording = record(launch(guessed_kernel(guess(path.read_text(), path)), Problem(4, 5, 6)))
    assert (recording.wrong, recording.notes) == (0, ())
