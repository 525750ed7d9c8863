"""Pages of 2 MiB in the memory of a recording: only its speed may depend on them."""

from typing import Any

import numpy as np
import pytest
from small_kernel import kernel

from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, stored
from gemmviz.catalogue.whole_numbers import inputs_for
from gemmviz.sandbox import result_memory
from gemmviz.simt import recorder
from gemmviz.simt.build import build

# Each thread makes its row of C, `TS` elements at a time in vectors, and passes a warp's barrier.
CODE = """
template <int TS> __global__ void k(const float *A, const float *B, float *C, int N)
{
    int row = (blockIdx.x * TS + threadIdx.y) * TS + threadIdx.x;
    if (row >= N) return;
    for (int column = 0; column < N; column += 4) {
        float4 sum = *(const float4 *)&B[column];
        for (int k = 0; k < N; k++) {
            float a = A[row * N + k];
            float4 b = *(const float4 *)&B[k * N + column];
            sum.x += a * b.x;
            sum.w += a * b.w;
        }
        __syncwarp();
        *(float4 *)&C[row * N + column] = sum;
    }
}
"""


def recorded(size: int, tile: int, capacity: int = 10**7, *, code: str = CODE, workers: int = 1) -> dict[str, Any]:
    """Record it with so many threads in a block, in memory for so many accesses."""
    job = launch(kernel(code, grid='["ceil(N / (TS * TS))"]'), Problem.cube(size), {"TS": tile})
    a, b = (stored(job.kernel, name, matrix) for name, matrix in zip("AB", inputs_for(job), strict=True))
    raw = recorder.run(build(job), job, a, b, deadline_s=60, capacity=capacity, workers=workers)
    return raw.columns | {"more": raw.more}


@pytest.mark.parametrize(("size", "tile"), [(128, 16), (128, 8)], ids=["one block", "several blocks"])
def test_a_recording_is_the_same_with_huge_pages(size: int, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with_pages = recorded(size, tile)
    assert with_pages["element"].nbytes > 2 << 20
    monkeypatch.setattr(result_memory, "place", lambda array: 0)  # in the sandbox none are asked for
    without = recorded(size, tile)
    for name, column in without.items():
        assert np.array_equal(column.view(np.uint8), with_pages[name].view(np.uint8)), name


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("first", [0, 2, 9, 20, 32])
def test_turns_are_kept_from_the_first_block_on_that_has_any(first: int, workers: int) -> None:
    """Nothing is written to their column before, and all of it afterwards. One block has fewer rows than the others."""
    code = CODE.replace("__syncwarp();", f"if (blockIdx.x >= {first}) __syncwarp();")
    code = code.replace("column < N;", "column < (blockIdx.x == 5 ? N / 2 : N);")
    columns = recorded(128, 2, code=code, workers=workers)
    block, write = columns["block_of"].astype(int), columns["write"]
    assert block.max() == 31
    _, begin, thread = np.unique(block * 4 + columns["thread_of"], return_index=True, return_inverse=True)
    writes = np.cumsum(write)
    before = (writes - write)[begin]  # the first access of its thread
    assert np.array_equal(columns["turn_of"], np.where(block >= first, writes - before[thread], 0))


@pytest.mark.parametrize("size", [32, 96, 128])
def test_columns_without_room_behind_their_last_row(size: int) -> None:
    """The last page of a column is a small one: parts of huge pages are moved to whole pages only."""
    expected = recorded(size, 8)
    rows = len(expected["element"])
    for name, column in recorded(size, 8, rows).items():
        assert np.array_equal(column.view(np.uint8), expected[name].view(np.uint8)), name
