"""Whether the stage shows the moment of a kernel's demo: there the caption is the kernel's idea."""

from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.session.tour.lessons import locate
from gemmviz.trace.playable import Playable

Place = tuple[int, float, int, tuple[int, int] | None]
"""Step, fraction, block and chosen cell."""
_DIGITS = 6  # of a fraction: a position has lost some


def place(step: int, fraction: float, block: int, cell: tuple[int, int] | None) -> Place:
    """Return a place in a form that can be compared."""
    return step, round(fraction, _DIGITS), block, cell


def place_of(demo: Demo, playable: Playable) -> Place | None:
    """Return the place of a demo; None if the recording has another size, or not this moment."""
    recording = playable.recording
    if demo.stop is None or (recording.m, recording.n, recording.k) != demo.size:
        return None
    try:
        found = locate(demo, playable)
    except GemmvizError:
        return None  # a variant may lack the line
    return place(found.step, found.fraction, found.block or 0, found.cell)
