"""Draws the stage with a QPainter: the same code paints the window, a PNG and any other Qt paint device.

Back to front: cells (one RGBA image per array), grid and labels (cached until the view changes), accesses of this step,
selection, values.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QPixmap

from gemmviz.trace.playable import Playable
from gemmviz.ui.stage import labels, scene
from gemmviz.ui.stage.caption import BETWEEN, about_cell, caption, provenance
from gemmviz.ui.stage.cell_text import CellText
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.theme import Theme

_MOST_OUTLINES = 600
_MOST_CROSSES = 4096
_SMALLEST_FRAMED = 2.0


@dataclass(frozen=True)
class View:
    """What part of the stage is seen: zoom about the origin, then a shift in pixels."""

    zoom: float = 1.0
    dx: float = 0.0
    dy: float = 0.0


@dataclass(frozen=True)
class Moment:
    """Everything that the picture depends on besides recording, theme and size."""

    step: int = 0
    block: int = 0
    cell: tuple[int, int] | None = None
    trail: int = 4
    view: View = field(default_factory=View)
    warp: int = 0


class StagePainter:
    """Paints one recording in one theme.

    Parameters
    ----------
    playable
        What to paint.
    theme
        The colours.
    font
        The base font; its pixel size sets all labels.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self.playable = playable
        self.theme = theme
        self.font = QFont(font)
        self.metrics = QFontMetricsF(self.font)
        self._colours = scene.Colours(playable, theme)
        self._text = CellText(playable, theme, self.font)
        self._labels: tuple[Any, QPixmap] | None = None

    def panels(self, rect: QRectF, view: View) -> list[Panel]:
        """Return where every array stands when painted into `rect`."""
        font = self.metrics.height()
        head, foot = self._head(), self._foot()
        placed = scene.panels(self.playable.recording, rect.width(), rect.height() - head - foot, font)
        return [p.moved(1, 0, head).moved(view.zoom, view.dx, view.dy) for p in placed]

    def _head(self) -> float:
        return self.metrics.height() * 1.6

    def _foot(self) -> float:
        return self.metrics.height() * 3.1

    def paint(self, painter: QPainter, rect: QRectF, moment: Moment, ratio: float = 1.0) -> None:
        """Paint the stage at a moment into `rect`; `ratio` is device pixels per pixel."""
        painter.setFont(self.font)
        painter.fillRect(rect, QColor(self.theme.background))
        placed = self.panels(rect, moment.view)
        painter.save()
        middle = rect.adjusted(0, self._head(), 0, -self._foot())
        painter.setClipRect(middle)
        images = [self._colours.image(p.array, moment.step, moment.block, moment.trail) for p in placed]
        for panel, image in zip(placed, images, strict=True):
            rows, columns = image.shape[:2]
            picture = QImage(image.data, columns, rows, columns * 4, QImage.Format.Format_RGBX8888)
            painter.drawImage(QRectF(panel.x, panel.y, panel.width, panel.height), picture)
        self._draw_labels(painter, rect, placed, moment, ratio)
        for panel in placed:
            self._draw_held(painter, panel, moment)
            self._draw_sectors(painter, panel, moment)
            self._draw_accesses(painter, panel, moment)
            self._draw_wrong(painter, panel, moment)
            self._draw_selection(painter, panel, placed, moment)
        for panel, image in zip(placed, images, strict=True):
            self._text.draw(painter, panel, middle, moment.step, moment.block, image, ratio)
        painter.restore()
        self._draw_head(painter, rect)
        self._draw_foot(painter, rect, moment)

    # Labels: everything that changes with the view only

    def _draw_labels(self, painter: QPainter, rect: QRectF, placed: list[Panel], moment: Moment, ratio: float) -> None:
        key = (rect.width(), rect.height(), moment.view, moment.block, ratio)
        if self._labels is None or self._labels[0] != key:
            pixmap = QPixmap(int(rect.width() * ratio), int(rect.height() * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            into = QPainter(pixmap)
            labels.draw(into, placed, moment.block, self.playable.recording, self.theme, self.font)
            into.end()
            self._labels = (key, pixmap)
        painter.drawPixmap(rect.topLeft(), self._labels[1])

    # What changes with the step

    def _draw_held(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Outline the tile of A or B that the chosen block holds in shared memory, and the block itself in C."""
        recording = self.playable.recording
        pen = QPen(QColor(self.theme.selection), 2)
        pen.setStyle(Qt.PenStyle.DashLine)
        if panel.array in (scene.A, scene.B):
            info = recording.arrays[panel.array]
            for part in scene.held_tiles(self.playable, panel.array, moment.step, moment.block):
                r, c = info.cells(part)
                self._box(painter, panel, r, c, pen)
        elif panel.array == scene.C and recording.blocks > 1:
            r, c = np.nonzero(recording.owners[0] == moment.block)
            if len(r):
                self._box(painter, panel, r, c, pen)

    def _box(self, painter: QPainter, panel: Panel, rows: Any, columns: Any, pen: QPen) -> None:
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        x, y = panel.x + columns.min() * panel.cell, panel.y + rows.min() * panel.cell
        painter.drawRect(QRectF(x, y, (np.ptp(columns) + 1) * panel.cell, (np.ptp(rows) + 1) * panel.cell))

    def _draw_sectors(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Frame the sectors that the first warp of the chosen block moves at this step."""
        moved = scene.sectors(self.playable, panel.array, moment.step, moment.block)
        if not len(moved) or panel.cell < _SMALLEST_FRAMED:
            return
        info = self.playable.recording.arrays[panel.array]
        colour = self.theme.write if self.playable.timeline.write[moment.step] else self.theme.read
        pen = QPen(QColor(colour), 1.5)
        for sector in moved:
            r, c = info.cells(sector[sector < info.size])
            # A sector may begin in one row and end in the next.
            for line in np.unique(c if info.column_major else r):
                inside = (c if info.column_major else r) == line
                self._box(painter, panel, r[inside], c[inside], pen)

    def _draw_accesses(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Outline the cells accessed at this step: a thin frame for a read, a thick one for a write."""
        info = self.playable.recording.arrays[panel.array]
        if panel.cell < 9:
            return
        heat, write = scene.glow(
            self.playable, panel.array, moment.step, moment.block if info.space == "shared" else None, 1
        )
        if heat is None:
            return
        cells = np.flatnonzero(heat)
        if len(cells) > _MOST_OUTLINES:
            return
        is_write = bool(write[cells[0]])
        width = min(2.6, panel.cell / 9) if is_write else min(1.4, panel.cell / 14)
        pen = QPen(QColor(self.theme.text), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = width / 2 + 0.5
        side = panel.cell - 2 * inset
        painter.drawRects(
            [
                QRectF(panel.x + column * panel.cell + inset, panel.y + row * panel.cell + inset, side, side)
                for row, column in (divmod(cell, panel.columns) for cell in cells.tolist())
            ]
        )

    def _draw_wrong(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Cross out the elements of C that are wrong and stay so."""
        if panel.array != scene.C or not self.playable.recording.wrong or panel.cell < _SMALLEST_FRAMED:
            return
        rows, columns = np.nonzero(self.playable.wrong_from <= moment.step)
        if len(rows) > _MOST_CROSSES:
            return
        width, side = max(1.2, panel.cell / 16), panel.cell
        # With a rim, to be seen on cells of any colour.
        for pen in (QPen(QColor(self.theme.background), width + 2), QPen(QColor(self.theme.bad), width)):
            painter.setPen(pen)
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
                _cross(painter, QRectF(panel.x + column * side, panel.y + row * side, side, side))

    def _draw_selection(self, painter: QPainter, panel: Panel, placed: list[Panel], moment: Moment) -> None:
        if moment.cell is None or moment.cell[0] != panel.array:
            return
        info = self.playable.recording.arrays[panel.array]
        row, column = (int(v[0]) for v in info.cells(np.array([moment.cell[1]])))
        pen = QPen(QColor(self.theme.selection), 2)
        if panel.array == scene.C:
            a, b = placed[0], placed[1]
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(a.x, a.y + row * a.cell, a.width, a.cell))
            painter.drawRect(QRectF(b.x + column * b.cell, b.y, b.cell, b.height))
        pen.setWidthF(3)
        self._box(painter, panel, np.array([row]), np.array([column]), pen)

    # Head and foot

    def _draw_head(self, painter: QPainter, rect: QRectF) -> None:
        recording = self.playable.recording
        height = self.metrics.height()
        line = QRectF(rect.left() + height * 0.6, rect.top(), rect.width() - height * 1.2, self._head())
        painter.setPen(QColor(self.theme.text))
        bold = QFont(self.font)
        bold.setBold(True)
        painter.setFont(bold)
        title = f"{recording.label}   {recording.m} × {recording.n} × {recording.k}"
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        room = line.width() - QFontMetricsF(bold).horizontalAdvance(title) - 24
        painter.setFont(self.font)
        painter.setPen(QColor(self.theme.good if recording.wrong == 0 else self.theme.bad))
        mark = "✓ " if recording.wrong == 0 else "✗ "
        said = provenance(self.playable)
        text = next((mark + s for s in said if self.metrics.horizontalAdvance(mark + s) <= room), mark)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _draw_foot(self, painter: QPainter, rect: QRectF, moment: Moment) -> None:
        height = self.metrics.height()
        top = rect.bottom() - self._foot()
        left, width = rect.left() + height * 0.6, rect.width() - height * 1.2
        painter.setPen(QColor(self.theme.text))
        say = self._fitting(caption(self.playable, moment.step), width)
        line = QRectF(left, top, width, height * 1.5)
        painter.drawText(
            line,
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            self.metrics.elidedText(say, Qt.TextElideMode.ElideRight, width),
        )
        line.translate(0, height * 1.5)
        if moment.cell is not None:
            painter.setPen(QColor(self.theme.accent))
            say = self._fitting(about_cell(self.playable, *moment.cell, moment.step, moment.block), width)
            painter.drawText(
                line,
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                self.metrics.elidedText(say, Qt.TextElideMode.ElideRight, width),
            )
        else:
            self._legend(painter, line)

    def _fitting(self, text: str, width: float) -> str:
        """Leave out the last parts of a line that is too long: what matters most stands first."""
        parts = text.split(BETWEEN)
        while len(parts) > 1 and self.metrics.horizontalAdvance(BETWEEN.join(parts)) > width:
            parts.pop()
        return BETWEEN.join(parts)

    def _legend(self, painter: QPainter, line: QRectF) -> None:
        theme, recording = self.theme, self.playable.recording
        height = self.metrics.height()
        entries: list[tuple[QColor, float, str]] = [
            (QColor(theme.read), 1.2, "read"),
            (QColor(theme.write), 3.0, "written"),
        ]
        if recording.wrong:
            entries.append((QColor(0, 0, 0, 0), -3.0, "wrong"))
        if recording.backend == "cuda":
            hue = QColor(*theme.owner(0, 0))
            entries.append((hue, 0.0, "owner; faint: not written"))
            entries.append((QColor(0, 0, 0, 0), -1.0, "chosen block, its tiles"))
            entries.append((QColor(0, 0, 0, 0), -2.0, "its warp 0: sectors, lanes (L; zoom in)"))
        elif recording.threads > 1:
            entries.append((QColor(*theme.owner(1, 0)), 0.0, "C already written, by thread"))
        else:
            light = QColor(*self._colours.written_by_loop)
            entries.append((light, 0.0, "C already written"))
        x = line.left()
        size = height * 0.8
        for colour, frame, text in entries:
            if x + size + 6 + self.metrics.horizontalAdvance(text) > line.right():
                break  # half a legend entry says nothing
            box = QRectF(x, line.center().y() - size / 2, size, size)
            painter.fillRect(box, colour)
            if frame:
                pen = QPen(QColor(theme.read if frame == -2 else theme.selection), 2 if frame < 0 else frame)
                if frame == -1:
                    pen.setStyle(Qt.PenStyle.DashLine)
                painter.setPen(pen)
                if frame == -3:
                    painter.setPen(QPen(QColor(theme.bad), 2))
                    _cross(painter, box)
                else:
                    painter.drawRect(box.adjusted(1, 1, -1, -1))
            x += size + 6
            painter.setPen(QColor(theme.muted))
            room = QRectF(x, line.top(), line.right() - x, line.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            x += self.metrics.horizontalAdvance(text) + height * 0.75


def _cross(painter: QPainter, box: QRectF) -> None:
    inner = box.adjusted(box.width() / 8, box.height() / 8, -box.width() / 8, -box.height() / 8)
    painter.drawLine(inner.topLeft(), inner.bottomRight())
    painter.drawLine(inner.topRight(), inner.bottomLeft())


def blank(painter: QPainter, rect: QRect, theme: Theme, title: str, text: str) -> None:
    """Paint an empty stage that says what to do."""
    painter.fillRect(rect, QColor(theme.background))
    font = QFont(painter.font())
    font.setPointSizeF(font.pointSizeF() * 1.5)
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(theme.text))
    middle = rect.center().y()
    painter.drawText(
        QRect(rect.left() + 20, middle - 60, rect.width() - 40, 50),
        Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom,
        title,
    )
    font.setBold(False)
    font.setPointSizeF(font.pointSizeF() / 1.35)
    painter.setFont(font)
    painter.setPen(QColor(theme.muted))
    painter.drawText(
        QRect(rect.left() + 40, middle, rect.width() - 80, rect.height() // 2),
        int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap),
        text,
    )
