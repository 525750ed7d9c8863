"""Guesses of kernels that take their matrices as structures, by value and by pointer."""

from pathlib import Path

import pytest

from gemmviz.backends.signature import scalar_types
from gemmviz.backends.struct_arguments import filling_source
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

TEXT = """typedef struct { int width; int height; float *elements; } Matrix;
__global__ void product(const Matrix A, const Matrix B, Matrix C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= C.height || col >= C.width) return;
    for (int k = 0; k < A.width; k++) sum += A.elements[row * A.width + k] * B.elements[k * B.width + col];
    C.elements[row * C.width + col] = sum;
}
void run(const Matrix A, const Matrix B, Matrix C)
{
    Matrix d_A, d_B, d_C;
    dim3 block(8, 4);
    dim3 grid((d_B.width + block.x - 1) / block.x, (d_A.height + block.y - 1) / block.y);
    product<<<grid, block>>>(d_A, d_B, d_C);
}
"""
POINTERS = TEXT.replace("const Matrix A, const Matrix B, Matrix C", "Matrix *A, Matrix *B, Matrix *C").replace(
    "d_A, d_B, d_C;", "*d_A, *d_B, *d_C;"
)
for _name in ("A.", "B.", "C."):
    POINTERS = POINTERS.replace(_name, _name[0] + "->")
SIZE = Problem(9, 10, 11)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (TEXT, '[["K", "M", "A"], ["N", "K", "B"], ["N", "M", "C"]]'),
        (POINTERS, '[["*", "K", "M", "A"], ["*", "N", "K", "B"], ["*", "N", "M", "C"]]'),
        (
            TEXT.replace("typedef struct", "struct Matrix")
            .replace("} Matrix;", "};")
            .replace("int width; int height;", "int height, width;"),
            '[["M", "K", "A"], ["K", "N", "B"], ["M", "N", "C"]]',
        ),
    ],
    ids=["value", "pointer", "other order"],
)
def test_members_of_a_matrix_have_roles(text: str, args: str) -> None:
    made = guess(text, Path("product.cu"))
    assert f"args    = {args}" in made.front_matter()
    assert (made.block, made.grid) == (("8", "4"), ("ceil(N / 8)", "ceil(M / 4)"))
    assert made.doubts == []
    recording = record(launch(guessed_kernel(made), SIZE))
    assert (recording.wrong, recording.diagnostics) == (0, ())


EVERYTHING = """struct Given { const float *A, *B; float *C; int M, N, K; float alpha; };
__global__ void product(Given p)
{
    const int M = p.M, N = p.N;
    int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    if (row >= M || col >= N) return;
    for (int k = 0; k < p.K; k++) sum += p.A[row * p.K + k] * p.B[k * N + col];
    p.C[row * N + col] = p.alpha * sum;
}
void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 block(8, 4), grid((N + 7) / 8, (M + 3) / 4);
    product<<<grid, block>>>(Given{A, B, C, M, N, K, 1.0f});
}
"""


def test_members_of_a_structure_with_everything_have_roles() -> None:
    made = guess(EVERYTHING, Path("product.cu"))
    assert 'args    = [["A", "B", "C", "M", "N", "K", "alpha"]]' in made.front_matter()
    recording = record(launch(guessed_kernel(made), SIZE))
    assert (made.doubts, recording.wrong, recording.diagnostics) == ([], 0, ())


def test_a_structure_with_more_than_numbers_and_pointers_is_not_read() -> None:
    made = guess(TEXT.replace("int height;", "int height; Shape shape;"), Path("product.cu"))
    assert made.structs == ()


def test_a_gpu_gets_the_pointer_too() -> None:
    job = launch(guessed_kernel(guess(POINTERS, Path("product.cu"))), SIZE)
    assert "gv_struct<gv_parameter<0, decltype(&product)>::gv_type>::gv_type gv_made" in filling_source(job)
    kernel, pointer = job.kernel, 1000
    answer = [3, pointer, pointer, pointer]
    assert scalar_types(answer, kernel.args, "product", kernel.structs, kernel.struct_pointers) == {}
    with pytest.raises(BuildError, match="is a pointer, but args says that it is a structure"):
        scalar_types(answer, kernel.args, "product", kernel.structs, (False,) * 3)
    with pytest.raises(BuildError, match="is no pointer, but args says that it points to a structure"):
        scalar_types([3, 16, 16, 16], kernel.args, "product", kernel.structs, kernel.struct_pointers)


SIZES = """struct Shape { int width, height; };
__global__ void product(const float *A, Shape a, const float *B, Shape b, float *C, Shape c)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= c.height || col >= c.width) return;
    for (int k = 0; k < a.width; k++) sum += A[row * a.width + k] * B[k * b.width + col];
    C[row * c.width + col] = sum;
}
"""


def test_sizes_in_structures_beside_the_matrices_have_roles() -> None:
    one = SIZES.replace("Shape a, ", "").replace("Shape b, ", "").replace("Shape c", "Shape s")
    one = one.replace("int width, height;", "int m, n, k;").replace("c.height", "s.m").replace("a.width", "s.k")
    for text, args in (
        (SIZES, '["A", ["K", "M"], "B", ["N", "K"], "C", ["N", "M"]]'),
        (one.replace("b.width", "s.n").replace("c.width", "s.n"), '["A", "B", "C", ["M", "N", "K"]]'),
    ):
        made = guess(text, Path("product.cu"))
        assert f"= {args}" in made.front_matter()
        assert record(launch(guessed_kernel(made), SIZE)).wrong == 0


FILLED = """struct Matrix { int width; int height; float *elements; };
__global__ void product(Matrix *A, Matrix *B, Matrix *C) {
    int row = threadIdx.y + blockIdx.y * blockDim.y, column = threadIdx.x + blockIdx.x * blockDim.x;
    float sum = 0;
    for (int i = 0; i < A->width; ++i) sum += A->elements[row * A->width + i] * B->elements[i * B->width + column];
    C->elements[row * C->width + column] = sum;
}
int main() {
    int across = 1 << 10, down = 1 << 10;
    Matrix *A, *B, *C;
    A->height = down; A->width = across; B->height = across; B->width = across; C->height = down; C->width = across;
    dim3 block(16, 8), grid((across + 15) / 16, (down + 7) / 8);
    product<<<grid, block>>>(A, B, C);
}
"""


def test_variables_that_the_members_of_c_get_are_its_sizes() -> None:
    made = guess(FILLED, Path("mine.cu"))
    assert (made.block, made.grid) == (("16", "8"), ("ceil(N / 16)", "ceil(M / 8)"))
