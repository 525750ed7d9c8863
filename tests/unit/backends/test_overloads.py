"""The type of a kernel whose name other functions have, too: read in its head."""

from pathlib import Path

import pytest

from gemmviz.backends.overloads import typed_address_of
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

FRONT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "N"]
// block = [8, 8]
// grid = [1]
// dtype = "uint8"
// requires = ["M == N", "K == N"]
// ---
"""
OTHERS = """
template <class T> __global__ void gemm(T *A, T *B, T *C, int n) {}
__global__ void gemm(float *A, float *B, float *C) {}
int gemm(int a, int b, int c, int d);
"""


@pytest.mark.parametrize(
    ("parameters", "types"),
    [
        (
            "const unsigned char *__restrict__ a, unsigned char const *const b, int c[], const unsigned n = 3",
            "const unsigned char *, unsigned char const * const, int *, const unsigned",
        ),
        (
            "const std::uint8_t *a, const uchar4 * b, mine::Pair<int, 2> *c, unsigned long long n",
            "const std :: uint8_t *, const uchar4 *, mine :: Pair < int , 2 > *, unsigned long long",
        ),
    ],
)
def test_the_type_of_the_kernel_with_these_arguments_stands_before_its_name(parameters: str, types: str) -> None:
    text = f"{FRONT}{OTHERS}__global__ __launch_bounds__(64) void gemm({parameters})\n{{\n    c[0] = n;\n}}\n"
    found = typed_address_of(launch(parse(text, Path("mine.cu")), Problem(8, 8, 8)))
    assert found.replace(" ", "") == f"(void (*)({types}))gemm".replace(" ", "")


def test_two_kernels_with_as_many_parameters_have_no_one_type() -> None:
    text = f"{FRONT}{OTHERS}__global__ void gemm(char *A, char *B, int *C, int n) {{}}\n"
    text += "__global__ void gemm(unsigned char *A, unsigned char *B, int *C, int n) {}\n"
    assert typed_address_of(launch(parse(text, Path("mine.cu")), Problem(8, 8, 8))) == ""


@pytest.mark.parametrize(
    ("head", "entry", "types"),
    [
        ("template <class T, class U>", "gemm<float, double>", "const float *, float *, double *, int"),
        ("template <int TILE, class T, class U>", "gemm<16, float, double>", "const float *, float *, double *, int"),
        ("template <class T, class U = double>", "gemm<float>", ""),
    ],
)
def test_of_two_templates_the_number_of_arguments_tells_which(head: str, entry: str, types: str) -> None:
    text = FRONT.replace('"gemm"', f'"{entry}"') + f"{head} __global__ void gemm(const T *a, T *b, U *c, int n) {{}}\n"
    text += f"{head} __global__ void gemm(const T *a, T *b, U *c, int m, int n, int k) {{}}\n"
    found = typed_address_of(launch(parse(text, Path("mine.cu")), Problem(8, 8, 8)))
    assert found.replace(" ", "") == (f"(void (*)({types})){entry}".replace(" ", "") if types else "")
