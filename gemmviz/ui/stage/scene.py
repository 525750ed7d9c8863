"""Where the arrays stand on the stage: a pure function of the recording and the room there is (no drawing here)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.language import trn
from gemmviz.trace.recording.accesses import Array
from gemmviz.trace.recording.recording import Recording

LARGEST_CELL = 160.0
_LARGER_SHARED = 1.5  # small cells of shared tiles may be that much larger than those of the matrices

_LEGIBLE = 14.0  # from this width of a cell on, a copy on its way keeps its size

_ASIDE_GAP = 1.6  # heights of the font between shared tiles and the strip beside them
_LEAST_SHARED = 0.6  # of the size that shared tiles would have alone: the strip beside them takes no more

_MOST_LABELS = 0.5  # of the space, before labels are written smaller
_SMALLEST_LABELS = 0.75  # of their size, before all but names are left out


Form = Literal["all", "names", "around words", "of a block"]
"""Which labels there is room for: all, names alone, those around the words in the free quadrant, or a block's."""


@dataclass(frozen=True)
class LabelRoom:
    """Room for labels around the arrays, in heights of their font."""

    left: float
    right: float
    top: float
    bottom: float
    gap: float


WITH_LABELS = LabelRoom(3.8, 1.8, 2.3, 1.1, 2.1)
WITH_NAMES = LabelRoom(1.7, 0.4, 0.3, 0.3, 1.6)


def label_room(width: float, height: float, font: float) -> tuple[float, bool]:
    """Say how labels are written in a space.

    Parameters
    ----------
    width, height
        The space, in pixels.
    font
        Height of the labels' font in pixels.

    Returns
    -------
    tuple
        The share of the font's size that leaves the arrays their part of the space, and whether all but the names of
        the arrays is left out.
    """

    def share(room: LabelRoom) -> float:
        high, wide = room.top + room.bottom + room.gap, room.left + room.right + room.gap
        return max(high * font / max(height, 1), wide * font / max(width, 1))

    size = min(_MOST_LABELS / share(WITH_LABELS), 1.0)
    if size >= _SMALLEST_LABELS:
        return size, False
    return max(min(_MOST_LABELS / share(WITH_NAMES), 1.0), _SMALLEST_LABELS), True


@dataclass(frozen=True)
class Bounds:
    """A part of the stage, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height in pixels."""
        return self.bottom - self.top


@dataclass(frozen=True)
class Panel:
    """One array on the stage: its index in the recording, its top left corner and the width of a cell, in pixels.

    Of `part` of it alone something is seen, if that is given: rows and columns, each the first and the one after the
    last.
    """

    array: int
    name: str
    rows: int
    columns: int
    x: float
    y: float
    cell: float
    part: tuple[tuple[int, int], tuple[int, int]] | None = None

    @property
    def width(self) -> float:
        """Width in pixels."""
        return self.columns * self.cell

    @property
    def height(self) -> float:
        """Height in pixels."""
        return self.rows * self.cell

    @property
    def seen_cells(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rows and columns that are seen: each the first and the one after the last."""
        return self.part or ((0, self.rows), (0, self.columns))

    @property
    def place(self) -> Bounds:
        """Where the cells that are seen stand."""
        (top, bottom), (left, right) = self.seen_cells
        x, y, cell = self.x, self.y, self.cell
        return Bounds(x + left * cell, y + top * cell, x + right * cell, y + bottom * cell)

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return (row, column) of the cell under a point, or None."""
        column, row = int((x - self.x) // self.cell), int((y - self.y) // self.cell)
        (top, bottom), (left, right) = self.seen_cells
        return (row, column) if top <= row < bottom and left <= column < right else None

    def moved(self, zoom: float, dx: float, dy: float) -> "Panel":
        """Return the panel as seen after zooming about the origin and shifting, in pixels."""
        return replace(self, x=self.x * zoom + dx, y=self.y * zoom + dy, cell=self.cell * zoom)


@dataclass(frozen=True)
class StageRect:
    """A rectangle on the stage, in pixels, and which of several sizes it has."""

    x: float
    y: float
    width: float
    height: float
    size: int

    def moved(self, zoom: float, dx: float, dy: float) -> "StageRect":
        """Return the place as seen after zooming about the origin and shifting, in pixels: it does not grow."""
        return replace(self, x=self.x * zoom + dx, y=self.y * zoom + dy)


def panels(
    recording: Recording, width: float, height: float, font: float, room: LabelRoom = WITH_LABELS
) -> list[Panel]:
    """Place the arrays: see `arranged`."""
    return arranged(recording, width, height, font, room)[0]


def arranged(
    recording: Recording,
    width: float,
    height: float,
    font: float,
    room: LabelRoom = WITH_LABELS,
    asides: Sequence[tuple[float, float]] = (),
) -> tuple[list[Panel], StageRect | None]:
    """Place the arrays: A bottom left, B top right, C bottom right on shared axes, shared tiles top left.

    Parameters
    ----------
    recording
        The recording with the arrays.
    width, height
        The space, in pixels.
    font
        Height of the labels' font in pixels.
    room
        The room kept for labels.
    asides
        Sizes, the largest first, that something beside the shared tiles may have, in pixels.

    Returns
    -------
    tuple
        The arrays, and the place of the strip beside the shared tiles; None if there is no room for it.
    """
    m, n, k = recording.m, recording.n, recording.k
    left, right, top, bottom = room.left * font, room.right * font, room.top * font, room.bottom * font
    gap = room.gap * font
    cell = min((width - left - right - gap) / (k + n), (height - top - bottom - gap) / (k + m), LARGEST_CELL)
    cell = max(cell, 0.05)
    spare = (width - left - right - gap - cell * (k + n)) / 2
    x0, y0 = left + spare, top + (height - top - bottom - gap - cell * (k + m)) / 2
    x1, y1 = x0 + k * cell + gap, y0 + k * cell + gap
    places = [(x0, y1), (x1, y0), (x1, y1)]
    result = [Panel(i, recording.arrays[i].name, *_drawn(recording, i), *places[i], cell) for i in (A, B, C)]
    shared = [i for i, a in enumerate(recording.arrays) if a.space == "shared"]
    # The free quadrant reaches from the window's corner to A and B.
    if room is WITH_NAMES:
        bounds = Bounds(0.5 * font, 0, x1 - 1.6 * font, y1 - 0.5 * font)
        return result + shared_tiles(recording, shared, bounds, cell, font), None
    bounds = Bounds(1.5 * font, 1.4 * font, x1 - 2.6 * font, y1 - 2.0 * font)
    for size, aside in enumerate(asides):
        for shift in (0.0, spare / 2, spare):
            wider = replace(bounds, right=bounds.right + shift)
            found = with_aside(recording, shared, wider, cell, font, aside)
            if found is not None:
                tiles, (x, y) = found
                return [p.moved(1, shift, 0) for p in result] + tiles, StageRect(x, y, *aside, size)
    return result + shared_tiles(recording, shared, bounds, cell, font), None


def with_aside(
    recording: Recording, arrays: list[int], bounds: Bounds, largest: float, font: float, size: tuple[float, float]
) -> tuple[list[Panel], tuple[float, float]] | None:
    """Place the shared tiles, and the strip left of them or below, where it leaves their cells largest.

    Returns
    -------
    tuple or None
        The tiles, and the corner of the strip beside them; None if it would take too much room.
    """
    alone = shared_tiles(recording, arrays, bounds, largest, font)
    if not alone:
        return None
    (width, height), gap = size, _ASIDE_GAP * font
    left, right = bounds.left, bounds.right
    ways = []
    tiles = shared_tiles(recording, arrays, replace(bounds, left=left + width + gap), largest, font)
    begin, end = _extent(tiles, font)
    if (
        height <= bounds.bottom - bounds.top
        and end - begin + width + gap <= right - left
        and _inside(tiles, bounds, font)
    ):
        shift = (left + right - end - begin + width + gap) / 2
        middle = (min(t.y for t in tiles) + max(t.y + t.height for t in tiles) - height) / 2
        corner = begin + shift - gap - width, min(max(middle, bounds.top), bounds.bottom - height)
        ways.append(([t.moved(1, shift, 0) for t in tiles], corner))
    tiles = shared_tiles(recording, arrays, replace(bounds, bottom=bounds.bottom - height - font), largest, font)
    if width <= right - left and _inside(tiles, replace(bounds, bottom=bounds.bottom - height - font), font):
        ways.append((tiles, ((left + right - width) / 2, max(t.y + t.height for t in tiles) + font)))
    best = max(ways, key=lambda way: way[0][0].cell, default=None)
    return best if best is not None and best[0][0].cell >= alone[0].cell * _LEAST_SHARED else None


def _inside(tiles: list[Panel], bounds: Bounds, font: float) -> bool:
    """Say whether tiles that were placed within bounds are: there is a size below which they are not drawn."""
    ends = max(t.y + t.height for t in tiles)
    return min(t.y for t in tiles) - 1.6 * font >= bounds.top - 1 and ends <= bounds.bottom + 1


def _extent(tiles: list[Panel], font: float) -> tuple[float, float]:
    """Return where tiles with their names begin and end, in pixels from the left."""
    names = [(t.x + t.width / 2, max(t.width, _text_width(t.name, font))) for t in tiles]
    return min(x - width / 2 for x, width in names), max(x + width / 2 for x, width in names)


def _drawn(recording: Recording, array: int) -> tuple[int, int]:
    return recording.arrays[array].grid


def shared_tiles(recording: Recording, arrays: list[int], bounds: Bounds, largest: float, font: float) -> list[Panel]:
    """Place the shared tiles in the free quadrant, in the row or column that leaves their cells largest.

    In a row that is too short for their shapes, there is room for their names alone.
    """
    if not arrays:
        return []
    most = largest * (_LARGER_SHARED if largest < _LEGIBLE else 1.0)
    shapes = [_drawn(recording, i) for i in arrays]
    rows, columns = [s[0] for s in shapes], [s[1] for s in shapes]
    title, gap = 1.6 * font, 1.6 * font
    left, top = bounds.left, bounds.top
    width, height = bounds.right - left, bounds.bottom - top
    beside = min((width - gap * (len(arrays) - 1)) / sum(columns), (height - title) / max(rows))
    stacked = min(width / max(columns), (height - title * len(arrays)) / sum(rows))
    labels = [title_width(recording, i, font) for i in arrays]
    names = [_text_width(recording.arrays[i].name, font) for i in arrays]
    cell = max(min(beside, most), 0.05)
    if sum(max(c * cell, label) for c, label in zip(columns, labels, strict=True)) + gap * (len(arrays) - 1) > width:
        labels = names
    slots = [max(c * cell, label) for c, label in zip(columns, labels, strict=True)]
    row = sum(slots) + gap * (len(arrays) - 1)
    # Where cells would be as large in both, a column has room for the shapes.
    shaped = labels is not names or stacked < min(beside, most)
    in_row = beside >= stacked and ((row <= width and shaped) or len(arrays) * (title + font) > height)
    if not in_row:
        cell = max(min(stacked, most), 0.05)
    used = (row, max(rows) * cell + title) if in_row else (max(columns) * cell, sum(rows) * cell + title * len(arrays))
    x, y = left + (width - used[0]) / 2, top + (height - used[1]) / 2 + title
    result = []
    for index, (r, c), slot in zip(arrays, shapes, slots, strict=True):
        middle = (slot - c * cell) / 2 if in_row else 0
        result.append(Panel(index, recording.arrays[index].name, r, c, x + middle, y, cell))
        if in_row:
            x += slot + gap
        else:
            y += r * cell + title
    return result


def stages(array: Array) -> int:
    """Return how many parts of a shared array stand one below the other, as declared: [stages][rows][…]."""
    parts = array.shape[0] if array.space == "shared" and len(array.shape) > 2 and not array.panels else 1
    return parts if parts < array.grid[0] else 1  # a single row is no part: each row of a tile of vectors


def shared_title(recording: Recording, array: int) -> str:
    """Return the title of a shared array: its name and shape."""
    info = recording.arrays[array]
    if info.panels:
        count, rows, columns = info.shape
        shape = trn(
            "{count} panel of {rows} × {columns}",
            "{count} panels of {rows} × {columns}",
            count,
            rows=rows,
            columns=columns,
        )
    else:
        shape = "{} × {}".format(*info.grid)
    return f"{info.name}  {shape}"


def title_width(recording: Recording, array: int, font: float) -> float:
    """Return about how wide a shared array's title is, in pixels, in a bold font of the height `font`."""
    return _text_width(shared_title(recording, array), font)


def _text_width(text: str, font: float) -> float:
    return 0.62 * font * len(text)
