"""Where the arrays stand on the stage: a pure function of the recording and the room there is (no drawing here)."""

from dataclasses import dataclass

from gemmviz.trace.recording import Recording

A, B, C = 0, 1, 2
_LARGEST_CELL = 96.0
_LARGER_SHARED = 1.5  # cells of shared tiles may be that much larger than those of the matrices: what moves is there


_MOST_LABELS = 0.5  # of the space, before labels are written smaller
_SMALLEST_LABELS = 0.75  # of their size, before all but names are left out


@dataclass(frozen=True)
class Room:
    """What labels take around the arrays, in heights of their font."""

    left: float
    right: float
    top: float
    bottom: float
    gap: float


WITH_LABELS = Room(3.8, 1.8, 2.3, 1.1, 2.1)
WITH_NAMES = Room(1.7, 0.4, 0.3, 0.3, 1.6)


def room_for_labels(width: float, height: float, font: float) -> tuple[float, bool]:
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

    def share(room: Room) -> float:
        high, wide = room.top + room.bottom + room.gap, room.left + room.right + room.gap
        return max(high * font / max(height, 1), wide * font / max(width, 1))

    size = min(_MOST_LABELS / share(WITH_LABELS), 1.0)
    if size >= _SMALLEST_LABELS:
        return size, False
    return max(min(_MOST_LABELS / share(WITH_NAMES), 1.0), _SMALLEST_LABELS), True


@dataclass(frozen=True)
class Panel:
    """One array on the stage: its index in the recording, its top left corner and the width of a cell, in pixels."""

    array: int
    name: str
    rows: int
    columns: int
    x: float
    y: float
    cell: float

    @property
    def width(self) -> float:
        """Width in pixels."""
        return self.columns * self.cell

    @property
    def height(self) -> float:
        """Height in pixels."""
        return self.rows * self.cell

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return (row, column) of the cell under a point, or None."""
        column, row = int((x - self.x) // self.cell), int((y - self.y) // self.cell)
        return (row, column) if 0 <= row < self.rows and 0 <= column < self.columns else None

    def moved(self, zoom: float, dx: float, dy: float) -> "Panel":
        """Return the panel as seen after zooming about the origin and shifting, in pixels."""
        return Panel(
            self.array, self.name, self.rows, self.columns, self.x * zoom + dx, self.y * zoom + dy, self.cell * zoom
        )


def panels(recording: Recording, width: float, height: float, font: float, room: Room = WITH_LABELS) -> list[Panel]:
    """Place the arrays: A bottom left, B top right, C bottom right on shared axes, shared tiles top left.

    Parameters
    ----------
    recording
        Whose arrays to place.
    width, height
        The space, in pixels.
    font
        Height of the labels' font in pixels.
    room
        What is kept for labels.
    """
    m, n, k = recording.m, recording.n, recording.k
    left, right, top, bottom = room.left * font, room.right * font, room.top * font, room.bottom * font
    gap = room.gap * font
    cell = min((width - left - right - gap) / (k + n), (height - top - bottom - gap) / (k + m), _LARGEST_CELL)
    cell = max(cell, 0.05)
    x0 = left + (width - left - right - gap - cell * (k + n)) / 2
    y0 = top + (height - top - bottom - gap - cell * (k + m)) / 2
    x1, y1 = x0 + k * cell + gap, y0 + k * cell + gap
    places = [(x0, y1), (x1, y0), (x1, y1)]
    result = [Panel(i, recording.arrays[i].name, *_drawn(recording, i), *places[i], cell) for i in (A, B, C)]
    shared = [i for i, a in enumerate(recording.arrays) if a.space == "shared"]
    # The free quadrant reaches from the window's corner to A and B.
    if room is WITH_NAMES:
        return result + _shared(recording, shared, 0.5 * font, 0, x1 - 1.6 * font, y1 - 0.5 * font, cell, font)
    return result + _shared(recording, shared, 1.5 * font, 1.4 * font, x1 - 2.6 * font, y1 - 2.0 * font, cell, font)


def _drawn(recording: Recording, array: int) -> tuple[int, int]:
    return recording.arrays[array].grid


def _shared(
    recording: Recording,
    arrays: list[int],
    left: float,
    top: float,
    right: float,
    bottom: float,
    largest: float,
    font: float,
) -> list[Panel]:
    """Place the shared tiles in the free quadrant, in the row or column that leaves their cells largest.

    In a row that is too short for their shapes, there is room for their names alone.
    """
    if not arrays:
        return []
    shapes = [_drawn(recording, i) for i in arrays]
    rows, columns = [s[0] for s in shapes], [s[1] for s in shapes]
    title, gap = 1.6 * font, 1.6 * font
    width, height = right - left, bottom - top
    beside = min((width - gap * (len(arrays) - 1)) / sum(columns), (height - title) / max(rows))
    stacked = min(width / max(columns), (height - title * len(arrays)) / sum(rows))
    labels = [title_width(recording, i, font) for i in arrays]
    names = [_text_width(recording.arrays[i].name, font) for i in arrays]
    cell = max(min(beside, largest * _LARGER_SHARED), 0.05)
    if sum(max(c * cell, label) for c, label in zip(columns, labels, strict=True)) + gap * (len(arrays) - 1) > width:
        labels = names
    slots = [max(c * cell, label) for c, label in zip(columns, labels, strict=True)]
    row = sum(slots) + gap * (len(arrays) - 1)
    # Where cells would be as large in both, a column has room for the shapes.
    shaped = labels is not names or stacked < min(beside, largest * _LARGER_SHARED)
    in_row = beside >= stacked and ((row <= width and shaped) or len(arrays) * (title + font) > height)
    if not in_row:
        cell = max(min(stacked, largest * _LARGER_SHARED), 0.05)
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


def shared_title(recording: Recording, array: int) -> str:
    """Return the title of a shared array: its name and shape."""
    rows, columns = _drawn(recording, array)
    return f"{recording.arrays[array].name}  {rows} × {columns}"


def title_width(recording: Recording, array: int, font: float) -> float:
    """Return about how wide a shared array's title is, in pixels, in a bold font of the height `font`."""
    return _text_width(shared_title(recording, array), font)


def _text_width(text: str, font: float) -> float:
    return 0.62 * font * len(text)
