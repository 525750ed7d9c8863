"""The values of a thread at a step, the fragments of a warp, and the hops of a value."""

import numpy as np
import pytest
from demo_recordings import at_demo
from recordings import rung

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.fragments import fragments, shape_of
from gemmviz.trace.origin.thread_state import loop_element, loop_writes, products, state_at
from gemmviz.trace.origin.value_path import first_after, hop_at, hops_now
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording


def playable(recording: Recording) -> Playable:
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


def small(name: str, size: int, **params: int) -> Playable:
    return playable(record(launch(find(name, ladder()), Problem.cube(size), params)))


@pytest.mark.parametrize(
    ("name", "size", "params", "owned"),
    [
        ("gpumult0", 8, {}, 1),
        ("gputiled", 8, {"TS": 4}, 1),
        ("gputiled_more_work", 16, {}, None),
        ("narrow_tiles", 16, {"BLOCK": 8, "BK": 4, "TT": 4}, 16),
        ("matmul_tc", 32, {}, 8),
        ("matmul_tc_2d_warp_tiling", 32, {"WM": 2, "WN": 2}, 32),
    ],
)
def test_sums_grow_from_nothing_to_the_values_of_c(
    name: str, size: int, params: dict[str, int], owned: int | None
) -> None:
    shown = small(name, size, **params)
    recording = shown.recording
    for corner in ((0, 0), (size - 1, size - 1)):
        known = products(shown, *(int(owner[corner]) for owner in recording.owners))
        assert corner in zip(known.rows.tolist(), known.columns.tolist(), strict=True)
        assert owned is None or len(known.rows) == known.owned == owned
        assert known.by_warp == ("tc" in name)
        start, end = state_at(shown, known, 0), state_at(shown, known, shown.timeline.steps - 1)
        assert not start.done.any() and not start.sums.any()
        assert end.sums.tolist() == recording.c[known.rows, known.columns].tolist()
        assert (end.done == recording.k).all()
        middle = state_at(shown, known, shown.timeline.steps // 2)
        assert (middle.done <= end.done).all() and middle.done.sum() > 0
        operands = known.operands
        lines = zip((middle.a, middle.b), middle.grid, strict=True)
        for matrix, (held, line) in enumerate(lines):
            there = held >= 0
            assert (operands.matrix[held[there]] == matrix).all()
            assert operands.line[held[there]].tolist() == line[there].tolist()
            assert (operands.k[held[there]] == middle.k).all()
            assert (shown.timeline.step_of_row[operands.use[held[there]]] <= middle.step).all()


def test_a_loop_works_on_one_element_after_the_other() -> None:
    shown = playable(rung("hostmult1", Problem.cube(16)))
    steps = shown.timeline.steps
    writes = loop_writes(shown, 0)
    assert loop_element(shown, writes, 0) == (0, 0)
    assert loop_element(shown, writes, steps - 1) == (15, 15)
    seen = [loop_element(shown, writes, step) for step in range(0, steps, 7)]
    assert seen == sorted(seen, key=lambda at: at or (0, 0))
    middle = steps // 2 + 10
    at = loop_element(shown, writes, middle)
    assert at is not None
    known = products(shown, 0, 0, at)
    assert known.owned == 256
    half = state_at(shown, known, middle)
    assert 0 < half.done[0] < 16
    a, b = shown.recording.a[at[0]], shown.recording.b[:, at[1]]
    assert half.sums[0] == a[: half.done[0]] @ b[: half.done[0]]


@pytest.mark.parametrize("name", ["loop_order", "packed", "simd"])
def test_a_loop_that_reads_packed_panels_adds_up_its_stored_sums(name: str) -> None:
    kernel = find(name, ladder())
    assert kernel.demo is not None
    shown = playable(record(launch(kernel, Problem(*kernel.demo.size), kernel.defaults | kernel.demo.params)))
    recording, last = shown.recording, shown.timeline.steps - 1
    for at in ((0, 0), (recording.m - 1, recording.n - 1)):
        known = products(shown, 0, 0, at)
        assert state_at(shown, known, last).sums.tolist() == [recording.c[at]]
        assert not known.stored_otherwise(recording).any()


def test_an_element_with_parts_of_other_blocks_is_no_mistake_of_its_thread() -> None:
    shown = at_demo("stream_k")
    recording = shown.recording
    shared = 0
    for block in (0, recording.blocks - 1):
        known = products(shown, block, 128)  # of the first warp that multiplies
        assert not known.stored_otherwise(recording).any()
        rest = known.shared_out(recording)
        assert (known.counts[rest] < recording.k).all()
        shared += int(rest.sum())
    assert shared


def test_every_element_of_a_fragment_lies_with_one_lane() -> None:
    shown = small("matmul_tc_2d_warp_tiling", 32, WM=2, WN=2)
    assert shape_of(shown.recording.text) == (16, 16, 16)
    operands = shown.provenance.operands(0, 0, 32)
    held = fragments(shown, operands, 0, 0, shown.timeline.steps - 1, (20, 3))
    assert [(f.matrix, f.row, f.column) for f in held] == [(0, 16, 16), (1, 16, 0), (2, 16, 0)]
    for fragment in held:
        assert fragment.lane.shape == (16, 16)
        assert np.bincount(fragment.lane.ravel(), minlength=32).tolist() == [8] * 32
        assert sorted(set(fragment.slot.ravel().tolist())) == list(range(8))
    # Two warp tiles of 16 columns, or rows, and one load of each value.
    assert [f.products for f in held] == [32, 32, 0]
    log = shown.recording.accesses
    for fragment in held[:2]:
        mine = np.flatnonzero((log.array == fragment.matrix) & (log.block == 0))
        position, element, _ = shown.recording.covered(mine)
        i, j = shown.recording.arrays[fragment.matrix].cells(element)
        lanes = {(r, c): t for r, c, t in zip(i, j, log.thread[mine[position]] % 32, strict=True)}
        for row, column in ((0, 0), (7, 9), (15, 15)):
            assert fragment.lane[row, column] == lanes[fragment.row + row, fragment.column + column]


def test_reads_of_one_thread_for_a_product_are_those_of_its_warpgroup() -> None:
    # A row of A is one read of 16 bytes: a single thread reads all the operands of some elements, for all.
    known = products(playable(rung("fp8", Problem.cube(16))), 0, int(rung("fp8", Problem.cube(16)).owners[1][0, 0]))
    assert known.by_warp


def test_before_its_first_load_a_warp_holds_sums_only() -> None:
    shown = small("matmul_tc", 16)
    operands = shown.provenance.operands(0, 0, 32)
    assert [f.matrix for f in fragments(shown, operands, 0, 0, 0)] == [0, 2]
    assert shape_of("no fragment here") is None


@pytest.mark.parametrize("name", ["gputiled", "gpumult1", "matmul_kernel_2d_thread_tiling"])
def test_a_hop_goes_through_the_cells_that_hold_its_value(name: str) -> None:
    shown = playable(rung(name, Problem.cube(16)))
    row, column = 5, 9
    fed, target = shown.provenance.operand_paths(row, column), (2, 5 * 16 + 9)
    for place in range(len(fed.use)):
        hop = hop_at(shown, fed, place, target)
        matrix = [shown.recording.a, shown.recording.b][hop.origin[0]]
        at = (row, hop.k) if hop.origin[0] == 0 else (hop.k, column)
        assert hop.origin[1] == at[0] * 16 + at[1]
        stops = [hop.read, *([hop.write] if hop.write else []), hop.use]
        assert {stop.value for stop in stops} == {float(matrix[at])}
        assert [s.step for s in stops] == sorted(s.step for s in stops)
        if hop.write is not None:
            assert hop.write.cell == hop.use.cell != hop.origin
    place = first_after(shown, fed, hop.use.step)
    assert hop.use.step in {hop_at(shown, fed, p, target).use.step for p in range(place, len(fed.use))}
    now = hops_now(shown, fed, target, hop.use.step, 10)
    assert hop.use.cell in [h.use.cell for h in now]


def test_an_element_that_nothing_feeds_has_no_first_hop() -> None:
    shown = playable(rung("gputiled", Problem.cube(16)))
    fed = shown.provenance.operand_paths(0, 0)
    assert first_after(shown, fed.taken(np.zeros(0, np.int64)), 3) == -1
