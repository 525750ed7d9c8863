"""Recordings that the figures of lenses are counted in by hand."""

from functools import cache

from recordings import rung

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP


@cache
def playable(name, m, n, k, order="grid"):
    """Record a rung; see `recordings.rung` for its parameters."""
    recording = rung(name, Problem(m, n, k))
    timeline = build(recording, order)
    return Playable(recording, timeline, measure(recording, timeline))


def rows_of(shown, step, block, warp):
    """Return the rows of a warp of a block at a step."""
    log = shown.recording.accesses
    rows = shown.timeline.rows(step)
    return [int(r) for r in rows if log.block[r] == block and log.thread[r] // WARP == warp]
