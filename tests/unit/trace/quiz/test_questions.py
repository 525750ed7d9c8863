"""Right answers are compared with the raw accesses, computed here in another way than in the questions."""

import re
from functools import cache

import numpy as np
import pytest
from cell_places import cell_of
from recordings import own, rung
from sampled import SAMPLE

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.quiz.questions import KINDS, Question, question

RUNGS = (
    "hostmult0",
    "hostmult_threads",
    "matmul_kernel_naive",
    "gpumult0",
    "gputiled",
    "matmul_kernel_2d_thread_tiling",
    "matmul_tc",
    "matmul_kernel_block_tiling",
    "CR",
)
ASKED_PER_RUNG = 60


def playable_of(recording):
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@cache
def playable(name):
    return playable_of(rung(name, Problem.cube(32 if name == "gputiled" else 16)))


def asked(name):
    """Questions from all over a recording, with the step at which each was asked."""
    shown = playable(name)
    steps, blocks = shown.timeline.steps, shown.recording.blocks
    for seed in range(ASKED_PER_RUNG):
        step = seed * (steps - 1) // ASKED_PER_RUNG
        found = question(shown, step, seed % blocks, seed % 2, seed)
        if found is not None:
            yield step, found


@pytest.mark.sweep("hostmult_threads", "gputiled", "matmul_kernel_naive")
@pytest.mark.parametrize("name", RUNGS)
def test_right_by_the_recording_and_the_others_are_wrong(name):
    count = 0
    for _, found in asked(name):
        truth = TRUTH[found.kind](playable(name), found)
        assert found.answers[found.right] == truth, found
        assert found.answers.count(truth) == 1
        count += 1
    assert count > ASKED_PER_RUNG // 2


@pytest.mark.sweep("hostmult_threads", "gputiled", "matmul_kernel_naive")
@pytest.mark.parametrize("name", RUNGS)
def test_four_different_answers_about_a_later_step(name):
    for step, found in asked(name):
        assert found.step > step
        assert len(set(found.answers)) == 4
        assert found.text and found.why and found.line == playable(name).line(found.step)


def test_a_bank_conflict_is_asked_about():
    costs = [found for _, found in asked("matmul_kernel_block_tiling") if "wavefronts" in found.text]
    waiting = [found for found in costs if found.answers[found.right] != "1 wavefront"]
    assert waiting and all("one after another" in found.why for found in waiting)


def test_every_kind_is_asked():
    assert {found.kind for name in SAMPLE for _, found in asked(name)} == set(KINDS)


@pytest.mark.parametrize("name", ["gputiled", "matmul_kernel_naive", "hostmult0"])
def test_the_right_answer_has_no_fixed_place(name):
    places = np.bincount([found.right for _, found in asked(name)], minlength=4)
    assert (places > 0).all()


def test_the_same_seed_asks_the_same_and_others_ask_something_else():
    shown = playable("gputiled")
    assert question(shown, 3, 0, 0, 7) == question(shown, 3, 0, 0, 7)
    assert len({question(shown, 3, 0, 0, seed).text for seed in range(12)}) > 2


def test_the_owner_of_the_chosen_cell_is_not_asked_for():
    shown = playable("gpumult0")
    steps = np.flatnonzero((shown.timeline.array == 2) & shown.timeline.write)
    asked_for = set()
    for seed in range(200):
        found = question(shown, int(steps[0]) - 1, 0, 0, seed, cell=(2, 5))
        if found.kind == "owner":
            asked_for.add(found.lead)
    assert len(asked_for) > 3
    assert "Next, C[0, 5] is written." not in asked_for


def test_an_element_that_two_threads_write_has_no_single_owner():
    raced = own("  if (threadIdx.x < 32) C[threadIdx.x / 2] = A[threadIdx.x];", Problem.cube(8))
    shown = playable_of(raced)
    write = int(np.flatnonzero(shown.timeline.write)[0])
    kinds = {question(shown, write - 1, 0, 0, seed).kind for seed in range(40)}
    assert kinds == {"cost"}


def test_nothing_is_asked_at_the_last_step():
    shown = playable("gputiled")
    assert question(shown, shown.timeline.steps - 1, 0, 0, 1) is None


def test_a_warp_that_is_done_leaves_the_question_to_others():
    recording = own("  for (int i = 0; i <= threadIdx.x / 32; i++) C[threadIdx.x] = A[i];", Problem.cube(8), "[64]")
    shown = playable_of(recording)
    last = shown.timeline.step_of_row[recording.accesses.thread < 32].max()
    found = question(shown, int(last), 0, 0, 1)
    assert found is not None and found.warp == 1


# Facts of the recording, from its rows alone


def rows_of(shown: Playable, found: Question, lane=None):
    log = shown.recording.accesses
    rows = np.flatnonzero((shown.timeline.step_of_row == found.step) & (log.block == found.block))
    rows = rows[log.thread[rows] // 32 == found.warp]
    return rows if lane is None else rows[log.thread[rows] % 32 == lane]


def said_lane(found):
    return int(re.search(r"lane (\d+)", found.text)[1])


def name_of(shown, row):
    log = shown.recording.accesses
    array = shown.recording.arrays[log.array[row]]
    i, j = cell_of(array, int(log.element[row]))
    return f"{array.name}[{i}, {j}]"


def index_text(number, dims):
    return f"({number % dims[0]}, {number // dims[0] % dims[1]})"


def true_owner(shown, found):
    recording, log = shown.recording, shown.recording.accesses
    cell = re.search(r"C\[\d+, \d+\]", found.lead)[0]
    i, j = map(int, re.findall(r"\d+", cell))
    array = recording.arrays[2]
    element = j * array.grid[0] + i if array.column_major else i * array.grid[1] + j
    (row,) = [
        r
        for r in np.flatnonzero((shown.timeline.step_of_row == found.step) & (log.array == 2) & log.write)
        if log.element[r] <= element < log.element[r] + log.bytes[r] // array.itemsize
    ]
    block, thread = int(log.block[row]), int(log.thread[row])
    return f"block {index_text(block, recording.grid)}, thread {index_text(thread, recording.block)}"


def true_bank(shown, found):
    (row,) = rows_of(shown, found, said_lane(found))
    log = shown.recording.accesses
    itemsize = shown.recording.arrays[log.array[row]].itemsize
    return f"bank {int(log.element[row]) * itemsize // 4 % 32}"


def true_element(shown, found):
    (row,) = rows_of(shown, found, said_lane(found))
    return name_of(shown, row)


def true_cost(shown, found):
    log, rows = shown.recording.accesses, rows_of(shown, found)
    array = shown.recording.arrays[log.array[rows[0]]]
    touched = {int(log.element[r]) * array.itemsize + byte for r in rows.tolist() for byte in range(int(log.bytes[r]))}
    if array.space == "global":
        return counted(len({byte // 32 for byte in touched}), "sector")
    assert log.bytes[rows].max() <= 4  # wider ones are served in parts: see test_wavefronts
    words = {byte // 4 for byte in touched}
    return counted(int(max(np.bincount([word % 32 for word in words]))), "wavefront")


def counted(count, name):
    return f"{count} {name}{'s' * (count != 1)}"


def true_barrier(shown, found):
    log = shown.recording.accesses
    mine = log.block == found.block
    steps, phases = shown.timeline.step_of_row[mine], log.phase[mine]
    now = phases[steps == found.step][0]
    before = phases[steps < found.step].max(initial=0) < now
    after = phases[steps == steps[steps > found.step].min()][0] > now
    return {
        (True, False): "right before it",
        (False, True): "right after it",
        (True, True): "both before and after it",
        (False, False): "neither",
    }[bool(before), bool(after)]


def true_loop(shown, found):
    log = shown.recording.accesses
    rows = np.flatnonzero(shown.timeline.step_of_row == found.step)
    named = re.search(r"thread (\d+)", found.text)
    (row,) = rows[log.thread[rows] == (int(named[1]) if named else 0)]
    return f"it {'writes' if log.write[row] else 'reads'} {name_of(shown, row)}"


TRUTH = {
    "owner": true_owner,
    "bank": true_bank,
    "cost": true_cost,
    "element": true_element,
    "barrier": true_barrier,
    "loop": true_loop,
}
