"""What is written beside the arrays, and stays while a recording plays: titles, indices, dimension lines."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.language import tr
from gemmviz.trace.recording import Recording
from gemmviz.ui.stage import scene
from gemmviz.ui.stage.cell_text import BANK_LABEL
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.theme import Theme


def draw(painter: QPainter, placed: list[Panel], block: int, recording: Recording, theme: Theme, font: QFont) -> None:
    """Draw all labels.

    Parameters
    ----------
    painter
        Where to.
    placed
        The panels: A, B, C, then shared arrays.
    block
        Whose shared memory is shown.
    recording, theme, font
        What to label, in which colours, in which base font.
    """
    painter.setFont(font)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    labels = _Labels(recording, theme, font)
    for panel in placed:
        labels.title(painter, panel)
    labels.axes(painter, placed)
    labels.shared_heading(painter, placed, block)


class _Labels:
    def __init__(self, recording: Recording, theme: Theme, font: QFont) -> None:
        self.recording, self.theme, self.font = recording, theme, font
        self.metrics = QFontMetricsF(font)

    def title(self, painter: QPainter, panel: Panel) -> None:
        info = self.recording.arrays[panel.array]
        if info.space != "shared":
            return
        bold = QFont(self.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QColor(self.theme.text))
        text = scene.shared_title(self.recording, panel.array)
        height = self.metrics.height()
        width = max(QFontMetricsF(bold).horizontalAdvance(text) + 4, panel.width)
        box = QRectF(panel.x + panel.width / 2 - width / 2, panel.y - height * 1.3, width, height * 1.2)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.setFont(self.font)

    def shared_heading(self, painter: QPainter, placed: list[Panel], block: int) -> None:
        """Say whose shared memory stands in the free quadrant, above the topmost tile."""
        tiles = placed[3:]
        if not tiles:
            return
        x, y, _ = self.recording.block_index(block)
        text = tr("shared memory of block ({x}, {y})", x=x, y=y)
        if tiles[0].cell >= BANK_LABEL:
            text = tr("shared memory of block ({x}, {y}); small figures: bank", x=x, y=y)
        height = self.metrics.height()
        width = self.metrics.horizontalAdvance(text) + 4
        left, right = min(t.x for t in tiles), max(t.x + t.width for t in tiles)
        box = QRectF((left + right - width) / 2, min(t.y for t in tiles) - height * 2.6, width, height * 1.2)
        painter.setPen(QColor(self.theme.muted))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def axes(self, painter: QPainter, placed: list[Panel]) -> None:
        a, b, c = placed[:3]
        height = self.metrics.height()
        self._indices(painter, a, "left")
        self._indices(painter, a, "bottom")
        self._indices(painter, b, "top")
        self._indices(painter, b, "right")
        big = QFont(self.font)
        big.setBold(True)
        big.setPixelSize(int(height * 1.5))
        self._dimension(painter, a, "top", "K", a.columns)
        self._dimension(painter, a, "far left", "M", a.rows)
        self._dimension(painter, b, "far top", "N", b.columns)
        self._dimension(painter, b, "left", "K", b.rows)
        painter.setFont(big)
        painter.setPen(QColor(self.theme.text))
        for panel, x, y in (
            (a, a.x - height * 2.3, a.y - height * 1.35),
            (b, b.x - height * 1.45, b.y - height * 2.1),
            (c, c.x - height * 1.45, c.y - height * 1.4),
        ):
            painter.drawText(QPointF(x, y + height), panel.name)
        painter.setFont(self.font)

    def _indices(self, painter: QPainter, panel: Panel, side: str) -> None:
        count = panel.columns if side in ("top", "bottom") else panel.rows
        height = self.metrics.height()
        widest = self.metrics.horizontalAdvance(str(count)) + 4
        room = widest if side in ("top", "bottom") else height
        every = next((e for e in (1, 2, 4, 8, 16, 32, 64, 128, 256) if e * panel.cell >= room), count)
        painter.setPen(QColor(self.theme.muted))
        for i in range(0, count, every):
            at = (i + 0.5) * panel.cell
            if side in ("top", "bottom"):
                y = panel.y - height * 1.15 if side == "top" else panel.y + panel.height + 2
                box = QRectF(panel.x + at - 30, y, 60, height)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(i))
            else:
                left = side == "left"
                x = panel.x - 34 if left else panel.x + panel.width + 4
                align = Qt.AlignmentFlag.AlignRight if left else Qt.AlignmentFlag.AlignLeft
                box = QRectF(x, panel.y + at - height / 2, 30, height)
                painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, str(i))

    def _dimension(self, painter: QPainter, panel: Panel, side: str, name: str, size: int) -> None:
        """Draw a dimension line as on an engineering drawing: ticks at both ends, the name and size in its middle."""
        height = self.metrics.height()
        painter.setPen(QPen(QColor(self.theme.muted), 1))
        text = f"{name} = {size}"
        width = self.metrics.horizontalAdvance(text) + 8
        if side.endswith("top"):
            y = panel.y - height * (1.75 if side.startswith("far") else 0.75)
            middle = panel.x + panel.width / 2
            for begin, end in ((panel.x, middle - width / 2), (middle + width / 2, panel.x + panel.width)):
                if end > begin:
                    painter.drawLine(QPointF(begin, y), QPointF(end, y))
            for x in (panel.x, panel.x + panel.width):
                painter.drawLine(QPointF(x, y - 4), QPointF(x, y + 4))
            box = QRectF(middle - width / 2, y - height / 2, width, height)
            painter.setPen(QColor(self.theme.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            return
        x = panel.x - height * (2.7 if side.startswith("far") else 0.9)
        middle = panel.y + panel.height / 2
        for begin, end in ((panel.y, middle - width / 2), (middle + width / 2, panel.y + panel.height)):
            if end > begin:
                painter.drawLine(QPointF(x, begin), QPointF(x, end))
        for y in (panel.y, panel.y + panel.height):
            painter.drawLine(QPointF(x - 4, y), QPointF(x + 4, y))
        painter.save()
        painter.translate(x, middle)
        painter.rotate(-90)
        painter.setPen(QColor(self.theme.text))
        painter.drawText(QRectF(-width / 2, -height / 2, width, height), Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()
