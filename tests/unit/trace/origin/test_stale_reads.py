"""A broken kernel's threads got other values than the cells show, and C holds other sums than its operands give."""

from pathlib import Path

import numpy as np
import pytest
from recordings import own, rung

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.thread_state import products
from gemmviz.trace.origin.value_path import hop_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

ODD = Problem(7, 6, 9)
GROUPS = Path(__file__).parents[2] / "styles" / "groups.cu"


def playable(recording: Recording) -> Playable:
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


def race(change: str) -> Playable:
    return playable(record(launch(broken(find("gputiled", ladder()), [change]), ODD, {"TS": 4})))


def replayed(shown: Playable) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the value of each shared read that disagrees, and that of its cell, access by access."""
    recording, log = shown.recording, shown.recording.accesses
    held: dict[tuple[int, int, int], float] = {}
    lost = {}
    for row in shown.timeline.order.tolist():
        array = int(log.array[row])
        if recording.arrays[array].space != "shared":
            continue
        cell = array, int(log.block[row]), int(log.element[row])
        value = float(log.value[row])
        if log.write[row]:
            held[cell] = value
        elif held[cell] != value:
            lost[row, cell[2]] = value, held[cell]
    return lost


@pytest.mark.parametrize("change", ["no-first-barrier", "no-second-barrier"])
def test_reads_that_lost_a_race_are_found_step_by_step(change: str) -> None:
    shown = race(change)
    found = {}
    for step in range(shown.timeline.steps):
        for block in range(shown.recording.blocks):
            lost = shown.stale_reads(step, block)
            rows = zip(lost.row.tolist(), lost.element.tolist(), strict=True)
            found |= dict(zip(rows, zip(lost.got.tolist(), lost.held.tolist(), strict=True), strict=True))
            assert lost.written.all()
    wanted = replayed(shown)
    assert found.keys() == wanted.keys() and len(found) > 100
    assert all(str(found[at]) == str(wanted[at]) for at in found)  # NaN is written the same


@pytest.mark.sweep("mm_optimizado", "gputiled", "matmul_tc")
@pytest.mark.parametrize("name", ["gputiled", "mm_optimizado", "matmul_kernel_2d_thread_tiling", "matmul_tc"])
def test_a_right_kernel_reads_the_values_of_its_cells(name: str) -> None:
    shown = playable(rung(name, Problem(17, 20, 9)))
    recording = shown.recording
    for step in range(shown.timeline.steps):
        for block in {0, recording.blocks - 1}:
            assert not len(shown.stale_reads(step, block).row)
    for cell in ((0, 0), (recording.m - 1, recording.n - 1)):
        fed = shown.provenance.operand_paths(*cell)
        assert fed.gives_stored and not fed.unknown
        assert not shown.provenance.stale_reads(fed, *cell).any()


def test_an_unwritten_cell_is_empty() -> None:
    # Lane 0 writes before lane 1 reads; in lockstep all lanes read first.
    body = """
    __shared__ float s[2];
    volatile float *v = s;
    if (threadIdx.x) C[threadIdx.x] = v[0];
    v[threadIdx.x] = A[threadIdx.x];
    """
    shown = playable(own(body, Problem(4, 4, 4), block="[2]"))
    log = shown.recording.accesses
    (read,) = np.flatnonzero(~log.write & (log.array == 3))
    lost = shown.stale_reads(int(shown.timeline.step_of_row[read]), 0)
    assert lost.row.tolist() == [read]
    assert np.isnan(lost.held[0]) and not lost.written[0]
    assert lost.got[0] == shown.recording.a[0, 0]


def test_a_hop_says_that_its_value_was_read_as_another() -> None:
    shown = race("no-first-barrier")
    cell = (0, 3)
    fed = shown.provenance.operand_paths(*cell)
    lost = shown.provenance.stale_reads(fed, *cell)
    assert 0 < lost.sum() < len(lost)
    for place, wrong in enumerate(lost.tolist()):
        hop = hop_at(shown, fed, place, (2, 3))
        assert hop.misread == wrong
        if wrong:
            assert hop.use.value != hop.read.value
    # C holds the values that were really read.
    assert fed.gives_stored and np.isnan(fed.total) and np.isnan(shown.recording.c[cell])


def test_operands_that_do_not_give_the_stored_value_are_rejected() -> None:
    kernel = find("mm_optimizado_store_in_loop~sum-per-stage", ladder())
    shown = playable(record(launch(kernel, Problem.cube(8), {"BLOCK_SIZE": 4})))
    recording = shown.recording
    right = recording.a @ recording.b
    row, column = (int(at[0]) for at in np.nonzero(recording.c != right))
    fed = shown.provenance.operand_paths(row, column)
    assert fed.total == right[row, column] and fed.stored == recording.c[row, column]
    assert not fed.gives_stored and not fed.unknown
    known = products(shown, *(int(owner[row, column]) for owner in recording.owners))
    assert known.totals.tolist() == [right[row, column]]
    assert known.stored_otherwise(recording).all()
    kept = tuple(int(at[0]) for at in np.nonzero(recording.c == right))
    known = products(shown, *(int(owner[kept]) for owner in recording.owners))
    assert not known.stored_otherwise(recording).any()


def test_a_sum_that_another_warp_left_in_shared_memory_has_an_unknown_origin() -> None:
    kernel = parse(GROUPS.read_text(), GROUPS)
    shown = playable(record(launch(kernel, Problem.cube(32))))
    asked = shown.provenance
    paths = asked.operand_paths(0, 0)
    assert paths.covered(0) == paths.covered(1) == 32 and not paths.unknown
    for column in (1, 2, 3):
        fed = asked.operand_paths(0, column)
        assert fed.unknown and not len(fed.use), "the thread that stores it read A[0, j] for another element"
