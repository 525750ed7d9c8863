import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.array_state import history, shared_source
from gemmviz.trace.origin.staging import staged
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

RUNGS = ladder()


@pytest.fixture(scope="module")
def tiled() -> Recording:
    return record(launch(find("gputiled", RUNGS), Problem.cube(8), {"TS": 4}))


@pytest.mark.parametrize("order", ["grid", "block"])
def test_a_timeline_holds_every_access_once(tiled: Recording, order) -> None:
    timeline = build(tiled, order)
    assert sorted(timeline.order) == list(range(len(tiled.accesses)))
    assert (np.diff(timeline.start) > 0).all()


def test_a_step_is_one_instruction_of_all_threads(tiled: Recording) -> None:
    timeline = build(tiled)
    # 2 tile steps of (2 reads + 2 writes of shared memory, 4 k-steps of 2 reads), then C.
    assert timeline.steps == 2 * (4 + 8) + 1
    log = tiled.accesses
    for step in range(timeline.steps):
        rows = timeline.rows(step)
        assert len(rows) == 64
        assert set(log.site[rows]) == {timeline.site[step]}
        assert len(set(zip(log.block[rows], log.thread[rows], strict=True))) == 64


def test_blocks_can_go_one_after_another(tiled: Recording) -> None:
    timeline = build(tiled, "block")
    blocks = [set(tiled.accesses.block[timeline.rows(s)]) for s in range(timeline.steps)]
    assert all(len(b) == 1 for b in blocks)
    assert [b.pop() for b in blocks] == [i for i in range(4) for _ in range(25)]


def test_each_thread_keeps_its_own_order(tiled: Recording) -> None:
    step = build(tiled).step_of_row
    log = tiled.accesses
    for block in range(4):
        for thread in range(16):
            mine = np.flatnonzero((log.block == block) & (log.thread == thread))
            assert (np.diff(step[mine]) > 0).all()


@given(m=st.integers(1, 9), n=st.integers(1, 9), k=st.integers(1, 9))
@settings(max_examples=15, deadline=None)
def test_divergent_threads_stay_in_step(m: int, n: int, k: int) -> None:
    recording = record(launch(find("gputiled", RUNGS), Problem(m, n, k), {"TS": 4}))
    timeline = build(recording)
    log = recording.accesses
    for step in range(timeline.steps):
        rows = timeline.rows(step)
        assert len(set(zip(log.site[rows], log.phase[rows], strict=True))) == 1
        assert len(set(zip(log.block[rows], log.thread[rows], strict=True))) == len(rows)


def test_the_state_is_a_function_of_the_step(tiled: Recording) -> None:
    timeline = build(tiled)
    past = history(tiled, timeline)
    assert np.isnan(past.values(2, timeline.steps - 2)).all()
    assert (past.values(2, timeline.steps - 1).reshape(8, 8) == tiled.c).all()
    # After the first four steps block 3 = (1, 1) holds A[4:8, 0:4] and B[0:4, 4:8]; before them nothing.
    assert np.isnan(past.values(3, 0, block=3)).all()
    shared = {tiled.arrays[i].name: past.values(i, 3, block=3).reshape(4, 4) for i in (3, 4)}
    assert (shared["As"] == tiled.a[4:8, 0:4]).all()
    assert (shared["Bs"] == tiled.b[0:4, 4:8]).all()
    later = past.values(3, 15, block=3).reshape(4, 4)
    assert (later == tiled.a[4:8, 4:8]).all()


def test_shared_memory_knows_where_its_values_came_from(tiled: Recording) -> None:
    source = shared_source(tiled, staged(tiled))
    log = tiled.accesses
    rows = np.flatnonzero(source >= 0)
    assert len(rows) == 256
    assert (log.value[rows] == log.value[source[rows]]).all()
    names = [array.name for array in tiled.arrays]
    pairs = {(names[log.array[s]], names[log.array[r]]) for r, s in zip(rows, source[rows], strict=True)}
    assert pairs == {("A", "As"), ("B", "Bs")}


def test_running_counts_end_at_the_totals(tiled: Recording) -> None:
    timeline = build(tiled)
    traffic = measure(tiled, timeline)
    for index, array in enumerate(traffic.arrays):
        assert traffic.running[-1, index, 0].tolist() == [array.reads, array.read_bytes, array.read_units]
        assert traffic.running[-1, index, 1].tolist() == [array.writes, array.write_bytes, array.write_units]
    assert (np.diff(traffic.running, axis=0) >= 0).all()
    assert traffic.running[0].sum(axis=0)[0, 0] == 64


def test_lines_can_be_jumped_to(tiled: Recording) -> None:
    timeline = build(tiled)
    store = np.array([i for i, s in enumerate(tiled.sites) if timeline.site[-1] == i])
    assert timeline.next_on_line(0, store) == timeline.steps - 1
    assert timeline.next_on_line(timeline.steps - 1, store) == timeline.steps - 1
    assert timeline.next_on_line(0, np.array([999])) is None


def test_the_window_of_the_last_steps(tiled: Recording) -> None:
    rows, ages = build(tiled).window(5, 3)
    assert len(rows) == 3 * 64
    assert ages.tolist() == [2] * 64 + [1] * 64 + [0] * 64


def test_bank_conflicts_are_counted() -> None:
    # A warp of the narrow tiles reads 4 different rows of A's tile, 8 rows of 16 words apart: the same bank.
    recording = record(launch(find("narrow_tiles", RUNGS), Problem.cube(64)))
    traffic = measure(recording, build(recording))
    tile = next(a for a in traffic.arrays if a.name == "As")
    assert tile.read_units == 4 * tile.read_requests


def test_the_steps_of_rows_are_the_same_in_pieces_of_any_length(
    tiled: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gemmviz.trace.order import timeline as module

    whole = build(tiled)
    for length in (7, 64, 100):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", length)
        pieces = build(tiled).step_of_row
        assert (pieces == whole.step_of_row).all()
        assert all((pieces[whole.rows(step)] == step).all() for step in range(whole.steps))
