"""Texts of the score: kinds of steps, the place of a step, units of stepping."""

from gemmviz.language import mark, tr
from gemmviz.trace.order.story import COPY, DIRECT, OTHER, RELOAD, STORE, USE
from gemmviz.trace.playable import Playable

LANES = {
    COPY: mark("copy"),
    USE: mark("use"),
    DIRECT: mark("read A, B"),
    RELOAD: mark("read C"),
    STORE: mark("write C"),
    OTHER: mark("other"),
}
"""The name of each lane."""
MEANINGS = {
    COPY: mark("a tile on its way from global to shared memory"),
    USE: mark("shared memory is read for the product"),
    DIRECT: mark("global memory is read for the product, past shared memory"),
    RELOAD: mark("C is read from global memory, to be added to"),
    STORE: mark("C is written to global memory"),
    OTHER: mark("anything else: sums are exchanged"),
}
UNITS = {
    "step": mark("step"),
    "request": mark("warp request"),
    "phase": mark("phase"),
    "tile": mark("tile"),
    "element": mark("cell"),
}
"""The name of each unit of stepping."""
UNIT_MEANINGS = {
    "step": mark("one instruction of all threads"),
    "request": mark("the next request of the chosen warp of the chosen block"),
    "phase": mark("to the next barrier"),
    "tile": mark("to where the next tile comes in"),
    "element": mark("the next access to the chosen cell; for a cell of C also to the values that feed it"),
}
ABSENT = {
    "request": mark("A CPU has no warps, so there is no next request."),
    "phase": mark("This recording has no barriers."),
    "tile": mark("This recording has no tiles: each thread walks along K alone."),
    "element": mark("No cell is chosen: click one on the stage first."),
}
"""Why a unit is not offered."""


def purpose_text(playable: Playable, step: int) -> str:
    """Return the purpose of a step in a few words."""
    story = playable.story
    kind, tile = int(story.kinds[step]), int(story.tiles[step])
    if tile < 0:
        return tr(MEANINGS[kind])
    first = tile * story.depth
    tiles = -(-playable.recording.k // story.depth)
    place = {
        "tile": tile + 1,
        "tiles": tiles,
        "first": first,
        "last": min(first + story.depth, playable.recording.k) - 1,
    }
    if kind == COPY:
        return tr("tile {tile} of {tiles} (k {first}–{last}) comes into shared memory", **place)
    if kind == USE:
        return tr("tile {tile} of {tiles} (k {first}–{last}) is used from shared memory", **place)
    return tr("tile {tile} of {tiles} (k {first}–{last}) is read straight from global memory", **place)


def barrier_text(phase: int) -> str:
    """Return the meaning of a barrier's mark, as rich text; `phase` begins at it, counted from 0."""
    text = tr("Barrier between phase {before} and phase {after}", before=phase, after=phase + 1)
    return f"<b>{text}</b><br>{tr('all threads of a block wait here for each other')}"


def legend(lanes: tuple[int, ...], barriers: bool) -> str:
    """Return the meaning of the lanes and marks of a score, as rich text."""
    rows = [(tr(LANES[kind]), tr(MEANINGS[kind])) for kind in lanes]
    if barriers:
        rows.append((tr("barrier"), tr("all threads of a block wait here for each other")))
    rows.append((tr("numbers"), tr("tiles along K, the first is 1")))
    rows.append((tr("left to right"), tr("the order of the steps, as recorded: no time is measured here")))
    table = "".join(f"<tr><td><b>{name}</b>&nbsp;&nbsp;</td><td>{meaning}</td></tr>" for name, meaning in rows)
    return f"<table style='white-space: nowrap'>{table}</table>"
