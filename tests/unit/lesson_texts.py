"""Lessons given by their text, recordings that they fit, and sessions that record what they choose."""

from pathlib import Path

from recordings import played

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session.tour.lesson_file import parse_lesson
from gemmviz.session.tour.lessons import recorded_at
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

SMALL = {
    "kernel": "gputiled",
    "size": 8,
    "params": {"TS": 4},
    "title": "Mine",
    "stop": [{"at": {"phase": 2}, "say": "Look."}],
}


def playable_of(lesson):
    problem, params = recorded_at(lesson, find(lesson.kernel, ladder()))
    return played(lesson.kernel, problem, params, lesson.order)


def parsed(**changes):
    return parse_lesson({**SMALL, **changes}, Path("mine.toml"))


def recording_session(session):
    """Connect a session without a window to the recorder, as the window's controller does; return it."""

    def recorded():
        recording = record(session.choice.launch(), as_written=session.choice.as_written)
        timeline = build(recording, session.choice.order)
        session.cursor.show(Playable(recording, timeline, measure(recording, timeline)))

    session.guide.recording_wanted.connect(recorded)
    recorded()
    return session


def at_demo(**changes):
    """Return a lesson that leaves its size to the rung's demo, with one stop at the demo."""
    table = {**SMALL, "stop": [{"at": {"demo": True}, "say": "{M} x {N} x {K}."}], **changes}
    return parse_lesson({key: value for key, value in table.items() if value is not None}, Path("mine.toml"))
