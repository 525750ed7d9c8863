"""Where everything stands in front of an audience: the chosen block's tiles are large, and A, B and C small.

The tile of A stands left of the block's part of C, and the tile of B above it, all with the same size of a cell. The
corner between both tiles has the words, and below them A and B as a whole, with the place of the block's part of C. If
one array has both tiles, it stands above the block's part of C, and the corner is left of that.
"""

from dataclasses import replace

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.lenses.block_tiles import BlockTiles
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.stage.plan import Plan
from gemmviz.ui.stage.scene import LARGEST_CELL, Bounds, LabelRoom, Panel

AROUND_TILES = LabelRoom(1.0, 0.9, 1.7, 0.7, 2.9)
"""Room around the large tiles: the names of the tile of B and of the others stand above them."""
_GAIN = 1.25
"""A cell of the large tiles is at least that many times as wide as one of whole matrices."""
_READABLE = 0.9
"""The least width of a cell, in heights of the font: without values in the tiles, whole matrices tell more."""
_LEAST_SHARE = 0.25
"""Of the space, for the large cells together: few of them, as of a block at an edge, leave most of it empty."""
_CORNER = 9.0, 7.0  # the least width and height of the corner, in heights of the font
_APART, _LETTERS = 0.5, 1.2  # between the small matrices, and room for their letters


def block_plan(
    recording: Recording,
    tiles: BlockTiles,
    size: tuple[float, float],
    font: float,
    words: float,
    usual: float,
) -> Plan | None:
    """Place the tiles of a block, and A, B and C beside them.

    Parameters
    ----------
    recording, tiles
        The recording, and the tiles of the block.
    size
        Width and height of the space, in pixels.
    font
        Height of the labels' font in pixels.
    words
        Height of the title and the lines below it, in pixels.
    usual
        The width of a cell of whole matrices, in pixels.

    Returns
    -------
    Plan or None
        None where the cells would not be larger than usual, too few, or too small for values, or where there is no
        room for the corner.
    """
    room, arrays = AROUND_TILES, recording.arrays
    wide = size[0] - (room.left + room.gap + room.right) * font
    high = size[1] - (room.top + room.gap + room.bottom) * font
    least = _CORNER[0] * font, max(_CORNER[1] * font, words + (_LETTERS + 4) * font)
    (top, bottom), (left, right) = tiles.rows, tiles.columns
    part = bottom - top, right - left
    place = _above if tiles.of_a == tiles.of_b else _around
    cell, corner, at_c, at_tiles = place(recording, tiles, part, (wide, high), font, least)
    cells = part[0] * part[1] + sum(arrays[at].size for at in at_tiles)
    if cell < max(_GAIN * usual, _READABLE * font) or cells * cell**2 < _LEAST_SHARE * size[0] * size[1]:
        return None
    small = _small(recording, corner, words, font)
    if small is None:
        return None
    of_c = Panel(C, arrays[C].name, *arrays[C].grid, at_c[0] - left * cell, at_c[1] - top * cell, cell)
    large = [Panel(at, arrays[at].name, *arrays[at].grid, *place, cell) for at, place in sorted(at_tiles.items())]
    panels = [*small, replace(of_c, part=(tiles.rows, tiles.columns)), *large]
    title = Bounds(corner.left, corner.top, corner.right, corner.top + words)
    return Plan(panels, None, title, None, None, "of a block")


_Point = tuple[float, float]
_Placed = tuple[float, Bounds, _Point, dict[int, _Point]]
"""The cell, the corner, where the block's part of C begins, and where each tile does."""


def _around(
    recording: Recording, tiles: BlockTiles, part: tuple[int, int], size: _Point, font: float, least: _Point
) -> _Placed:
    """Place the tile of A left of the block's part of C, and that of B above it."""
    (a_rows, a_columns), (b_rows, b_columns) = (recording.arrays[at].grid for at in (tiles.of_a, tiles.of_b))
    rows, columns, (wide, high), room = max(a_rows, part[0]), max(b_columns, part[1]), size, AROUND_TILES
    cell = min(_fitting(wide, a_columns, columns, least[0]), _fitting(high, b_rows, rows, least[1]), LARGEST_CELL)
    corner_wide, corner_high = max(a_columns * cell, least[0]), max(b_rows * cell, least[1])
    spare = (wide - corner_wide - columns * cell) / 2, (high - corner_high - rows * cell) / 2
    x1 = spare[0] + (room.left + room.gap) * font + corner_wide
    y1 = spare[1] + (room.top + room.gap) * font + corner_high
    x0, y0 = x1 - room.gap * font - a_columns * cell, y1 - room.gap * font - b_rows * cell
    corner = Bounds(spare[0] + room.left * font, 0.4 * font, x1 - room.gap * font, y1 - room.gap * font)
    return cell, corner, (x1, y1), {tiles.of_a: (x0, y1), tiles.of_b: (x1, y0)}


def _above(
    recording: Recording, tiles: BlockTiles, part: tuple[int, int], size: _Point, font: float, least: _Point
) -> _Placed:
    """Place one array with both tiles above the block's part of C, whose corner is then left of it."""
    (rows, columns), (wide, high), room = recording.arrays[tiles.of_a].grid, size, AROUND_TILES
    whole = wide + room.gap * font
    cell = min(whole / columns, (wide - least[0]) / part[1], _fitting(high, part[0], rows, least[1]), LARGEST_CELL)
    begin = room.left * font + (whole - max(columns, part[1]) * cell) / 2
    y0 = room.top * font + (high - rows * cell - max(part[0] * cell, least[1])) / 2
    y1 = y0 + rows * cell + room.gap * font
    x1 = max(begin + columns * cell - part[1] * cell, (room.left + room.gap) * font + least[0])
    corner = Bounds(min(begin, x1 - room.gap * font - least[0]), y1 - 2 * font, x1 - room.gap * font, 0.0)
    corner = replace(corner, bottom=y1 + max(part[0] * cell, least[1]))
    return cell, corner, (x1, y1), {tiles.of_a: (begin, y0)}


def _fitting(room: float, tile: int, part: int, least: float) -> float:
    """Return the largest cell for a tile and the block's part of C side by side; the corner at the tile needs `least`.

    Parameters
    ----------
    room, least
        In pixels.
    tile, part
        In cells.
    """
    cell = room / (tile + part)
    return cell if tile * cell >= least else (room - least) / part


def _small(recording: Recording, corner: Bounds, words: float, font: float) -> list[Panel] | None:
    """Place A and B below the words, with room for C; None if they would be too small."""
    m, n, k, apart = recording.m, recording.n, recording.k, _APART * font
    left, top = corner.left + _LETTERS * font, corner.top + words + 0.4 * font
    cell = min((corner.right - left - apart) / (k + n), (corner.bottom - font - top - apart) / (k + m))
    if cell * min(m, n, k) < 2:
        return None
    x1, y1 = left + k * cell + apart, top + k * cell + apart
    places = {A: (left, y1), B: (x1, top)}
    return [Panel(at, recording.arrays[at].name, *recording.arrays[at].grid, *places[at], cell) for at in (A, B)]


def whole_c(panels: list[Panel]) -> Bounds:
    """Return the place of all of C beside the small A and B of such a plan, in pixels."""
    a, b = panels[A], panels[B]
    return Bounds(b.x, a.y, b.x + b.width, a.y + a.height)
