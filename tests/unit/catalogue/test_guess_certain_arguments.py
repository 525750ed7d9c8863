"""An argument that a kernel does not use, and one constant for all sizes, leave nothing open in a file's launch."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.certainty import is_given, is_known, is_whole
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel

SPARE = """__global__ void gemm(const float *A, const float *B, float *C, float *D, int M, int N, int K) {
    // C is not added: A * B only
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    D[row * N + column] = sum;
}
void run(float *a, float *b, float *c, float *d, int M, int N, int K) {
    gemm<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(a, b, c, d, M, N, K);
}
"""
SQUARE = """#define N 4096
__global__ void gemm(const float *A, const float *B, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
}
int main() {
    gemm<<<dim3(N / 16, GRID), dim3(16, 16)>>>(a, b, c);
}
"""


def test_an_argument_that_is_not_used_is_known() -> None:
    made = guess(SPARE, Path("mine.cu"))
    assert made.roles[2:4] == ("0", "C") and is_whole(made) and is_given(made)


def test_a_number_that_is_used_is_not() -> None:
    text = SPARE.replace("float *D, int M", "float *D, int mode, int M").replace("c, d, M, N", "c, d, 0, M, N")
    made = guess(text.replace("float sum = 0;", "float sum = mode;"), Path("mine.cu"))
    assert not is_known(made)


def test_one_constant_for_both_sides_of_the_grid_is_known() -> None:
    made = guess(SQUARE.replace("GRID", "N / 16"), Path("mine.cu"))
    assert made.constants == {"N": "N"} and is_known(made)


def test_it_is_not_where_the_grid_has_it_once() -> None:
    assert not is_known(guess(SQUARE.replace("GRID", "8"), Path("mine.cu")))


def test_a_scalar_before_alpha_and_beta_leaves_them_their_roles() -> None:
    text = """__global__ void gemm(float other, float alpha, float beta, const float *A, const float *B, float *C,
                                   int N) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = alpha * sum + beta * C[row * N + column] + other;
}
"""
    assert guess(text, Path("mine.cu")).roles[:3] == ("", "alpha", "beta")
    assert guess(text.replace("beta, const", "const").replace("beta * C[row * N + column] + ", ""), Path("a.cu")).roles[
        :2
    ] == ("0", "alpha")


def test_a_file_for_a_macro_that_is_called_like_a_role_is_described() -> None:
    made = guess(f"#ifdef GPU\n{SPARE}#endif\n", Path("mine.cu"))
    assert made.params == {"GPU": (1,)} and guessed_kernel(made).params == {"GPU": (1,)}


def test_a_number_of_the_gpu_is_not_a_parameter_too() -> None:
    made = replace(guess(f"#ifdef GPU\n{SPARE}#endif\n", Path("mine.cu")), roles=("A", "B", "GPU", "C", "M", "N", "K"))
    with pytest.raises(FrontMatterError, match="choose another name"):
        guessed_kernel(made)


def test_sums_of_floats_are_so_beside_matrices_of_doubles() -> None:
    text = SPARE.replace("const float *", "const double *").replace("float *", "double *")
    made = guess(text, Path("mine.cu"))
    assert (made.dtype, made.accumulate, made.stores) == ("float64", "float32", "float64")
    assert guess(text.replace("float sum", "double sum"), Path("mine.cu")).accumulate == "float64"
