"""Whole programs: what only the host needs is left out, and every line keeps its number."""

from pathlib import Path

import pytest

from gemmviz.catalogue.cxx_standard import cxx_standard
from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

KERNEL = """namespace mine {
template <class T> struct pair { T a, b; T sum() const { return a + b; } };
constexpr int side(int n) { return n > 1 ? 16 : 1; }
__host__ __device__ inline float twice(float x) { return x + x; }
__global__ void gemm(float *A, float *B, float *C, int n)
{
    int row = blockIdx.y * side(2) + threadIdx.y, col = blockIdx.x * side(2) + threadIdx.x;
    if (row >= n || col >= n) return;
    pair<float> p = {0, 0};
    for (int k = 0; k < n; k++) p.a += twice(A[row * n + k]) * B[k * n + col];
    C[row * n + col] = p.sum() / 2;
}
}
"""
PROGRAM = (
    "#include <iostream>\n#include <vector>\n#include <cuda_runtime.h>\n"
    + KERNEL
    + """
static void check(cudaError_t error) { if (error) std::cerr << "} main(" << error; } /* { */
extern "C" {
void run(float *a, float *b, float *c, int n)
{
    std::vector<float> room(n);
    if (n) { mine::gemm<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n); }
    check(cudaGetLastError());
}
}
float half_of(float x) { return x / 2; }
int helper(int n) { run(0, 0, 0, n); return n; }
int main() { return helper(16); }
"""
)


def test_host_code_is_blank_and_device_code_is_as_it_was() -> None:
    code = device_code(PROGRAM)
    assert code.count("\n") == PROGRAM.count("\n")
    assert [len(line) for line in code.split("\n")] == [len(line) for line in PROGRAM.split("\n")]
    assert KERNEL in code
    rest = code.replace(KERNEL, "")
    assert [word for word in rest.split() if not word.startswith(("/*", "*/", "{", "}"))] == ["extern", '"C"']


@pytest.mark.sweep
@pytest.mark.parametrize("rung", [k for k in ladder() if k.backend == "cuda"], ids=lambda k: k.name)
def test_a_rung_has_no_host_code(rung) -> None:
    assert device_code(rung.text) == rung.text


def test_a_whole_program_is_recorded() -> None:
    kernel = guessed_kernel(guess(PROGRAM, Path("program.cu")))
    recording = record(launch(kernel, Problem.cube(24)))
    assert (recording.wrong, recording.notes) == (0, ())
    lines = recording.text.splitlines()
    assert {lines[site.line - 1].split()[0] for site in recording.sites} == {"for", "C[row"}


def test_a_kernel_that_uses_the_host_s_words_itself_is_left_alone() -> None:
    text = "__global__ void k(float *C) { cudaMalloc(&C, 16); }\n"
    assert device_code(text) == text


def test_functions_that_a_macro_makes_stay_although_their_names_stand_nowhere() -> None:
    text = (
        "#define MARK static __device__\n"
        "#define TWICE(type) MARK type twice_##type(type v) { return v + v; }\n"
        "#define ASK(type) void ask_##type(type v);\n"
        "TWICE(float)\nASK(float)\n"
        "__global__ void k(const float *A, float *C) { C[0] = twice_float(A[0]); }\n"
    )
    kept = device_code(text, "k")
    assert "\nTWICE(float)\n" in kept and "twice_float(A[0])" in kept


def test_a_missing_include_inside_of_a_body_stays_for_the_compiler_to_name() -> None:
    text = """#include "host.h"
__global__ void gemm(float *C)
{
#include "steps.inc"
}
void host()
{
#include "host.inc"
}
"""
    kept = device_code(text, "gemm")
    assert '#include "steps.inc"' in kept
    assert "host.inc" not in kept
    assert "host.h" not in kept


def test_a_registration_by_a_macro_without_a_semicolon_is_left_out() -> None:
    text = """#define REGISTER(run) namespace { const bool known = add(Entry{run}); }
__global__ void gemm(float *C) { C[0] = 1; }
void launch() {}
REGISTER(launch)
"""
    kept = device_code(text, "gemm")
    assert "REGISTER(launch)" not in kept
    assert "C[0] = 1" in kept
    made = "#define KERNEL(name) __global__ void name(float *C) { C[0] = 1; }\nint one;\nKERNEL(gemm)\n"
    assert "KERNEL(gemm)" in device_code(made, "gemm")


def test_a_concept_of_the_host_is_left_out_and_one_of_the_kernel_stays() -> None:
    text = """template <class T> concept printable = std::is_floating_point_v<T> || std::is_same_v<T, __half>;
template <class T> concept number = sizeof(T) <= 8;
template <number T> __device__ T twice(T x) { return x + x; }
template <class T> __global__ void gemm(T *A, T *B, T *C, int n) { C[0] = twice(A[0] * B[0]); }
"""
    code = device_code(text, "gemm<float>")
    assert "printable" not in code
    assert "concept number" in code


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ("template <class T> concept number = sizeof(T) <= 8;", "c++20"),
        ("template <class T> requires (sizeof(T) == 4) __global__ void gemm(T *C) {}", "c++20"),
        ("auto copy = []<int N>(float *x) { x[N] = 0; };", "c++20"),
        ("int concept = 3; // template <class T> concept number = true;", "c++17"),
        ("shared[i]<limit; f<int>(x);", "c++17"),
    ],
)
def test_a_text_with_words_of_a_newer_standard_is_compiled_as_such(text: str, standard: str) -> None:
    assert cxx_standard(text) == standard


def test_another_name_of_a_namespace_stays_for_what_is_used_from_it() -> None:
    text = "namespace cores = nvcuda::wmma;\nusing cores::matrix_a;\n__global__ void gemm(float *C) { *C = 1; }\n"
    assert "namespace cores" in device_code(text, "gemm")


def test_a_name_from_a_namespace_is_left_out_with_what_it_names() -> None:
    constants = "namespace config {\ninline constexpr int SIDE = 16;\ninline constexpr int OTHER = 8;\n}\n"
    constants += "using config::SIDE;\nusing config::OTHER;\n"
    kernel = "__global__ void gemm(float *C) { C[threadIdx.x / SIDE] = 0; }\n"
    kept = device_code(constants + kernel, "gemm").splitlines()
    assert "using config::SIDE;" in kept
    assert "using config::OTHER;" not in kept
    assert any("SIDE = 16" in line for line in kept)


def test_using_declarations_of_the_standard_library_stay_only_where_device_code_uses_them() -> None:
    text = (
        "#include <ctime>\nusing std::time;\nusing std::max;\nint now() { return time(nullptr); }\n"
        "__global__ void k(int *c) { c[0] = max(c[1], 2); }\n"
    )
    code = device_code(text, "k")
    assert "using std::max;" in code and "time" not in code


def test_parts_of_the_library_that_kernels_do_not_have_are_left_out() -> None:
    headers = "#include <chrono>\n#include <stdbool.h>\nusing namespace std;\nusing namespace std::chrono;\n"
    text = headers + "__global__ void product(float *C) {}\n"
    code = device_code(text, "product")
    assert "using namespace std;" in code and "chrono" not in code and "stdbool" not in code


def test_code_of_the_host_is_left_out_of_the_second_branch_of_a_condition_too() -> None:
    """Its brackets match in each branch alone: a library names its space by a condition."""
    text = """
#ifdef TESTED
namespace tested {
#else
namespace library {
#endif
#ifdef QUIET
enum class Error { None };
#else
class Error : public std::runtime_error { using std::runtime_error::runtime_error; };
class Usage : public Error {};
#endif
}
#ifdef WIDE
constexpr int TILE = 32;
#else
constexpr int TILE = 16;
#endif
__global__ void gemm(float *c) { c[0] = TILE; }
"""
    code = device_code(text, "gemm")
    assert "runtime_error" not in code
    assert "Usage" not in code
    assert "TILE = 32" in code
    assert "TILE = 16" in code


def test_types_of_pointers_to_functions_are_left_out_with_the_host_s_types_that_they_name() -> None:
    """`void` stands before the bracket of such a type, and it is no name that kernels could need."""
    text = """
struct Context { float *A; };
struct Spec { std::string name; };
using Run = void (*)(const Context &, const Spec &);
typedef void (*Older)(const Context &, const Spec &);
typedef float (*Scaled)(float);
struct Config { int tile; Run run; };
__device__ float twice(float x) { return 2 * x; }
__global__ void gemm(float *c, Context host) { Scaled f = twice; c[0] = f(*host.A); }
"""
    code = device_code(text, "gemm")
    assert "Spec" not in code
    assert "struct Context" in code
    assert "(*Scaled)" in code


def test_a_class_with_member_functions_of_the_host_keeps_its_constants() -> None:
    text = """class Host { public: static const int side = 16; static void run(float *a); };
__global__ void gemm(float *A, float *B, float *C, int n) { C[0] = A[Host::side] * B[0]; }
void Host::run(float *a) { cudaMalloc(&a, 4); gemm<<<1, 1>>>(a, a, a, 1); }
"""
    code = device_code(text, "gemm")
    assert "class Host" in code and "cudaMalloc" not in code


@pytest.mark.parametrize("sides", ["= {16, 16, 1}", "(16, 16)", "{16, 16}", ""])
def test_the_sides_of_a_launch_outside_of_functions_are_the_hosts(sides: str) -> None:
    text = f"const int N = 64;\nconst dim3 block {sides};\nstatic dim3 grid = {{N / block.x, N}};\n"
    text += "__global__ void gemm(float *C, int x) { C[x] = N; }\n"
    kept = device_code(text, "gemm")
    assert "dim3" not in kept and "N = 64" in kept


@pytest.mark.parametrize("head", ["#include </home/somebody/project/helper.h>\n", "__managed__ float kept[16];\n"])
def test_paths_of_another_machine_and_managed_variables_do_not_stop_a_recording(head: str) -> None:
    text = head + PROGRAM.replace("{ return x + x; }", "{ float *kept = &x; return x + *kept; }")
    assert record(launch(guessed_kernel(guess(text, Path("program.cu"))), Problem.cube(24))).wrong == 0


def test_a_value_in_braces_as_an_argument_of_a_template_is_no_body() -> None:
    text = (
        "template <int n, List<int, n> steps = List<int, n>{}> struct Tile { float values[n]; };\n"
        "template <int n> __device__ auto first(const Tile<n> &one) -> Tile<n, List<int, n>{}> { return one; }\n"
        "#include <torch/extension.h>\n"
        "__global__ void product(float *C) { C[0] = first(Tile<4>{}).values[0]; }\n"
    )
    code = device_code(text, "product")
    assert "struct Tile" in code and "return one;" in code and "torch" not in code


def test_a_library_is_named_by_words_that_begin_with_its_name() -> None:
    text = "#include <late/all.h>\n__global__ void product(float *C) {{ C[0] = {}(1); }}\n"
    assert "late" not in device_code(text.format("calculated"), "product").splitlines()[0]
    assert "late" in device_code(text.format("late_one"), "product").splitlines()[0]


ROUNDED = "__global__ void gemm(float *C, float n) { C[threadIdx.x] = std::ceil(n); }\n"


def test_a_function_of_std_gets_its_header_in_the_place_of_another_include() -> None:
    code = device_code("#include <iostream>\n" + ROUNDED)
    assert code.splitlines() == ["#include <cmath>   ", ROUNDED.strip()]
    assert "cmath" not in device_code("#include <iostream>\n" + ROUNDED.replace("std::", ""))
    assert device_code("#include <cmath>\n#include <iostream>\n" + ROUNDED).count("cmath") == 1


def test_its_header_does_not_depend_on_a_condition() -> None:
    begin = "#ifdef _WIN32\n#include <windows.h>\n#endif\n#include <map>\n#include <vector>\n"
    assert device_code(begin + ROUNDED).splitlines()[3:5] == [" " * 14, "#include <cmath> "]


@pytest.mark.parametrize("broken", ["call(more(n);", "call(n));", "int list[n = 3;"])
def test_a_bracket_too_few_in_host_code_does_not_hide_the_kernel(broken: str) -> None:
    code = device_code(f"void run(int n) {{\n    {broken}\n    std::vector<int> v(n);\n}}\n" + ROUNDED)
    assert code.strip() == ROUNDED.strip()
