"""Lessons whose size and stops are those of the kernel's demo."""

import tomllib
from dataclasses import replace

import pytest
from lesson_texts import at_demo, parsed, playable_of, recording_session

from gemmviz.app import new_session
from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.session.tour.lesson_file import parse_lesson, write_lesson
from gemmviz.session.tour.lessons import recorded_at, resolve


@pytest.fixture
def session(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return recording_session(new_session())


def test_a_lesson_without_a_size_is_recorded_at_the_demo():
    lesson = at_demo(kernel="gpumult1", size=None, params=None)
    kernel = find("gpumult1", ladder())
    assert recorded_at(lesson, kernel) == (Problem(*kernel.demo.size), kernel.defaults | kernel.demo.params)
    other = at_demo(kernel="gpumult1", size=None, params={"BY": 4})
    assert recorded_at(other, kernel)[1] == {"BX": 32, "BY": 4}
    own = at_demo(size=16, params=None)
    assert recorded_at(own, find("gputiled", ladder())) == (Problem.cube(16), {"TS": 16})
    assert parse_lesson(tomllib.loads(write_lesson(lesson)), lesson.path) == lesson


def test_a_stop_at_the_demo_has_its_step_block_thread_and_element():
    lesson, kernel = at_demo(kernel="gputiled1", size=None, params=None), find("gputiled1", ladder())
    playable = playable_of(lesson)
    (stop,) = resolve(lesson, playable, "en", kernel.demo)
    assert (kernel.demo.block, kernel.demo.thread) == ((1, 0), (2, 1))
    assert (stop.block, stop.warp, stop.lane, stop.panel) == (1, 0, 6, "thread")
    assert stop.cell == (2, 1 * 8 + 4 + 2)  # C[1, 6]
    assert playable.line(stop.step) == 34 and stop.say == "8 x 8 x 8."
    mine = at_demo(
        stop=[{"at": {"demo": True}, "say": "x", "cell": {"array": "A", "row": 0, "column": 3}, "panel": "warp"}]
    )
    (stop,) = resolve(mine, playable, "en", kernel.demo)
    assert (stop.cell, stop.block, stop.panel) == ((0, 3), None, "warp")


def test_a_stop_may_be_between_two_steps():
    copying = {"line": "Bs[ty][tx] =", "array": "B", "fraction": 0.25}
    for at, fraction in ((copying, 0.25), ({"end": True, "fraction": 0.25}, 0.0), ({"tile": 2}, 0.0)):
        lesson = at_demo(size=None, params=None, stop=[{"at": at, "say": "x"}])
        (stop,) = resolve(lesson, playable_of(lesson), "en", None)
        assert stop.fraction == fraction
        assert parse_lesson(tomllib.loads(write_lesson(lesson)), lesson.path) == lesson
    for wrong in (1, -0.5, "half"):
        with pytest.raises(GemmvizError, match="at: fraction is a number from 0 to less than 1"):
            at_demo(stop=[{"at": {"phase": 2, "fraction": wrong}, "say": "x"}])


def test_a_missing_demo_has_a_message(session, tmp_path):
    lesson, kernel = at_demo(size=None), replace(find("gputiled", ladder()), demo=None)
    with pytest.raises(GemmvizError, match="say which size to record, as gputiled has no demo: size = 8"):
        recorded_at(lesson, kernel)
    with pytest.raises(GemmvizError, match=r"mine\.toml, stop 1: the kernel has no demo"):
        resolve(at_demo(), playable_of(parsed()), "en", None)
    for demo, text in (
        (Demo((8, 8, 8), thread=(4, 0)), "thread (4, 0) does not exist: a block is 4 x 4"),
        (Demo((8, 8, 8), block=(0, 2)), "block (0, 2) does not exist"),
        (Demo((8, 8, 8), stop={"tile": 9}), "there is no tile 9"),
    ):
        with pytest.raises(GemmvizError) as raised:
            resolve(at_demo(), playable_of(parsed()), "en", demo)
        assert text in str(raised.value)
    with pytest.raises(GemmvizError, match="at: demo is true"):
        at_demo(stop=[{"at": {"demo": 1}, "say": "x"}])
    path = tmp_path / "mine.toml"
    path.write_text(write_lesson(at_demo(size=None, kernel="cublas")), encoding="utf-8")
    session.guide.open(path)
    assert session.messages.current.text.startswith("mine.toml: say which size")
    assert not session.tour.active
