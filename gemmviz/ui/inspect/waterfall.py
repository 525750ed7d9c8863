"""How the sum of one element grows: a row per product, its bar where the sum stood before, and the cost so far."""

from math import ceil
from typing import Any, Literal, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.language import language, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.thread_state import Products, ThreadState
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import THEMES, Theme, rgb
from gemmviz.ui.stage.caption import number
from gemmviz.ui.turns import InTurn

_SMALL, _ROW, _LEAST_ROW, _HEAD = 0.9, 1.7, 1.15, 1.5  # in sizes and heights of the window's type
_MARGIN = 8.0
_COLUMNS = (0.0, 0.10, 0.25, 0.40, 0.56)  # where k, a, b and the product end, in widths; then the bars begin
_SUM = 0.2  # of the width: of the sums at the right
_TINT = 0.22
_COST = 5.6  # lines
_MOST_TEXTS, _MOST_ROWS = 1024, 96
_TINTED = 4  # pixels that the tint of a row is wider at each side
_AT_LEFT, _AT_RIGHT = (
    int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip)
    for side in (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
)


_Look = Literal["made", "now", "to come"]


class _Row(NamedTuple):
    """A product: its values, the least and the largest sum of its element, and when it is made."""

    k: int
    a: float
    b: float
    product: float
    after: float
    ends: tuple[float, float]
    look: _Look


class Waterfall(QWidget):
    """Draws the products of one element of C by the step in which each is made."""

    def __init__(self) -> None:
        super().__init__()
        self._playable: Playable | None = None
        self._state: ThreadState | None = None
        self._element = 0
        self._theme: Theme = THEMES["dark"]
        self._types: dict[tuple[str, bool, bool], tuple[QFont, QFontMetrics, dict[tuple[str, int], str]]] = {}
        self._font_key = ""
        self._rows: tuple[Products, Any, dict[tuple[int, _Look], QPixmap]] | None = None
        self._counted: tuple[Playable, tuple[int, int], tuple[Ints, Ints]] | None = None
        self.in_turn = InTurn(self, self.update, at_once=True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("How its sum grows"))

    def sizeHint(self) -> QSize:
        """Ask for a sum of eight products and the cost."""
        return QSize(300, round(QFontMetricsF(self.font()).height() * 20))

    def show_sum(self, playable: Playable, state: ThreadState, element: int, theme: Theme) -> None:
        """Draw a thread's sum, given as a place in ``state.products.rows``."""
        self._playable, self._state, self._element, self._theme = playable, state, element, theme
        self.in_turn.ask()

    def forget(self) -> None:
        """Let go of the recording."""
        self._playable = self._state = self._counted = self._rows = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the sum, and below it the cost."""
        self._font_key = self.font().key()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._theme.background))
            if self._playable is not None and self._state is not None:
                line = QFontMetricsF(self.font()).height()
                inside = QRectF(self.rect()).adjusted(_MARGIN, _MARGIN / 2, -_MARGIN, -_MARGIN / 2)
                cost = QRectF(inside.left(), inside.bottom() - _COST * line, inside.width(), _COST * line)
                room = QRectF(inside.topLeft(), cost.topRight())
                end = self._draw_sum(painter, room, line, self._playable, self._state)
                # In a high window the cost follows the sum, and the free room is below both.
                cost.moveTop(min(cost.top(), end + line))
                self._draw_cost(painter, cost, line, self._playable, self._state)

    def _draw_sum(self, painter: QPainter, place: QRectF, line: float, playable: Playable, state: ThreadState) -> float:
        """Draw as many products as there is room for, and return the end of their rows."""
        theme, known = self._theme, state.products
        mine = np.flatnonzero(known.element == self._element)
        mine = mine[np.lexsort((known.k[mine], known.step[mine]))]
        self._write(painter, QRectF(place.left(), place.top(), place.width(), line), tr("How its sum grows"), bold=True)
        # On whole pixels, as rows are kept as pictures.
        rows = QRectF(place.left(), ceil(place.top() + (1.2 + _HEAD) * line), place.width(), 0)
        rows.setBottom(place.bottom())
        seen = min(int(rows.height() / (_LEAST_ROW * line)), len(mine))
        if seen < 1:
            return rows.top()
        high = int(min(rows.height() / seen, _ROW * line))
        row, column = int(known.rows[self._element]), int(known.columns[self._element])
        names = [playable.recording.arrays[i].name for i in (A, B)]
        head = QRectF(rows.left(), rows.top() - _HEAD * line, rows.width(), _HEAD * line)
        headings = "k", f"{names[0]}[{row}, ·]", f"{names[1]}[·, {column}]", "×", tr("sum")
        for at, text in enumerate(headings):
            self._write(painter, self._column(head, at), text, theme.muted, small=True, right=True)
        a, b = known.operands.value[known.a[mine]], known.operands.value[known.b[mine]]
        product = a.astype(np.float64) * b
        after = np.cumsum(product)
        done = int((known.step[mine] <= state.step).sum())
        now = done - 1 if done and int(known.step[mine[done - 1]]) == state.step else -1
        first = max(min(done - seen // 2, len(mine) - seen), 0)
        key = theme, self._element, rows.width(), high, self._font_key, self.devicePixelRatioF(), language()
        if self._rows is None or self._rows[0] is not known or self._rows[1] != key:
            self._rows = known, key, {}
        kept = self._rows[2]
        for at in range(first, first + seen):
            look: _Look = "now" if at == now else "made" if at < done else "to come"
            picture = kept.get((at, look))
            if picture is None:
                if len(kept) >= _MOST_ROWS:
                    kept.clear()
                values = (float(a[at]), float(b[at]), float(product[at]), float(after[at]))
                ends = min(0.0, float(after.min())), max(0.0, float(after.max()))
                row_of = _Row(int(known.k[mine[at]]), *values, ends, look)
                picture = kept[at, look] = self._row(row_of, QRectF(_TINTED, 0, rows.width(), high))
            painter.drawPixmap(QPointF(rows.left() - _TINTED, rows.top() + (at - first) * high), picture)
        return rows.top() + seen * high

    def _row(self, row: "_Row", area: QRectF) -> QPixmap:
        """Return the picture of a product's row."""
        theme, ratio = self._theme, self.devicePixelRatioF()
        picture = QPixmap(ceil((area.right() + _TINTED) * ratio), ceil(area.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(QColor(theme.background))
        with QPainter(picture) as painter:
            bars = self._column(area, len(_COLUMNS))
            least, most = row.ends
            scale = bars.width() / max(most - least, 1e-30)

            def x(value: float) -> float:
                return bars.left() + (value - least) * scale

            painter.setPen(QPen(QColor(theme.outline), 1))
            painter.drawLine(round(x(0)), 0, round(x(0)), int(area.height()))
            if row.look == "now":
                tint = QColor(*rgb(theme.write))
                tint.setAlphaF(_TINT)
                painter.fillRect(area.adjusted(-_TINTED, 0, _TINTED, 0), tint)
            colour = theme.faint if row.look == "to come" else theme.text
            signed = f"{'+' if row.product >= 0 else ''}{number(row.product)}"
            for cell, text in enumerate((str(row.k), number(row.a), number(row.b), signed)):
                self._write(painter, self._column(area, cell), text, colour, row.look == "now", small=True, right=True)
            room = self._column(area, len(_COLUMNS) - 1)
            after = self._sum_text(row, room.width())
            self._write(painter, room, after, colour, row.look == "now", small=True, right=True)
            ends = sorted((x(row.after - row.product), x(row.after)))
            bar = QRectF(ends[0], area.top() + 0.2 * area.height(), max(ends[1] - ends[0], 1.5), 0.6 * area.height())
            if row.look == "to come":
                painter.setPen(QPen(QColor(theme.faint), 1, Qt.PenStyle.DashLine))
                painter.drawRect(bar)
            else:
                painter.fillRect(bar, QColor(theme.amber if row.look == "now" else theme.good))
        return picture

    def _sum_text(self, row: "_Row", room: float) -> str:
        """Return the sum after a product; of the one that is made now also the sum before, where it has room."""
        after = number(row.after)
        both = f"{number(row.after - row.product)} → {after}"
        fits = row.look == "now" and self._type(small=True, bold=True)[1].horizontalAdvance(both) <= room
        return both if fits else after

    def _column(self, line: QRectF, at: int) -> QRectF:
        """Return the place of a column: k, a, b, the product, the sum, and last the bars between these two."""
        wide = line.width()
        if at == len(_COLUMNS) - 1:
            return QRectF(line.right() - _SUM * wide, line.top(), _SUM * wide, line.height())
        if at == len(_COLUMNS):
            return QRectF(line.left() + (_COLUMNS[-1] + 0.04) * wide, line.top(), (0.40 - _SUM) * wide, line.height())
        left = _COLUMNS[at] * wide
        return QRectF(line.left() + left, line.top(), _COLUMNS[at + 1] * wide - left - 4, line.height())

    def _draw_cost(self, painter: QPainter, place: QRectF, line: float, playable: Playable, state: ThreadState) -> None:
        theme, recording, timeline = self._theme, playable.recording, playable.timeline
        key = state.products.block, state.products.thread
        if self._counted is None or self._counted[0] is not playable or self._counted[1] != key:
            log = recording.accesses
            rows = np.flatnonzero((log.block == key[0]) & (log.thread == key[1]))
            steps = np.sort(timeline.step_of_row[rows])
            self._counted = playable, key, (rows, steps)
        steps = self._counted[2][1]
        steps = steps[: np.searchsorted(steps, state.step, "right")]
        array, write = timeline.array[steps], timeline.write[steps]
        shared = np.array([one.space == "shared" for one in recording.arrays])[array]
        title = QRectF(place.left(), place.top(), place.width(), line)
        self._write(painter, title, tr("What it has cost so far"), bold=True)
        on_gpu = recording.backend == "cuda"
        memory = tr("values from global memory") if on_gpu else tr("values from memory")
        figures = [(memory, int((~shared & ~write).sum()))]
        if any(one.space == "shared" for one in recording.arrays):
            figures.append((tr("values from shared memory"), int((shared & ~write).sum())))
        figures.append((tr("products"), int(state.done.sum())))
        figures.append((tr("stored in {array}", array=recording.arrays[C].name), int((write & (array == C)).sum())))
        for at, (text, count) in enumerate(figures):
            row = QRectF(place.left(), place.top() + (1.25 + 1.1 * at) * line, place.width(), 1.1 * line)
            self._write(painter, row, text, theme.muted)
            row.setRight(place.left() + _COLUMNS[-1] * place.width() + 3.5 * line)
            self._write(painter, row, thousands(count), bold=True, right=True)

    def _write(
        self,
        painter: QPainter,
        place: QRectF,
        text: str,
        colour: str = "",
        bold: bool = False,
        small: bool = False,
        right: bool = False,
    ) -> None:
        font, metrics, known = self._type(small, bold)
        painter.setFont(font)
        painter.setPen(QColor(colour or self._theme.text))
        key = text, max(round(place.width()) + 3, 0)
        if key not in known:
            if len(known) > _MOST_TEXTS:
                known.clear()
            known[key] = metrics.elidedText(text, Qt.TextElideMode.ElideRight, key[1])
        painter.drawText(place, _AT_RIGHT if right else _AT_LEFT, known[key])

    def _type(self, small: bool, bold: bool) -> tuple[QFont, QFontMetrics, dict[tuple[str, int], str]]:
        """Return a font of the table, its metrics, and the texts that were cut to widths: for each size of the type."""
        key = self._font_key, small, bold
        if key not in self._types:
            font = larger(self.font(), _SMALL) if small else QFont(self.font())
            font.setBold(bold)
            self._types[key] = font, QFontMetrics(font), {}
        return self._types[key]
