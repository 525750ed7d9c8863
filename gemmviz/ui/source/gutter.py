"""The strip beside the source: line numbers, an arrow at the executing line, marks at faulty lines."""

from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import Theme

Kind = Literal["error", "changed", "cost"]
# The sign of a line with marks: that of the first kind here that the line has.
_SIGNS: tuple[tuple[Kind, str], ...] = (("error", "✗"), ("changed", "≠"), ("cost", "!"))
# In pixels, beside numbers of 9 points.
_MARK, _ARROW, _GAP = 14, 13, 5


@dataclass(frozen=True)
class Mark:
    """A mark at a line: a red cross for an error or a defect, an amber exclamation mark for a cost.

    A line that was changed to break the kernel, or that differs from a kernel with the same accesses, has an amber ≠.
    """

    kind: Kind
    text: str


class Marked(Protocol):
    """The properties of the text beside the gutter that it uses."""

    theme: Theme
    line: int
    executed: set[int]
    marks: dict[int, list[Mark]]

    def font(self) -> QFont:
        """Return the type of the text."""

    def visible_lines(self) -> list[tuple[int, int, int]]:
        """Return (line from 1, top, height) of the visible lines."""

    def fold_sign(self, line: int) -> str:
        """Return the sign of a line at which something is folded away, or none."""

    def line_at(self, y: int) -> int:
        """Return the line at a height."""

    def click_line(self, line: int) -> None:
        """Go to the next execution of a line."""


class Gutter(QWidget):
    """Paints the lines' numbers and marks; a click goes to the next execution of the line.

    Parameters
    ----------
    source
        The text beside it.
    """

    def __init__(self, source: Marked) -> None:
        super().__init__()
        self._source = source
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def width_for(self, lines: int, metrics: QFontMetrics) -> int:
        """Return the width in pixels for the numbers of a count of lines."""
        signs = round(scaled(_MARK + _ARROW))
        return signs + metrics.horizontalAdvance("9") * len(str(max(lines, 10))) + 2 * _GAP

    def sizeHint(self) -> QSize:
        """Return the size that the line numbers take."""
        return QSize(self.width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the visible numbers; those of lines that access memory are bright."""
        source = self._source
        theme = source.theme
        with QPainter(self) as painter:
            painter.setFont(source.font())
            painter.fillRect(event.rect(), QColor(theme.panel))
            left = Qt.AlignmentFlag.AlignLeft
            mark, arrow = round(scaled(_MARK)), round(scaled(_ARROW))
            # Of two lines far apart, the region has only these; its bounding rectangle has all between, too.
            region, wide = event.region(), self.width()
            for line, top, height in source.visible_lines():
                if not region.intersects(QRect(0, top, wide, height)):
                    continue
                marked = line in source.marks
                kind, sign = next((s for s in _SIGNS if marked and has(source, line, s[0])), ("", ""))
                wrong, runs = kind == "error", line == source.line
                if sign:
                    painter.setPen(QColor(theme.bad if wrong else theme.warn))
                    painter.drawText(QRect(3, top, mark, height), left, sign)
                if runs:
                    painter.setPen(QColor(theme.accent))
                    painter.drawText(QRect(mark, top, arrow, height), left, "▶")
                elif fold := source.fold_sign(line):
                    painter.setPen(QColor(theme.muted))
                    painter.drawText(QRect(mark, top, arrow, height), left, fold)
                numbered = theme.bad if wrong else theme.accent if runs else None
                painter.setPen(QColor(numbered or (theme.text if line in source.executed else theme.faint)))
                place = QRect(0, top, self.width() - _GAP, height)
                painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(line))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the next execution of the line."""
        self._source.click_line(self._source.line_at(event.position().toPoint().y()))

    def event(self, event: QEvent) -> bool:
        """Show the errors of the line under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            show_marks(self._source, self._source.line_at(event.pos().y()), event, self)
            return True
        return super().event(event)


def has(source: Marked, line: int, kind: str) -> bool:
    """Return whether a line has a mark of a kind."""
    return any(mark.kind == kind for mark in source.marks.get(line, ()))


def show_marks(source: Marked, line: int, event: QHelpEvent, widget: QWidget) -> None:
    """Show the texts of a line's marks as a tooltip, or hide it."""
    text = "\n".join(mark.text for mark in source.marks.get(line, ()))
    QToolTip.showText(event.globalPos(), text, widget)


def blocks_in_sight(edit: QPlainTextEdit, block: QTextBlock) -> list[tuple[int, int, int]]:
    """Return (line from 1, top, height) of the visible lines, from the first visible block on."""
    found = []
    top = edit.blockBoundingGeometry(block).translated(edit.contentOffset()).top()
    while block.isValid() and top <= edit.viewport().height():
        height = edit.blockBoundingRect(block).height()
        if block.isVisible():
            found.append((block.blockNumber() + 1, int(top), int(height)))
        block, top = block.next(), top + height
    return found
