"""Templates whose argument is a template with arguments, types that a structure names, explicit instantiations."""

from pathlib import Path

import pytest
from test_guess_false_alarms import settled

from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.element_types import ELEMENTS
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.hindrances import needed
from gemmviz.catalogue.guessing.tokens import split_arguments

TRAITS = """template <typename Number, int Side> struct Traits {
    using Element = Number;
    static constexpr int tile = Side, depth = Side / 2;
};
template <typename T>
__global__ void gemm(const typename T::Element *A, typename T::Element const *B, typename T::Element *C,
                     int M, int N, int K)
{
    __shared__ typename T::Element a[T::tile][T::depth];
    int row = blockIdx.y * T::tile + threadIdx.y, col = blockIdx.x * T::tile + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += T::depth) {
        if (threadIdx.x < T::depth) a[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < T::depth; k++) sum += (float)a[threadIdx.y][k] * (float)B[(k0 + k) * N + col];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
"""
HOST = """template <typename E> void run(const E *A, const E *B, E *C, int M, int N, int K)
{
    dim3 block(8, 8), grid(N / 8, M / 8);
    gemm<ARGUMENT><<<grid, block>>>(A, B, C, M, N, K);
}
"""
PLAN = """template <int Rows, int Columns> struct Shape { static constexpr int rows = Rows, columns = Columns; };
template <class Block, int Depth> struct Plan {
    static constexpr int rows = Block::rows, columns = Block::columns, depth = Block::rows / Depth;
};
template <typename P> __global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * P::rows + threadIdx.x / P::columns, col = blockIdx.x * P::columns + threadIdx.x % P::columns;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += P::depth)
        for (int k = 0; k < P::depth; k++) sum += A[row * K + k0 + k] * B[(k0 + k) * N + col];
    C[row * N + col] = sum;
}
void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    gemm<Plan<Shape<8, 16>, 2> > <<<dim3(N / 16, M / 8), 128>>>(A, B, C, M, N, K);
}
"""
INSTANTIATED = """template <const int ROWS, const int COLUMNS, const int DEPTH>
__global__ void gemm(float *A, float *B, float *C, int M, int N, int K)
{
    __shared__ float a[ROWS * 2][DEPTH];
    int row = blockIdx.y * ROWS * 2 + threadIdx.y, col = blockIdx.x * COLUMNS + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        if (threadIdx.x < DEPTH) a[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) sum += a[threadIdx.y][k] * B[(k0 + k) * N + col];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
template __global__ void gemm<4, 16, 2>(float *A, float *B, float *C, int M, int N, int K);
"""


@pytest.mark.parametrize(
    ("argument", "dtype"),
    [("Traits<float, 8>", "float32"), ("Traits<double, 8>", "float64"), ("Traits<half, 8>", "float16")],
)
def test_a_launch_may_have_a_template_with_arguments_as_its_argument(argument: str, dtype: str) -> None:
    text = "#include <cuda_fp16.h>\n" + TRAITS + HOST.replace("ARGUMENT", argument)
    made = settled(text)
    assert made.right, made.settled
    assert (made.entry, made.dtype, made.block) == (f"gemm<{argument}>", dtype, ("8", "8"))
    assert made.grid == ("floor(N / 8)", "floor(M / 8)")
    assert {"M % 8 == 0", "N % 8 == 0", "K % 4 == 0"} == {*made.requires}


def test_a_constant_of_an_inner_template_is_read() -> None:
    """The depth has the rows of the inner structure in it, and the outer one has a constant of the same name."""
    made = settled(PLAN)
    assert made.right, made.settled
    assert made.entry == "gemm<Plan<Shape<8, 16>, 2>>"
    assert {"M % 8 == 0", "N % 16 == 0", "K % 4 == 0"} == {*made.requires}


def test_a_type_that_no_structure_names_is_undecided() -> None:
    """Then C may be right with another type: such a kernel is not called wrong."""
    text = (TRAITS + HOST).replace("using Element = Number;", "").replace("ARGUMENT", "Traits<float, 8>")
    assert ELEMENTS in guess(text, Path("mine.cu")).why
    text = (TRAITS + HOST).replace("ARGUMENT", "Traits<float, 8>")
    assert ELEMENTS not in guess(text, Path("mine.cu")).why


def test_the_values_of_an_explicit_instantiation_are_taken() -> None:
    made = settled(INSTANTIATED)
    assert made.right, made.settled
    assert made.params == {"ROWS": (4,), "COLUMNS": (16,), "DEPTH": (2,)}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Tile < 8 , 4 > , 2", ["Tile < 8 , 4 >", "2"]),
        ("2 , Tile < Shape < 8 , 4 >>", ["2", "Tile < Shape < 8 , 4 >>"]),
        ("a < b , 2", ["a < b", "2"]),
        ("", []),
    ],
)
def test_the_commas_of_inner_arguments_do_not_divide(text: str, parts: list[str]) -> None:
    assert [" ".join(part) for part in split_arguments(text.split())] == parts


def test_the_names_of_types_in_the_launching_file_are_spelled_out() -> None:
    header = """
namespace mine {
template <int n> struct Side { static constexpr int value = n; };
template <typename T> struct Work { using Inner = T; static constexpr int side = T::value; };
template <typename W> __global__ void gemm(const float *A, const float *B, float *C)
{
    int i = blockIdx.y * W::side + threadIdx.y, j = blockIdx.x * W::side + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += A[i * 64 + k] * B[k * 64 + j];
    C[i * 64 + j] = sum;
}
}
"""
    launch = (
        '#include "mine.cuh"\nusing namespace mine;\nDECLARED\nusing All = Work<{}>;\n'
        "TEST(Gemm, Right) {{\n float *A, *B, *C;\n gemm<All>\n<<<dim3(4, 4), dim3(16, 16)>>>(A, B, C);\n}}\n"
    )
    text = launch.format("Mine")
    around = Surroundings(others=(text.replace("DECLARED", "using Mine = Side<16>;"),))
    assert guess(header, Path("mine.cuh"), around=around).entry == "mine::gemm<mine::Work<mine::Side<16>>>"
    around = Surroundings(others=(text.replace("DECLARED", '#include "nowhere.h"'),))
    assert "only another file declares Mine" in needed(guess(header, Path("mine.cuh"), around=around))
    around = Surroundings(others=(launch.format("Side<16>").replace("DECLARED", ""),))
    assert "only another file" not in needed(guess(header, Path("mine.cuh"), around=around))


def test_a_parameter_of_a_helper_is_no_parameter_of_the_kernel() -> None:
    text = """template <int LW> __device__ float part(const float *a) { return a[LW - 1]; }
__global__ void gemm(const float *A, const float *B, float *C, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; ++k) s += part<1>(A + i * N + k) * B[k * N + j];
    constexpr auto of = [](auto LW) { return LW; };
    C[i * N + j] = s;
}
"""
    assert guess(text, Path("mine.cu")).params == {}
