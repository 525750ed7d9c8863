"""The walks that the lens on memory order shows, against the recorded accesses one by one."""

import numpy as np
import pytest
from lens_recordings import playable, rows_of

from gemmviz.trace.lenses.address_walk import LINE_BYTES, address_walks

LAST = 8


@pytest.mark.parametrize("name", ["loop_order", "hostmult1_opt", "packed", "hostmult_threads"])
def test_a_loop_shows_its_last_accesses_of_one_kind(name):
    shown = playable(name, 8, 8, 8)
    recording, timeline = shown.recording, shown.timeline
    log = recording.accesses
    history = {array: [] for array in range(len(recording.arrays))}
    first = int(log.thread.min())  # the first thread of several only starts the others
    for step in range(timeline.steps):
        for row in timeline.rows(step).tolist():
            if log.thread[row] == first:
                history[int(log.array[row])].append((step, row))
        if step % 37:
            continue
        walks = address_walks(shown).at(shown, step, 0, 0, 0)
        assert walks
        for walk in walks:
            itemsize = recording.arrays[walk.array].itemsize
            past = history[walk.array]
            if not past:
                assert walk.step > step  # the first access, still to come
                continue
            assert walk.step == past[-1][0] and walk.write == bool(log.write[past[-1][1]])
            rows = [row for _, row in past[-2 * LAST :] if log.write[row] == walk.write][-LAST:]
            assert walk.element.tolist() == log.element[rows].tolist()
            width = int(log.bytes[rows[-1]])
            byte = {int(e) * itemsize + i for e in walk.element for i in range(width)}
            assert walk.units.tolist() == sorted({b // LINE_BYTES for b in byte})
            assert walk.least == -(-len(byte) // LINE_BYTES)


def test_the_order_of_the_loops_decides_how_b_is_walked():
    along, down = playable("loop_order", 16, 16, 16), playable("hostmult1_opt", 16, 16, 16)
    for shown, distance, scattered in ((along, 1, False), (down, 16, True)):
        reads = np.flatnonzero((shown.timeline.array == 1) & ~shown.timeline.write)
        step = int(reads[16 * 5 + 12])
        walk = next(w for w in address_walks(shown).at(shown, step, 0, 0, 0) if w.array == 1)
        assert walk.distance == distance and walk.scattered == scattered
    assert len(walk.units) == LAST  # each of the eight in another line


@pytest.mark.parametrize("name", ["mm", "tiles_by_columns", "gpumult1"])
def test_a_warp_shows_its_last_request_to_each_matrix(name):
    shown = playable(name, 16, 32, 8)
    log = shown.recording.accesses
    steps = {0: [], 1: [], 2: []}
    for step in range(shown.timeline.steps):
        array = int(shown.timeline.array[step])
        if array in steps and rows_of(shown, step, 0, 0):
            steps[array].append(step)
    for step in range(0, shown.timeline.steps, 3):
        walks = address_walks(shown).at(shown, step, 0, 0, 0)
        assert [w.array for w in walks] == [0, 1, 2]
        for walk in walks:
            before = [s for s in steps[walk.array] if s <= step]
            assert walk.step == (before[-1] if before else steps[walk.array][0])
            rows = sorted(rows_of(shown, walk.step, 0, 0), key=lambda row: log.thread[row])
            assert walk.element.tolist() == log.element[rows].tolist()
            assert walk.unit_bytes == 32
