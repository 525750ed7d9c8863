"""Rungs recorded as their demos have them, each once, and the moment that a demo opens at."""

from functools import cache

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session.tour.lessons import LocatedStop, locate
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record


@cache
def at_demo(name: str) -> Playable:
    """Record a rung with the size and the parameters of its demo."""
    kernel = find(name, ladder())
    assert kernel.demo is not None
    recording = record(launch(kernel, Problem(*kernel.demo.size), kernel.demo.params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@cache
def opening(name: str) -> LocatedStop:
    """Return the moment that a rung's demo opens at."""
    kernel = find(name, ladder())
    assert kernel.demo is not None
    return locate(kernel.demo, at_demo(name))
