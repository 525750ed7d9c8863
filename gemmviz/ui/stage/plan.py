"""Where everything stands on the stage when the words stand in the free quadrant: above A, left of B.

Title, caption, shared tiles and lens share the quadrant, and the legend stands left of A: A, B and C get all of the
height. A text that takes the caption's place, such as a lesson's, stands left of A if a lens is shown and there is
room. It must not make the arrays smaller: see `Plan.as_large_as`. Where the quadrant is too small, as with a short K, a
lens stands with the words beside the arrays; without a lens `gemmviz.ui.stage.scene` keeps a line above and lines below
the arrays for the words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gemmviz.catalogue.matrices import C
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.stage.scene import (
    LARGEST_CELL,
    WITH_LABELS,
    Bounds,
    Form,
    LabelRoom,
    Panel,
    StageRect,
    arranged,
    shared_tiles,
    with_aside,
)

AROUND_WORDS = LabelRoom(1.9, 0.9, 1.3, 0.5, 2.4)
"""Indices left of A and B and above B and C, and the names of A and C between."""

# In heights of the font.
_LEAST_WIDTH, _LEAST_BELOW, _LEAST_TILES, _LEAST_LENS = 21.0, 7.0, 4.0, 10.0
_SHARE = 0.45  # of the quadrant's width for words that stand at its left
_MUCH = 1.2
_LEGEND = 14.0  # wide enough for each of its texts
_LEAST_LEGEND = 3.4
_TITLES = 1.4  # of the shared tiles: the line about their block stands above their names
_LENS_WIDTH, _LENS_HEIGHT, _LENS_SHARE = 22.0, 14.0, 0.5
_NARROWEST_LENS = 19.0  # beside words
_LEAST_ARRAYS = 9.0  # the height of all arrays below a lens
_EDGE, _TO_LABELS, _TO_NAMES = 0.7, 2.0, 2.7
_BESIDE_A = AROUND_WORDS.left + _EDGE  # a text left of A leaves this width free
_COLUMN, _LENS_ALONE = 11.0, 9.0  # the least width of a text left of A, and the least height of the lens above it


@dataclass(frozen=True)
class Plan:
    """Where everything stands, in pixels.

    Attributes
    ----------
    panels
        A, B, C, then the shared arrays.
    aside
        The strip beside the shared tiles; None: there is none.
    words
        Title and caption; None: they stand in lines above and below the arrays.
    free
        The rest of the quadrant, for shared tiles or a lens.
    legend
        The place left of A; None: too narrow.
    form
        The labels that there is room for.
    column
        The place left of A for the panel that replaces the caption; None: it is below the title.
    """

    panels: list[Panel]
    aside: StageRect | None
    words: Bounds | None = None
    free: Bounds | None = None
    legend: Bounds | None = None
    form: Form = "all"
    column: Bounds | None = None

    def as_large_as(self, other: "Plan") -> bool:
        """Say whether the cells of the arrays are not smaller than in another plan."""
        return self.panels[0].cell >= other.panels[0].cell * (1 - 1e-9)

    def uncovered(self, lens: bool) -> list[Panel]:
        """Return the panels without the shared tiles that are below a lens, where there is one."""
        place = self.free if lens else None
        if place is None:
            return self.panels
        return [
            p
            for p in self.panels
            if p.array <= C
            or not (
                p.x < place.right and place.left < p.x + p.width and p.y < place.bottom and place.top < p.y + p.height
            )
        ]

    def seen(self, zoom: float, dx: float, dy: float) -> "Plan":
        """Return the plan as seen after zooming about the origin and shifting: the arrays move, the words stay.

        The lens is left out: it would stand on arrays that moved below it.
        """
        moved = [p.moved(zoom, dx, dy) for p in self.panels]
        free = self.free if (zoom, dx, dy) == (1, 0, 0) else None
        return replace(self, panels=moved, free=free, aside=self.aside and self.aside.moved(zoom, dx, dy))


@dataclass(frozen=True)
class Texts:
    """Heights of the words, in pixels.

    Attributes
    ----------
    title
        Of the title with its chips.
    caption
        Of the sentence about the step; 0: there is none.
    taken
        Of the panel that replaces the caption; 0: the caption is shown.
    narrow
        Whether `taken` is measured at the width of the column left of A: see `column_width`.
    """

    title: float
    caption: float
    taken: float = 0.0
    narrow: bool = False


@dataclass(frozen=True)
class _Cross:
    """Where A (`x0`, `y1`), B (`x1`, `y0`) and C (`x1`, `y1`) stand, the side of a cell, and the quadrant above A."""

    cell: float
    x0: float
    x1: float
    y0: float
    y1: float
    quadrant: Bounds


def _crossed(recording: Recording, width: float, height: float, font: float, at_right: bool = False) -> _Cross | None:
    """Place A, B and C in the middle or at the right; None if there is no room. See `planned`."""
    m, n, k = recording.m, recording.n, recording.k
    room = AROUND_WORDS
    left, right, bottom = room.left * font, room.right * font, room.bottom * font
    top, gap = room.top * font, room.gap * font
    cell = min((width - left - right - gap) / (k + n), (height - top - bottom - gap) / (k + m), LARGEST_CELL)
    if cell <= 0:
        return None
    spare = width - left - right - gap - cell * (k + n)
    # Both sides share the room that the legend does not need.
    shift = 0.0 if at_right else max(spare - _LEGEND * font, 0.0) / 2
    x1 = width - right - shift - n * cell
    y0 = top + (height - top - bottom - gap - cell * (k + m)) / 2
    y1 = y0 + k * cell + gap
    quadrant = Bounds(_EDGE * font + shift, 0.3 * font, x1 - _TO_LABELS * font, y1 - _TO_NAMES * font)
    return _Cross(cell, x1 - gap - k * cell, x1, y0, y1, quadrant)


def placed(
    recording: Recording,
    width: float,
    height: float,
    font: float,
    texts: Texts,
    asides: Sequence[tuple[float, float]] = (),
    lens: bool = False,
) -> Plan | None:
    """Place the arrays, the words and a lens; see `planned`. None if there is no room for the words and the lens.

    Parameters
    ----------
    recording, width, height, font, asides, lens
        As in `planned`.
    texts
        The words.
    """
    size = recording, width, height, font
    if lens and texts.narrow:
        return _text_left_of_a(*size, texts)
    words = texts.title + (texts.taken or texts.caption)
    found = planned(*size, words, asides, lens, long=texts.taken > texts.caption)
    if found is None and lens:
        return _outside_quadrant(*size, words)
    return found


def column_width(recording: Recording, width: float, height: float, font: float) -> float:
    """Return the width of a text left of A, in pixels; 0: there is no room for one.

    Parameters
    ----------
    recording, width, height, font
        As in `planned`.
    """
    cross = _crossed(recording, width, height, font, at_right=True)
    wide = cross.x0 - _BESIDE_A * font if cross is not None else 0.0
    return wide if wide >= _COLUMN * font else 0.0


def _text_left_of_a(recording: Recording, width: float, height: float, font: float, texts: Texts) -> Plan | None:
    """Place a lens below the title, and the text that takes the caption's place left of A; None if one has no room."""
    cross = _crossed(recording, width, height, font, at_right=True)
    wide = column_width(recording, width, height, font)
    if cross is None or not wide:
        return None
    quadrant = cross.quadrant
    free = replace(quadrant, top=quadrant.top + texts.title)
    top = quadrant.bottom + 0.5 * font
    column = Bounds(quadrant.left, top, quadrant.left + wide, top + texts.taken)
    if free.height < _LENS_ALONE * font or column.bottom > height - 0.3 * font:
        return None
    below = replace(column, top=column.bottom + font, bottom=height - 0.3 * font)
    title = replace(quadrant, bottom=free.top)
    # The lens covers the shared tiles, but copies fly there.
    shared = [i for i, a in enumerate(recording.arrays) if a.space == "shared"]
    panels = _matrices(recording, cross) + shared_tiles(recording, shared, free, cross.cell, font)
    legend = below if below.height >= _LEAST_LEGEND * font else None
    return Plan(panels, None, title, free, legend, "around words", column)


def _matrices(recording: Recording, cross: _Cross) -> list[Panel]:
    """Return A, B and C at their places."""
    places = [(cross.x0, cross.y1), (cross.x1, cross.y0), (cross.x1, cross.y1)]
    return [
        Panel(i, recording.arrays[i].name, *recording.arrays[i].grid, *at, cross.cell) for i, at in enumerate(places)
    ]


def planned(
    recording: Recording,
    width: float,
    height: float,
    font: float,
    words: float,
    asides: Sequence[tuple[float, float]] = (),
    lens: bool = False,
    long: bool = False,
) -> Plan | None:
    """Place the arrays around a quadrant with words.

    Parameters
    ----------
    recording
        The recording with the arrays.
    width, height
        The space, in pixels.
    font
        Height of the labels' font in pixels.
    words
        Height of the title and the lines below it, in pixels.
    asides
        Sizes, the largest first, that a strip beside the shared tiles may have, in pixels.
    lens
        Whether a lens takes the rest of the quadrant.
    long
        Whether the words are longer than a caption: then tiles may be smaller, and a lens needs more.

    Returns
    -------
    Plan or None
        None if the quadrant has no room for the words.
    """
    cross = _crossed(recording, width, height, font)
    if cross is None:
        return None
    shared = [i for i, a in enumerate(recording.arrays) if a.space == "shared"]
    rest = (_LEAST_LENS if lens else _LEAST_TILES) if long else _LEAST_BELOW
    least = rest * font if shared or lens else 0.0
    narrowest = (_LEAST_WIDTH * _SHARE if not lens else _NARROWEST_LENS) * font
    ways = _ways(cross.quadrant, words, font, least, narrowest)
    if not ways:
        return None
    cell, y1 = cross.cell, cross.y1
    legend = Bounds(cross.quadrant.left, y1, cross.x0 - AROUND_WORDS.left * font, y1 + recording.m * cell)
    panels = _matrices(recording, cross)
    plans = []
    for place, free in ways:
        tiles, aside = _tiles(recording, shared, replace(free, top=free.top + _TITLES * font), cell, font, asides)
        plans.append(Plan(panels + tiles, aside, place, free, _wide(legend, font), "around words"))
    if asides:
        plans = [plan for plan in plans if plan.aside is not None]
    if not plans:
        return None
    # The words stand above the tiles, unless beside them the tiles are much larger.
    if lens or not shared:
        return max(plans, key=lambda plan: _area(plan.free))
    beside = max(plans, key=lambda plan: plan.panels[-1].cell)
    return beside if beside.panels[-1].cell > _MUCH * plans[0].panels[-1].cell else plans[0]


def _outside_quadrant(recording: Recording, width: float, height: float, font: float, words: float) -> Plan | None:
    """Place words and a lens left of all arrays, or above them: where the free quadrant is too small for a lens.

    Of both places, the one that leaves larger cells is taken.

    Parameters
    ----------
    recording, width, height, font
        As in `planned`.
    words
        Height of title and caption, in pixels.

    Returns
    -------
    Plan or None
        None if there is no room for both.
    """
    plans = [
        _left_of_arrays(recording, width, height, font, words),
        _above_arrays(recording, width, height, font, words),
    ]
    return max((plan for plan in plans if plan), key=lambda plan: plan.panels[0].cell, default=None)


def _left_of_arrays(recording: Recording, width: float, height: float, font: float, words: float) -> Plan | None:
    column = max(_LENS_WIDTH * font, _LENS_SHARE * width)
    if width - column < _LENS_WIDTH * font / 2 or height < words + _LENS_HEIGHT * font:
        return None
    placed = arranged(recording, width - column, height, font)[0]
    place = Bounds(_EDGE * font, 0.3 * font, column - font, 0.3 * font + words)
    free = replace(place, top=place.bottom + 0.5 * font, bottom=height - 0.5 * font)
    return Plan([panel.moved(1, column, 0) for panel in placed], None, place, free)


def _above_arrays(recording: Recording, width: float, height: float, font: float, words: float) -> Plan | None:
    top = words + (0.8 + _LENS_HEIGHT) * font
    if width < _LENS_WIDTH * font or height - top < _LEAST_ARRAYS * font:
        return None
    placed = arranged(recording, width, height - top, font)[0]
    # Wide arrays do not need all of the height: the lens takes the rest.
    spare = max(min(panel.y for panel in placed) - WITH_LABELS.top * font, 0.0)
    place = Bounds(_EDGE * font, 0.3 * font, width - _EDGE * font, 0.3 * font + words)
    free = replace(place, top=place.bottom + 0.5 * font, bottom=top + 2 * spare)
    return Plan([panel.moved(1, 0, top + spare) for panel in placed], None, place, free)


def _area(free: Bounds | None) -> float:
    return free.width * free.height if free is not None else 0.0


def _ways(quadrant: Bounds, words: float, font: float, least: float, narrowest: float) -> list[tuple[Bounds, Bounds]]:
    """Return how words and the rest may share the quadrant: words above, or at the left.

    Parameters
    ----------
    quadrant, words, font
        The place, the height of the words, and that of the font, in pixels.
    least, narrowest
        The least height of the rest below the words, and its least width beside them, in pixels.
    """
    above = replace(quadrant, bottom=quadrant.top + words), replace(quadrant, top=quadrant.top + words + 0.5 * font)
    middle = quadrant.left + max(_LEAST_WIDTH * font, _SHARE * quadrant.width)
    left = replace(quadrant, right=middle), replace(quadrant, left=middle + font)
    fitting = quadrant.width >= _LEAST_WIDTH * font and quadrant.height >= words
    found = [above] if fitting and above[1].height >= least else []
    if fitting and least and left[1].width >= narrowest:
        found.append(left)
    return found


def _wide(legend: Bounds, font: float) -> Bounds | None:
    return legend if legend.width >= _LEAST_LEGEND * font else None


def _tiles(
    recording: Recording,
    shared: list[int],
    bounds: Bounds,
    cell: float,
    font: float,
    asides: Sequence[tuple[float, float]],
) -> tuple[list[Panel], StageRect | None]:
    for size, aside in enumerate(asides):
        found = with_aside(recording, shared, bounds, cell, font, aside)
        if found is not None:
            tiles, (x, y) = found
            return tiles, StageRect(x, y, *aside, size)
    return shared_tiles(recording, shared, bounds, cell, font), None
