"""The sheet of the lenses on accesses: a heading with the source line and one large figure, dots, small figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.language import tr
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.lenses.sheet import LEFT, MIDDLE, RIGHT, Sheet
from gemmviz.ui.look.fonts import mono_families
from gemmviz.ui.look.theme import Theme

TITLE, SMALL = 1.15, 0.86
"""Type of headings and of small print, in sizes of body text."""
_FIGURES = (1.9, 1.6, 1.35)  # of the one large figure, whichever fits
_COUNT = 2.9  # of a count beside its unit
_MARGIN, _ROW = 0.45, 1.2  # in heights of body text
_SMALLEST_PX = 6
_LEAST_ROOM = 8.0, 3.5  # of a picture, in heights of body text
_ONE_LINE = Qt.TextFlag.TextDontClip.value | Qt.TextFlag.TextSingleLine.value


@dataclass(frozen=True)
class Heading:
    """The text above a lens.

    Attributes
    ----------
    title
        Its name.
    tags
        Where its figures come from, from the longest wording to the shortest.
    modelled
        Whether a part of it is modelled: its tag is dashed.
    about
        A description of the picture, from the longest wording to the shortest.
    code
        The line of the source, with its number; empty for none.
    figure, under
        The one large figure, and a line below it; empty for none.
    late
        Whether the figure is more than it needs to be.
    """

    title: str
    tags: Sequence[str]
    modelled: bool
    about: Sequence[str]
    code: str = ""
    figure: str = ""
    under: str = ""
    late: bool = False


# A lens has about ten kinds of type. Each font that is kept keeps its glyphs, tens of KiB.
@lru_cache(maxsize=32)
def _type(named: str, pixels: int, bold: bool, mono: bool) -> tuple[QFont, QFontMetricsF]:
    """Return a font, given as `QFont.toString` writes it, in another size, and its measures."""
    font = QFont()
    font.fromString(named)
    if mono:
        font.setFamilies(mono_families())
    font.setPixelSize(pixels)
    font.setBold(bold)
    return font, QFontMetricsF(font)


@lru_cache(maxsize=1024)
def _wide(named: str, pixels: int, bold: bool, mono: bool, text: str) -> float:
    """Return how wide a text is: most texts are asked for again at the next step."""
    return _type(named, pixels, bold, mono)[1].horizontalAdvance(text)


class Page(Sheet):
    """A sheet with margins, on which all sizes of type are factors of body text."""

    def __init__(self, painter: QPainter, rect: QRectF, theme: Theme, font: QFont) -> None:
        super().__init__(painter, rect, theme, font)
        self._named = font.toString()
        margin = self.em * _MARGIN
        self._digit = max(self.width("0"), 1.0)
        self.inner = QRectF(rect).adjusted(margin, margin * 0.7, -margin, -margin * 0.7)

    def __enter__(self) -> "Page":
        super().__enter__()
        return self

    def row(self, size: float = 1.0) -> float:
        """Return the height of a line of text."""
        return self.em * size * _ROW

    def width(self, text: str, size: float = 1.0, bold: bool = False, mono: bool = False) -> float:
        """Return how wide a text is."""
        return _wide(self._named, max(round(self._px * size), _SMALLEST_PX), bold, mono, text)

    def write(
        self,
        box: QRectF,
        text: str,
        size: float = 1.0,
        colour: str | QColor | None = None,
        align: Qt.AlignmentFlag = LEFT,
        bold: bool = False,
        mono: bool = False,
    ) -> None:
        """Write one line into a box, cut with an ellipsis where it is too long."""
        font, metrics = _type(self._named, max(round(self._px * size), _SMALLEST_PX), bold, mono)
        if self.width(text, size, bold, mono) > box.width() + 0.5:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        self.painter.setFont(font)
        self.painter.setPen(QColor(self.theme.text if colour is None else colour))
        self.painter.drawText(box, align.value | _ONE_LINE, text)

    def fitting(self, texts: Sequence[str], width: float, size: float = 1.0, bold: bool = False) -> str:
        """Return the first of some wordings that fits into a width; if none does, the last."""
        return next((text for text in texts if self.width(text, size, bold) <= width), texts[-1])

    def write_first(
        self,
        box: QRectF,
        texts: Sequence[str],
        size: float = 1.0,
        colour: str | QColor | None = None,
        align: Qt.AlignmentFlag = LEFT,
    ) -> None:
        """Write the first of some wordings that fits, or nothing."""
        text = self.fitting((*texts, ""), box.width(), size)
        if text:
            self.write(box, text, size, colour, align)

    def pen(self, colour: str | QColor, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        """Draw outlines with a pen from now on, and fill nothing."""
        self.painter.setPen(QPen(QColor(colour), width, style))
        self.painter.setBrush(Qt.BrushStyle.NoBrush)

    def accent(self, late: bool) -> QColor:
        """Return the colour of the first part (blue), or of parts that wait or are more than needed (amber)."""
        return self.amber if late else QColor(self.theme.read)

    def headed(self, heading: Heading) -> QRectF:
        """Write the heading; return the room below it."""
        rect, theme, em = self.inner, self.theme, self.em
        top = QRectF(rect.left(), rect.top(), rect.width(), self.row(TITLE))
        self.write(top, heading.title, TITLE, bold=True)
        free = rect.width() - self.width(heading.title, TITLE, True) - 2 * em
        self._framed(top, self.fitting(heading.tags, free, SMALL), heading.modelled)
        y = top.bottom() + em * 0.15
        wide, figure_bottom = self._figure(heading, y)
        bottom = max(y + self.row() * (2 if heading.code else 1), figure_bottom)
        left = QRectF(rect.left(), y, rect.width() - wide - em * 0.6, self.row())
        self.write(left, self.fitting(heading.about, left.width()), colour=theme.muted)
        self.write(left.translated(0, self.row()), heading.code, SMALL * 1.05, mono=True)
        bottom += em * 0.3
        return QRectF(rect.left(), bottom, rect.width(), rect.bottom() - bottom)

    def _figure(self, heading: Heading, y: float) -> tuple[float, float]:
        """Write the one figure at the right, below a line; return how wide it is, and where it ends.

        A count is larger than the name of its unit, which stands beside it.
        """
        if not heading.figure:
            return 0.0, y
        rect, em, colour = self.inner, self.em, self.theme.write if heading.late else self.theme.read
        count, _, unit = heading.figure.partition(" ")
        beside = max(self.width(unit, TITLE, True), self.width(heading.under, SMALL))
        wide = self.width(count, _COUNT, True) + 0.5 * em + beside
        if count.replace(".", "").isdigit() and unit and wide <= rect.width() / 2:
            high = self.row() + self.row(SMALL)
            self.write(QRectF(rect.right() - wide, y, wide - beside - 0.5 * em, high), count, _COUNT, colour, bold=True)
            right = QRectF(rect.right() - beside, y, beside, self.row(TITLE))
            self.write(right, unit, TITLE, bold=True)
            under = QRectF(right.left(), right.bottom() - em * 0.1, beside, self.row(SMALL))
            self.write(under, heading.under, SMALL, self.theme.muted)
            return wide, y + high
        # A long figure, as in some languages, leaves half of the room for the line of the source.
        large = next(
            (size for size in _FIGURES if self.width(heading.figure, size, True) <= rect.width() / 2), _FIGURES[-1]
        )
        wide = max(self.width(heading.figure, large, True), self.width(heading.under, SMALL))
        side = QRectF(rect.right() - wide, y, wide, self.row(large) * 0.92)
        self.write(side, heading.figure, large, colour, RIGHT, bold=True)
        under = QRectF(side.left(), side.bottom() - em * 0.1, wide, self.row(SMALL))
        self.write(under, heading.under, SMALL, self.theme.muted, RIGHT)
        return wide, under.bottom() if heading.under else side.bottom()

    def has_room(self, room: QRectF) -> bool:
        """Say whether a picture below the heading would be seen at all."""
        return room.width() >= _LEAST_ROOM[0] * self.em and room.height() >= _LEAST_ROOM[1] * self.em

    def _framed(self, row: QRectF, text: str, modelled: bool) -> None:
        """Write a tag at the right end of a row: modelled figures, even in part, in a dashed frame."""
        wide, high = self.width(text, SMALL) + self.em * 0.7, self.row(SMALL)
        box = QRectF(row.right() - wide, row.center().y() - high / 2, wide - 1, high)
        colour = self.theme.muted if modelled else self.theme.good
        self.box(box, QColor(colour), None, dashed=modelled)
        self.write(box, text, SMALL, colour, MIDDLE)

    def nothing(self, title: str, text: str) -> None:
        """Write that there is nothing to show, and why."""
        self.lines(self.headed(Heading(title, (tr("recorded"),), False, ("",))), text, size="body")

    def dot(self, centre: QPointF, radius: float, colour: QColor, text: str = "") -> None:
        """Draw a filled dot with a short text in it."""
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(colour)
        self.painter.drawEllipse(centre, radius, radius)
        if text:
            box = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
            self.figure_in(box, text, self.ink(colour))

    def figure_in(self, box: QRectF, text: str, colour: str) -> None:
        """Write a figure of few digits into a small box, in type that suits its height and width."""
        digits = max(len(text), 2) * self._digit
        size = min(box.height() * 0.62 / self.em, box.width() * 0.86 / digits, 1.0)
        self.write(box, text, size, colour, MIDDLE)


def source_line(recording: Recording, line: int) -> str:
    """Return a line of the source with its number, without its indentation; empty if the line is unknown."""
    lines = recording.text.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    return tr("line {line}", line=line) + "  " + " ".join(lines[line - 1].split())
