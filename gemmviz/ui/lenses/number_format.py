"""The lens on number formats: the bits of one element of A, B and C, and of a sum, each bit with the same width."""

from collections.abc import Hashable, Iterator

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.catalogue.matrices import C
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.lenses.number_formats import FLOATS, Float, Shown, narrow, numbers
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import MIDDLE, RIGHT, Sheet
from gemmviz.ui.look.figure_text import dtype_text
from gemmviz.ui.look.theme import Theme

_BITS = 32  # as wide as the picture
_ROW = 4.1  # the largest height of a row, in lines of body text
_WRITTEN_OUT = 1e6  # larger numbers have an exponent
_PARTS = mark("sign"), mark("exponent"), mark("fraction")


class NumberFormatLens(GradualLens):
    """Draws the bits of the elements at the chosen place of C: of their row of A and column of B, and of C."""

    name: LensName = "number format"
    title = mark("Number formats")

    def suits(self, playable: Playable) -> bool:
        """Say whether A or C has elements of fewer than 32 bits."""
        return narrow(playable.recording)

    def state(self, moment: LensMoment) -> Hashable:
        """Return the chosen element, and whether it is written: see `gemmviz.ui.lenses.lens.Lasting`."""
        return tuple(numbers(moment.playable, _element(moment), moment.step))

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a moment: see `gemmviz.ui.lenses.lens.Lens`."""
        with Sheet(painter, rect, theme, font) as sheet:
            beside = tr("the bits of one element, each with the same width"), tr("the bits of one element")
            room = sheet.heading(tr(self.title), beside, "recorded")
            shown = [one for one in numbers(moment.playable, _element(moment), moment.step) if one.dtype in FLOATS]
            if not shown:
                sheet.lines(room, tr("The elements are no floating-point numbers of a known format."))
                return
            room.setBottom(room.bottom() - _draw_legend(sheet, room))
            high = min(room.height() / len(shown), _ROW * sheet.em)
            for at, one in enumerate(shown):
                yield sheet
                _draw(sheet, QRectF(room.left(), room.top() + at * high, room.width(), high), one)


LENS = NumberFormatLens()


def _element(moment: LensMoment) -> int:
    """Return the chosen element of C; without one, the first."""
    return moment.cell[1] if moment.cell is not None and moment.cell[0] == C else 0


def _fills(sheet: Sheet) -> list[QColor]:
    return [sheet.mixed(of, 0.55) for of in (sheet.theme.muted, sheet.theme.write, sheet.theme.read)]


def _draw_legend(sheet: Sheet, room: QRectF) -> float:
    """Name the parts of a number at the bottom of the room; return the height of this line."""
    high, x = 1.4 * sheet.small, room.left()
    for name, fill in zip(_PARTS, _fills(sheet), strict=True):
        box = QRectF(x, room.bottom() - 0.5 * (high + 0.8 * sheet.small), 0.8 * sheet.small, 0.8 * sheet.small)
        sheet.box(box, fill, fill)
        text, left = tr(name), box.right() + 0.4 * sheet.small
        sheet.text(QRectF(left, room.bottom() - high, room.right() - left, high), text, sheet.theme.muted, "small")
        x = left + sheet.wide(text, "small") + sheet.small
    return high


def _draw(sheet: Sheet, row: QRectF, shown: Shown) -> None:
    """Draw one number: its name and type, its bits, and what they can hold."""
    form = FLOATS[shown.dtype]
    line = QRectF(row.left(), row.top(), row.width(), min(1.2 * sheet.em, row.height() * 0.3))
    held = trn("{count} byte", "{count} bytes", form.bits // 8, count=form.bits // 8)
    line.setWidth(line.width() - sheet.text(line, held, sheet.theme.muted, "small", align=RIGHT) - sheet.em)
    name = tr("a sum, in registers") if shown.name == "sum" else shown.name
    if shown.value is not None:
        name = f"{name} = {shown.value:g}".replace("-", "−")
    elif shown.name != "sum":
        name = tr("{element}, not stored yet", element=name)
    wide = sheet.text(line, name, bold=True)
    line.setLeft(line.left() + wide + 0.8 * sheet.em)
    sheet.text(line, dtype_text(shown.dtype), sheet.theme.muted)
    bits = QRectF(row.left(), row.top() + line.height(), row.width(), min(1.3 * sheet.em, row.height() * 0.33))
    _draw_bits(sheet, bits, form, shown)
    below = QRectF(row.left(), bits.bottom(), row.width(), min(1.2 * sheet.small, row.height() * 0.3))
    most = thousands(int(form.largest)) if form.largest < _WRITTEN_OUT else f"{form.largest:.3g}".replace("e+", "e")
    values = {"most": most, "next": f"{1 + form.step:.8g}"}
    text = sheet.suiting(
        row.width(),
        tr("up to {most}; the next number after 1 is {next}", **values),
        tr("up to {most}; after 1: {next}", **values),
    )
    sheet.text(below, text, sheet.theme.muted, "small")


def _draw_bits(sheet: Sheet, row: QRectF, form: Float, shown: Shown) -> None:
    wide, fills = row.width() / _BITS, _fills(sheet)
    for at in range(form.bits):
        part = 0 if at == 0 else 1 if at <= form.exponent else 2
        box = QRectF(row.left() + at * wide, row.top() + 1, wide - 1, row.height() - 2)
        filled = shown.pattern is not None or shown.name == "sum"
        sheet.box(box, fills[part], fills[part] if filled else None, radius=1)
        if shown.pattern is not None:
            digit = str(shown.pattern >> (form.bits - 1 - at) & 1)
            sheet.text(box, digit, sheet.ink(fills[part]), "small", align=MIDDLE)
