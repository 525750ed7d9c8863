"""Sizes that count products, or number the dimensions of a matrix, and launches in comments of several lines."""

from pathlib import Path

import pytest
from test_guess_false_alarms import settled

from gemmviz.catalogue.guessing.guess import guess

MANY = """__global__ void product(const float *A, const float *B, float *C, int BATCH, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    int one = blockIdx.z % BATCH;
    if (row >= N || column >= N) return;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[one * N * N + row * N + k] * B[one * N * N + k * N + column];
    C[one * N * N + row * N + column] = sum;
}
"""
ROWS = """__global__ void layer(const float *x, const float *w, float *y, int batch, int outputs, int inputs) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch || column >= outputs) return;
    float sum = 0;
    for (int k = 0; k < inputs; ++k) sum += x[row * inputs + k] * w[k * outputs + column];
    y[row * outputs + column] = sum;
}
"""
DIMENSIONS = """__global__ void product(const float *A, const float *B, float *C, SIZES) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, one = blockIdx.z;
    if (row >= ROWS || column >= COLUMNS) return;
    float sum = 0;
    for (int k = 0; k < SUM; ++k) sum += A[FIRST row * SUM + k] * B[k * COLUMNS + column];
    C[row * COLUMNS + column] = sum;
}
void run(const float *A, const float *B, float *C, int batches, int m, int n, int k) {
    dim3 grid((n + 15) / 16, (m + 15) / 16 BLOCKS), block(16, 16);
    if (batches > 0) product<<<grid, block>>>(A, B, C, batches, m, k, k, n);
    else product<<<grid, block>>>(A, B, C, m, k, k, n);
}
"""
BATCH = """__global__ void product(const float *A, const float *B, float *C, int M, int N, int K, STRIDES) {
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || column >= N BOUND) return;
    A += blockIdx.z * strideA, B += blockIdx.z * strideB, C += blockIdx.z * strideC;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
int main() {
    float *a, *b, *c;
    int M = 512, N = 256, K = 128, batch = 6;
    dim3 block(8, 8), grid((N + 7) / 8, (M + 7) / 8, batch);
    product<<<grid, block>>>(a, b, c, M, N, K, GIVEN);
}
"""
COMMENT = """template <int SIDE>
__global__ void product(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * SIDE + threadIdx.x / SIDE, column = blockIdx.x * SIDE + threadIdx.x % SIDE;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
}
void run(const float *A, const float *B, float *C, int N) {
    /* the first one: as <<<a picture>>> shows */
    /*{
        const int side = 8;
        dim3 blocks(N / side, N / side);
        product<side><<<blocks, side * side>>>(A, B, C, N);
    }*/
}
"""


def test_a_count_of_products_is_one_but_the_rows_of_a_layer_are_rows() -> None:
    for name in ("batch_size", "num_heads"):
        assert guess(MANY.replace("BATCH", name), Path("mine.cu")).roles == ("A", "B", "C", "1", "N")
    assert guess(ROWS, Path("mine.cu")).roles == ("A", "B", "C", "M", "N", "K")


def test_numbered_dimensions_of_each_matrix_are_its_rows_and_columns() -> None:
    text = DIMENSIONS.replace("SIZES", "int dim0, int dim1A, int dim2A, int dim1B, int dim2B")
    text = text.replace("FIRST", "one * dim1A * dim2A + ").replace("ROWS", "dim1A").replace("SUM", "dim2A")
    made = guess(text.replace("COLUMNS", "dim2B").replace("BLOCKS", ", batches"), Path("mine.cu"))
    assert made.roles == ("A", "B", "C", "1", "M", "K", "K", "N")
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)") or made.grid == ("ceil(N / 16)", "ceil(M / 16)", "1")
    text = DIMENSIONS.replace("SIZES", "int dim0A, int dim1A, int dim0B, int dim1B").replace("FIRST", "")
    text = text.replace("ROWS", "dim0A").replace("SUM", "dim1A").replace("COLUMNS", "dim1B").replace("BLOCKS", "")
    assert guess(text, Path("mine.cu")).roles == ("A", "B", "C", "M", "K", "K", "N")


def test_a_launch_in_a_comment_of_several_lines_is_read() -> None:
    made = guess(COMMENT, Path("mine.cu"))
    assert made.params == {"SIDE": (8,)} and made.grid == ("floor(N / SIDE)", "floor(N / SIDE)")


@pytest.mark.parametrize(
    ("strides", "bound", "given"),
    [
        ("long strideA, long strideB, long strideC", "", "M * K, K * N, M * N"),
        ("size_t strideA, size_t strideB, size_t strideC", "", "(size_t)M * K, (size_t)K * N, (size_t)M * N"),
        (
            "long strideA, long strideB, long strideC, int batchCount",
            "|| blockIdx.z >= batchCount",
            "M * K, K * N, M * N, batch",
        ),
    ],
)
def test_of_a_batch_with_strides_one_product_is_described(strides: str, bound: str, given: str) -> None:
    made = settled(BATCH.replace("STRIDES", strides).replace("BOUND", bound).replace("GIVEN", given))
    assert made.right and made.grid == ("ceil(N / 8)", "ceil(M / 8)")
    assert made.roles[6:] == ("K * M", "K * N", "M * N", "1")[: len(made.roles) - 6]


def test_blocks_that_divide_k_are_no_products() -> None:
    divided = "int per = (K + 5) / 6, first = blockIdx.z * per; if (first >= K) return;"
    text = BATCH.replace("BOUND", "").replace(", STRIDES", "").replace(", GIVEN", "")
    text = text.replace("A += blockIdx.z * strideA, B += blockIdx.z * strideB, C += blockIdx.z * strideC;", divided)
    text = text.replace("k = 0; k < K;", "k = first; k < K && k < first + per;")
    made = settled(text.replace("C[row * N + column] = sum;", "atomicAdd(&C[row * N + column], sum);"))
    assert made.right and made.adds and made.grid[2] == "6"
