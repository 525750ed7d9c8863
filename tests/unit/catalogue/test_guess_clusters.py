"""A kernel that says how many blocks a cluster has: its front matter says the same."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess

TEXT = """
#define PAIR 2
template <int BM, int CLUSTER_M, int CLUSTER_N>
__global__ void WHERE gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.x * BM + threadIdx.x;
    for (int n = 0; n < N; n++) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + n];
        C[row * N + n] = sum;
    }
}
void run(const float *a, const float *b, float *c, int m, int n, int k)
{
    gemm<32, 4, 2><<<m / 32, 32>>>(a, b, c, m, n, k);
}
"""


@pytest.mark.parametrize(
    ("where", "cluster"),
    [
        ("__cluster_dims__(CLUSTER_M * CLUSTER_N, 1, 1) __launch_bounds__(32)", ("CLUSTER_M * CLUSTER_N",)),
        ("__launch_bounds__(32) __cluster_dims__(PAIR)", ("2",)),
        ("__cluster_dims__(1, 2, 1)", ("1", "2")),
        ("__cluster_dims__(1, 1, 1)", ()),
        ("__launch_bounds__(32)", ()),
    ],
)
def test_the_blocks_of_a_cluster_are_read_from_the_kernel(where: str, cluster: tuple[str, ...]) -> None:
    made = guess(TEXT.replace("WHERE", where), Path("mine.cu"))
    assert made.cluster == cluster
    assert ("// cluster" in made.front_matter()) == bool(cluster)
    if cluster:
        assert made.capability == "9.0"


def test_a_cluster_that_nothing_explains_is_left_out() -> None:
    made = guess(TEXT.replace("WHERE", "__cluster_dims__(HOW_MANY)"), Path("mine.cu"))
    assert made.cluster == ()
