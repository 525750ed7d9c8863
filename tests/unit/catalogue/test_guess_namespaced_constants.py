"""Kernels in namespaces have the constants of their own namespace, also where another one has the same names."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.namespaced_constants import with_own_names
from gemmviz.catalogue.guessing.tokens import tokens_of

KERNEL = """
namespace NAME {
constexpr int TILE = SIDE;
__global__ void product_NAME(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int at = 0; at < K; at += TILE) {
        a[y][x] = A[row * K + at + x];
        b[y][x] = B[(at + y) * N + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * N + column] = sum;
}
void run(const float *a, const float *b, float *c, int M, int N, int K) {
    product_NAME<<<dim3(N / TILE, M / TILE), dim3(TILE, TILE)>>>(a, b, c, M, N, K);
}
}
"""
TEXT = "".join(KERNEL.replace("NAME", name).replace("SIDE", side) for name, side in (("small", "8"), ("large", "32")))


@pytest.mark.parametrize(("name", "side"), [("small", "8"), ("large", "32")])
def test_each_kernel_has_its_own(name: str, side: str) -> None:
    made = guess(TEXT, Path("mine.cu"), f"product_{name}")
    assert made.block == (side, side) and made.grid == (f"floor(N / {side})", f"floor(M / {side})")
    assert f"K % {side} == 0" in made.requires


def test_one_name_of_one_namespace_stays() -> None:
    tokens = tokens_of("namespace one { constexpr int SIDE = 8; int n = SIDE; }")
    assert with_own_names([*tokens]) == [*tokens]


def test_a_name_with_one_value_stays_and_one_of_other_names_does_not() -> None:
    one = "namespace NAME { constexpr int SIDE = VALUE; constexpr int BOTH = 2 * SIDE; constexpr int THREADS = 64; }"
    text = one.replace("NAME", "a").replace("VALUE", "8") + one.replace("NAME", "b").replace("VALUE", "16")
    made = with_own_names([*tokens_of(text)])
    assert {"SIDE_of_a", "SIDE_of_b", "BOTH_of_a", "BOTH_of_b", "THREADS"} <= {*made} and "THREADS_of_a" not in made


def test_members_and_names_of_another_namespace_stay() -> None:
    text = "const int SIDE = 4; namespace one { const int SIDE = 8; int n = SIDE + two::SIDE + p.SIDE; }"
    made = " ".join(with_own_names([*tokens_of(text)]))
    assert "const int SIDE_of_one = 8 ; int n = SIDE_of_one + two :: SIDE + p . SIDE" in made
