"""Lessons as data: every shipped one fits its recording, and faults are named."""

import numpy as np
import pytest
from lesson_texts import SMALL, parsed, playable_of, played

from gemmviz import data
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.language import LANGUAGES
from gemmviz.session.tour.lesson_file import load_lesson
from gemmviz.session.tour.lesson_numbers import fill
from gemmviz.session.tour.lessons import recorded_at, resolve

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable]
FOLDER = data.root("resources") / "lessons"


def step_at(**at):
    lesson = parsed(stop=[{"at": at, "say": "Look."}])
    return resolve(lesson, playable_of(lesson), "en")[0].step


# What is shipped


def test_every_rung_with_a_source_has_a_lesson_and_every_lesson_a_rung():
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(RUNGS)


def test_the_lessons_lead_through_every_rung_in_the_order_of_the_ladder():
    following = [load_lesson(FOLDER / f"{name}.toml").next for name in RUNGS]
    assert following == [*RUNGS[1:], ""]


@pytest.mark.sweep
@pytest.mark.parametrize("name", RUNGS)
def test_a_lesson_is_true_to_its_recording(name):
    lesson = load_lesson(FOLDER / f"{name}.toml")
    assert find(lesson.kernel, ladder()).base_name == name
    assert not lesson.next or lesson.next in RUNGS
    assert 3 <= len(lesson.stops) <= 6
    assert all(texts.keys() == LANGUAGES.keys() for texts in (lesson.titles, *(stop.say for stop in lesson.stops)))
    playable = playable_of(lesson)
    for code in LANGUAGES:
        stops = resolve(lesson, playable, code, find(lesson.kernel, ladder()).demo)
        assert (np.diff([stop.step for stop in stops]) > 0).all()
        assert not [stop.say for stop in stops if "{" in stop.say or len(stop.say) > 420]


@pytest.mark.parametrize("name", [name for name in RUNGS if find(name, ladder()).source])
def test_the_lesson_of_a_documents_kernel_is_recorded_at_the_kernels_demo(name):
    kernel = find(name, ladder())
    assert kernel.demo is not None
    at_the_demo = Problem(*kernel.demo.size), kernel.defaults | kernel.demo.params
    assert recorded_at(load_lesson(FOLDER / f"{name}.toml"), kernel) == at_the_demo


# Where a stop is


def test_a_line_is_found_by_its_text_and_counted_per_array():
    playable = playable_of(parsed())
    sum_line = {"line": "sum += As[ty][k]"}
    third = step_at(**sum_line, array="Bs", nth=3)
    assert playable.timeline.array[third] == 4
    assert playable.line(third) == 33
    earlier = playable.timeline.array[:third][[playable.line(step) == 33 for step in range(third)]]
    assert (earlier == 4).sum() == 2
    assert playable.timeline.write[step_at(line="As[ty][tx] = row", write=True)]


def test_the_other_places_are_found():
    playable = playable_of(parsed())
    steps = playable.timeline.steps
    assert playable.timeline.phase[step_at(phase=3)] == 2
    assert playable.timeline.phase[step_at(phase=3) - 1] == 1
    assert step_at(end=True) == steps - 1
    assert step_at(step=7) == 6
    assert step_at(share=0.5) == round((steps - 1) / 2)
    assert step_at(tile=2) == step_at(phase=3)


def test_a_cell_brings_its_block_and_a_column_major_one_is_counted_down():
    lesson = parsed(
        kernel="mm",
        params={"BLOCK_SIZE": 4},
        stop=[
            {"at": {"step": 1}, "say": "C", "cell": {"array": "C", "row": 5, "column": 1}},
            {"at": {"step": 2}, "say": "B", "cell": {"array": "B", "row": 3, "column": 2}, "block": [1, 0], "warp": 0},
        ],
    )
    in_c, in_b = resolve(lesson, playable_of(lesson), "en")
    assert (in_c.cell, in_c.block) == ((2, 41), 2)
    assert (in_b.cell, in_b.block, in_b.warp) == ((1, 19), 1, 0)


def test_numbers_come_from_the_recording():
    playable = playable_of(parsed())
    assert fill("{reads:A} {times:A} {TS} {M}", playable, 0) == "128 2 4 8"
    assert fill("{now} threads, {places} places, {cost}", playable, 0) == "64 threads, 32 places, 4"
    assert fill("{{x}}", playable, 0) == "{x}"
    with pytest.raises(GemmvizError, match="'sektors' is no number of an array"):
        fill("{sektors:A}", playable, 0)


def test_a_loop_has_the_threads_that_do_something_and_no_barriers():
    loop = played("hostmult_threads", Problem.cube(6), {"THREADS": 4})
    assert fill("{threads} {barriers} {warps}", loop, 0) == "4 0 1"


def test_a_language_that_is_missing_falls_back_to_english():
    lesson = parsed(stop=[{"at": {"end": True}, "say": {"en": "Look.", "es": "Mire."}}])
    playable = playable_of(lesson)
    assert [resolve(lesson, playable, code)[0].say for code in ("ko", "es")] == ["Look.", "Mire."]


# What is wrong is named


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kernel": ""}, "mine.toml: say which kernel"),
        ({"size": "8"}, "mine.toml: size is one whole number"),
        ({"size": 0}, "M = 0: choose a size"),
        ({"params": {"TS": "4"}}, "params are whole numbers"),
        ({"order": "random"}, "order is"),
        ({"as_written": "yes"}, "as_written is true"),
        ({"stop": []}, "it has no stops"),
        ({"stops": []}, "'stops' is not known here"),
        ({"title": {"fr": "Non"}}, "fr is no language"),
        ({"stop": [{"at": {"phase": 2}}]}, "mine.toml, stop 1: say is missing"),
        ({"stop": [{"at": {}, "say": "x"}]}, "stop 1: at has one of line, phase"),
        ({"stop": [{"at": {"phase": 1, "end": True}, "say": "x"}]}, "at has one of"),
        ({"stop": [{"at": {"phase": 0}, "say": "x"}]}, "phase is a whole number, from 1"),
        ({"stop": [{"at": {"phase": 1}, "say": "x", "panel": "door"}]}, "panel is one of counters"),
        ({"stop": [{"at": {"phase": 1}, "say": "x", "cell": {"array": "C"}}]}, "cell is written so"),
        ({"stop": [{"at": {"end": True}, "say": "x", "next": "mm"}, *SMALL["stop"]]}, "the last stop only"),
    ],
)
def test_the_message_about_a_faulty_file_names_the_remedy(changes, text):
    with pytest.raises(GemmvizError) as raised:
        parsed(**changes)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        ({"at": {"line": "As[ty]"}}, "stop 1: 'As[ty]' is in lines 29, 33"),
        ({"at": {"line": "nothing like it"}}, "is in no line"),
        ({"at": {"line": "sum += As", "nth": 99}}, "line 33 makes such an access only 16×"),
        ({"at": {"line": "sum += As", "array": "X"}}, "no array 'X': there are A, B, C, As, Bs"),
        ({"at": {"phase": 9}}, "there is no phase 9: the last one is 5"),
        ({"at": {"tile": 9}}, "there is no tile 9: the last one is 2"),
        ({"at": {"step": 999}}, "there is no step 999"),
        ({"at": {"end": True}, "block": [7, 0]}, "block (7, 0) does not exist: the grid is 2 x 2"),
        ({"at": {"end": True}, "cell": {"array": "C", "row": 8, "column": 0}}, "C[8, 0] does not exist"),
    ],
)
def test_a_stop_that_the_recording_has_not_is_named(stop, text):
    lesson = parsed(stop=[{**stop, "say": "x"}])
    with pytest.raises(GemmvizError) as raised:
        resolve(lesson, playable_of(lesson), "en")
    assert text in str(raised.value)
