"""Guesses of kernels whose matrices are structures with a template's type and with functions."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

VIEW = """template <typename T>
struct View {
    T *data;
    int rows, cols;
    __host__ __device__ T &operator()(int r, int c) const { return data[r * cols + c]; }
    __host__ __device__ int count() const { return rows * cols; }
};
__global__ void product(View<const float> A, View<const float> B, View<float> C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= C.rows || col >= C.cols) return;
    float sum = 0;
    for (int k = 0; k < A.cols; ++k) sum += A(row, k) * B(k, col);
    C(row, col) = sum;
}
void run(const float *a, const float *b, float *c, int m, int n, int k)
{
    View<const float> A{a, m, k}, B{b, k, n};
    View<float> C{c, m, n};
    product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(A, B, C);
}
"""
NAMED = VIEW.replace("operator()(", "at(").replace("A(row, k) * B(k, col)", "A.at(row, k) * B.at(k, col)")
NAMED = NAMED.replace("C(row, col) =", "C.at(row, col) =")
SETTERS = """#define PLACE(r, c, ld) ((r) * (ld) + (c))
struct Matrix {
    float *values = nullptr;
    int rows, cols;
    int ld;
    __host__ __device__ Matrix() {}
    __host__ __device__ Matrix(int rows, int cols, int ld, float *p) : rows(rows), cols(cols), ld(ld), values(p) {}
    __device__ float get(const int r, const int c) const { return values[PLACE(r, c, ld)]; }
    __device__ void set(const int r, const int c, const float v) { values[PLACE(r, c, ld)] = v; }
};
__global__ void product(const Matrix A, const Matrix B, Matrix C, const float alpha, const float beta)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
    float value = 0;
    for (int k = 0; k < A.cols; ++k) value += A.get(r, k) * B.get(k, c);
    C.set(r, c, alpha * value + beta * C.get(r, c));
}
void run(int m, int n, int k, float *a, float *b, float *c)
{
    const Matrix A(m, k, k, a), B(k, n, n, b);
    Matrix C(m, n, n, c);
    product<<<dim3(m / 16, n / 16), dim3(16, 16)>>>(A, B, C, 1, 0);
}
"""
RUNNER = "struct Runner {\n    float *kept;\n    void go(int n) { product<<<n / 8, 8>>>(kept, kept, kept, n); }\n};\n"


@pytest.mark.parametrize("text", [VIEW, NAMED])
def test_elements_that_a_function_of_the_structure_returns(text: str) -> None:
    made = guess(text, Path("product.cu"))
    assert made.roles == ("A", "M", "K", "B", "K", "N", "C", "M", "N")
    assert record(launch(guessed_kernel(made), Problem(20, 36, 9))).wrong == 0


def test_the_members_stand_as_the_constructor_takes_them() -> None:
    made = guess(SETTERS, Path("product.cu"))
    assert made.roles == ("M", "K", "lda", "A", "K", "N", "ldb", "B", "M", "N", "ldc", "C", "alpha", "beta")
    assert made.grid == ("floor(M / 16)", "floor(N / 16)")  # m and n of run() stand for the sizes
    assert record(launch(guessed_kernel(made), Problem(32, 48, 9))).wrong == 0


def test_a_structure_that_no_kernel_takes_keeps_its_functions() -> None:
    kernel = """__global__ void product(float *A, float *B, float *C, int n) {
        int i = blockIdx.x * 8 + threadIdx.x;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += A[i * n + k] * B[k * n + j];
            C[i * n + j] = s;
        }
    }
    """
    assert guess(kernel + RUNNER, Path("product.cu")).why["block"].confidence > 0.9


TURNED = """struct Matrix { int width, height, stride; float *elements; };
__global__ void product(Matrix A, Matrix B, Matrix C)
{
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < A.height; k++) sum += A.elements[row * A.stride + k] * B.elements[k * B.stride + column];
    C.elements[row * C.stride + column] = sum;
}
"""


def test_a_width_may_count_rows() -> None:
    made = guess(TURNED, Path("product.cu"))
    assert made.roles == ("M", "K", "lda", "A", "K", "N", "ldb", "B", "M", "N", "ldc", "C")
    usual = guess(TURNED.replace("A.height", "A.width"), Path("product.cu"))
    assert usual.roles == ("K", "M", "lda", "A", "N", "K", "ldb", "B", "N", "M", "ldc", "C")
