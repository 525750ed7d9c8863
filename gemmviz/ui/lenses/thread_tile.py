"""The lens of a thread's tile: its values of A and B at one place along K, and the products that it makes of them."""

from collections.abc import Iterator
from math import isnan

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.catalogue.matrices import A, B
from gemmviz.language import mark, tr, trn
from gemmviz.trace.distinct import distinct
from gemmviz.trace.lenses.outer_product import OuterProduct, Values, knows_products, outer_product, read_at_once
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.owned_elements import draw_owned
from gemmviz.ui.lenses.sheet import MIDDLE, RIGHT, Sheet
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.caption import number

_LARGEST_CELL = 6.4, 5.0  # width and height in lines of body text
_GAP = 3.0  # pixels between the values and the products
_LEGIBLE = 9.0  # pixels of type
_FIGURES = 9.5, 15.0  # the least and the usual width of the figures beside the products, in lines of body text
_LISTED = 6  # rows or columns that are named one by one


class ThreadTileLens(GradualLens):
    """Draws the outer product of the chosen thread."""

    name: LensName = "thread tile"
    title = mark("Thread tile")

    def suits(self, playable: Playable) -> bool:
        """Say whether the threads multiply by themselves, with values whose origin is known."""
        return knows_products(playable)

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a moment: see `gemmviz.ui.lenses.lens.Lens`."""
        recording = moment.playable.recording
        thread = moment.lane + (WARP * moment.warp if recording.backend == "cuda" else 0)
        known = outer_product(moment.playable, moment.block, thread, moment.step)
        with Sheet(painter, rect, theme, font) as sheet:
            owner = _thread_name(moment, thread)
            if known is None:
                room = sheet.heading(tr(self.title), (owner,), "recorded")
                sheet.lines(
                    room, tr("This thread owns no element of C, or it is not known which values it multiplies.")
                )
                return
            owns = trn(
                "{thread} owns {count} element of C", "{thread} owns {count} elements of C", known.owned, thread=owner
            )
            room = sheet.heading(tr(self.title), (owns, owner), "recorded")
            line = QRectF(room.left(), room.top(), room.width(), sheet.small)
            sheet.text(line, _lines_text(known), theme.muted, "small")
            room.setTop(line.bottom() + 4)
            beside = room.width() - min(max(0.3 * room.width(), _FIGURES[0] * sheet.em), _FIGURES[1] * sheet.em)
            grid = QRectF(room.left(), room.top(), beside - sheet.em, room.height())
            yield sheet
            used = _Products(sheet, grid, moment.playable, known).draw()
            free = QRectF(room.left() + beside, room.top(), room.width() - beside, room.height())
            free.setLeft(min(free.left(), used.right() + 1.5 * sheet.em))
            yield sheet
            _draw_figures(sheet, free, moment.playable, known)
            yield sheet
            if (high := free.height() - _figures_height(sheet, free)) >= 5 * sheet.em:
                draw_owned(sheet, free.adjusted(0, free.height() - high + 0.6 * sheet.em, 0, 0), moment, thread, known)


LENS = ThreadTileLens()


def _thread_name(moment: LensMoment, thread: int) -> str:
    recording = moment.playable.recording
    if recording.backend != "cuda":
        return tr("thread {thread}", thread=thread) if recording.threads > 1 else tr("the loop")
    x, y, _ = recording.thread_index(thread)
    return tr("thread ({x}, {y}), lane {lane}", x=x, y=y, lane=thread % WARP)


def _lines_text(known: OuterProduct) -> str:
    rows, columns = (_listed(lines) for lines in (known.rows, known.columns))
    of_rows = trn("row {lines}", "rows {lines}", len(known.rows), lines=rows)
    return f"{of_rows}; {trn('column {lines}', 'columns {lines}', len(known.columns), lines=columns)}"


def _listed(lines: Ints) -> str:
    """Write rows or columns: neighbours as a range, few one by one, many with their distance."""
    apart = distinct(np.diff(lines))
    if len(lines) > 1 and len(apart) == 1 and apart[0] == 1:
        return f"{lines[0]}–{lines[-1]}"
    named = ", ".join(str(line) for line in lines[:_LISTED].tolist())
    return named if len(lines) <= _LISTED else f"{named}, …, {lines[-1]}"


class _Products:
    """The products of one k: values of A at the left, of B above."""

    def __init__(self, sheet: Sheet, room: QRectF, playable: Playable, known: OuterProduct) -> None:
        self._sheet, self._playable, self._known = sheet, playable, known
        rows, columns = known.product.shape
        indices = max(sheet.wide(str(known.rows.max(initial=0)), "small"), sheet.small) + 5
        above = 2 * sheet.small + 3
        widest, tallest = (side * sheet.em for side in _LARGEST_CELL)
        self._wide = min((room.width() - indices - _GAP) / (columns + 1), widest)
        self._high = min((room.height() - above - sheet.small - _GAP) / (rows + 1), tallest)
        self._wide = min(self._wide, 2.2 * self._high)
        self._high = min(self._high, 1.2 * self._wide)
        self._left, self._top = room.left() + indices, room.top() + above
        self._room = room
        self._px = self._fitting()

    def draw(self) -> QRectF:
        """Draw all of it, and return the room that it takes."""
        sheet, known = self._sheet, self._known
        rows, columns = known.product.shape
        right = self._left + self._wide * (columns + 1) + _GAP
        bottom = self._top + self._high * (rows + 1) + _GAP
        ends = [right]
        if known.k >= 0:
            head = QRectF(self._left + self._wide + _GAP, self._room.top(), self._room.width(), sheet.small)
            row = self._line_name(tr("B, row {k}", k=known.k), known.from_b, B, self._room.right() - head.left())
            ends.append(head.left() + sheet.text(head, row, sheet.theme.read, "small", bold=True))
            foot = QRectF(self._room.left(), bottom + 1, self._room.width(), sheet.small)
            column = self._line_name(tr("A, column {k}", k=known.k), known.from_a, A, self._room.width())
            ends.append(foot.left() + sheet.text(foot, column, sheet.theme.read, "small", bold=True))
            corner = QRectF(self._left, self._top, self._wide, self._high)
            if sheet.wide(f"k = {known.k}", "small") <= self._wide:
                sheet.text(corner, f"k = {known.k}", sheet.theme.muted, "small", align=MIDDLE)
        for i in range(rows if self._high >= 0.9 * sheet.small else 0):
            index = QRectF(self._room.left(), self._box(i, -1).top(), self._left - self._room.left() - 4, self._high)
            sheet.text(index, str(known.rows[i]), sheet.theme.faint, "small", align=RIGHT)
        every = self._wide >= sheet.wide(str(known.columns[-1]), "small") + 2
        for j in range(columns) if every else (0, columns - 1):
            index = QRectF(self._box(-1, j).center().x() - 20, self._top - sheet.small - 1, 40, sheet.small)
            sheet.text(index, str(known.columns[j]), sheet.theme.faint, "small", align=MIDDLE)
        across, down = [self._box(-1, j) for j in range(columns)], [self._box(i, -1) for i in range(rows)]
        self._draw_pieces(across, known.columns, known.from_b)
        self._draw_pieces(down, known.rows, known.from_a)
        self._draw_values(down, known.a)
        self._draw_values(across, known.b)
        self._draw_products()
        return QRectF(QPointF(self._room.left(), self._room.top()), QPointF(max(ends), bottom + sheet.small))

    def _line_name(self, line: str, array: int, matrix: int, width: float) -> str:
        """Return the name of a line of values, and as far as that fits where they were read, and how many at once."""
        found = [line]
        if array not in (matrix, -1):
            name = self._playable.recording.arrays[array].name
            found.append(tr("{line}, read from {array}", line=line, array=name))
        if (count := self._at_once(array)) > 1:
            found.append(tr("{line}, {count} at once", line=found[-1], count=count))
        return self._sheet.suiting(width, *reversed(found)) if width > 0 else line

    def _at_once(self, array: int) -> int:
        return read_at_once(self._playable, array) if array >= 0 else 1

    def _draw_pieces(self, places: list[QRectF], lines: Ints, array: int) -> None:
        """Join the values that one read brings: on a pale ground, as one piece with lanes."""
        count, ground = self._at_once(array), self._sheet.mixed(self._sheet.theme.read, 0.45)
        if count < 2:
            return
        for first in range(0, len(places) - count + 1, count):
            if lines[first + count - 1] - lines[first] == count - 1:
                piece = places[first].united(places[first + count - 1])
                self._sheet.box(piece.adjusted(1.5, 0, -1.5, 0), ground, ground)

    def _box(self, i: int, j: int) -> QRectF:
        """Return the box of a product; of row or column -1 that of a value."""
        x = self._left + (self._wide + _GAP + j * self._wide if j >= 0 else 0)
        y = self._top + (self._high + _GAP + i * self._high if i >= 0 else 0)
        return QRectF(x, y, self._wide, self._high)

    def _fitting(self) -> tuple[float, float]:
        """Return the pixels of type of products, and of the sums below them; 0: no room for these."""
        sheet, known = self._sheet, self._known
        shown = [abs(v) for v in (*known.product.flat, *known.a, *known.b) if not isnan(v)]
        longest = max((number(-v) for v in shown), key=len, default="–9")
        px = min(0.44 * self._high, 1.3 * sheet.em, 0.62 * self._high)
        px = min(px, px * (self._wide - 6) / max(sheet.wide("+" + longest, max(px, _LEGIBLE), True), 1))
        sums = [abs(v) for v in (*known.before.flat, *known.after.flat) if not isnan(v)]
        longest = max((number(-v) for v in sums), key=len, default="–9")
        small = min(0.28 * self._high, sheet.small * 0.82)
        pair = sheet.wide(f"{longest} → {longest}", _LEGIBLE + 1)
        small = min(small, (_LEGIBLE + 1) * (self._wide - 5) / max(pair, 1))
        if small >= _LEGIBLE:
            return px, small
        return max(min(0.6 * self._high, 1.5 * px), px), 0.0

    def _draw_values(self, places: list[QRectF], values: Values) -> None:
        """Draw values of A or of B: those that are read, and dashed those that are not."""
        sheet, listed = self._sheet, values.tolist()
        side = 0.86 * min(self._wide, self._high)
        cut = (self._wide - max(side, 0.6 * self._wide)) / 2, (self._high - side) / 2
        boxes = [box.adjusted(*cut, -cut[0], -cut[1]) for box in places]
        fill = QColor(sheet.theme.read)
        read = [box for box, value in zip(boxes, listed, strict=True) if not isnan(value)]
        sheet.boxes(read, fill, fill)
        missing = [box for box, value in zip(boxes, listed, strict=True) if isnan(value)]
        sheet.boxes(missing, sheet.mixed(sheet.theme.read, 0.6), None, dashed=True)
        widest = max((sheet.wide(_signed(v), self._px[0], True) for v in listed if not isnan(v)), default=0.0)
        px = self._px[0] * min((boxes[0].width() - 3) / max(widest, 1), 1)
        if px >= _LEGIBLE - 1:
            ink = sheet.ink(fill)
            for box, value in zip(boxes, listed, strict=True):
                if not isnan(value):
                    sheet.text(box, _signed(value), ink, px, bold=True, align=MIDDLE)

    def _draw_products(self) -> None:
        """Draw a box per element: its product of this k and how its sum changes, or dashed the sum so far."""
        sheet, known = self._sheet, self._known
        grids = (known.product.tolist(), known.before.tolist(), known.after.tolist())
        rows, columns = known.product.shape
        cells = [
            (self._box(i, j).adjusted(1, 1, -1, -1), *(grid[i][j] for grid in grids))
            for i in range(rows)
            for j in range(columns)
            if not isnan(grids[2][i][j])
        ]
        amber = sheet.amber
        sheet.boxes([box for box, made, *_ in cells if not isnan(made)], amber, sheet.mixed(amber, 0.22))
        waiting = [box for box, made, *_ in cells if isnan(made)]
        sheet.boxes(waiting, sheet.mixed(amber, 0.5), sheet.mixed(amber, 0.05), dashed=True)
        px, small = self._px
        for box, product, before, after in cells:
            made, high = not isnan(product), box.height()
            if small:
                if made:
                    line = QRectF(box.left(), box.top() + 0.1 * high, box.width(), 0.5 * high)
                    sheet.text(line, _signed(product, True), sheet.theme.write, px, bold=True, align=MIDDLE)
                sums = QRectF(box.left(), box.bottom() - 0.4 * high, box.width(), 0.36 * high)
                text = f"{_signed(before)} → {_signed(after)}" if made else _signed(after)
                sheet.text(sums, text, sheet.theme.text, small, italic=True, align=MIDDLE)
            elif made and px >= _LEGIBLE - 1:
                sheet.text(box, _signed(product), sheet.theme.write, px, bold=True, align=MIDDLE)


def _signed(value: float, plus: bool = False) -> str:
    """Write a value with a true minus, and on demand with a plus."""
    text = number(value)
    return f"+{text}" if plus and value >= 0 else text


def _figure_high(sheet: Sheet, room: QRectF) -> float:
    return min(max(room.height() / 3.2, 2.1 * sheet.small), 3.1 * sheet.em)


def _figures_height(sheet: Sheet, room: QRectF) -> float:
    return 3 * _figure_high(sheet, room)


def _draw_figures(sheet: Sheet, room: QRectF, playable: Playable, known: OuterProduct) -> None:
    """Draw three figures below each other: values read, products, and products for each value."""
    theme, high = sheet.theme, _figure_high(sheet, room)
    px = min(0.62 * high, 2.1 * sheet.em)
    spaces = {playable.recording.arrays[a].space for a in (known.from_a, known.from_b) if a >= 0}
    where = {"shared": tr("from shared memory"), "global": tr("from global memory")}
    source = where[spaces.pop()] if len(spaces) == 1 and playable.recording.backend == "cuda" else tr("from memory")
    different = len(known.rows) + len(known.columns)
    if known.reads > different:
        source = tr("{count} different ones", count=different)
    ratio = known.products / known.reads if known.reads else 0.0
    figures = [
        (
            str(known.read),
            theme.read,
            trn("value read", "values read", known.reads)
            if known.read == known.reads
            else trn("of {count} value read", "of {count} values read", known.reads),
            source,
        ),
        (
            str(known.made),
            theme.write,
            trn("product", "products", known.products)
            if known.made == known.products
            else trn("of {count} product", "of {count} products", known.products),
            trn("added to {count} sum", "added to {count} sums", known.products),
        ),
        (_ratio(ratio), theme.text, tr("products"), tr("for each value read")),
    ]
    wide = max(sheet.wide(figure, px, True) for figure, *_ in figures) + 0.6 * sheet.em
    names = max(sheet.wide(name, "small", True) for _, _, name, _ in figures)
    if wide + names > room.width():
        px, wide = 0.6 * px, 0.7 * wide
    for place, (figure, colour, name, more) in enumerate(figures):
        box = QRectF(room.left(), room.top() + place * high, room.width(), high)
        sheet.text(box, figure, colour, px, bold=True)
        rest = box.adjusted(wide, 0, 0, 0)
        if place == len(figures) - 1:
            more = sheet.suiting(rest.width(), more, tr("per value"))
        if sheet.wide(more, "small") > rest.width():
            sheet.text(rest, name, size="small", bold=True)
            continue
        line = QRectF(rest.left(), rest.center().y() - sheet.small, rest.width(), sheet.small)
        sheet.text(line, name, size="small", bold=True)
        sheet.text(line.translated(0, sheet.small), more, theme.muted, "small")


def _ratio(value: float) -> str:
    """Write a ratio: a half as a fraction, all others with one decimal at most."""
    return "½" if value == 0.5 else f"{value:.1f}".removesuffix(".0")
