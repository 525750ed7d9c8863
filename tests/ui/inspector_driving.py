# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Recordings for the tabs beside the stage, and the way to a moment in them."""

from functools import cache

from window_driving import need_qt

need_qt()

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record


def recorded_anew(name: str, size: int, change: str = "", **params: int) -> Playable:
    kernel = find(name, ladder())
    kernel = broken(kernel, [change]) if change else kernel
    recording = record(launch(kernel, Problem.cube(size), params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


playable = cache(recorded_anew)


def goto(session: Session, array: str, write: bool = False) -> None:
    timeline = session.cursor.playable.timeline
    names = [a.name for a in session.cursor.playable.recording.arrays]
    mine = (timeline.array == names.index(array)) & (timeline.write == write)
    session.cursor.seek(int(mine.nonzero()[0][0]))
