"""The texts in the cells of the stage."""

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.stage.caption import about_cell
from gemmviz.ui.stage.cell_text import lanes_at


def playable(name: str, size: int, **params: int) -> Playable:
    recording = record(launch(find(name, ladder()), Problem.cube(size), params))
    steps = timeline.build(recording)
    return Playable(recording, steps, traffic.measure(recording, steps))


def test_each_element_of_a_fragment_shows_its_lane() -> None:
    shown = playable("matmul_tc", 16)
    step = next(s for s in range(shown.timeline.steps) if shown.timeline.array[s] == 2 and shown.timeline.write[s])
    lanes = lanes_at(shown, 2, step, 0, 0)
    # The sums of an m16n8 fragment: four lanes a row, two neighbouring columns each (PTX ISA, "Matrix Fragments").
    assert len(lanes) == 64
    row, column = divmod(min(lanes), 16)
    assert {lanes[(row + r) * 16 + column + c] == f"L{4 * r + c // 2}" for r in range(8) for c in range(8)} == {True}


def test_an_element_of_several_lanes_shows_their_range_in_each_block() -> None:
    shown = playable("gputiled", 8, TS=4)
    log = shown.recording.accesses
    step = next(
        s
        for s in range(shown.timeline.steps)
        if not shown.timeline.write[s] and shown.recording.arrays[shown.timeline.array[s]].name == "As"
    )
    array = int(shown.timeline.array[step])
    message = lanes_at(shown, array, step, 0, 0)
    for cell, text in message.items():
        rows = [r for r in shown.warp_rows(step, 0, 0) if log.element[r] == cell]
        lanes = sorted(int(log.thread[r]) for r in rows)
        assert text == f"L{lanes[0]}-{lanes[-1]}" and len(lanes) == 4  # the threads of a row read the same element
    assert not lanes_at(shown, (array + 1) % len(shown.recording.arrays), step, 0, 0)


def test_a_cpu_has_no_lanes() -> None:
    assert lanes_at(playable("hostmult0", 4), 0, 0, 0, 0) == {}


@pytest.mark.parametrize(("block", "warp"), [(0, 0), (3, 0), (3, 1)])
def test_only_the_lanes_of_the_chosen_warp_are_shown(block: int, warp: int) -> None:
    shown = playable("gputiled", 16, TS=8)  # two warps in a block
    step = int((shown.timeline.array == 0).argmax())
    lanes = lanes_at(shown, 0, step, block, warp)
    assert len(lanes) == 32 and set(lanes.values()) == {f"L{lane}" for lane in range(32)}
    log = shown.recording.accesses
    mine = [r for r in shown.timeline.rows(step) if log.block[r] == block and log.thread[r] // 32 == warp]
    assert set(lanes) == {int(log.element[r]) for r in mine}


def test_a_wrong_element_of_c_is_shown_from_its_last_write_on() -> None:
    broken = playable("gputiled~no-second-barrier", 8, TS=4)
    recording = broken.recording
    wrong = recording.c != recording.a @ recording.b
    assert wrong.any() and not wrong.all()
    last = broken.timeline.steps - 1
    assert ((broken.wrong_from <= last) == wrong).all()
    assert (broken.wrong_from > last - 1).all()  # C is stored in the last step
    assert "WRONG: " in about_cell(broken, 2, int(wrong.ravel().argmax()), last, 0)
    assert "WRONG: " not in about_cell(broken, 2, int((~wrong).ravel().argmax()), last, 0)
