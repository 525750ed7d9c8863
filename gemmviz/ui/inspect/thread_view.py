"""Draws the products of a thread: a column of A times a row of B, and its sums of C where they meet."""

from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.catalogue.matrices import A, B
from gemmviz.language import tr
from gemmviz.trace.origin.thread_state import ThreadState
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import THEMES, Rgb, Theme, ink, rgb
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.marks import crossed
from gemmviz.ui.turns import InTurn

_LARGEST_CELL, _LEGIBLE = 54.0, 11.0
_HEAD, _GAP = 2.2, 5.0  # lines above the cells; pixels between operands and sums
_MOST_LINES = 16


class ThreadView(QWidget):
    """The outer product of one thread at a step."""

    def __init__(self) -> None:
        super().__init__()
        self.in_turn = InTurn(self, self.update, at_once=True)
        self._playable: Playable | None = None
        self._state: ThreadState | None = None
        self._theme: Theme = THEMES["dark"]
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Operands and sums of the thread"))

    def sizeHint(self) -> QSize:
        """Square enough for a tile of eight by eight."""
        return QSize(230, 150)

    def show_state(self, playable: Playable | None, state: ThreadState | None, theme: Theme) -> None:
        """Draw a thread's state; None draws nothing."""
        self._playable, self._state, self._theme = playable, state, theme
        self.in_turn.ask()

    def largest(self, state: ThreadState) -> int:
        """Return the height of a thread's cells at their largest, in pixels."""
        rows = min(len(state.grid[0]), _MOST_LINES) + 1
        return ceil(_HEAD * QFontMetricsF(self.font()).height() + _GAP + 4 + rows * _LARGEST_CELL)

    def forget(self) -> None:
        """Let go of the state."""
        self._playable = self._state = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the state."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._theme.background))
            if self._state is not None and self._playable is not None and len(self._state.products.rows):
                self._draw(painter, self._playable, self._state)

    def _draw(self, painter: QPainter, playable: Playable, state: ThreadState) -> None:
        theme, known = self._theme, state.products
        rows, columns = state.grid
        held_a, held_b = state.a[:_MOST_LINES], state.b[:_MOST_LINES]
        shown_rows, shown_columns = rows[:_MOST_LINES].tolist(), columns[:_MOST_LINES].tolist()
        text = QFontMetricsF(self.font()).height()
        left, top, gap = 3.4 * text, _HEAD * text, _GAP
        cell = min(
            (self.width() - left - gap - 4) / (len(shown_columns) + 1),
            (self.height() - top - gap - 4) / (len(shown_rows) + 1),
            _LARGEST_CELL,
        )
        if cell <= 2:
            return
        x0, y0 = left, top
        x1, y1 = x0 + cell + gap, y0 + cell + gap
        arrays, k = playable.recording.arrays, state.k
        painter.setPen(QColor(theme.muted))
        side = f"{arrays[A].name}[·, {k}]" if k >= 0 else arrays[A].name
        head = f"{arrays[B].name}[{k}, ·]" if k >= 0 else arrays[B].name
        painter.drawText(QRectF(0, y0, x1 - gap, cell), Qt.AlignmentFlag.AlignCenter, side)
        painter.drawText(QRectF(x1, 0, max(cell * len(shown_columns), 90), text), Qt.AlignmentFlag.AlignLeft, head)
        operands = known.operands
        read = rgb(theme.read)
        self._indices(painter, shown_rows, shown_columns, x1, y1, cell, text)
        painter.setFont(self._type([number(float(value)) for value in state.sums], cell))
        for i, place in enumerate(held_a.tolist()):
            value = number(float(operands.value[place])) if place >= 0 else ""
            self._cell(painter, QRectF(x0, y1 + i * cell, cell, cell), value, read if place >= 0 else None)
        for j, place in enumerate(held_b.tolist()):
            value = number(float(operands.value[place])) if place >= 0 else ""
            self._cell(painter, QRectF(x1 + j * cell, y0, cell, cell), value, read if place >= 0 else None)
        hue = theme.owner(*playable.recording.block_index(known.block)[:2])
        otherwise = known.stored_otherwise(playable.recording)
        latest = int(known.step[known.step <= state.step].max(initial=-1))
        fresh = set(known.element[known.step == latest].tolist()) if latest == state.step else set()
        for element, (row, column) in enumerate(zip(known.rows.tolist(), known.columns.tolist(), strict=True)):
            if row not in shown_rows or column not in shown_columns:
                continue
            box = QRectF(x1 + shown_columns.index(column) * cell, y1 + shown_rows.index(row) * cell, cell, cell)
            begun = bool(state.done[element])
            self._cell(painter, box, number(float(state.sums[element])) if begun else "", hue if begun else None)
            if begun and otherwise[element]:
                painter.setPen(QPen(QColor(theme.bad), 2))
                painter.drawLines(crossed(box))
            if element in fresh:
                painter.setPen(QPen(QColor(theme.selection), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(box.adjusted(1.5, 1.5, -1.5, -1.5))

    def _indices(
        self, painter: QPainter, rows: list[int], columns: list[int], x: float, y: float, cell: float, text: float
    ) -> None:
        """Name the rows and columns of C, as many as there is room for."""
        painter.setPen(QColor(self._theme.muted))
        metrics = QFontMetricsF(self.font())
        every = next((e for e in (1, 2, 4, 8, 16) if e * cell >= text), 16)
        for i in range(0, len(rows), every):
            box = QRectF(0, y + i * cell, x - cell - 5 - 3, cell)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(rows[i]))
        wide = metrics.horizontalAdvance(str(columns[-1])) + 3
        every = next((e for e in (1, 2, 4, 8, 16) if e * cell >= wide), 16)
        for j in range(0, len(columns), every):
            box = QRectF(x + j * cell - 20, y - cell - 5 - text, cell + 40, text)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(columns[j]))

    def _cell(self, painter: QPainter, box: QRectF, text: str, colour: Rgb | None) -> None:
        theme = self._theme
        inner = box.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(inner, QColor(*(colour or theme.cell)))
        if colour is None and box.width() >= _LEGIBLE:
            painter.setPen(QPen(QColor(theme.muted), 1, Qt.PenStyle.DotLine))
            painter.drawRect(inner.adjusted(0.5, 0.5, -1, -1))
        if text and box.width() >= _LEGIBLE:
            painter.setPen(QColor(ink(theme, colour or theme.cell)))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _type(self, texts: list[str], cell: float) -> QFont:
        """Return the font in which the widest of some texts fits into a cell: one size for all of them."""
        font = QFont(self.font())
        metrics = QFontMetricsF(font)
        wide = max((metrics.horizontalAdvance(text) for text in texts), default=0.0) + 3
        if wide > cell:
            font.setPointSizeF(max(font.pointSizeF() * cell / wide, 5.0))
        return font
