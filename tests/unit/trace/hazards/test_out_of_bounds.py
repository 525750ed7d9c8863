"""Threads whose access missed its array are counted and never called inactive."""

import numpy as np
from recordings import own

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.cost.warp_request import warp_request
from gemmviz.trace.hazards.out_of_bounds import out_of_bounds
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording


def playable(recording: Recording, order: str = "grid") -> Playable:
    timeline = build(recording, "block" if order == "block" else "grid")
    return Playable(recording, timeline, measure(recording, timeline))


def rung(name: str, problem: Problem, **params: int) -> Recording:
    return record(launch(find(name, ladder()), problem, params))


def misses(recording: Recording) -> int:
    return sum(n.count for n in recording.diagnostics)


def test_without_the_check_of_the_bounds_the_absent_threads_of_the_store_all_missed() -> None:
    shown = playable(rung("gputiled~no-store-check", Problem(7, 6, 9), TS=4))
    last = shown.timeline.steps - 1
    assert len(shown.timeline.rows(last)) == 54
    assert shown.out_of_bounds.certain[last] and shown.out_of_bounds.most[last] == misses(shown.recording) == 10
    assert not shown.out_of_bounds.most[:last].any()
    # Each of the four blocks' only warp has 16 lanes.
    asked = [warp_request(shown, last, block, 0) for block in range(4)]
    assert [(a.outside, a.certain, a.inactive, a.missing) for a in asked if a is not None] == [
        (0, True, 0, 16),
        (0, True, 0, 16),
        (4, True, 0, 16),
        (6, True, 0, 16),
    ]


def test_one_block_after_another_the_same_threads_missed() -> None:
    shown = playable(rung("gputiled~no-store-check", Problem(7, 6, 9), TS=4), "block")
    assert shown.out_of_bounds.most[shown.out_of_bounds.certain].sum() == 10


def test_where_the_check_keeps_threads_out_they_are_inactive() -> None:
    shown = playable(rung("gputiled", Problem(7, 6, 9), TS=4))
    assert not shown.out_of_bounds.most.any()
    asked = warp_request(shown, shown.timeline.steps - 1, 3, 0)
    assert asked is not None
    assert (asked.outside, asked.inactive) == (0, 10)


def test_which_of_the_absent_threads_missed_is_not_made_up() -> None:
    # Of 32 lanes 20 execute line 8; 16 of these find an element, 4 miss, 12 are excluded by a condition.
    text = "if (threadIdx.x < 20)\n    C[threadIdx.x + 48] = 1;"
    shown = playable(own(text, Problem.cube(8)))
    asked = warp_request(shown, 0, 0, 0)
    assert asked is not None
    assert (len(asked.lane), asked.absent, asked.outside, asked.certain, asked.inactive) == (16, 16, 4, False, 0)


def test_a_thread_that_misses_in_only_some_turns_of_a_loop_is_placed_nowhere_for_certain() -> None:
    # Lane 0 misses in the first turn, so that its second access stands beside the others' first.
    text = "for (int i = 0; i < K; i++)\n    C[(int)threadIdx.x - 1 + i] = 1;"
    shown = playable(own(text, Problem.cube(8)))
    assert misses(shown.recording) == 1
    assert [len(shown.timeline.rows(step)) for step in range(shown.timeline.steps)] == [32] * 7 + [31]
    assert shown.out_of_bounds.most.tolist() == [0] * 7 + [1]
    assert not shown.out_of_bounds.certain.any()


def test_reads_out_of_bounds_are_counted_per_array() -> None:
    recording = rung("matmul_kernel_naive~no-bounds-check", Problem.cube(9))
    timeline = build(recording)
    found = out_of_bounds(recording, timeline)
    for name in "ABC":
        steps = timeline.array == "ABC".index(name)
        count = sum(n.count for n in recording.diagnostics if n.array == name)
        absent = recording.threads - np.diff(timeline.start)[steps]
        assert (found.most[steps] == absent).all() and absent.sum() == count
