"""The lens of tensor cores: which lane holds each element of one instruction's operands, and in which register."""

from collections.abc import Iterator
from math import ceil

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.catalogue.matrices import A, B, C
from gemmviz.language import mark, tr, trn
from gemmviz.trace.lenses.instruction import Instruction, instruction
from gemmviz.trace.lenses.number_formats import sums_type
from gemmviz.trace.origin.fragments import Fragment
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lane_picture import LEGIBLE, LanePicture, cells, joined, lane_picture
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import MIDDLE, Sheet
from gemmviz.ui.look.theme import Theme

_LETTERS = {A: "a", B: "b", C: "c"}
_CROSS = 13.0  # pixels of a cell from which on A, B and C stand as in the product; else side by side
_LONGEST = 1.6  # of a cell, in its other side
_LARGEST_CELL = 1.9  # lines of body text
_GROUP = 4  # neighbouring lanes that share a tint
_TINT = 0.2, 0.34  # where cells have a number, and where they have none
_WORDS = 3.5  # lines of small text below operands that stand side by side


class TensorCoreLens(GradualLens):
    """Draws the operands of one instruction of the chosen warp."""

    name: LensName = "tensor core"
    title = mark("Tensor core")

    def suits(self, playable: Playable) -> bool:
        """Say whether warps multiply on the tensor cores."""
        return playable.recording.together >= WARP and playable.recording.backend == "cuda"

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a moment: see `gemmviz.ui.lenses.lens.Lens`."""
        known = instruction(moment.playable, moment.block, moment.warp, moment.step, _element(moment))
        with Sheet(painter, rect, theme, font) as sheet:
            if known is None or known.c is None:
                room = sheet.heading(tr(self.title), (tr("warp {warp}", warp=moment.warp),), "recorded")
                sheet.lines(room, tr("This warp holds no sums of C: choose another one."))
                return
            shape = f"{known.kind} {known.m} × {known.n} × {known.k}" if known.k else known.kind
            beside = tr("{shape}: the elements of each lane", shape=shape)
            room = sheet.heading(tr(self.title), (beside, shape), "recorded")
            yield sheet
            yield from _Operands(sheet, room, moment, known).pieces()


LENS = TensorCoreLens()


def _element(moment: LensMoment) -> tuple[int, int] | None:
    """Return the row and column of the chosen element of C; None: none is chosen."""
    if moment.cell is None or moment.cell[0] != C:
        return None
    row, column = moment.playable.recording.arrays[C].cells(np.array([moment.cell[1]]))
    return int(row[0]), int(column[0])


class _Operands:
    """The fragments of an instruction, as in the product (A left of C, B above it) or side by side."""

    def __init__(self, sheet: Sheet, room: QRectF, moment: LensMoment, known: Instruction) -> None:
        self._sheet, self._room, self._moment, self._known = sheet, room, moment, known
        self._lane, self._figures = moment.lane, False
        fragments: dict[int, Fragment | None] = {A: known.a, B: known.b, C: known.c}
        self._fragments = fragments
        assert known.c is not None  # the caller has looked
        rows, columns = known.c.lane.shape
        deep = known.k or rows
        self._sizes = {A: (rows, deep), B: (deep, columns), C: (rows, columns)}
        self._head = sheet.small + 3
        gap = 0.9 * sheet.em
        cross = min(
            (room.width() - gap) / (deep + columns),
            (room.height() - 2 * self._head - gap / 2) / (deep + rows),
        )
        legend = _WORDS * sheet.small
        # Operands that are not in registers need no cells, but room for each word about them.
        text = _absent_text(known)
        absent = max(sheet.wide(word, "small") for word in text.split(" ")) + 8
        shown = sum(f.lane.shape[1] for f in fragments.values() if f is not None)
        spare = room.width() - 2 * gap - absent * sum(f is None for f in fragments.values())
        across, down = spare / shown, (room.height() - self._head - legend) / max(rows, deep)
        beside = min(across, down)
        self._absent = absent
        self._crossed = cross >= _CROSS or cross >= beside
        self._wide = self._high = min(cross if self._crossed else beside, _LARGEST_CELL * sheet.em)
        if not self._crossed:
            self._wide, self._high = min(across, _LONGEST * beside), min(down, _LONGEST * beside)
        self._places = self._cross(gap) if self._crossed else self._beside(gap)

    def _cross(self, gap: float) -> dict[int, QRectF]:
        room = self._room
        wide = {matrix: size[1] * self._wide for matrix, size in self._sizes.items()}
        high = {matrix: size[0] * self._high for matrix, size in self._sizes.items()}
        left = max(room.left() + (room.width() - wide[A] - gap - wide[C]) / 2, room.left())
        x = left + wide[A] + gap
        y = room.top() + self._head
        below = y + high[B] + gap / 2 + self._head
        return {
            A: QRectF(left, below, wide[A], high[A]),
            B: QRectF(x, y, wide[B], high[B]),
            C: QRectF(x, below, wide[C], high[C]),
        }

    def _beside(self, gap: float) -> dict[int, QRectF]:
        x, places = self._room.left(), {}
        for matrix, (rows, columns) in self._sizes.items():
            shown = columns * self._wide if self._fragments[matrix] is not None else self._absent
            places[matrix] = QRectF(x, self._room.top() + self._head, shown, rows * self._high)
            x = places[matrix].right() + gap
        return places

    def pieces(self) -> Iterator[Sheet]:
        """Draw the fragments, and the words beside or below them; see `GradualLens.pieces`."""
        for matrix, place in self._places.items():
            self._draw_title(matrix, place)
            fragment = self._fragments[matrix]
            if fragment is None:
                self._draw_absent(matrix, place)
            else:
                self._draw_fragment(matrix, fragment, place)
            yield self._sheet
        if self._crossed:
            free = QRectF(self._room.left(), self._room.top(), self._places[B].left() - self._room.left(), 0)
            free.setBottom(self._places[A].top() - self._head)
            free.setRight(free.right() - self._sheet.em)
        else:
            free = QRectF(self._room)
            free.setTop(max(place.bottom() for place in self._places.values()) + 3)
        self._draw_words(free)

    def _draw_title(self, matrix: int, place: QRectF) -> None:
        sheet, fragment = self._sheet, self._fragments[matrix]
        name = self._moment.playable.recording.arrays[matrix].name
        line = QRectF(place.left(), place.top() - self._head, max(place.width(), 3 * sheet.em), sheet.small)
        wide = sheet.text(line, name, size="small", bold=True) + 5
        if fragment is not None:
            rows, columns = fragment.lane.shape
            text = f"[{fragment.row}–{fragment.row + rows - 1}, {fragment.column}–{fragment.column + columns - 1}]"
            line.setLeft(line.left() + wide)
            if sheet.wide(text, "small") <= line.width():
                sheet.text(line, text, sheet.theme.muted, "small")

    def _draw_absent(self, matrix: int, place: QRectF) -> None:
        """Draw an operand that no register holds."""
        sheet = self._sheet
        sheet.painter.fillRect(place, QBrush(sheet.mixed(sheet.theme.cell, 0.9), Qt.BrushStyle.BDiagPattern))
        sheet.box(place, QColor(sheet.theme.outline), None, dashed=True)
        text = _absent_text(self._known)
        room = place.adjusted(1, 1, -1, -1)
        wrapped = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        plate = sheet.metrics("small").boundingRect(room, wrapped, text).adjusted(-2, -1, 2, 1)
        sheet.painter.fillRect(plate, QColor(sheet.theme.background))
        sheet.lines(plate, text, centred=True)

    def _draw_fragment(self, matrix: int, fragment: Fragment, place: QRectF) -> None:
        sheet, wide, high = self._sheet, self._wide, self._high
        ratio = sheet.painter.device().devicePixelRatioF()
        shared = down, across = joined(fragment, wide)
        font = QFont(sheet.type("small")[0])
        side = min(0.75 * down * high, 0.62 * across * wide) if down * across > 1 else 0.5 * wide
        font.setPixelSize(max(int(min(side, sheet.small)), 1))
        self._figures = font.pixelSize() >= LEGIBLE
        hues = sheet.theme.owners
        colours = [
            sheet.mixed(hues[lane // _GROUP % len(hues)], _TINT[0 if self._figures else 1]) for lane in range(WARP)
        ]
        table = tuple((c.red(), c.green(), c.blue()) for c in (*colours, QColor(*sheet.theme.cell)))
        picture = LanePicture(
            fragment.lane.tobytes(), fragment.lane.shape, shared, (wide, high), ratio, font.toString()
        )
        sheet.painter.drawImage(place.topLeft(), lane_picture(picture, table, sheet.theme))
        fill = self._fill(matrix)
        mine = [at for at in cells(fragment.lane.shape, shared) if fragment.lane[at] == self._lane]
        boxes = [QRectF(place.left() + j * wide, place.top() + i * high, across * wide, down * high) for i, j in mine]
        sheet.boxes(boxes, QColor(sheet.theme.selection), fill)
        names = [f"{_LETTERS[matrix]}{fragment.slot[at]}" for at in mine]
        if down * across > 1:
            names = [
                f"{name},{fragment.slot[i + down - 1, j + across - 1]}"
                for name, (i, j) in zip(names, mine, strict=True)
            ]
        px = 0.7 * high if down * across > 1 else 0.56 * wide
        widest = max((sheet.wide(name, max(px, 8), True) for name in names), default=1.0)
        px = min(px, px * (across * wide - 2) / max(widest, 1))
        for box, name in zip(boxes, names, strict=True):
            if px >= LEGIBLE:
                sheet.text(box, name, sheet.ink(fill), px, bold=True, align=MIDDLE)

    def _held(self, matrix: int) -> tuple[str, str] | None:
        """Return how many elements the lane holds of a matrix, and in which registers; None if it holds none."""
        fragment = self._fragments[matrix]
        count = int((fragment.lane == self._lane).sum()) if fragment is not None else 0
        if fragment is None or not count:
            return None
        info = self._moment.playable.recording.arrays[matrix]
        itemsize = np.dtype(sums_type(self._moment.playable)).itemsize if matrix == C else info.itemsize
        slots, letter = fragment.slot[fragment.lane == self._lane], _LETTERS[matrix]
        names = f"{letter}{slots.min()}…{letter}{slots.max()}"
        registers = trn("{count} register", "{count} registers", -(-count * itemsize // 4))
        return (
            tr("{count} of {matrix}", count=count, matrix=info.name),
            tr("{names} in {registers}", names=names, registers=registers),
        )

    def _draw_words(self, room: QRectF) -> None:
        """Write the elements that the chosen lane holds: below each other if there is room, else in a row."""
        sheet, theme = self._sheet, self._sheet.theme
        found = [(matrix, self._held(matrix)) for matrix in (A, B, C)]
        lines = [(matrix, held) for matrix, held in found if held is not None]
        if not self._crossed:
            self._draw_row(room, lines)
            return
        y = room.top()
        y += self._line(room, y, tr("Lane {lane} of warp {warp}", lane=self._lane, warp=self._moment.warp), True)
        for text in self._rule():
            y += self._line(room, y, text)
        y += 0.4 * sheet.em
        for matrix, held in lines:
            box = QRectF(room.left(), y + 0.15 * sheet.em, 0.8 * sheet.em, 0.8 * sheet.em)
            sheet.painter.fillRect(box, self._fill(matrix))
            line = QRectF(box.right() + 6, y, room.right() - box.right() - 6, 1.1 * sheet.em)
            wide = sheet.text(line, held[0], size="small", bold=True) + 8
            sheet.text(line.adjusted(wide, 0, 0, 0), held[1], theme.muted, "small")
            y += 1.25 * sheet.em
        y += 0.3 * sheet.em
        for text in self._notes():
            if y + 2 * sheet.small <= room.bottom():
                sheet.lines(QRectF(room.left(), y, room.width(), 3 * sheet.small), text)
                y += 1.15 * sheet.small * ceil(sheet.wide(text, "small") / max(room.width(), 1))

    def _draw_row(self, room: QRectF, lines: list[tuple[int, tuple[str, str]]]) -> None:
        sheet, theme = self._sheet, self._sheet.theme
        x, y = room.left(), room.top()
        head = tr("Lane {lane}", lane=self._lane)
        x += sheet.text(QRectF(x, y, room.right() - x, sheet.small), head, size="small", bold=True) + 10
        for matrix, held in lines:
            side = 0.7 * sheet.small
            wide = side + 4 + sheet.wide(f"{held[0]}  {held[1]}", "small")
            label = f"{held[0]}  {held[1]}" if 3 * (wide + 12) <= room.width() - x + room.left() else held[0]
            sheet.painter.fillRect(QRectF(x, y + 0.15 * sheet.small, side, side), self._fill(matrix))
            x += side + 4
            x += sheet.text(QRectF(x, y, max(room.right() - x, 0), sheet.small), label, theme.text, "small") + 12
        for text in (*self._notes(), ", ".join(self._rule())):
            if text and y + 2.2 * sheet.small <= room.bottom() and sheet.wide(text, "small") <= room.width():
                y += 1.1 * sheet.small
                sheet.text(QRectF(room.left(), y, room.width(), sheet.small), text, theme.muted, "small")

    def _fill(self, matrix: int) -> QColor:
        return QColor(self._sheet.theme.read) if matrix != C else self._sheet.amber

    def _line(self, room: QRectF, y: float, text: str, head: bool = False) -> float:
        sheet = self._sheet
        high = 1.3 * sheet.em if head else 1.15 * sheet.small
        line = QRectF(room.left(), y, room.width(), high)
        if head:
            sheet.text(line, text, size="head", bold=True)
        else:
            sheet.text(line, text, sheet.theme.muted, "small")
        return high

    def _rule(self) -> list[str]:
        """Return how the lane's number leads to its elements of C, where it does."""
        c = self._known.c
        assert c is not None
        rows, columns = np.nonzero(c.lane == self._lane)
        row, pair = divmod(self._lane, 4)
        if not len(rows) or not ((rows % 8 == row).all() and (columns % 8 // 2 == pair).all()):
            return []
        return [
            tr("row {lane} / 4 = {row}, and eight below", lane=self._lane, row=row),
            tr("pair of columns {lane} mod 4 = {pair}", lane=self._lane, pair=pair),
        ]

    def _notes(self) -> list[str]:
        known = self._known
        figures, tints = tr("Grey figures: the lane that holds the element."), tr("One tint: four neighbouring lanes.")
        notes = [figures if self._figures else tints]
        if known.dealt:
            notes.append(tr("A and B: dealt to the lanes as ldmatrix is defined to."))
        if known.kind == "wgmma":
            notes.append(tr("A and B: read from shared memory, by all four warps of the group."))
        shown = 0 if known.c is None else known.c.lane.shape[0 if known.turned else 1]
        if known.turned and known.n > shown:
            notes.append(tr("{shown} of {count} rows of C; the others repeat.", shown=shown, count=known.n))
        elif known.c is not None and known.n > shown:
            notes.append(tr("{shown} of {count} columns of C; the others repeat.", shown=shown, count=known.n))
        return notes


def _absent_text(known: Instruction) -> str:
    """Say where an operand is that no register holds."""
    return tr("in shared memory") if known.kind == "wgmma" else tr("not loaded yet")
