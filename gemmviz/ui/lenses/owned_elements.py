"""A small map of a block's tile of C, in which the elements of one thread stand out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPen

from gemmviz.language import tr
from gemmviz.trace.lenses.outer_product import OuterProduct
from gemmviz.trace.lenses.per_recording import latest
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import Sheet

_DIM = 0.35
_LARGEST_CELL = 22.0  # pixels


@dataclass(frozen=True)
class _Tile:
    """The elements of C that a block owns: where they begin, and of each its thread (-1: another block's)."""

    row: int
    column: int
    thread: npt.NDArray[np.int64]


@latest(8)
def _tile(playable: Playable, block: int) -> _Tile | None:
    of_block, of_thread = playable.recording.owners
    rows, columns = np.nonzero(of_block == block)
    if not len(rows):
        return None
    part = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    thread = np.where(of_block[part] == block, of_thread[part], -1).astype(np.int64)
    return _Tile(int(rows.min()), int(columns.min()), thread)


def draw_owned(sheet: Sheet, room: QRectF, moment: LensMoment, thread: int, known: OuterProduct) -> None:
    """Draw the tile of a block, with the elements that a thread works on in full colour and framed."""
    tile = _tile(moment.playable, moment.block)
    if tile is None:
        return
    theme, (rows, columns) = sheet.theme, tile.thread.shape
    title = QRectF(room.left(), room.top(), room.width(), sheet.small)
    on_gpu = moment.playable.recording.backend == "cuda"
    sheet.text(title, tr("in the block's tile of C") if on_gpu else tr("in C"), theme.muted, "small")
    cell = min(room.width() / columns, (room.height() - sheet.small - 4) / rows, _LARGEST_CELL)
    hue = theme.owner(*moment.playable.recording.block_index(moment.block)[:2])
    image = np.full((rows, columns, 4), 255, np.uint8)
    dim = sheet.mixed(hue, _DIM)
    image[..., :3] = np.where((tile.thread >= 0)[..., None], (dim.red(), dim.green(), dim.blue()), theme.cell)
    mine = tile.thread == thread
    for axis, (lines, first) in enumerate(((known.rows, tile.row), (known.columns, tile.column))):
        here = np.isin(first + np.arange(tile.thread.shape[axis]), lines)
        mine &= here[:, None] if axis == 0 else here
    image[mine, :3] = hue
    area = QRectF(room.left(), title.bottom() + 3, columns * cell, rows * cell)
    picture = QImage(image.data, columns, rows, columns * 4, QImage.Format.Format_RGBX8888)
    sheet.painter.drawImage(area, picture)
    sheet.painter.setBrush(Qt.BrushStyle.NoBrush)
    sheet.painter.setPen(QPen(sheet.mixed(theme.selection, 1.0), 1.5))
    across, down = (_runs(here) for here in (mine.any(axis=0), mine.any(axis=1)))
    boxes = [
        QRectF(area.left() + x * cell, area.top() + y * cell, (right - x) * cell, (bottom - y) * cell)
        for x, right in across
        for y, bottom in down
        if mine[y, x]
    ]
    sheet.painter.drawRects(boxes)


def _runs(here: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where stretches of true values begin and end."""
    ends = np.flatnonzero(np.diff(here, prepend=False, append=False)).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))
