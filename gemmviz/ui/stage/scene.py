"""Where the matrices stand and what colour each cell has: a pure function of recording and step (no drawing here)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.playable import Playable
from gemmviz.trace.recording import WARP, Recording
from gemmviz.trace.wavefronts import SECTOR_BYTES
from gemmviz.ui.theme import Theme, rgb

Image = npt.NDArray[np.uint8]
A, B, C = 0, 1, 2
_LARGEST_CELL = 96.0
# Shares of an owner's hue in C: nothing done yet, all done but not written. And of a sector's tint.
_UNTOUCHED, _WORKED = 0.26, 0.55
_SECTOR_TINT = 0.3


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


def panels(recording: Recording, width: float, height: float, font: float) -> list[Panel]:
    """Place the arrays: A bottom left, B top right, C bottom right on shared axes, shared tiles top left.

    Parameters
    ----------
    recording
        Whose arrays to place.
    width, height
        The space, in pixels.
    font
        Height of the labels' font in pixels; room for titles, indices and dimension lines is kept in it.
    """
    m, n, k = recording.m, recording.n, recording.k
    left, right, top, bottom, gap = 3.8 * font, 1.8 * font, 2.3 * font, 1.1 * font, 3.2 * font
    cell = min((width - left - right - gap) / (k + n), (height - top - bottom - gap) / (k + m), _LARGEST_CELL)
    cell = max(cell, 0.05)
    x0 = left + (width - left - right - gap - cell * (k + n)) / 2
    y0 = top + (height - top - bottom - gap - cell * (k + m)) / 2
    x1, y1 = x0 + k * cell + gap, y0 + k * cell + gap
    places = [(x0, y1), (x1, y0), (x1, y1)]
    result = [Panel(i, recording.arrays[i].name, *_drawn(recording, i), *places[i], cell) for i in (A, B, C)]
    shared = [i for i, a in enumerate(recording.arrays) if a.space == "shared"]
    # The free quadrant reaches from the window's corner to A and B.
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
    """Place the shared tiles in the free quadrant, in the row or column that leaves their cells largest."""
    if not arrays:
        return []
    shapes = [_drawn(recording, i) for i in arrays]
    rows, columns = [s[0] for s in shapes], [s[1] for s in shapes]
    title, gap = 1.6 * font, 1.6 * font
    width, height = right - left, bottom - top
    beside = min((width - gap * (len(arrays) - 1)) / sum(columns), (height - title) / max(rows))
    stacked = min(width / max(columns), (height - title * len(arrays)) / sum(rows))
    cell = max(min(max(beside, stacked), largest * 1.15), 0.05)
    labels = [title_width(recording, i, font) for i in arrays]
    slots = [max(c * cell, label) for c, label in zip(columns, labels, strict=True)]
    row = sum(slots) + gap * (len(arrays) - 1)
    in_row = beside >= stacked and (row <= width or len(arrays) * (title + font) > height)
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
    return 0.62 * font * len(shared_title(recording, array))


class Colours:
    """The base colours of every array of a recording in one theme, and the images at a step.

    Parameters
    ----------
    playable
        What is on the stage.
    theme
        Its colours.
    """

    def __init__(self, playable: Playable, theme: Theme) -> None:
        self._playable = playable
        self._theme = theme
        recording = playable.recording
        self._full = _owner_colours(recording, theme)
        background = np.array(rgb(theme.background), np.float32)
        # Not written yet: the hue grows with the share of the block's work that is done, and jumps when C is written.
        self._empty = background + (self._full - background) * _UNTOUCHED
        self._worked = background + (self._full - background) * _WORKED
        self._owner = np.maximum(recording.owners[0], 0)
        self.written_by_loop = loop_colour(theme)
        self._read = np.array(rgb(theme.read), np.float32)
        self._write = np.array(rgb(theme.write), np.float32)

    def image(self, array: int, step: int, block: int, trail: int) -> Image:
        """Return RGBA (rows, columns, 4) of an array at a step, the accesses of the last `trail` steps glowing.

        Parameters
        ----------
        array
            Index into the recording's arrays.
        step
            Position in the timeline.
        block
            Whose shared memory to show, and whose tiles to tint in A and B.
        trail
            Steps that an access glows for.
        """
        recording = self._playable.recording
        info = recording.arrays[array]
        rows, columns = info.grid
        base = self._base(array, step, block).reshape(-1, 3)
        heat, write = glow(self._playable, array, step, block if info.space == "shared" else None, trail)
        if heat is not None:
            hot = np.flatnonzero(heat)
            weight = heat[hot, None]
            colour = np.where(write[hot, None], self._write, self._read)
            base[hot] = base[hot] * (1 - weight) + colour * weight
        out = np.full((rows * columns, 4), 255, np.uint8)
        out[:, :3] = base
        return out.reshape(rows, columns, 4)

    def _base(self, array: int, step: int, block: int) -> npt.NDArray[np.float32]:
        playable, theme = self._playable, self._theme
        recording = playable.recording
        info = recording.arrays[array]
        rows, columns = info.grid
        if array == C:
            written = drawn(info, playable.first_write <= step)
            share = playable.progress(step)[self._owner].astype(np.float32)[..., None]
            waiting = self._empty + (self._worked - self._empty) * (share if recording.backend == "cuda" else 1)
            return self._with_sectors(np.where(written[..., None], self._full, waiting), array, step, block)
        base = np.full((rows, columns, 3), theme.cell, np.float32)
        hue = np.array(theme.owner(*recording.block_index(block)[:2]), np.float32)
        if info.space == "shared":
            held = playable.history.last_write(array, step, block) >= 0
            # Lightness steps with the bank, so that a column in one bank is one colour.
            bank = np.arange(info.size) * info.itemsize // 4 % 32
            tint = 0.42 + 0.3 * (bank / 31)
            mixed = base.reshape(-1, 3) * (1 - tint[:, None]) + hue * tint[:, None]
            return np.where(held[:, None], mixed, base.reshape(-1, 3)).astype(np.float32)
        for part in held_tiles(playable, array, step, block):
            r, c = info.cells(part)
            base[r, c] = base[r, c] * 0.55 + hue * 0.45
        return self._with_sectors(base, array, step, block)

    def _with_sectors(self, base: npt.NDArray[np.float32], array: int, step: int, block: int) -> Any:
        """Tint what the request of the block's first warp moves besides what it asked for."""
        moved = sectors(self._playable, array, step, block)
        if len(moved):
            info = self._playable.recording.arrays[array]
            r, c = info.cells(np.minimum(moved, info.size - 1).ravel())
            write = bool(self._playable.timeline.write[step])
            base[r, c] = base[r, c] * (1 - _SECTOR_TINT) + (self._write if write else self._read) * _SECTOR_TINT
        return base


def glow(playable: Playable, array: int, step: int, block: int | None, trail: int) -> tuple[Any, Any]:
    """Return how strongly each drawn cell glows (0 to 1, flat), and whether it was written; (None, None) if none.

    ``block`` limits it to one block's accesses.
    """
    if not playable.timeline.steps:
        return None, None
    recording = playable.recording
    rows, ages = playable.timeline.window(step, trail)
    keep = recording.accesses.array[rows] == array
    if block is not None:
        keep &= recording.accesses.block[rows] == block
    rows, ages = rows[keep], ages[keep]
    if not len(rows):
        return None, None
    info = recording.arrays[array]
    cells, rows_of = covered(playable, array, rows)
    heat = np.zeros(info.size, np.float32)
    write = np.zeros(info.size, bool)
    # Oldest first: the last assignment to a cell is the newest access.
    heat[cells] = (0.92 * (1 - ages / trail) ** 1.3)[rows_of]
    write[cells] = recording.accesses.write[rows][rows_of]
    return heat, write


def sectors(playable: Playable, array: int, step: int, block: int) -> npt.NDArray[np.int64]:
    """Return the elements of each 32-byte sector that a block's first warp touches in a global array at a step.

    Returns
    -------
    ndarray
        int64 (sectors, elements per sector), in memory order; empty where the warp does not touch the array, and on a
        CPU, which has no warps.
    """
    recording = playable.recording
    info = recording.arrays[array]
    length = max(SECTOR_BYTES // info.itemsize, 1)
    nothing = np.zeros((0, length), np.int64)
    if recording.backend != "cuda" or info.space != "global" or not playable.timeline.steps:
        return nothing
    if int(playable.timeline.array[step]) != array:
        return nothing
    cells, _ = covered(playable, array, playable.warp_rows(step, block, 0), memory_order=True)
    return np.unique(cells // length)[:, None] * length + np.arange(length)


def covered(playable: Playable, array: int, rows: Any, memory_order: bool = False) -> tuple[Any, Any]:
    """Return the drawn cells that accesses cover, and for each the place of its access in `rows`.

    Cells are numbered row by row as drawn, or as they stand in memory.
    """
    info = playable.recording.arrays[array]
    position, element, _ = playable.recording.covered(rows)
    element = np.minimum(element, info.size - 1)
    if info.column_major and not memory_order:
        r, c = info.cells(element)
        element = r * info.grid[1] + c
    return element, position


def held_tiles(playable: Playable, array: int, step: int, block: int) -> list[Any]:
    """Return, per shared array, the elements of a global array whose values a block's shared memory holds at a step."""
    recording = playable.recording
    log = recording.accesses
    tiles = []
    for index, info in enumerate(recording.arrays):
        if info.space != "shared":
            continue
        rows = playable.history.last_write(index, step, block)
        source = playable.source[rows[rows >= 0]]
        source = source[source >= 0]
        source = source[log.array[source] == array]
        if len(source):
            tiles.append(log.element[source])
    return tiles


def drawn(info: Any, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array's elements, given in memory order, as they are drawn (rows, columns)."""
    rows, columns = info.grid
    return flat.reshape(columns, rows).T if info.column_major else flat.reshape(rows, columns)


def values(playable: Playable, array: int, step: int, block: int) -> npt.NDArray[Any]:
    """Return what each drawn cell of an array holds at a step (rows, columns); NaN where nothing was written yet."""
    recording = playable.recording
    if array == A:
        return recording.a
    if array == B:
        return recording.b
    return drawn(recording.arrays[array], playable.history.values(array, step, block))


def loop_colour(theme: Theme) -> tuple[int, int, int]:
    """Return the colour of elements of C that a loop without blocks has written."""
    factor = 1.9 if theme.name == "dark" else 0.8
    r, g, b = (min(255, int(channel * factor)) for channel in theme.cell)
    return r, g, b


def _owner_colours(recording: Recording, theme: Theme) -> npt.NDArray[np.float32]:
    """Colour C by its owners: hue by block, lightness by warp and thread. Cells without an owner stay neutral."""
    block, thread = recording.owners
    x, y, _ = recording.grid
    if recording.backend != "cuda":
        # A loop alone has no owners worth a hue; threads that share the rows of C have.
        alone = recording.threads == 1
        hues = np.array([loop_colour(theme)] if alone else [theme.owner(t, 0) for t in range(recording.threads)])
        colours = hues[np.maximum(thread, 0)]
        return np.where((block >= 0)[..., None], colours, np.array(theme.cell)).astype(np.float32)
    hues = np.array([theme.owner(b % x, b // x % y) for b in range(min(recording.blocks, 4096))], np.float32)
    colours = hues[np.maximum(block, 0) % len(hues)]
    warps = -(-recording.threads // WARP)
    shade = 1.0 - 0.26 * (thread % WARP) / WARP
    if warps > 1:
        shade = shade * np.where(thread // WARP % 2, 0.84, 1.0)
    colours = np.clip(colours * shade[..., None], 0, 255)
    return np.where((block >= 0)[..., None], colours, np.array(theme.cell, np.float32)).astype(np.float32)
