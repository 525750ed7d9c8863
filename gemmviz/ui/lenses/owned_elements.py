"""A small map of a block's tile of C, in which the elements of one thread stand out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPen

from gemmviz.language import tr
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import Sheet

_DIM = 0.35
_LARGEST_CELL, _FRAMED = 14.0, 3.5  # pixels


@dataclass(frozen=True)
class _Tile:
    """The elements of C that a block owns: where they begin, and of each its thread (-1: another block's)."""

    row: int
    column: int
    thread: npt.NDArray[np.int64]


@per_recording
def _tile(playable: Playable, block: int) -> _Tile | None:
    of_block, of_thread = playable.recording.owners
    rows, columns = np.nonzero(of_block == block)
    if not len(rows):
        return None
    part = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    thread = np.where(of_block[part] == block, of_thread[part], -1).astype(np.int64)
    return _Tile(int(rows.min()), int(columns.min()), thread)


def draw_owned(sheet: Sheet, room: QRectF, moment: LensMoment, thread: int) -> None:
    """Draw the tile of a block, with the elements of a thread in full colour and framed."""
    tile = _tile(moment.playable, moment.block)
    if tile is None:
        return
    theme, (rows, columns) = sheet.theme, tile.thread.shape
    title = QRectF(room.left(), room.top(), room.width(), sheet.small)
    sheet.text(title, tr("its elements in the block's tile of C"), theme.muted, "small")
    cell = min(room.width() / columns, (room.height() - sheet.small - 4) / rows, _LARGEST_CELL)
    hue = theme.owner(*moment.playable.recording.block_index(moment.block)[:2])
    image = np.full((rows, columns, 4), 255, np.uint8)
    dim = sheet.mixed(hue, _DIM)
    image[..., :3] = np.where((tile.thread >= 0)[..., None], (dim.red(), dim.green(), dim.blue()), theme.cell)
    mine = tile.thread == thread
    image[mine, :3] = hue
    area = QRectF(room.left(), title.bottom() + 3, columns * cell, rows * cell)
    picture = QImage(image.data, columns, rows, columns * 4, QImage.Format.Format_RGBX8888)
    sheet.painter.drawImage(area, picture)
    sheet.painter.setBrush(Qt.BrushStyle.NoBrush)
    sheet.painter.setPen(QPen(sheet.mixed(theme.selection, 1.0 if cell >= _FRAMED else 0.6), 1.5))
    if cell >= _FRAMED:
        for i, j in zip(*np.nonzero(mine), strict=True):
            sheet.painter.drawRect(QRectF(area.left() + j * cell, area.top() + i * cell, cell, cell))
