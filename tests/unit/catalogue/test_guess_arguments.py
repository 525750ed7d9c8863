"""Guesses of kernels whose arguments the host code computes: distances in bytes, counts of tiles."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

IN_BYTES = """__global__ void product(const float *A, const float *B, float *C, int M, int N, int K, int step, int tiles
)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    const char *left = (const char *)(B + col);
    float sum = 0;
    for (int t = 0; t < tiles; t++)
        for (int k = 0; k < 8; k++, left += step)
            sum += A[row * K + t * 8 + k] * *(const float *)left;
    C[row * N + col] = sum;
}
void run(const float *a, const float *b, float *c, int m, int n, int k) {
    product<<<dim3(n / 8, m / 8), dim3(8, 8)>>>(a, b, c, m, n, k, n * sizeof(float), k / 8);
}
"""


def test_arguments_that_the_host_code_computes_are_expressions_of_sizes() -> None:
    made = guess(IN_BYTES, Path("mine.cu"))
    assert made.roles == ("A", "B", "C", "M", "N", "K", "4 * N", "floor(K / 8)")
    kernel = guessed_kernel(made)
    filled = launch(kernel, Problem(16, 24, 40))
    assert [filled.scalar(name) for name in kernel.args[6:]] == [96, 5]
    assert record(filled).wrong == 0


@pytest.mark.parametrize("role", ["4 * X", "P", "M *"])
def test_an_argument_that_is_no_expression_of_sizes_is_named(role: str) -> None:
    text = guess(IN_BYTES, Path("mine.cu")).described().replace("4 * N", role)
    with pytest.raises(FrontMatterError, match="args names"):
        parse(text, Path("mine.cu"))


TILE_OF_RUN_TIME = """__global__ void product(float *X, float *Y, float *Z, int m, int n, int o, int tileWidth)
{
    extern __shared__ float both[];
    float *x = both, *y = both + tileWidth * tileWidth;
    int row = blockIdx.y * tileWidth + threadIdx.y, column = blockIdx.x * tileWidth + threadIdx.x;
    float sum = 0;
    for (int step = 0; step < (n + tileWidth - 1) / tileWidth; step++) {
        int k = step * tileWidth;
        x[threadIdx.y * tileWidth + threadIdx.x] =
            row < m && k + threadIdx.x < n ? X[row * n + k + threadIdx.x] : 0.0f;
        y[threadIdx.y * tileWidth + threadIdx.x] =
            column < o && k + threadIdx.y < n ? Y[(k + threadIdx.y) * o + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < tileWidth; i++) sum += x[threadIdx.y * tileWidth + i] * y[i * tileWidth + threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < o) Z[row * o + column] = sum;
}
void run(float *x, float *y, float *z, int m, int n, int o) {
    int tileWidth = best_side(m, n, o);
    dim3 block(tileWidth, tileWidth), grid((o + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    product<<<grid, block, 2 * tileWidth * tileWidth * sizeof(float)>>>(x, y, z, m, n, o, tileWidth);
}
"""


def test_the_side_of_a_tile_that_is_given_at_run_time_has_a_usual_value():
    made = guess(TILE_OF_RUN_TIME, Path("product.cu"))
    assert made.roles == ("A", "B", "C", "M", "K", "N", "16")
    assert (made.block, made.grid, made.shared) == (("16", "16"), ("ceil(N / 16)", "ceil(M / 16)"), "2048")


def test_the_side_of_a_tile_is_the_one_that_the_file_gives():
    made = guess(TILE_OF_RUN_TIME.replace("best_side(m, n, o)", "8"), Path("product.cu"))
    assert (made.roles[-1], made.block) == ("8", ("8", "8"))


def test_the_elements_of_a_thread_that_are_given_at_run_time_are_no_distance_of_rows():
    """The number of columns was tried for them: C was right at small sizes, and at 1024 a GPU left an array."""
    text = (
        TILE_OF_RUN_TIME.replace("int tileWidth)", "int tileWidth, int coarse_factor)")
        .replace("blockIdx.x * tileWidth", "blockIdx.x * coarse_factor * tileWidth")
        .replace("n, o, tileWidth)", "n, o, tileWidth, from_user)")
    )
    made = guess(text, Path("product.cu"))
    assert made.roles == ("A", "B", "C", "M", "K", "N", "16", "1")
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)")
    assert made.why["coarse_factor"].why == "coarse_factor is called like the number of elements of a thread"
    assert guess(text.replace("from_user", "4"), Path("product.cu")).roles[-1] == "4"


def test_sizes_behind_pointers_are_the_sizes():
    text = KERNEL_OF_POINTERS.replace("SIZES", "int *M, int *N, int *K")
    made = guess(text, Path("product.cu"))
    assert made.grid == ("floor((N - 1) / 16) + 1", "floor((M - 1) / 16) + 1")


KERNEL_OF_POINTERS = """__global__ void product(const float *A, const float *B, float *C, int m, int n, int k)
{
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += A[row * k + i] * B[i * n + column];
    C[row * n + column] = sum;
}
extern "C" void product_(SIZES, float *a, float *b, float *c) {
    dim3 grid((*N - 1) / 16 + 1, (*M - 1) / 16 + 1), block(16, 16);
    product<<<grid, block>>>(a, b, c, *M, *N, *K);
}
"""


def test_what_a_kernel_asserts_of_its_sizes_is_required():
    text = KERNEL_OF_POINTERS.replace("SIZES", "int *M, int *N, int *K")
    text = "#define STEP 24\n" + text.replace("    float sum = 0;", "    assert(k % STEP == 0);\n    float sum = 0;")
    assert "K % 24 == 0" in guess(text, Path("product.cu")).requires


LINEAR = """__global__ void linear(const float *x, const float *w, const float *b, float *y, int batch, int ins,
                       int outs)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= batch || c >= outs) return;
    float sum = b[c];
    for (int k = 0; k < ins; k++) sum += x[r * ins + k] * w[c * ins + k];
    y[r * outs + c] = sum;
}
"""


def test_a_pointer_with_a_value_for_each_column_is_a_bias_whatever_it_is_called() -> None:
    made = guess(LINEAR, Path("linear.cu"))
    assert made.roles == ("A", "B", "bias", "C", "M", "K", "N")
    assert made.column_major == {"B"}
    by_row = guess(LINEAR.replace("b[c]", "b[r]"), Path("linear.cu"))
    scales = guess(LINEAR.replace("float *b", "float *scales").replace("b[c]", "scales[c]"), Path("linear.cu"))
    assert by_row.roles[2] == scales.roles[2] == ""
    assert "scales belong" in scales.hindrance


@pytest.mark.parametrize(
    ("product", "bits"),
    [
        ('asm("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%0}, {%1}, {%2}, {%0};");', "4 bits"),
        ('asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0}, {%1}, {%2}, {%0};");', "1 bit"),
        ("wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::u4, wmma::row_major> a;", "4 bits"),
        ('asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0}, {%1}, {%2}, {%0};"); // not .s4.s4.', ""),
    ],
)
def test_numbers_that_are_smaller_than_a_byte_are_named(product: str, bits: str) -> None:
    text = f"""__global__ void gemm(const int8_t *A, const int8_t *B, int *C, int M, int N, int K)
{{
    {product}
    C[blockIdx.x * N + threadIdx.x] = A[blockIdx.x * K / 2] * B[threadIdx.x];
}}
"""
    found = guess(text, Path("mine.cu")).hindrance
    assert found.startswith(f"line 3 multiplies numbers of {bits}, ") if bits else not found


def test_a_required_divisor_has_the_names_of_the_sizes() -> None:
    text = KERNEL_OF_POINTERS.replace("SIZES", "int *M, int *N, int *K")
    text = text.replace("    float sum = 0;", "    assert(k % (n / 4) == 0);\n    float sum = 0;")
    assert "K % (N / 4) == 0" in guess(text, Path("product.cu")).requires
