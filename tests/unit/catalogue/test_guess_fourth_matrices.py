"""A matrix that is added to the product, whatever its name; distances that are called A_ld."""

from pathlib import Path

from settled_files import settled

from gemmviz.catalogue.guessing.guess import guess

ADDED = """
__global__ void forward(float *out, const float *x, const float *w, int rows, int inner, int columns,
                        const float *rest) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= rows || column >= columns) return;
    float sum = 0;
    for (int k = 0; k < inner; k++) sum += x[row * inner + k] * w[k * columns + column];
    out[row * columns + column] = sum + rest[{index}];
}
void run(float *out, const float *x, const float *w, int rows, int inner, int columns, const float *rest) {
    forward<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(out, x, w, rows, inner, columns, rest);
}
"""


def test_a_matrix_with_an_element_for_each_of_c_is_added(tmp_path: Path) -> None:
    made = settled(tmp_path, ADDED.replace("{index}", "row * columns + column"))
    assert made.right and made.adds
    assert (made.roles[0], made.roles[-1]) == ("D", "C")


def test_a_matrix_with_other_elements_has_no_role() -> None:
    assert not guess(ADDED.replace("{index}", "column * rows + row"), Path("mine.cu")).roles[-1]


def test_a_distance_may_be_called_by_its_matrix_first() -> None:
    text = """
__global__ void gemm(bool turned, const float *A, const float *B, float *C, size_t M, size_t N, size_t K, size_t A_ld,
                     size_t B_ld, size_t C_ld) {
    size_t i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (size_t k = 0; k < K; ++k) {
        size_t a = turned ? k * A_ld + i : i * A_ld + k, b = turned ? j * B_ld + k : k * B_ld + j;
        sum += A[a] * B[b];
    }
    C[i * C_ld + j] = sum;
}
"""
    assert guess(text, Path("mine.cu")).roles[-3:] == ("lda", "ldb", "ldc")
