"""The order of the blocks on C, where a kernel does not go along rows or columns: numbers, a line, and its use."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.cell_text import SUM_CELL, CellText
from gemmviz.ui.stage.scene import Panel

_FEWEST, _MOST = 4, 64
_LEAST_SIDE = 2.0  # of a block's tile, in heights of the font


class BlockOrder:
    """The tiles of C in the order of their blocks' numbers, where the tiles themselves stand in another order.

    Parameters
    ----------
    recording
        The recording.
    """

    def __init__(self, recording: Recording) -> None:
        self.tiles: list[tuple[int, float, float, float]] = []
        """By block: its number, the middle of its tile (column, row) and the tile's shorter side, all in cells."""
        owner = recording.owners[0]
        blocks = distinct(owner[owner >= 0])
        if recording.backend != "cuda" or not _FEWEST <= len(blocks) <= _MOST or int(blocks.max()) >= _MOST:
            return
        found = []
        for block in blocks.tolist():
            rows, columns = np.nonzero(owner == block)
            top, left, high, wide = rows.min(), columns.min(), np.ptp(rows) + 1, np.ptp(columns) + 1
            if len(rows) != high * wide:
                return  # several tiles, or parts of one: a number would say little
            found.append((block, left + wide / 2, top + high / 2, float(min(wide, high))))
        along_rows = sorted(found, key=lambda tile: (tile[2], tile[1]))
        along_columns = sorted(found, key=lambda tile: (tile[1], tile[2]))
        if found not in (along_rows, along_columns):
            self.tiles = found

    def shared(self) -> tuple[int, int, int]:
        """Return the numbers of tiles in this order and row by row, for as many blocks as stand in a row of C.

        Returns
        -------
        tuple
            The number of these blocks, the tiles of A and B that they need together, and those that a row of C needs.
        """
        count = len({x for _, x, _, _ in self.tiles})
        first = self.tiles[:count]
        return count, len({y for _, _, y, _ in first}) + len({x for _, x, _, _ in first}), 1 + count

    def _about(self) -> tuple[str, ...]:
        """Return texts about the tiles that the order saves, the longest first; none if it saves none."""
        count, needed, by_rows = self.shared()
        if needed >= by_rows:
            return ()
        values = {"last": count - 1, "needed": needed, "more": by_rows}
        return (
            tr("Blocks 0–{last} need {needed} tiles of A and B together; row by row they would need {more}.", **values),
            tr("Blocks 0–{last}: {needed} tiles of A and B; row by row: {more}", **values),
        )

    def plates(self, panel: Panel, text: CellText, font: QFont) -> list[QRectF]:
        """Return the places of the numbers on C, in pixels; none where its cells have values, or are too small."""
        if not self.tiles or panel.cell >= SUM_CELL:
            return []
        line = QFontMetricsF(font).height()
        if self.tiles[0][3] * panel.cell < _LEAST_SIDE * line:
            return []
        widths = [text.width_of(str(block), round(line * 0.8)) + 0.6 * line for block, *_ in self.tiles]
        middles = zip(self._middles(panel), widths, strict=True)
        return [QRectF(at.x() - wide / 2, at.y() - 0.55 * line, wide, 1.1 * line) for at, wide in middles]

    def _middles(self, panel: Panel) -> list[QPointF]:
        return [QPointF(panel.x + x * panel.cell, panel.y + y * panel.cell) for _, x, y, _ in self.tiles]

    def draw(self, painter: QPainter, panels: list[Panel], theme: Theme, text: CellText, ratio: float) -> None:
        """Draw the order on C, unless its cells have values."""
        panel, font = panels[C], painter.font()
        line, plates, middles = QFontMetricsF(font).height(), self.plates(panel, text, font), self._middles(panel)
        if not plates:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.text), 1.5))
        painter.drawPolyline(QPolygonF(middles))
        for (block, *_), plate, middle in zip(self.tiles, plates, middles, strict=True):
            painter.setBrush(QColor(theme.background))
            painter.drawRoundedRect(plate, 4, 4)
            text.write_at(painter, str(block), theme.text, round(line * 0.8), middle.x(), middle.y(), ratio)
        metrics, room = QFontMetricsF(font), panel.width - line
        sentence = next((one for one in self._about() if metrics.horizontalAdvance(one) <= room), "")
        if sentence:
            plate = QRectF(panel.x, panel.y, metrics.horizontalAdvance(sentence) + line, 1.3 * line)
            painter.fillRect(plate, QColor(theme.background))
            painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, sentence)
        painter.restore()
