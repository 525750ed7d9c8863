"""At the axes of an element of C: its row of A and its column of B, and the formulas by which its thread finds them.

The row's formula stands left of A and the column's above the shared tiles, each with an arrow. Where the source has no
formula that gives the recorded place, the place alone is written.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF, QRegion

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.language import tr
from gemmviz.trace.origin.index_formulas import Formula, index_formulas
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.plan import AROUND_WORDS, Plan
from gemmviz.ui.stage.regions import needs
from gemmviz.ui.stage.scene import Bounds

_SMALL = 0.88  # of the base font
_LEAST_CELL = 3.0  # pixels: below, a frame would cover its row
_MOST_LINES = 6
_ARROW = 1.0  # its length left of A, in heights of the font
_HEAD, _PEN = 5.0, 1.4  # of an arrow, in pixels
_TO_LETTER = 1.65  # of the arrow's way up, from B to the left, in heights of the font: between the tiles and B's name
_LINE = 1.15
_ROUND = 4.0  # pixels round a line of text, that its letters may reach

Word = tuple[str, bool]
"""A part of a formula that stays on one line, and whether it is bold."""


@dataclass(frozen=True)
class Axes:
    """Where the formulas of an element stand.

    Attributes
    ----------
    top
        Where the caption ends: the column's formula is below, in its place.
    row, column
        The lines of each formula, with their places. Without a place at A, the row's is the first line of `column`.
    beside_a
        The place that the row's formula takes.
    element
        Row and column of the element; None: no element is shown.
    """

    top: float
    row: tuple[tuple[QRectF, list[Word]], ...] = ()
    column: tuple[tuple[QRectF, list[Word]], ...] = ()
    beside_a: QRectF = field(default_factory=QRectF)
    element: tuple[int, int] | None = None


class AxisFormulas:
    """Draws the formulas of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    font
        The base font.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable, self._theme, self._font = playable, theme, QFont(font)
        self._high = QFontMetricsF(self._font).height()
        self._plain = larger(font, _SMALL)
        self._bold = QFont(self._plain)
        self._bold.setBold(True)
        self._fonts = {False: (self._plain, QFontMetricsF(self._plain)), True: (self._bold, QFontMetricsF(self._bold))}
        self._formulas: tuple[int, tuple[list[Word], list[Word]]] | None = None
        self._placed: tuple[Any, Axes] | None = None

    def element(self, moment: Moment) -> int | None:
        """Return the element of C under the pointer, else the chosen one, counted by rows; None: none has a thread."""
        recording = self._playable.recording
        if recording.backend != "cuda":
            return None
        element = moment.hovered
        if element is None and moment.cell is not None and moment.cell[0] == C:
            row, column = (int(at[0]) for at in recording.arrays[C].cells(np.array([moment.cell[1]])))
            element = row * recording.n + column
        return element if element is not None and recording.owners[0].flat[element] >= 0 else None

    def texts(self, element: int) -> tuple[list[Word], list[Word]]:
        """Return the words of the formulas of an element's row and column."""
        if self._formulas is None or self._formulas[0] != element:
            places = divmod(element, self._playable.recording.n)
            found = index_formulas(self._playable.recording, *places)
            sides = zip((tr("row"), tr("column")), found, places, strict=True)
            row, column = (_words(*side) for side in sides)
            self._formulas = element, (row, column)
        return self._formulas[1]

    def placed(self, plan: Plan, moment: Moment, captioned: bool) -> Axes:
        """Return where the formulas stand; found again only when the element or the plan changes.

        Parameters
        ----------
        plan, moment
            Where everything stands, and the element that is chosen or under the pointer.
        captioned
            Whether the caption stands in the quadrant: its last line is the column's formula.
        """
        bottom = plan.words.bottom if plan.words is not None else 0.0
        element = self.element(moment)
        if element is None or plan.words is None:
            return Axes(bottom)
        key = element, plan, captioned
        if self._placed is None or self._placed[0] != key:
            row = self._of_row(element, plan)
            column = self._in_caption(element, plan.words, not row) if captioned else ()
            beside_a = QRectF()
            for box, _ in row:
                beside_a = beside_a.united(box)
            top = column[0][0].top() if column else bottom
            self._placed = key, Axes(top, row, column, beside_a, divmod(element, self._playable.recording.n))
        return self._placed[1]

    def draw(self, painter: QPainter, plan: Plan, axes: Axes, part: QRegion | None = None) -> None:
        """Draw the row, the column and their formulas, as far as a part of the stage (None: all of it) needs them."""
        if axes.element is None:
            return
        painter.save()
        if plan.panels[C].cell >= _LEAST_CELL:
            self._frames(painter, plan, axes.element)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._write(painter, axes.row, part)
        self._write(painter, axes.column, part)
        a, b, (row, column) = plan.panels[A], plan.panels[B], axes.element
        if axes.row and needs(part, self._beside_a(plan, axes)):
            y = a.y + (row + 0.5) * a.cell
            for other in _labelled(row, a.rows, a.cell, self._high):
                place = QRectF(a.x - 4 - self._wide(a.rows), a.y + (other + 0.5) * a.cell, self._wide(a.rows) + 2, 0)
                self._cover(painter, place)
            number = self._index(painter, QPointF(a.x - 4, y), str(row), at_right=True)
            self._arrow(painter, [QPointF(axes.beside_a.right() + 3, y), QPointF(number.left() - 2, y)])
        if axes.column and plan.form == "around words" and needs(part, self._above_b(plan, axes)):
            at, wide = QPointF(b.x + (column + 0.5) * b.cell, b.y - 0.65 * self._high), self._wide(b.columns)
            for other in _labelled(column, b.columns, b.cell, wide + 4):
                self._cover(painter, QRectF(b.x + (other + 0.5) * b.cell - wide / 2, at.y(), wide, 0))
            number = self._index(painter, at, str(column), at_right=False)
            text, x = axes.column[-1][0], b.x - _TO_LETTER * self._high
            y, top = text.center().y(), max(b.y - AROUND_WORDS.top * self._high, 0.0) + 1.5
            way = [(text.right() + 3, y), (x, y), (x, top)]
            down = number.left() - 5
            if down >= b.x + column * b.cell:
                way += [(down, top), (down, b.y - 1)]
            else:  # the column is too narrow for both: the arrow points to its number
                middle = number.center().y()
                way += [(number.left() - 9, top), (number.left() - 9, middle), (number.left() - 2, middle)]
            self._arrow(painter, [QPointF(*at) for at in way])
        painter.restore()

    def _of_row(self, element: int, plan: Plan) -> tuple[tuple[QRectF, list[Word]], ...]:
        """Place the row's formula left of A, at the height of its row; nothing where something else stands there."""
        if plan.legend is None or plan.column is not None or plan.form != "around words":
            return ()
        a, room = plan.panels[A], plan.legend.width - _ARROW * self._high
        lines = self._wrapped(self.texts(element)[0], room)
        high = self._fonts[False][1].height() * _LINE
        middle = a.y + (element // self._playable.recording.n + 0.5) * a.cell
        top = min(max(middle - len(lines) * high / 2, a.y), a.y + a.height - len(lines) * high)
        boxes = []
        for number, line in enumerate(lines):
            wide = self._width(line)
            boxes.append(QRectF(plan.legend.left + room - wide, top + number * high, wide, high))
        return tuple(zip(boxes, lines, strict=True))

    def _in_caption(self, element: int, words: Bounds, with_row: bool) -> tuple[tuple[QRectF, list[Word]], ...]:
        """Place the column's formula in the last line of the words, at their right end.

        Parameters
        ----------
        element, words
            The element, and the place of the words.
        with_row
            Whether the row's formula has no place at A: it stands in the line before.
        """
        texts = self.texts(element)
        high, found = self._fonts[False][1].height() * _LINE, []
        for words_of_side in texts if with_row else texts[1:]:
            line = next((one for one in _wordings(words_of_side) if self._width(one) <= words.width), None)
            if line is not None:
                wide = self._width(line)
                found.append((QRectF(words.right - wide, 0.0, wide, high), line))
        return tuple(
            (box.translated(0, words.bottom - (len(found) - at) * high), line) for at, (box, line) in enumerate(found)
        )

    def _wrapped(self, words: list[Word], room: float) -> list[list[Word]]:
        """Return the longest wording in lines that are no wider than `room`; none if no wording has room."""
        for wording in _wordings(words):
            lines: list[list[Word]] = []
            for word in wording:
                begins = word[0].startswith("= ") and not word[1] and sum(map(len, lines)) > 1
                if lines and not begins and self._width([*lines[-1], word]) <= room:
                    lines[-1].append(word)
                else:
                    lines.append([word])
            if len(lines) <= _MOST_LINES and all(self._width(line) <= room for line in lines):
                return lines
        return []

    def _width(self, line: list[Word]) -> float:
        space = self._fonts[False][1].horizontalAdvance(" ")
        return sum(self._fonts[bold][1].horizontalAdvance(text) + space for text, bold in line)

    def _beside_a(self, plan: Plan, axes: Axes) -> QRectF:
        """Return a place that has all numbers and the arrow left of A."""
        a, high = plan.panels[A], self._high
        return QRectF(axes.beside_a.right(), a.y - high, a.x - axes.beside_a.right(), a.height + 2 * high)

    def _above_b(self, plan: Plan, axes: Axes) -> QRectF:
        """Return a place that has all numbers above B, and the arrow from the formula to them."""
        b, high, text = plan.panels[B], self._high, axes.column[-1][0]
        left = min(text.right(), b.x - 2 * _TO_LETTER * high)
        return QRectF(left, -high, b.x + b.width + high - left, max(b.y, text.bottom()) + high)

    def _write(self, painter: QPainter, lines: tuple[tuple[QRectF, list[Word]], ...], part: QRegion | None) -> None:
        space = self._fonts[False][1].horizontalAdvance(" ")
        for box, line in lines:
            if not needs(part, box.adjusted(-_ROUND, -_ROUND, _ROUND, _ROUND)):
                continue
            x = box.left()
            for text, bold in line:
                font, metrics = self._fonts[bold]
                painter.setFont(font)
                painter.setPen(QColor(self._theme.text if bold else self._theme.muted))
                painter.drawText(QPointF(x, box.center().y() + metrics.capHeight() / 2), text)
                x += metrics.horizontalAdvance(text) + space

    def _frames(self, painter: QPainter, plan: Plan, element: tuple[int, int]) -> None:
        """Frame the row of A and the column of B."""
        a, b, (row, column) = plan.panels[A], plan.panels[B], element
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.selection), 2))
        painter.drawRect(QRectF(a.x, a.y + row * a.cell, a.width, a.cell))
        painter.drawRect(QRectF(b.x + column * b.cell, b.y, b.cell, b.height))

    def _wide(self, count: int) -> float:
        return QFontMetricsF(self._font).horizontalAdvance(str(count))

    def _cover(self, painter: QPainter, line: QRectF) -> None:
        """Cover the label in the middle of a line: it would touch the number beside it."""
        box = line.adjusted(-1, -self._high / 2, 1, self._high / 2)
        painter.fillRect(box, QColor(self._theme.background))

    def _index(self, painter: QPainter, at: QPointF, text: str, at_right: bool) -> QRectF:
        """Write the number of a row (it ends at a point) or of a column (in its middle) in bold over its label."""
        font, metrics = self._fonts[True]
        wide = metrics.horizontalAdvance(text)
        left = at.x() - (wide if at_right else wide / 2)
        box = QRectF(left, at.y() - self._high / 2, wide, self._high)
        painter.fillRect(box.adjusted(-2, 0, 2, 0), QColor(self._theme.background))
        painter.setFont(font)
        painter.setPen(QColor(self._theme.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, text)
        return box

    def _arrow(self, painter: QPainter, way: list[QPointF]) -> None:
        """Draw a line with corners, and at its end the head of an arrow to the right or downwards."""
        end, before = way[-1], way[-2]
        ahead = QPointF(1, 0) if end.x() > before.x() else QPointF(0, 1)
        across, back = QPointF(ahead.y(), ahead.x()) * _HEAD * 0.6, end - ahead * _HEAD
        painter.setPen(QPen(QColor(self._theme.text), _PEN))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline([*way[:-1], back])
        painter.setBrush(QColor(self._theme.text))
        painter.drawPolygon(QPolygonF([end, back + across, back - across]))


def _labelled(place: int, count: int, cell: float, room: float) -> list[int]:
    """Return the rows or columns beside one whose labels have no room beside its own.

    Parameters
    ----------
    place, count
        The row or column, and how many there are.
    cell, room
        The width of a cell, and the room of a label, in pixels.
    """
    every = next((e for e in (1, 2, 4, 8, 16, 32, 64, 128, 256) if e * cell >= room), count)
    before = place // every * every
    return [other for other in (before, before + every) if other != place and abs(other - place) * cell < 1.2 * room]


def _words(side: str, formula: Formula | None, place: int) -> list[Word]:
    """Return a formula in the parts that a line may end behind; without one the recorded place alone."""
    if formula is None:
        return [(side, True), (f"= {place}", True)]
    shown = [(formula.name or side, True)]
    shown += [(part, False) for part in _glued(f"= {formula.text}")]
    if formula.values != str(formula.result):
        shown += [(part, False) for part in _glued(f"= {formula.values}")]
    return [*shown, (f"= {formula.result}", True)]


def _glued(text: str) -> list[str]:
    """Divide a formula before each operator: an operator stays with the operand behind it."""
    parts = text.split(" ")
    return [" ".join(parts[at : at + 2]) for at in range(0, len(parts), 2)]


def _wordings(words: list[Word]) -> list[list[Word]]:
    """Return a formula from the longest wording on: with names and values, with values, and its result alone."""
    begins = [at for at, (text, bold) in enumerate(words) if text.startswith("= ") and not bold]
    found = [words]
    if len(begins) == 2:
        found.append([words[0], *words[begins[1] :]])
    return [*found, [words[0], words[-1]]]
