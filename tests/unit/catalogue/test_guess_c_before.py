"""A kernel that adds to C or reads it: the host code may set C to zero, or copy it to the GPU, before the launch."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess

TEXT = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < M && j < N)
        for (int k = 0; k < K; ++k) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
void run(float *A, float *B, float *C, float *room, int M, int N, int K) {
    float *a, *b, *c;
    BEFORE;
    gemm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, N, K);
    cudaMemcpy(C, c, M * N * 4, cudaMemcpyDeviceToHost);
}
"""


@pytest.mark.parametrize(
    ("before", "adds"),
    [
        ("cudaMemcpy(c, C, M * N * 4, cudaMemcpyHostToDevice)", True),
        ("cudaMemset(c, 0, M * N * 4)", True),
        ("cudaMemcpy(a, A, M * K * 4, cudaMemcpyHostToDevice)", False),
        ("cudaMalloc(&c, M * N * 4)", False),
    ],
)
def test_c_is_set_before_only_where_the_host_code_does_it(before: str, adds: bool) -> None:
    assert guess(TEXT.replace("BEFORE", before), Path("mine.cu")).adds is adds


UNUSED = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    extern __shared__ float tile[];
    int at = threadIdx.y * 16 + threadIdx.x;
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    tile[at] = C[i * N + j];
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
    tile[at] = sum;
    C[i * N + j] = tile[at];
}
void run(float *A, float *B, float *C, int M, int N, int K) {
    float *a, *b, *c;
    BEFORE;
    gemm<<<dim3(N / 16, M / 16), dim3(16, 16), 1024>>>(a, b, c, M, N, K);
    cudaMemcpy(C, c, M * N * 4, cudaMemcpyDeviceToHost);
}
"""


@pytest.mark.parametrize(
    ("before", "adds"),
    [("cudaMemcpy(c, C, M * N * 4, cudaMemcpyHostToDevice)", True), ("cudaMalloc(&c, M * N * 4)", False)],
)
def test_a_c_that_is_read_and_not_used_may_have_the_host_s_values(before: str, adds: bool) -> None:
    assert guess(UNUSED.replace("BEFORE", before), Path("mine.cu")).adds is adds


def test_a_c_that_beta_scales_is_not_zero_before() -> None:
    copied = UNUSED.replace("BEFORE", "cudaMemcpy(c, C, M * N * 4, cudaMemcpyHostToDevice)").replace(
        "int K)", "int K, float beta)"
    )
    text = copied.replace("tile[at] = sum;", "tile[at] = sum + beta * tile[at];").replace(
        "M, N, K);", "M, N, K, beta);"
    )
    made = guess(text, Path("mine.cu"))
    assert "beta" in made.roles and not made.adds
