"""Recorded numbers in a lesson's sentences: ``{sectors:A}`` is replaced by a number of the recording."""

import re
from collections.abc import Callable

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import finished, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.traffic import ArrayTraffic
from gemmviz.trace.distinct import distinct
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP, Recording

_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)(?::(\w+))?\}")
# A line does not break before or after a multiplication sign.
_TIMES = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"


def _threads(recording: Recording) -> int:
    """Return the threads of a block; on a CPU those with accesses, as one thread may only start the others and wait."""
    if recording.backend == "cuda":
        return recording.threads
    return max(len(distinct(recording.accesses.thread)), 1)


# Of one array: {name:ARRAY}.
_OF_ARRAY: dict[str, Callable[[ArrayTraffic], float]] = {
    "reads": lambda a: a.reads,
    "writes": lambda a: a.writes,
    "requests": lambda a: a.read_requests,
    "sectors": lambda a: a.read_units,
    "wavefronts": lambda a: a.read_units,
    "written_sectors": lambda a: a.write_units,
    "written_wavefronts": lambda a: a.write_units,
    "per_request": lambda a: a.read_units / max(a.read_requests, 1),
    "per_write": lambda a: a.write_units / max(a.write_requests, 1),
}
# Of the whole recording: {name}.
_OF_ALL: dict[str, Callable[[Playable], float]] = {
    "M": lambda p: p.recording.m,
    "N": lambda p: p.recording.n,
    "K": lambda p: p.recording.k,
    "steps": lambda p: p.timeline.steps,
    "blocks": lambda p: p.recording.blocks,
    "threads": lambda p: _threads(p.recording),
    "warps": lambda p: -(-_threads(p.recording) // WARP),
    "barriers": lambda p: int(p.timeline.phase.max(initial=0)) if p.recording.backend == "cuda" else 0,
    "tiles": lambda p: p.traffic.tile_steps,
    "wrong": lambda p: p.recording.wrong,
}
# Of the stop's step: {name}.
_OF_STEP: dict[str, Callable[[Playable, int], float]] = {
    "step": lambda p, step: step + 1,
    "now": lambda p, step: len(p.timeline.rows(step)),
    "places": lambda p, step: len(distinct(p.recording.accesses.element[p.timeline.rows(step)])),
    "cost": lambda p, step: p.units_per_request(step),
}
NAMES = sorted([*_OF_ALL, *_OF_STEP, *(f"{name}:ARRAY" for name in _OF_ARRAY), "times:ARRAY"])


def fill(text: str, playable: Playable, step: int) -> str:
    """Replace the names in braces by recorded numbers.

    Parameters
    ----------
    text
        A sentence of a lesson. Names of the kernel's parameters are replaced, too. Doubled braces mean braces.
    playable, step
        The recording, and the stop's step in it.

    Raises
    ------
    GemmvizError
        When a name is unknown, or the recording has no such array.
    """

    def written(found: re.Match[str]) -> str:
        return _written(_number(found[1], found[2], playable, step)) if found[1] else found[0][0]

    return finished(_FIELD.sub(written, text).replace(" × ", _TIMES))


def escaped(text: str) -> str:
    """Return a text escaped so that `fill` leaves it unchanged."""
    return text.replace("{", "{{").replace("}", "}}")


def _number(name: str, array: str | None, playable: Playable, step: int) -> float:
    recording = playable.recording
    if array is None:
        if name in _OF_ALL:
            return _OF_ALL[name](playable)
        if name in _OF_STEP:
            return _OF_STEP[name](playable, step)
        if name in recording.params:
            return recording.params[name]
        known = ", ".join([*NAMES, *recording.params])
        raise GemmvizError(tr("{name} is no number of a recording: there are {known}", name=repr(name), known=known))
    traffic = next((a for a in playable.traffic.arrays if a.name == array), None)
    if traffic is None:
        known = ", ".join(a.name for a in recording.arrays)
        raise GemmvizError(tr("the kernel has no array {name}: there are {known}", name=repr(array), known=known))
    if name == "times":
        info = next(a for a in recording.arrays if a.name == array)
        return traffic.read_bytes / (info.itemsize * info.size)  # a wide access reads several elements
    if name not in _OF_ARRAY:
        known = ", ".join([*_OF_ARRAY, "times"])
        raise GemmvizError(tr("{name} is no number of an array: there are {known}", name=repr(name), known=known))
    return _OF_ARRAY[name](traffic)


def _written(value: float) -> str:
    if value == int(value):
        return thousands(int(value))
    return f"{value:.3g}"
