"""map_shared_rank: plain C++ reads and writes the shared memory of another block of the cluster."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.trace.recording.record import record

# Each block has a row of A, and computes the row of C that belongs to the other block's row of A.
TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["N"]
// grid = ["M"]
// cluster = [2]
// capability = "9.0"
// ---
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float row[64];
    __shared__ float sums[64];
    __shared__ int done;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x, other = cluster.block_rank() ^ 1;
    if (t < K) row[t] = A[blockIdx.x * K + t];
    if (t == 0) done = 0;
    cluster.sync();
    const float *far = cluster.map_shared_rank(row, other);
    float *results = cluster.map_shared_rank(&sums[0], other);
    bool right = cluster.query_shared_rank(far) == other && cluster.query_shared_rank(row) == cluster.block_rank();
    float sum = right ? 0 : 1000;
    for (int k = 0; k < K; k++) sum += far[k] * B[k * N + t];
    results[t] = sum;
    __syncwarp();
    results[t] += 1;
    atomicAdd(cluster.map_shared_rank(&done, other), 1);
    cluster.sync();
    C[blockIdx.x * N + t] = done == N ? sums[t] - 1 : -1;
}
"""


def job(text: str = TEXT) -> Launch:
    return launch(parse(text, Path("mine.cu")), Problem(4, 32, 16))


def test_a_read_and_a_write_reach_the_other_block() -> None:
    recording = record(job(), deadline_s=10)
    assert recording.wrong == 0 and not recording.notes
    log, names = recording.accesses, [array.name for array in recording.arrays]
    text = recording.text.splitlines()

    def count(array: str, write: bool, words: str) -> int:
        lines = {number for number, line in enumerate(text, 1) if words in line}
        return sum(
            recording.sites[site].line in lines
            for site in log.site[(log.array == names.index(array)) & (log.write == write)]
        )

    assert count("row", False, "far[k] *") == 4 * 32 * 16
    assert count("sums", True, "results[t] = sum") == count("sums", True, "results[t] += 1") == 4 * 32
    assert count("done", True, "atomicAdd") == 4 * 32


def test_the_checker_knows_who_has_to_wait() -> None:
    assert examine(parse(TEXT, Path("mine.cu")), Problem(4, 32, 16), {}).findings == []
    hasty = TEXT.replace("if (t == 0) done = 0;\n    cluster.sync();", "if (t == 0) done = 0;\n    __syncthreads();")
    found = examine(parse(hasty, Path("mine.cu")), Problem(4, 32, 16), {}).findings
    assert found and {one.kind for one in found} <= {"race", "wrong result", "read of memory nobody wrote"}


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
def test_nvrtc_takes_the_same_text() -> None:
    assert nvrtc_alone.errors(job(), "sm_90") == ""
