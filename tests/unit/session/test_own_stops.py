"""Stops that people set themselves, and the lesson that is made of them."""

import pytest
from lesson_texts import recording_session

from gemmviz.app import new_session
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find
from gemmviz.session.rules.setting_stops import as_lesson, stop_here
from gemmviz.session.tour.lesson_file import write_lesson


@pytest.fixture
def session(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return recording_session(new_session())


def test_own_stops_are_set_changed_and_taken_back(session):
    own = session.own_stops
    for step in (3, 9, 15):
        session.cursor.seek(step)
        own.say(own.add(stop_here(session.staged)), f"Step {step}")
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
    session.own_stops.add(stop_here(session.staged))
    session.choice.choose(params={"TS": 2})
    session.guide.recording_wanted.emit()
    session.guide.show_own(0)
    assert session.choice.params == {"TS": 4}
    assert session.cursor.playable.recording.params == {"TS": 4}
    assert session.cursor.step == 11


def test_own_stops_become_a_lesson_that_leads_to_the_same_steps(session, tmp_path):
    tour, own = session.tour, session.own_stops
    session.cursor.pick((2, 9), 0)
    for step in (1, 6, 12):
        session.cursor.seek(step)
        own.say(own.add(stop_here(session.staged)), f"At {step}: a {{brace}} and “quotes\\”")
    path = tmp_path / "saved.toml"
    path.write_text(write_lesson(as_lesson(session.staged, own, path, "My tiles")), encoding="utf-8")
    session.guide.open(path)
    assert tour.title == "My tiles"
    assert [stop.step for stop in tour.stops] == [1, 6, 12]
    assert tour.stop.say == "At 1: a {brace} and “quotes\\”"
    assert tour.stop.cell == (2, 9)


def test_ones_own_stops_are_walked_until_another_rung_is_chosen(session):
    tour, own = session.tour, session.own_stops
    for step in (3, 9):
        session.cursor.seek(step)
        own.add(stop_here(session.staged))
    session.guide.next(1)
    assert (tour.title, session.cursor.step) == ("My stops", 3)
    session.guide.next(1)
    own.remove(1)
    assert tour.at == 0
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert not tour.active


def test_stops_of_two_sizes_are_no_lesson(session, tmp_path):
    session.own_stops.add(stop_here(session.staged))
    session.choice.choose(params={"TS": 2})
    session.guide.recording_wanted.emit()
    with pytest.raises(GemmvizError, match="one size"):
        as_lesson(session.staged, session.own_stops, tmp_path / "x.toml", "x")
