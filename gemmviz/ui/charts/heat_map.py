"""Tables as heat maps side by side. Each is relative to its own best value, so that their shapes can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gemmviz.bench.claims.claim_text import figure
from gemmviz.language import percent as percentage
from gemmviz.language import tr
from gemmviz.session.models.preferences import Preferences
from gemmviz.ui.connections import listen
from gemmviz.ui.look.theme import THEMES, Theme, ink

_COLOURS: npt.NDArray[np.uint8] = pg.colormap.get("viridis").getLookupTable(nPts=256)
_GAP = 10.0
_SHARE_FROM = 40.0
_SPEEDS = ("GFLOPS", "TFLOPS")
_WRAP = int(Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True)
class HeatTable:
    """One table: ``values`` is one tuple per row; None where there is no figure.

    ``title`` is the source of the figures, ``unit`` their unit, ``less_is_better`` whether the smallest is the best.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    unit: str
    less_is_better: bool

    @property
    def best(self) -> float | None:
        """The best figure of the table; None when it has none."""
        figures = [v for row in self.values for v in row if v is not None]
        if not figures:
            return None
        return min(figures) if self.less_is_better else max(figures)

    def share(self, row: int, column: int) -> float | None:
        """Return a figure as a share of the table's best, at most 1; for times this is best / figure."""
        value, best = self.values[row][column], self.best
        if value is None or best is None or min(value, best) <= 0:
            return None
        return best / value if self.less_is_better else value / best


class HeatMap(QWidget):
    """Draws tables side by side, or one above the other if the cells are then larger.

    Parameters
    ----------
    preferences
        The preferences with the theme.
    """

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.caption = ""
        self.tables: tuple[HeatTable, ...] = ()
        self._cells: list[tuple[QRectF, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        listen(self, preferences.themed, self._on_theme)

    def _on_theme(self) -> None:
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the figures are still readable."""
        line, rows = self.fontMetrics().height() * 1.25, max((len(t.rows) for t in self.tables), default=1)
        return QSize(240, int(line * (7 + 1.6 * rows)))

    def show_tables(self, caption: str, tables: Sequence[HeatTable]) -> None:
        """Draw new tables; `caption` describes both axes and the unit."""
        self.caption, self.tables = caption, tuple(tables)
        self.setAccessibleName(caption)
        self.setAccessibleDescription("\n".join(_spoken(table) for table in self.tables))
        self.updateGeometry()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw everything."""
        theme = THEMES[self._preferences.theme]
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(theme.background))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._cells = []
            line = painter.fontMetrics().height() * 1.25
            area = QRectF(self.rect()).adjusted(_GAP, 4, -_GAP, -4)
            painter.setPen(QColor(theme.muted))
            room = QRectF(area.left(), area.top(), area.width(), 3 * line)
            caption = painter.boundingRect(room, _WRAP, self.caption).height() + 4
            painter.drawText(room, _WRAP, self.caption)
            self._scale(painter, QRectF(area.left(), area.bottom() - line, area.width(), line), theme)
            area.adjust(0, caption, 0, -line - 4)
            for table, place in zip(self.tables, _places(area, self.tables, line), strict=True):
                self._table(painter, place, table, theme, line)

    def _table(self, painter: QPainter, area: QRectF, table: HeatTable, theme: Theme, line: float) -> None:
        font = painter.font()
        bold = QFont(font)
        bold.setBold(True)
        painter.setPen(QColor(theme.text))
        painter.setFont(bold)
        title = painter.fontMetrics().elidedText(table.title, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(QRectF(area.left(), area.top(), area.width(), line), Qt.AlignmentFlag.AlignLeft, title)
        painter.setFont(font)
        left = max(painter.fontMetrics().horizontalAdvance(name) for name in table.rows) + 8.0
        inner = area.adjusted(left, 2 * line, 0, 0)
        wide, high = inner.width() / len(table.columns), inner.height() / len(table.rows)
        for index, name in enumerate(table.columns):
            place = QRectF(inner.left() + index * wide, inner.top() - line, wide, line)
            name = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(wide))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, name)
        figures = QFont(font)
        figures.setPixelSize(_figure_pixels(wide, high))
        for row, name in enumerate(table.rows):
            painter.setFont(font)
            painter.setPen(QColor(theme.text))
            place = QRectF(area.left(), inner.top() + row * high, left - 8, high)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
            painter.setFont(figures)
            for column in range(len(table.columns)):
                cell = QRectF(inner.left() + column * wide, inner.top() + row * high, wide, high)
                self._cell(painter, cell.adjusted(1, 1, -1, -1), table, (row, column), theme)
        painter.setFont(font)

    def _cell(self, painter: QPainter, cell: QRectF, table: HeatTable, at: tuple[int, int], theme: Theme) -> None:
        value, share = table.values[at[0]][at[1]], table.share(*at)
        self._cells.append((cell, _cell_text(table, *at)))
        if value is None or share is None:
            painter.fillRect(cell, QColor(theme.raised))
            painter.setPen(QColor(theme.muted))
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, "–")
            return
        red, green, blue = (int(c) for c in _COLOURS[int(np.clip(share, 0, 1) * 255)])
        painter.fillRect(cell, QColor(red, green, blue))
        if value == table.best:
            painter.setPen(QPen(QColor(theme.selection), 3))
            painter.drawRect(cell.adjusted(1.5, 1.5, -1.5, -1.5))
        painter.setPen(QColor(ink(theme, (red, green, blue))))
        text = figure(value, "")
        if cell.height() >= _SHARE_FROM:
            text += f"\n{percentage(share)}"
        painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, text)

    def _scale(self, painter: QPainter, area: QRectF, theme: Theme) -> None:
        """Draw the scale of colours."""
        if not self.tables:
            return
        painter.setPen(QColor(theme.muted))
        text = tr("speed as a share of the table's own best (outlined):")
        wide = painter.fontMetrics().horizontalAdvance(text) + 8.0
        speeds = all(table.less_is_better or table.unit in _SPEEDS for table in self.tables)
        if wide + 140 > area.width() or not speeds:
            text = tr("share of its best (outlined):")
            wide = painter.fontMetrics().horizontalAdvance(text) + 8.0
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        ends = painter.fontMetrics().horizontalAdvance("100%") + 6.0
        length = min(area.width() - wide - 2 * ends, 220)
        bar = QRectF(area.left() + wide + ends, area.top() + 3, length, area.height() - 6)
        if length < 20:
            return
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        for stop in np.linspace(0, 1, 9):
            gradient.setColorAt(float(stop), QColor(*(int(c) for c in _COLOURS[int(stop * 255)])))
        painter.fillRect(bar, gradient)
        for text, x, side in (
            ("0%", bar.left() - ends - 6, Qt.AlignmentFlag.AlignRight),
            ("100%", bar.right() + 6, Qt.AlignmentFlag.AlignLeft),
        ):
            painter.drawText(QRectF(x, area.top(), ends, area.height()), side | Qt.AlignmentFlag.AlignVCenter, text)

    def event(self, event: QEvent) -> bool:
        """Return a text about the cell under the mouse."""
        if isinstance(event, QHelpEvent):
            at = QPointF(event.pos())
            text = next((cell_text for cell, cell_text in self._cells if cell.contains(at)), "")
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _figure_pixels(wide: float, high: float) -> int:
    """Return the possible height of the figures in a cell."""
    return int(max(min(high * (0.36 if high >= _SHARE_FROM else 0.6), wide / 4.2, 26), 9))


def _places(area: QRectF, tables: Sequence[HeatTable], line: float) -> list[QRectF]:
    """Divide the area among the tables, side by side or one above the other, so that the figures are larger."""
    count = max(len(tables), 1)
    columns = max((len(table.columns) for table in tables), default=1)
    rows = max((len(table.rows) for table in tables), default=1)
    beside = QSizeF((area.width() - 2 * _GAP * (count - 1)) / count, area.height())
    below = QSizeF(area.width(), (area.height() - _GAP * (count - 1)) / count)

    def figures(size: QSizeF) -> int:
        return _figure_pixels(size.width() / (columns + 1), (size.height() - 2 * line) / rows)

    if figures(beside) >= figures(below):
        step = beside.width() + 2 * _GAP
        return [QRectF(QPointF(area.left() + i * step, area.top()), beside) for i in range(len(tables))]
    step = below.height() + _GAP
    return [QRectF(QPointF(area.left(), area.top() + i * step), below) for i in range(len(tables))]


def _cell_text(table: HeatTable, row: int, column: int) -> str:
    value, share = table.values[row][column], table.share(row, column)
    where = f"{table.title}: {table.rows[row]}, {table.columns[column]}"
    if value is None or share is None:
        return tr("{where}: no figure", where=where)
    figures = {"figure": figure(value, table.unit), "share": percentage(share)}
    return tr("{where}: {figure}, {share} of the best", where=where, **figures)


def _spoken(table: HeatTable) -> str:
    return "\n".join(_cell_text(table, r, c) for r in range(len(table.rows)) for c in range(len(table.columns)))
