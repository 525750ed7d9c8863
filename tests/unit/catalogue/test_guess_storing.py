"""A kernel that stores nothing is no product, whatever its launch."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess

HEAD = "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {\n"
BEGUN = """    __shared__ float tile[16][16];
    float *mine = reinterpret_cast<float *>(tile);
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    if (row >= M || column >= N) return;
"""


def flaws(body: str) -> list[str]:
    return [str(one) for one in guess(HEAD + body + "}\n", Path("mine.cu")).flaws]


def test_it_is_said() -> None:
    assert flaws(BEGUN) == ["line 1: the kernel stores nothing: nothing computes C"]


@pytest.mark.parametrize(
    "statement",
    [
        "C[row * N + column] = sum;",
        "C[row * N + column] += sum;",
        "*(C + row * N + column) = sum;",
        "float *at = C + row * N + column; *at = sum;",
        "float &element = C[row * N + column]; element = sum;",
        "atomicAdd(&C[row * N + column], sum);",
        "store(C, row, column, sum);",
        "store<16>(C, row, column, sum);",
        "store<Tile<16, 8>>(C, row, column, sum);",
        'asm volatile("st.global.f32 [%0], %1;" :: "l"(C + row * N + column), "f"(sum));',
    ],
)
def test_a_store_or_an_unknown_call_is_none(statement: str) -> None:
    assert flaws(BEGUN + statement + "\n") == []
