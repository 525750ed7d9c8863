"""Guesses of kernels that are templates over the element type."""

import re
from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing.element_types import ELEMENTS
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.struct_types import structs
from gemmviz.catalogue.guessing.tokens import numbered
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

OF_ANY = """template <typename T, int TILE>
__global__ void product(const T *A, const T *B, T *C, int M, int N, int K)
{
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    if (row >= M || col >= N) return;
    T sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def run(kind: str) -> str:
    return f"""void run_{kind}({kind} *A, {kind} *B, {kind} *C, int M, int N, int K) {{
    product<{kind}, 8><<<dim3((N + 7) / 8, (M + 7) / 8), dim3(8, 8)>>>(A, B, C, M, N, K);
}}
"""


@pytest.mark.parametrize(
    ("kinds", "entry", "dtype"),
    [
        (["double"], "product<double, TILE>", "float64"),
        (["int"], "product<int, TILE>", "int32"),
        (["long"], "product<long, TILE>", "int64"),
        (["int64_t"], "product<int64_t, TILE>", "int64"),
        (["double", "float"], "product<float, TILE>", "float32"),
        ([], "product<float, TILE>", "float32"),
    ],
)
def test_a_template_has_the_type_that_the_host_code_launches_it_with(kinds: list[str], entry: str, dtype: str) -> None:
    made = guess(OF_ANY + "".join(map(run, kinds)), Path("mine.cu"))
    assert (made.entry, made.dtype) == (entry, dtype)
    assert record(launch(guessed_kernel(made), Problem(9, 17, 5))).wrong == 0


def test_a_default_of_the_template_counts_where_nothing_launches_it() -> None:
    made = guess(OF_ANY.replace("typename T", "typename T = double"), Path("mine.cu"))
    assert (made.entry, made.dtype) == ("product<double, TILE>", "float64")


@pytest.mark.parametrize(("asked", "dtype"), [("ifndef", "float32"), ("ifdef", "float64")])
def test_a_macro_that_is_defined_in_two_branches_has_the_value_that_is_compiled(asked: str, dtype: str) -> None:
    text = f"#{asked} USE_DOUBLE\n#define REAL float\n#else\n#define REAL double\n#endif\n"
    text += OF_ANY.replace("template <typename T, int TILE>\n", "").replace("TILE", "8")
    assert guess(re.sub(r"\bT\b", "REAL", text), Path("mine.cu")).dtype == dtype


INSTANTIATED = """template <typename T>
__global__ void product(const T *A, const T *B, T *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    T sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
template <typename T>
void run(const T *A, const T *B, T *C, int M, int N, int K) {
    product<T><<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
"""


@pytest.mark.parametrize(
    "line",
    [
        "template void run<double>(const double *, const double *, double *, int, int, int);",
        "template __global__ void product<double>(const double *, const double *, double *, int, int, int);",
    ],
)
def test_an_explicit_instantiation_says_which_type_the_elements_have(line: str) -> None:
    assert ELEMENTS in guess(INSTANTIATED, Path("mine.cu")).why
    made = guess(INSTANTIATED + line, Path("mine.cu"))
    assert (made.entry, made.dtype) == ("product<double>", "float64")
    assert ELEMENTS not in made.why


@pytest.mark.parametrize(
    ("byte", "dtype"),
    [("unsigned char", "uint8"), ("char", "int8"), ("signed char", "int8"), ("const uint8_t", "uint8")],
)
def test_a_byte_has_a_sign_where_it_is_declared_with_one(byte: str, dtype: str) -> None:
    text = f"""__global__ void product({byte} *A, {byte} *B, int *C, unsigned int M, unsigned N, int K)
{{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x, sum = 0;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}}
"""
    matter = re.sub(" +", " ", guess(text, Path("product.cu"), "product").front_matter())
    assert f'dtype = "{dtype}"' in matter and 'args = ["A", "B", "C", "M", "N", "K"]' in matter


def test_the_layout_of_a_fragment_is_the_one_that_the_host_code_gives() -> None:
    text = """template <typename T, typename LAYOUT>
__global__ void product(const T *A, const T *B, float *C, int M, int N, int K)
{
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, T, LAYOUT> a;
    C[blockIdx.y * N + threadIdx.x] = A[0] * B[0];
}
void run(half *A, half *B, float *C, int M, int N, int K) {
    product<half, nvcuda::wmma::col_major><<<dim3(N / 32, M), 32>>>(A, B, C, M, N, K);
}
"""
    assert guess(text, Path("mine.cu")).entry == "product<half, nvcuda::wmma::col_major>"


def test_a_template_is_right_for_each_type_that_its_file_compiles_it_for() -> None:
    text = OF_ANY.replace("template <typename T, int TILE>", "template <typename T>").replace("TILE", "8")
    compiled = "template __global__ void product(const T *, const T *, T *, int, int, int);\n"
    made = guess(text + "".join(compiled.replace("T ", f"{kind} ") for kind in ("double", "float")), Path("mine.cu"))
    assert (made.entry, made.dtype) == ("product<float>", "float32")
    assert ELEMENTS not in made.why


POLICY = """template <typename Policy>
void __launch_bounds__(Policy::most) __global__ product(
    int M, int N, int K, typename Policy::element *A, typename Policy::element *B, typename Policy::element *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    typename Policy::element sum = 0;
    for (int k = 0; k < K; k++) sum += Policy::times(A[row * K + k], B[k * N + col]);
    C[row * N + col] = sum;
}
template <typename Policy>
void run(int M, int N, int K, typename Policy::element *A, typename Policy::element *B, typename Policy::element *C) {
    dim3 block(Policy::side, Policy::side);
    product<Policy> << <dim3((N + block.x - 1) / block.x, (M + block.y - 1) / block.y), block >> >(M, N, K, A, B, C);
}
"""
POLICIES = """template <typename Of> struct Policy {
    static constexpr int side = 32, most = 1024;
    using element = float;
};
struct Doubles : public Policy<Doubles> {
    static constexpr int side = 8;
    using element = double;
    __device__ static element times(element a, element b) { return a * b; }
};
"""


def test_a_policy_is_the_one_that_a_table_of_another_file_names(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "policies.h").write_text(POLICIES.replace("using element = float;\n", ""))
    (tmp_path / "table.cuh").write_text("inline std::vector<Entry> all() { return {Entry{run<Doubles>}}; }\n")
    text = f'#include "policies.h"\n{POLICY}'
    path = tmp_path / "product.cuh"
    path.write_text(text)
    made = guess(text, path, None, surroundings(path, text))
    assert (made.entry, made.dtype) == ("product<Doubles>", "float64")
    assert (made.block, made.grid) == (("8", "8"), ("ceil(N / 8)", "ceil(M / 8)"))
    kernel = guessed_kernel(made)
    assert record(launch(kernel, Problem(9, 17, 5))).wrong == 0


def test_a_structure_has_the_constants_of_those_that_it_is_derived_from() -> None:
    found = structs(
        numbered(POLICIES + "struct More : Doubles, private Policy<int> { static const int deep = 4; };")[0]
    )
    assert found["Doubles"].members == {"side": ("8",), "most": ("1024",)}
    assert found["More"].members["deep"] == ("4",)


@pytest.mark.parametrize("kind", ["long long", "unsigned long long", "unsigned long", "uint64_t"])
def test_whole_numbers_of_64_bits_are_recorded_with_their_values_in_shared_memory(kind: str) -> None:
    text = f"""using Whole = {kind};
__global__ void product(const Whole *A, const Whole *B, Whole *C, int M, int N, int K)
{{
    __shared__ Whole row[8][8];
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    Whole sum = 0;
    for (int k = 0; k < K; ++k) {{
        if (threadIdx.x == 0) row[threadIdx.y][k % 8] = A[i * K + k];
        __syncthreads();
        sum += row[threadIdx.y][k % 8] * B[k * N + j];
        __syncthreads();
    }}
    C[i * N + j] = sum;
}}
void run(Whole *A, Whole *B, Whole *C, int M, int N, int K) {{
    product<<<dim3(N / 8, M / 8), dim3(8, 8)>>>(A, B, C, M, N, K);
}}
"""
    made = guess(text, Path("mine.cu"))
    assert made.dtype == "int64"
    recording = record(launch(guessed_kernel(made), Problem(16, 8, 8)))
    assert recording.wrong == 0
    shared = next(at for at, one in enumerate(recording.arrays) if one.name == "row")
    values = recording.accesses.value[recording.accesses.array == shared]
    assert set(values.tolist()) <= {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0}


@pytest.mark.parametrize(
    ("kind", "named", "dtype"),
    [("uint16_t", "bf16", "bfloat16"), ("unsigned short", "__half", "float16"), ("uint16_t", "bits", "float16")],
)
def test_whole_numbers_of_16_bits_are_the_bits_of_other_numbers(kind: str, named: str, dtype: str) -> None:
    text = OF_ANY.replace("template <typename T, int TILE>", f"// of half\nstruct {named};").replace("TILE", "8")
    assert guess(re.sub(r"\bT\b", kind, text), Path("mine.cu")).dtype == dtype


def test_a_type_that_a_build_may_choose_is_no_number() -> None:
    text = """#include <cuda_fp16.h>
#ifndef ELEMENT
#define ELEMENT half
#endif
template <class T> __device__ void part(const T *A, const T *B, T *C, int N) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += float(A[row * N + k]) * float(B[k * N + column]);
    C[row * N + column] = T(sum);
}
__global__ void gemm(const ELEMENT *A, const ELEMENT *B, ELEMENT *C, int N) { part<ELEMENT>(A, B, C, N); }
"""
    made = guess(text, Path("mine.cu"))
    assert not made.params and made.dtype == "float16" and made.block == ("16", "16")
