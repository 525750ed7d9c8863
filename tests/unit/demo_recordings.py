"""Rungs recorded as their demos have them, each once, and the moment that a demo opens at."""

from functools import lru_cache

from recordings import MOST, played

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.session.tour.lessons import LocatedStop, locate
from gemmviz.trace.playable import Playable


@lru_cache(MOST)
def at_demo(name: str) -> Playable:
    """Record a rung with the size and the parameters of its demo."""
    kernel = find(name, ladder())
    assert kernel.demo is not None
    return played(name, Problem(*kernel.demo.size), kernel.demo.params)


@lru_cache(MOST)
def opening(name: str) -> LocatedStop:
    """Return the moment that a rung's demo opens at."""
    kernel = find(name, ladder())
    assert kernel.demo is not None
    return locate(kernel.demo, at_demo(name))
