"""Where no thread can go on at an mbarrier, the report names the line of what happened there last."""

import pytest
from hopper_recordings import FFMA, recorded

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import Finding, find

# One warp fills a stage, the other one multiplies it and gives it back.
TURNS = """// ---gemmviz
// entry = "turns"
// args = ["A", "B", "C", "K"]
// block = ["64"]
// grid = ["1"]
// requires = ["M == 1", "N == 32"]
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;
__global__ void turns(const float *A, const float *B, float *C, int K)
{
    __shared__ float Bs[32];
    __shared__ barrier full, empty;
    int lane = threadIdx.x % 32;
    float sum = 0;
    if (threadIdx.x == 0) {
        barrier_init(full, 32);
        barrier_init(empty, 1);
    }
    __syncthreads();
    for (int k = 0; k < K; k++) {
        if (threadIdx.x < 32) {
            barrier_wait(empty, k % 2 ^ 1);
            Bs[lane] = B[k * 32 + lane];
            barrier_arrive(full);
        } else {
            barrier_wait(full, k % 2);
            sum += A[k] * Bs[lane];
            __syncwarp();
            if (lane == 0)
                barrier_arrive(empty);
        }
    }
    if (threadIdx.x >= 32)
        C[lane] = sum;
}
"""


def found(text: str, old: str, new: str, problem: Problem) -> list[tuple[str, str, Finding]]:
    """Return the findings at waits, each with its line and its other line."""
    assert text.count(old) == 1
    recording = recorded(text.replace(old, new), problem)
    lines = ["", *(line.strip() for line in recording.text.split("\n"))]
    findings = [f for f in find(recording) if f.kind == "barrier divergence"]
    return [(lines[f.line], lines[f.other_line], f) for f in findings]


@pytest.mark.parametrize(
    ("old", "new", "wait", "last", "text"),
    [
        ("if (lane == 0)", "if (lane < 2)", "barrier_wait(empty", "barrier_arrive(empty);", "2 have come so far"),
        ("if (lane == 0)", "if (k < 0)", "barrier_wait(empty", "barrier_arrive(empty);", "none has come since"),
        ("barrier_arrive(empty);", ";", "barrier_wait(empty", "barrier_init(empty, 1);", "none has come since"),
        ("(full, 32)", "(full, 33)", "barrier_wait(full", "barrier_arrive(full);", "32 have come so far, the last one"),
    ],
)
def test_the_last_arrival_is_named_or_the_line_that_is_there_for_it(
    old: str, new: str, wait: str, last: str, text: str
) -> None:
    assert not find(recorded(TURNS, Problem(1, 32, 4)))
    (one,) = (one for one in found(TURNS, old, new, Problem(1, 32, 4)) if one[0].startswith(wait))
    assert one[1] == last and text in one[2].text
    assert str(one[2].other_line) in one[2].text.split(";")[-1]


@pytest.mark.parametrize(
    ("old", "new", "last", "text"),
    [
        (
            "A, step * 16, row, full[step % 2]);",
            "A, step * 16, row, full[0]);",
            "tma_load(raw +",
            "full[0] has",
        ),
        (
            "full[step % 2], 4096);",
            "full[step % 2], 4112);",
            "tma_load(raw",
            "line 32 announces bytes, and line 34",
        ),
        (
            "step % 2], 4096);",
            "step % 2], 4096); continue;",
            "barrier_arrive_expect(",
            "and line 32 announces",
        ),
    ],
)
def test_copies_to_another_barrier_are_named_or_the_last_ones(old: str, new: str, last: str, text: str) -> None:
    waits = [one for one in found(FFMA, old, new, Problem(32, 32, 32)) if one[0].startswith("barrier_wait(full")]
    assert waits and all(one[1].startswith(last) and text in one[2].text for one in waits)
