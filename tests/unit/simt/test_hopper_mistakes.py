"""A mistake in the use of mbarriers, boxes and warpgroups is named, or stops the recording."""

import numpy as np
import pytest
from hopper_recordings import FFMA, RING, SHAPES, recorded

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import find

WAIT_FULL, WAIT_EMPTY = "barrier_wait(full[stage], parity);", "barrier_wait(empty[stage], parity ^ 1);"
# What is changed, and what is found: its kind, the line that it is found in, words of the text.
MISTAKES = {
    "no wait for a full stage": (WAIT_FULL, "", "read of memory nobody wrote", "WGMMA", "As["),
    "no wait for an empty stage": (WAIT_EMPTY, "", "race", "tma_load(As", "before the copy is waited for"),
    "the other parity": (
        WAIT_EMPTY,
        WAIT_EMPTY.replace(" ^ 1", ""),
        "barrier divergence",
        "barrier_wait(full",
        "full[0]",
    ),
    "nobody empties": (
        "if (me < CLUSTER) barrier_arrive_at(empty[stage], me);",
        "",
        "barrier divergence",
        "barrier_wait(empty",
        "1 arrival and 0 bytes",
    ),
    "nobody else fills": (
        "barrier_init(full[s], 1);",
        "barrier_init(full[s], 3);",
        "barrier divergence",
        "barrier_wait(full",
        "2 arrivals and 0 bytes",
    ),
    "too many bytes": (
        "A_BYTES + B_BYTES);",
        "A_BYTES + B_BYTES + 16);",
        "barrier divergence",
        "barrier_wait(full",
        "16 bytes are missing",
    ),
    "too few bytes": (
        "full[stage], A_BYTES + B_BYTES);",
        "full[stage], A_BYTES);",
        "race",
        "tma_load(to, B",
        "before the copy is waited for",
    ),
    "no wait for the product": ("wgmma_wait<0>();", "", "race", "tma_load(As", "still reads it"),
    "a meeting of too many": (
        "threads_meet(1, 128);",
        "threads_meet(1, 160);",
        "barrier divergence",
        "threads_meet(1, 160)",
        "160 threads",
    ),
    "no meeting before the store": (
        "shared_written();\n            threads_meet(1, 128);",
        "shared_written();",
        "race",
        "*(float2 *)",
        "A __syncthreads() is missing",
    ),
    "no fence before the store": ("shared_written();", "", "race", "tma_store(C", "shared_written()"),
    "no wait for the store": ("if (me == 0) tma_store_wait<0>();", "", "race", "tma_store(C", "waited for the store"),
}


@pytest.mark.sweep("no wait for a full stage", "too many bytes", "no fence before the store")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str) -> None:
    old, new, kind, needle, text = MISTAKES[name]
    assert old in RING
    recording = recorded(RING.replace(old, new), Problem(128, 128, 320), BLOCKS=1)
    needle = needle.replace("WGMMA", "wgmma_m64n128k16")
    hits = [f for f in find(recording) if f.kind == kind and text in f.text]
    assert hits, [(f.kind, f.text) for f in find(recording)]
    lines = recording.text.splitlines()
    assert any(needle in lines[f.line - 1] for f in hits), [lines[f.line - 1] for f in hits]


def test_sums_are_not_there_before_the_product_is_waited_for() -> None:
    recording = recorded(SHAPES.replace("wgmma_wait<0>();", ""), Problem.cube(64))
    assert np.isnan(recording.c).all()


@pytest.mark.sweep("not initialised", "misaligned", "no warpgroup")
@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("barrier_init(empty[s], CLUSTER);", "", r"hopper\.cu:\d+: .*empty\[0\].*is uninitialised"),
        (
            "barrier_init(full[s], 1);",
            "barrier_init(full[s], 1); barrier_arrive_expect(full[s], 8); barrier_arrive(full[s]);",
            r"full\[0\] more often than its count allows",
        ),
        ("tma_load(As + stage * A_BYTES,", "tma_load(As + stage * A_BYTES + 64,", "misaligned address"),
        ("A, k, row, full[stage]", "A, k + 4, row, full[stage]", r"at column 4: .* multiples of 8 \(16 bytes\)"),
        (
            "step || k);\n",
            "step || k); if (me < 64) continue;\n wgmma_m64n128k16_f32_f16<0>(sum, along_k(As), along_k(Bs), 1);\n",
            "rest of its warpgroup",
        ),
        ('block      = ["256"]', 'block      = ["224"]', "a multiple of 128 threads"),
    ],
    ids=["not initialised", "too many arrivals", "misaligned", "between units", "part of a warpgroup", "no warpgroup"],
)
def test_what_a_gpu_would_not_survive_stops_the_recording(old: str, new: str, text: str) -> None:
    assert old in RING
    with pytest.raises(KernelFault, match=text):
        recorded(RING.replace(old, new), Problem(64, 128, 128))


def test_one_lane_may_wait_for_its_warp() -> None:
    wait = "barrier_wait(full[step % 2], step / 2 % 2);"
    recording = recorded(FFMA.replace(wait, f"if (t % 32 == 0) {wait} __syncwarp();"), Problem(64, 32, 80))
    assert recording.wrong == 0 and find(recording) == []


@pytest.mark.parametrize(
    "instead",
    ["", "        if (step * 16 + 16 < K) barrier_wait(full[(step + 1) % 2], (step + 1) / 2 % 2);\n"],
    ids=["at once", "after the next wait"],
)
def test_a_warp_that_does_not_meet_before_its_arrival_gives_the_stage_back_too_early(instead: str) -> None:
    recording = recorded(FFMA.replace("        __syncwarp();\n", instead), Problem(64, 32, 80))
    assert recording.wrong == 0
    found = find(recording)
    assert {f.kind for f in found} == {"race"}
    lines = recording.text.splitlines()
    assert {lines[f.line - 1].strip() for f in found} == {"if (t % 32 == 0) barrier_arrive(empty[step % 2]);"}
    assert all("a __syncwarp() is missing" in f.text for f in found)


def test_a_warp_that_meets_after_the_next_wait_is_in_order() -> None:
    wait = "        if (step * 16 + 16 < K) barrier_wait(full[(step + 1) % 2], (step + 1) / 2 % 2);\n"
    recording = recorded(FFMA.replace("        __syncwarp();\n", wait + "        __syncwarp();\n"), Problem(64, 32, 80))
    assert recording.wrong == 0 and find(recording) == []


def test_a_warp_of_which_two_lanes_arrive_has_to_meet_before() -> None:
    text = FFMA.replace("        __syncwarp();\n        if (t % 32 == 0) ", "        if (t % 32 < 2) ")
    found = find(
        recorded(text.replace("barrier_init(empty[s], 4);", "barrier_init(empty[s], 8);"), Problem(64, 32, 80))
    )
    assert {f.kind for f in found} == {"race"} and all("a __syncwarp() is missing" in f.text for f in found)


def test_lanes_that_arrive_themselves_need_no_meeting() -> None:
    text = FFMA.replace("        __syncwarp();\n        if (t % 32 == 0) ", "        ")
    recording = recorded(
        text.replace("barrier_init(empty[s], 4);", "barrier_init(empty[s], 128);"), Problem(64, 32, 80)
    )
    assert recording.wrong == 0 and find(recording) == []


COPIED = """// ---gemmviz
// title = "a barrier that waits for copies"
// entry = "copied"
// args = ["A", "B", "C"]
// block = ["64"]
// grid = ["1"]
// requires = ["M == 32", "N == 1", "K == 1"]
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;
__global__ void copied(const float *A, const float *B, float *C)
{
    __shared__ float As[32];
    __shared__ barrier full;
    int t = threadIdx.x;
    if (t == 0) barrier_init(full, 32);
    __syncthreads();
    if (t < 32) {
        cp_async_ca<4>(&As[t], A + t);
        barrier_arrive_copied(full);
    } else {
        barrier_wait(full, 0);
        C[t - 32] = As[t - 32] * B[0];
    }
}
"""


def test_a_barrier_waits_for_copies_of_threads_that_go_on() -> None:
    problem = Problem(32, 1, 1)
    recording = recorded(COPIED, problem)
    assert recording.wrong == 0 and find(recording) == [] and len(recording.accesses.copies) == 32
    hasty = recorded(COPIED.replace("barrier_wait(full, 0);", ""), problem)
    assert hasty.wrong == 32
    assert any(f.kind == "read of memory nobody wrote" for f in find(hasty))


def test_what_is_under_way_is_not_missing_where_nobody_can_go_on() -> None:
    one_more = recorded(COPIED.replace("barrier_init(full, 32);", "barrier_init(full, 33);"), Problem(32, 1, 1))
    (text,) = (n.text for n in one_more.diagnostics)
    assert ": 1 arrival and 0 bytes are missing; 32 have come so far" in text
    assert len(one_more.accesses.copies) == 32


def test_only_what_nobody_copies_is_missing_where_nobody_can_go_on() -> None:
    # Each block copies its half of B for itself only, and each barrier waits for one arrival too many.
    text = RING.replace("full[stage], 3);", "full[stage], 1 << rank);")
    text = text.replace("barrier_init(full[s], 1);", "barrier_init(full[s], 2);")
    stuck = recorded(text, Problem(128, 128, 64), CLUSTER=2)
    full = [n.text for n in stuck.diagnostics if "full[0]" in n.text]
    assert full and all(": 1 arrival and 8192 bytes are missing;" in text for text in full)
