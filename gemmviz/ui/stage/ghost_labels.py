"""Labels on copies under way: which part of which array moves, and where to."""

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.language import tr
from gemmviz.trace.motion.flights import Flights
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme

MOST = 4
"""Of more pieces that move at once, none has a label: they would hide each other."""
_SMALL, _APART = 0.88, 3.0  # of the base font; pixels from the cells
_KEPT = 16  # texts
_CENTRE = Qt.AlignmentFlag.AlignCenter

Ints = npt.NDArray[np.int64]


class GhostLabels:
    """The labels of one recording's copies.

    Parameters
    ----------
    recording, theme, font
        The recording, its colours, and the base font.
    """

    def __init__(self, recording: Recording, theme: Theme, font: QFont) -> None:
        self._recording, self._theme, self._font = recording, theme, larger(font, _SMALL)
        self._metrics = QFontMetricsF(self._font)
        self._texts: OrderedDict[int, tuple[Ints, str]] = OrderedDict()

    def placed(
        self,
        flights: Flights,
        moving: Iterable[tuple[Ints, QRectF, float | None]],
        waiting: Iterable[tuple[Ints, QRectF]] = (),
    ) -> list[tuple[QRectF, str]]:
        """Return the label of each piece with its place, in pixels; one that would touch an earlier one is left out.

        Parameters
        ----------
        flights
            The copies under way.
        moving
            The numbers of the copies of each piece that moves, and its place; if its cells show values, the top of its
            source: the label then stands above the cells, or below them if it had no room above the source.
        waiting
            The numbers and the place of each piece that waits on its way: it has a short label.
        """
        pieces = list(moving)
        found: list[tuple[QRectF, str]] = []
        named = [(self.text(flights, mine), box, source) for mine, box, source in pieces if len(pieces) <= MOST]
        named += [(self._short(flights, mine), box, None) for mine, box in waiting]
        for text, box, source in named:
            high = self._metrics.height()
            place = QRectF(0, 0, self._metrics.horizontalAdvance(text) + 0.8 * high, 1.2 * high)
            place.moveCenter(box.center())
            if source is not None:
                needed = place.height() + _APART
                place.moveTop(box.top() - needed if source >= needed else box.bottom() + _APART)
            place.moveLeft(max(place.left(), 1.0))
            if not any(place.intersects(other) for other, _ in found):
                found.append((place, text))
        return found

    def text(self, flights: Flights, mine: Ints) -> str:
        """Name what moves: "B[4–7][0–3] → Bs", "Cs → C[0–63][0–31]"; without a rectangle the arrays alone.

        A box for several blocks of a cluster names their number.
        """
        kept = self._texts.get(id(mine))
        if kept is None or kept[0] is not mine:  # the numbers of a piece are one array as long as its step is kept
            while len(self._texts) >= _KEPT:
                self._texts.popitem(last=False)
            kept = self._texts[id(mine)] = mine, self._made(flights, mine)
        return kept[1]

    def _short(self, flights: Flights, mine: Ints) -> str:
        source, target = (self._recording.arrays[int(of[mine[0]])] for of in (flights.source, flights.target))
        return f"{source.name} → {target.name}"

    def _made(self, flights: Flights, mine: Ints) -> str:
        source, target = (self._recording.arrays[int(of[mine[0]])] for of in (flights.source, flights.target))
        stored = int(flights.stored[mine[0]]) >= 0
        elements = (flights.target_element if stored else flights.source_element)[mine]
        row, column = (target if stored else source).cells(elements)
        rows, columns = (int(row.min()), int(row.max())), (int(column.min()), int(column.max()))
        cells = len(np.unique(elements))
        whole = cells == (rows[1] - rows[0] + 1) * (columns[1] - columns[0] + 1)
        part = f"[{_span(*rows)}][{_span(*columns)}]" if whole else ""
        if stored:
            return f"{source.name} → {target.name}{part}"
        way = f"{source.name}{part} → {target.name}"
        blocks = int(flights.receivers[mine[0]])
        return tr("{way} of {count} blocks", way=way, count=blocks) if blocks > 1 else way

    def draw(self, painter: QPainter, placed: list[tuple[QRectF, str]]) -> None:
        """Draw labels at their places."""
        painter.setFont(self._font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, text in placed:
            painter.setPen(QPen(QColor(self._theme.read), 1.2))
            painter.setBrush(QColor(self._theme.panel))
            painter.drawRoundedRect(place, 3, 3)
            painter.setPen(QColor(self._theme.text))
            painter.drawText(place, _CENTRE, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
