"""Where everything stands in front of an audience: the chosen block's tiles are large, and A, B and C small.

The tile of A stands left of the block's part of C, and the tile of B above it, all with the same size of a cell. The
corner between both tiles has the words, and below them A and B as a whole, with the place of the block's part of C.
"""

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
        None where the cells would not be larger than usual, or too small for values, or without room for the corner.
    """
    (top, bottom), (left, right) = tiles.rows, tiles.columns
    (a_rows, a_columns), (b_rows, b_columns) = (recording.arrays[at].grid for at in (tiles.of_a, tiles.of_b))
    rows, columns, room = max(a_rows, bottom - top), max(b_columns, right - left), AROUND_TILES
    width, height = size
    wide = width - (room.left + room.gap + room.right) * font
    high = height - (room.top + room.gap + room.bottom) * font
    least_wide, least_high = (least * font for least in _CORNER)
    least_high = max(least_high, words + (_LETTERS + 4) * font)
    cell = min(_fitting(wide, a_columns, columns, least_wide), _fitting(high, b_rows, rows, least_high), LARGEST_CELL)
    if cell < max(_GAIN * usual, _READABLE * font):
        return None
    corner_wide, corner_high = max(a_columns * cell, least_wide), max(b_rows * cell, least_high)
    spare = (wide - corner_wide - columns * cell) / 2, (high - corner_high - rows * cell) / 2
    x1 = spare[0] + (room.left + room.gap) * font + corner_wide
    y1 = spare[1] + (room.top + room.gap) * font + corner_high
    x0, y0 = x1 - room.gap * font - a_columns * cell, y1 - room.gap * font - b_rows * cell
    corner = Bounds(spare[0] + room.left * font, 0.4 * font, x1 - room.gap * font, y1 - room.gap * font)
    small = _small(recording, corner, words, font)
    if small is None:
        return None
    part = C, recording.arrays[C].name, *recording.arrays[C].grid, x1 - left * cell, y1 - top * cell, cell
    large = [
        Panel(tiles.of_a, recording.arrays[tiles.of_a].name, a_rows, a_columns, x0, y1, cell),
        Panel(tiles.of_b, recording.arrays[tiles.of_b].name, b_rows, b_columns, x1, y0, cell),
    ]
    panels = [*small, Panel(*part, part=(tiles.rows, tiles.columns)), *sorted(large, key=lambda panel: panel.array)]
    title = Bounds(corner.left, corner.top, corner.right, corner.top + words)
    return Plan(panels, None, title, None, None, "of a block")


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
