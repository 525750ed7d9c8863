"""How far a recording is at each step, and two recordings played in step."""

import numpy as np
import pytest
from recordings import RUNGS, rung
from sampled import FEW

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.order.progress import Match, fed_products, rising
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

SIZE = Problem.cube(16)
NAIVE, COALESCED, TILED = "matmul_kernel_naive", "gpumult1", "gputiled"
PAIRS = [
    (NAIVE, COALESCED),
    (COALESCED, TILED),
    (TILED, "matmul_kernel_2d_thread_tiling"),
    ("matmul_tc", "matmul_tc_2d_warp_tiling"),
    ("hostmult0", "hostmult1"),
]
_made = {}


def played(name):
    if name not in _made:
        recording = rung(name, SIZE)
        order = timeline.build(recording)
        _made[name] = Playable(recording, order, traffic.measure(recording, order))
    return _made[name]


def test_steps_that_add_nothing_share_the_way_to_the_next_that_does():
    curve = rising(np.array([0.0, 0.0, 3.0, 3.0, 5.0, 5.0]), 9.0)
    assert curve.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]


def test_the_last_step_is_at_the_end_even_if_it_adds_something():
    assert rising(np.array([1.0, 2.0]), 9.0).tolist() == [1.0, 9.0]
    assert rising(np.zeros(0), 9.0).tolist() == []


@pytest.mark.sweep(*FEW)
@pytest.mark.parametrize("name", RUNGS)
def test_curves_rise_and_end_where_the_recording_does(name):
    playable = played(name)
    course = playable.recording_progress
    assert (np.diff(course.work) > 0).all()
    assert (np.diff(course.bytes) >= 0).all()
    assert course.work[-1] == 2.0
    assert course.share(course.last) == 1.0
    if playable.recording.backend == "cuda":
        assert course.bytes[-1] == playable.moved_bytes[-1]


def test_no_share_of_the_work_is_done_before_the_first_product():
    recording = record(launch(find(TILED, ladder()), SIZE, {"TS": 8}))
    order = timeline.build(recording)
    course = Playable(recording, order, traffic.measure(recording, order)).recording_progress
    tiles = order.array >= 3
    reads = np.flatnonzero(tiles & ~order.write)
    first, counts = int(reads[0]), np.diff(order.start)
    assert [course.share(step) for step in range(first)] == [0.0] * first
    assert course.share(first) == counts[first] / counts[reads].sum()


def test_reads_that_feed_products_are_those_of_tiles_where_there_are_tiles():
    for name, arrays in ((NAIVE, ("A", "B")), (TILED, ("As", "Bs")), ("hostmult0", ("A", "B")), ("matmul_tc", "AB")):
        recording = played(name).recording
        log = recording.accesses
        wanted = [index for index, array in enumerate(recording.arrays) if array.name in arrays]
        expected = np.count_nonzero(np.isin(log.array, wanted) & ~log.write)
        assert fed_products(recording, played(name).timeline, played(name).staged).sum() == expected


@pytest.mark.sweep
@pytest.mark.parametrize("name", RUNGS)
def test_the_total_agrees_with_the_traffic(name):
    playable = played(name)
    arrays, last = playable.traffic.arrays, playable.recording_progress.at(playable.recording_progress.last)
    assert last.done == 1.0
    if playable.recording.backend == "cuda":
        assert last.requests == sum(a.read_requests + a.write_requests for a in arrays)
        assert last.sectors == playable.traffic.sectors(False) + playable.traffic.sectors(True)
        assert last.wavefronts == sum(a.read_units + a.write_units for a in arrays if a.space == "shared")
    else:
        assert last.requests is None
        assert last.bytes == sum(a.read_bytes + a.write_bytes for a in arrays)


def test_requests_so_far_are_counted_step_by_step():
    playable = played("matmul_kernel_2d_thread_tiling")
    log, requests, counted = playable.recording.accesses, set(), 0
    for step in range(0, playable.timeline.steps, 37):
        end = int(playable.timeline.start[step + 1])
        for row in playable.timeline.order[counted:end].tolist():
            requests.add((int(playable.timeline.step_of_row[row]), int(log.block[row]), int(log.thread[row]) // 32))
        counted = end
        assert playable.recording_progress.at(step).requests == len(requests)


@pytest.mark.parametrize("pace", ["work", "bytes"])
@pytest.mark.parametrize("names", PAIRS)
def test_the_other_is_as_far_as_it_can_be_without_being_ahead(names, pace):
    mine, other = (played(name).recording_progress for name in names)
    match = Match(mine, other, pace)
    steps = [match.step(step) for step in range(mine.last + 1)]
    assert steps == sorted(steps)
    here, there = mine.curve(pace), other.curve(pace)
    for step, found in enumerate(steps):
        assert there[found] <= here[step] or found == 0
        assert found == other.last or there[found + 1] > here[step]
        # And back: never further than where it started.
        assert match.back().step(found) <= step or found == 0


@pytest.mark.parametrize("names", PAIRS)
def test_by_work_both_end_together(names):
    mine, other = (played(name).recording_progress for name in names)
    match = Match(mine, other, "work")
    assert match.step(mine.last) == other.last
    assert match.back().step(other.last) == mine.last
    assert match.step(mine.last - 1) < other.last


def test_by_bytes_the_cheaper_one_ends_first():
    dear, cheap = played(NAIVE).recording_progress, played(COALESCED).recording_progress
    match = Match(dear, cheap, "bytes")
    first = next(step for step in range(dear.last + 1) if match.step(step) == cheap.last)
    assert first < dear.last / 4
    assert dear.bytes[first] >= cheap.bytes[-1] > dear.bytes[first - 1]
    assert match.back().step(cheap.last) < dear.last


@pytest.mark.parametrize("pace", ["work", "bytes"])
def test_a_recording_goes_exactly_alike_with_itself(pace):
    course = played(TILED).recording_progress
    match = Match(course, course, pace)
    assert [match.step(step) for step in range(course.last + 1)] == list(range(course.last + 1))
