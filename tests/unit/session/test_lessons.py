"""Lessons as data: every shipped one fits its recording, faults are named, and one's own stops become a lesson."""

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gemmviz import data
from gemmviz.app import new_session
from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.language import LANGUAGES, set_language
from gemmviz.session.tour.lesson_file import load_lesson, parse_lesson, write_lesson
from gemmviz.session.tour.lesson_numbers import fill
from gemmviz.session.tour.lessons import find_lesson, own_folder, recorded_at, resolve
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable]
FOLDER = data.root("resources") / "lessons"
SMALL = {
    "kernel": "gputiled",
    "size": 8,
    "params": {"TS": 4},
    "title": "Mine",
    "stop": [{"at": {"phase": 2}, "say": "Look."}],
}


@cache
def played(name, problem, params, order="grid"):
    kernel = find(name, ladder())
    recording = record(launch(kernel, problem, kernel.defaults | dict(params)))
    timeline = build(recording, order)
    return Playable(recording, timeline, measure(recording, timeline))


def playable_of(lesson):
    problem, params = recorded_at(lesson, find(lesson.kernel, ladder()))
    return played(lesson.kernel, problem, tuple(params.items()), lesson.order)


def parsed(**changes):
    return parse_lesson({**SMALL, **changes}, Path("mine.toml"))


def step_at(**at):
    lesson = parsed(stop=[{"at": at, "say": "Look."}])
    return resolve(lesson, playable_of(lesson), "en")[0].step


@pytest.fixture
def english():
    yield
    set_language("en")


def record_what_is_chosen(session):
    """Let a session without a window record as the window's controller would."""

    def recorded():
        recording = record(session.choice.launch(), as_written=session.choice.as_written)
        timeline = build(recording, session.choice.order)
        session.cursor.show(Playable(recording, timeline, measure(recording, timeline)))

    session.tour.recording_wanted.connect(recorded)
    recorded()
    return session


@pytest.fixture
def session(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return record_what_is_chosen(new_session())


# What is shipped


def test_every_rung_with_a_source_has_a_lesson_and_every_lesson_a_rung():
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(RUNGS)


def test_the_lessons_lead_through_every_rung_in_the_order_of_the_ladder():
    following = [load_lesson(FOLDER / f"{name}.toml").next for name in RUNGS]
    assert following == [*RUNGS[1:], ""]


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
    loop = played("hostmult_threads", Problem.cube(6), (("THREADS", 4),))
    assert fill("{threads} {barriers} {warps}", loop, 0) == "4 0 1"


def test_a_language_that_is_missing_falls_back_to_english():
    lesson = parsed(stop=[{"at": {"end": True}, "say": {"en": "Look.", "es": "Mire."}}])
    playable = playable_of(lesson)
    assert [resolve(lesson, playable, code)[0].say for code in ("ko", "es")] == ["Look.", "Mire."]


# What is wrong is named


@pytest.mark.parametrize(
    ("changes", "said"),
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
def test_a_faulty_file_says_what_to_do(changes, said):
    with pytest.raises(GemmvizError) as raised:
        parsed(**changes)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ({"at": {"line": "As[ty]"}}, "stop 1: 'As[ty]' stands in lines 29, 33"),
        ({"at": {"line": "nothing like it"}}, "stands in no line"),
        ({"at": {"line": "sum += As", "nth": 99}}, "line 33 makes such an access 16 times"),
        ({"at": {"line": "sum += As", "array": "X"}}, "no array 'X': there are A, B, C, As, Bs"),
        ({"at": {"phase": 9}}, "there is no phase 9: the last one is 5"),
        ({"at": {"tile": 9}}, "there is no tile 9: the last one is 2"),
        ({"at": {"step": 999}}, "there is no step 999"),
        ({"at": {"end": True}, "block": [7, 0]}, "block (7, 0) does not exist: the grid is 2 x 2"),
        ({"at": {"end": True}, "cell": {"array": "C", "row": 8, "column": 0}}, "C[8, 0] does not exist"),
    ],
)
def test_a_stop_that_the_recording_has_not_is_named(stop, said):
    lesson = parsed(stop=[{**stop, "say": "x"}])
    with pytest.raises(GemmvizError) as raised:
        resolve(lesson, playable_of(lesson), "en")
    assert said in str(raised.value)


# At the demo


def at_demo(**changes):
    """Return a lesson that leaves its size to the rung's demo, with one stop at the demo."""
    table = {**SMALL, "stop": [{"at": {"demo": True}, "say": "{M} x {N} x {K}."}], **changes}
    return parse_lesson({key: value for key, value in table.items() if value is not None}, Path("mine.toml"))


def test_a_lesson_without_a_size_is_recorded_at_the_demo():
    lesson = at_demo(kernel="gpumult1", size=None, params=None)
    kernel = find("gpumult1", ladder())
    assert recorded_at(lesson, kernel) == (Problem(*kernel.demo.size), kernel.defaults | kernel.demo.params)
    other = at_demo(kernel="gpumult1", size=None, params={"BY": 4})
    assert recorded_at(other, kernel)[1] == {"BX": 32, "BY": 4}
    own = at_demo(size=16, params=None)
    assert recorded_at(own, find("gputiled", ladder())) == (Problem.cube(16), {"TS": 16})
    assert parse_lesson(tomllib.loads(write_lesson(lesson)), lesson.path) == lesson


def test_a_stop_at_the_demo_has_its_step_its_block_its_thread_and_what_it_owns():
    lesson, kernel = at_demo(size=None, params=None), find("gputiled", ladder())
    playable = playable_of(lesson)
    (stop,) = resolve(lesson, playable, "en", kernel.demo)
    assert (kernel.demo.block, kernel.demo.thread) == ((1, 0), (2, 1))
    assert (stop.block, stop.warp, stop.lane, stop.panel) == (1, 0, 6, "thread")
    assert stop.cell == (2, 1 * 8 + 4 + 2)  # C[1, 6]
    assert playable.line(stop.step) == 33 and stop.say == "8 x 8 x 8."
    mine = at_demo(
        stop=[{"at": {"demo": True}, "say": "x", "cell": {"array": "A", "row": 0, "column": 3}, "panel": "warp"}]
    )
    (stop,) = resolve(mine, playable, "en", kernel.demo)
    assert (stop.cell, stop.block, stop.panel) == ((0, 3), None, "warp")


def test_a_demo_that_is_not_there_is_said(session, tmp_path):
    lesson, kernel = at_demo(size=None), replace(find("gputiled", ladder()), demo=None)
    with pytest.raises(GemmvizError, match="say which size to record, as gputiled has no demo: size = 8"):
        recorded_at(lesson, kernel)
    with pytest.raises(GemmvizError, match=r"mine\.toml, stop 1: the kernel has no demo"):
        resolve(at_demo(), playable_of(parsed()), "en", None)
    for demo, said in (
        (Demo((8, 8, 8), thread=(4, 0)), "thread (4, 0) does not exist: a block is 4 x 4"),
        (Demo((8, 8, 8), block=(0, 2)), "block (0, 2) does not exist"),
        (Demo((8, 8, 8), stop={"tile": 9}), "there is no tile 9"),
    ):
        with pytest.raises(GemmvizError) as raised:
            resolve(at_demo(), playable_of(parsed()), "en", demo)
        assert said in str(raised.value)
    with pytest.raises(GemmvizError, match="at: demo is true"):
        at_demo(stop=[{"at": {"demo": 1}, "say": "x"}])
    path = tmp_path / "mine.toml"
    path.write_text(write_lesson(at_demo(size=None, kernel="cublas")), encoding="utf-8")
    session.tour.open(path)
    assert session.messages.current.text.startswith("mine.toml: say which size")
    assert not session.tour.active


def test_a_lesson_at_the_demo_is_walked(session):
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    session.tour.start(at_demo(kernel="gpumult1", size=None, params=None))
    assert session.tour.stop.say == "8 x 32 x 8."
    assert (session.cursor.block, session.cursor.warp, session.inspection.lane) == (1, 1, 3)


# The tour


def test_a_lesson_is_recorded_at_its_own_size_and_leaving_brings_the_old_one_back(session):
    session.choice.choose(problem=Problem.cube(12), params={"TS": 2})
    session.tour.recording_wanted.emit()
    tour, before = session.tour, (session.choice.problem, dict(session.choice.params))
    session.playback.play()
    tour.toggle_lesson()
    assert tour.lesson is not None
    assert not session.playback.playing
    assert (session.choice.problem.m, session.choice.params) == (8, {"TS": 4})
    assert (tour.at, session.cursor.step) == (0, tour.stops[0].step)
    tour.next(1)
    tour.next(1)
    assert (tour.at, session.cursor.step) == (2, tour.stops[2].step)
    tour.next(-1)
    assert tour.at == 1
    tour.toggle_lesson()
    assert (session.choice.problem, session.choice.params) == before
    assert not tour.active
    assert session.cursor.playable.recording.m == before[0].m


def test_a_lesson_is_recorded_as_compiled_and_leaving_brings_the_view_back(session):
    session.choice.choose(as_written=True)
    session.tour.recording_wanted.emit()
    session.tour.toggle_lesson()
    assert not session.cursor.playable.recording.as_written
    session.tour.leave()
    assert session.choice.as_written and session.cursor.playable.recording.as_written
    session.tour.toggle_lesson()
    session.choice.choose(as_written=True)
    assert not session.tour.active


def test_a_lesson_may_say_that_it_is_about_what_the_text_names(session, tmp_path):
    session.choice.choose_kernel(find("gpumult0", session.choice.kernels))
    session.choice.choose(as_written=True)
    session.tour.recording_wanted.emit()
    session.cursor.seek(session.cursor.steps - 1)
    session.own_stops.say(session.own_stops.add(session.own_stops.now()), "C is done.")
    path = tmp_path / "mine.toml"
    path.write_text(write_lesson(session.own_stops.as_lesson(path, "Mine")), encoding="utf-8")
    assert load_lesson(path).as_written
    session.choice.choose(as_written=False)
    session.tour.open(path)
    assert session.cursor.playable.recording.as_written and session.cursor.step == session.cursor.steps - 1
    assert not load_lesson(FOLDER / "gpumult0.toml").as_written


def test_a_stop_picks_its_cell_and_asks_for_its_panel(session):
    wanted = []
    session.inspection.panel_wanted.connect(wanted.append)
    session.tour.toggle_lesson()
    session.tour.go(5)
    assert session.cursor.cell == (2, 14)
    assert wanted == ["origin"]


def test_behind_the_last_stop_comes_the_next_rungs_lesson(session):
    tour = session.tour
    tour.start_rung("mm_bounds_printed")
    tour.go(len(tour.stops) - 1)
    assert tour.onward == "matmul_kernel_naive"
    tour.next(1)
    assert (session.choice.base.name, tour.at) == ("matmul_kernel_naive", 0)
    tour.leave()
    assert session.choice.base.name == "matmul_kernel_naive"
    assert (
        session.choice.problem.m,
        session.choice.problem.n,
        session.choice.problem.k,
    ) == session.choice.base.demo.size


def test_choosing_something_else_ends_the_lesson_and_stands(session):
    session.tour.toggle_lesson()
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert not session.tour.active
    assert (session.choice.base.name, session.choice.problem.n) == ("gpumult1", 32)


def test_the_demo_ends_a_lesson_that_led_to_another_rung_and_is_shown(session):
    tour, shown = session.tour, session.demonstration
    shown.recording_wanted.connect(tour.recording_wanted.emit)
    tour.start_rung("matmul_kernel_thread_tiling")
    shown.show()
    assert not tour.active and not shown.waiting
    assert session.choice.base.name == "matmul_kernel_thread_tiling"
    assert "sum[w] +=" in session.choice.base.text.splitlines()[session.cursor.playable.line(session.cursor.step) - 1]
    assert session.cursor.step > 0 and not session.staged.outdated


def test_breaking_the_kernel_stays_at_the_stop(session):
    tour = session.tour
    tour.toggle_lesson()
    tour.go(3)
    session.choice.break_it(("no-second-barrier",))
    tour.recording_wanted.emit()
    assert (tour.at, session.cursor.step) == (3, tour.stops[3].step)
    assert tour.active


def test_the_sentences_follow_the_language(session, english):
    session.tour.toggle_lesson()
    before = session.tour.stop.say
    session.preferences.speak("es")
    assert session.tour.stop.say != before
    assert session.tour.title == find_lesson(session.choice.base).titles["es"]


def test_a_rung_without_a_lesson_says_so(session):
    session.tour.start_rung("cublas")
    assert "library call" in session.messages.current.text
    assert not session.tour.active


def test_a_users_own_lesson_comes_before_the_shipped_one(session):
    own_folder().mkdir(parents=True)
    (own_folder() / "gputiled.toml").write_text(write_lesson(parsed()), encoding="utf-8")
    session.tour.toggle_lesson()
    assert (session.tour.title, session.choice.problem.m) == ("Mine", 8)


def test_a_lesson_on_a_kernel_beside_it_opens(session, tmp_path):
    text = find("gpumult1", session.choice.kernels).text
    (tmp_path / "mykernel.cu").write_text(text.replace('alias    = "gpumult1"', 'alias = "mine"'), encoding="utf-8")
    lesson = parsed(kernel="mykernel.cu", params={"BX": 4, "BY": 4}, stop=[{"at": {"end": True}, "say": "The end."}])
    path = tmp_path / "mine.toml"
    path.write_text(write_lesson(lesson).replace(lesson.kernel, "mykernel.cu"), encoding="utf-8")
    session.tour.open(path)
    assert (session.choice.base.name, session.tour.stop.say) == ("mykernel", "The end.")
    path.write_text("stop = [", encoding="utf-8")
    session.tour.open(path)
    assert session.messages.current.text.startswith("mine.toml is not TOML")


# One's own stops


def test_own_stops_are_set_changed_and_taken_back(session):
    own = session.own_stops
    for step in (3, 9, 15):
        session.cursor.seek(step)
        own.say(own.add(own.now()), f"Step {step}")
    own.move(2, 0)
    assert [stop.step for stop in own.here] == [15, 3, 9]
    own.remove(1)
    own.undo()
    own.undo()
    assert [stop.say for stop in own.here] == ["Step 3", "Step 9", "Step 15"]
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert own.here == ()


def test_going_to_an_own_stop_records_the_size_that_it_was_set_at(session):
    session.cursor.seek(11)
    session.own_stops.add(session.own_stops.now())
    session.choice.choose(params={"TS": 2})
    session.tour.recording_wanted.emit()
    session.tour.show_own(0)
    assert session.choice.params == {"TS": 4}
    assert session.cursor.playable.recording.params == {"TS": 4}
    assert session.cursor.step == 11


def test_own_stops_become_a_lesson_that_leads_to_the_same_steps(session, tmp_path):
    tour, own = session.tour, session.own_stops
    session.cursor.pick((2, 9), 0)
    for step in (1, 6, 12):
        session.cursor.seek(step)
        own.say(own.add(own.now()), f"At {step}: a {{brace}} and “quotes\\”")
    path = tmp_path / "saved.toml"
    path.write_text(write_lesson(own.as_lesson(path, "My tiles")), encoding="utf-8")
    tour.open(path)
    assert tour.title == "My tiles"
    assert [stop.step for stop in tour.stops] == [1, 6, 12]
    assert tour.stop.say == "At 1: a {brace} and “quotes\\”"
    assert tour.stop.cell == (2, 9)


def test_ones_own_stops_are_walked_until_another_rung_is_chosen(session):
    tour, own = session.tour, session.own_stops
    for step in (3, 9):
        session.cursor.seek(step)
        own.add(own.now())
    tour.next(1)
    assert (tour.title, session.cursor.step) == ("My stops", 3)
    tour.next(1)
    own.remove(1)
    assert tour.at == 0
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert not tour.active


def test_stops_of_two_sizes_are_no_lesson(session, tmp_path):
    session.own_stops.add(session.own_stops.now())
    session.choice.choose(params={"TS": 2})
    session.tour.recording_wanted.emit()
    with pytest.raises(GemmvizError, match="one size"):
        session.own_stops.as_lesson(tmp_path / "x.toml", "x")
