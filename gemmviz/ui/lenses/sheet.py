"""The sheet that a lens is drawn on: its colours, its sizes of type, its heading, and texts that stay inside."""

from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from gemmviz.language import mark, tr
from gemmviz.ui.look.theme import Rgb, Theme, ink, rgb

Tag = Literal["recorded", "modelled"]
_TAGS: dict[Tag, str] = {"recorded": mark("recorded"), "modelled": mark("modelled")}
Size = Literal["head", "body", "small"]
_SIZES: dict[Size, float] = {"head": 1.15, "body": 1.0, "small": 0.86}
_LEAST_PX = 8
# In much room everything is larger, within reason.
_USUAL, _LARGEST = (560.0, 330.0), 1.4
_MOST_ROUND = 24
_MOST_WIDTHS = 2000
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
MIDDLE = Qt.AlignmentFlag.AlignCenter


@lru_cache(maxsize=512)
def _mixed(colour: Rgb, ground: Rgb, share: float) -> Rgb:
    r, g, b = (round(under + (over - under) * share) for over, under in zip(colour, ground, strict=True))
    return r, g, b


class _Type:
    """A font with its metrics, and how wide texts are in it: most are asked for again at the next step."""

    def __init__(self, font: QFont) -> None:
        self.font, self.metrics = font, QFontMetricsF(font)
        self._widths: dict[str, float] = {}
        self._cut: dict[tuple[str, float], tuple[str, float]] = {}

    def wide(self, text: str) -> float:
        found = self._widths.get(text)
        if found is None:
            if len(self._widths) >= _MOST_WIDTHS:
                self._widths.clear()
            found = self._widths[text] = self.metrics.horizontalAdvance(text)
        return found

    def fitted(self, text: str, room: float) -> tuple[str, float]:
        """Return a text, shortened where it is wider than some pixels, and how wide it is then."""
        wide = self.wide(text)
        if wide <= room + 0.5:
            return text, wide
        found = self._cut.get((text, room))
        if found is None:
            if len(self._cut) >= _MOST_WIDTHS:
                self._cut.clear()
            shown = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            found = self._cut[text, room] = shown, self.metrics.horizontalAdvance(shown)
        return found


# A lens has about ten kinds of type. Each font that is kept keeps its glyphs, tens of KiB.
@lru_cache(maxsize=32)
def _type(base: str, pixels: int, bold: bool, italic: bool) -> _Type:
    font = QFont()
    font.fromString(base)
    font.setPixelSize(pixels)
    font.setBold(bold)
    font.setItalic(italic)
    return _Type(font)


class Sheet:
    """A rectangle to draw a lens in; nothing that it writes leaves it.

    Parameters
    ----------
    painter, rect, theme, font
        As `gemmviz.ui.lenses.lens.Lens.paint` gets them.

    Attributes
    ----------
    em
        Height of a line of body text, in pixels.
    small
        The same of small text.
    """

    def __init__(self, painter: QPainter, rect: QRectF, theme: Theme, font: QFont) -> None:
        self.painter, self.rect, self.theme = painter, rect, theme
        self._resting = False
        room = min(rect.width() / _USUAL[0], rect.height() / _USUAL[1])
        self._px = QFontInfo(font).pixelSize() * min(max(room**0.5, 1.0), _LARGEST)
        self._font, self._base = font, font.toString()
        self.em, self.small = self.metrics("body").height(), self.metrics("small").height()

    def __enter__(self) -> "Sheet":
        self.resume(self.painter)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._resting:  # a picture that was given up has no painter any more
            self.rest()

    def resume(self, painter: QPainter) -> None:
        """Draw with a painter from now on."""
        self.painter, self._resting = painter, False
        painter.save()
        painter.setClipRect(self.rect, Qt.ClipOperation.IntersectClip)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def rest(self) -> None:
        """Leave the painter as it was."""
        self._resting = True
        self.painter.restore()

    @property
    def amber(self) -> QColor:
        """The colour of areas that wait or are written."""
        return QColor(self.theme.amber)

    def _of(self, size: Size | float, bold: bool = False, italic: bool = False) -> _Type:
        pixels = max(round(self._px * _SIZES[size]) if isinstance(size, str) else int(size), _LEAST_PX)
        return _type(self._base, pixels, bold, italic)

    def type(self, size: Size | float, bold: bool = False, italic: bool = False) -> tuple[QFont, QFontMetricsF]:
        """Return a font and its metrics: of a named size, or of so many pixels."""
        made = self._of(size, bold, italic)
        return made.font, made.metrics

    def metrics(self, size: Size | float, bold: bool = False) -> QFontMetricsF:
        """Return the metrics of a size of type."""
        return self._of(size, bold).metrics

    def wide(self, text: str, size: Size | float = "body", bold: bool = False) -> float:
        """Return how wide a text is, in pixels."""
        return self._of(size, bold).wide(text)

    def text(
        self,
        box: QRectF,
        text: str,
        colour: str | QColor | None = None,
        size: Size | float = "body",
        *,
        bold: bool = False,
        italic: bool = False,
        align: Qt.AlignmentFlag = LEFT,
    ) -> float:
        """Write a line into a box, shortened where it is too long; return how wide it is.

        It stands in the middle of the box's height; `align` is `LEFT`, `RIGHT` or `MIDDLE`.
        """
        made = self._of(size, bold, italic)
        metrics, room = made.metrics, box.width()
        text, wide = made.fitted(text, room)
        if text:
            self.painter.setFont(made.font)
            self.painter.setPen(QColor(self.theme.text if colour is None else colour))
            free = room - wide
            x = box.left() + (free if align == RIGHT else free / 2 if align == MIDDLE else 0)
            y = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
            self.painter.drawText(QPointF(x, y), text)  # much faster than into a box
        return wide

    def lines(
        self, box: QRectF, text: str, colour: str | None = None, size: Size = "small", centred: bool = False
    ) -> None:
        """Write a text into a box, in as many lines as it takes: from its upper left corner on, or in its middle."""
        font, _ = self.type(size)
        self.painter.setFont(font)
        self.painter.setPen(QColor(self.theme.muted if colour is None else colour))
        align = Qt.AlignmentFlag.AlignCenter if centred else Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        self.painter.drawText(box, align | Qt.TextFlag.TextWordWrap, text)

    def suiting(self, width: float, *texts: str, size: Size = "small") -> str:
        """Return the first text that is no wider than so many pixels; the last one where none is."""
        return next((text for text in texts if self.wide(text, size) <= width), texts[-1])

    def heading(self, title: str, beside: tuple[str, ...], tag: Tag | None) -> QRectF:
        """Write the heading, beside it the first text that fits, and where the figures come from.

        Returns
        -------
        QRectF
            The room that is left.
        """
        room, high = self.rect.adjusted(6, 4, -6, -4), self.metrics("head", True).height()
        line = QRectF(room.left(), room.top(), room.width(), high)
        if tag is not None:
            line.setRight(line.right() - self.tag(line, tag) - 6)
        wide = self.text(line, title, size="head", bold=True)
        line.setLeft(line.left() + wide + 8)
        if line.width() > 3 * self.em:
            self.text(line, self.suiting(line.width(), *beside), self.theme.muted, "small")
        return room.adjusted(0, high + 4, 0, 0)

    def tag(self, line: QRectF, tag: Tag) -> float:
        """Write a tag at the right end of a line, in a solid or a dashed frame; return its width."""
        label, solid = tr(_TAGS[tag]), tag == "recorded"
        wide = self.wide(label, "small") + 10
        box = QRectF(line.right() - wide, line.center().y() - self.small * 0.6, wide, self.small * 1.2)
        colour = QColor(self.theme.good if solid else self.theme.muted)
        self.painter.setPen(QPen(colour, 1, Qt.PenStyle.SolidLine if solid else Qt.PenStyle.DashLine))
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        self.text(box, label, colour, "small", align=MIDDLE)
        return wide

    def box(self, box: QRectF, edge: QColor, fill: QColor | None, dashed: bool = False, radius: float = 3) -> None:
        """Draw a box with round corners; a dashed one has sharp corners, as these take far less time."""
        if dashed:
            self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self.painter.setPen(QPen(edge, 1, Qt.PenStyle.DashLine))
            self.painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
            self.painter.drawRect(box.adjusted(0, 0, -1, -1))
            self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            return
        self.painter.setPen(QPen(edge, 1.2))
        self.painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
        self.painter.drawRoundedRect(box.adjusted(0.6, 0.6, -0.6, -0.6), radius, radius)

    def boxes(self, boxes: list[QRectF], edge: QColor, fill: QColor | None, dashed: bool = False) -> None:
        """Draw boxes that look alike: few with round corners, many with sharp ones, which takes far less time."""
        if len(boxes) <= _MOST_ROUND:
            for box in boxes:
                self.box(box, edge, fill, dashed)
            return
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self.painter.setPen(QPen(edge, 1, Qt.PenStyle.DotLine if dashed else Qt.PenStyle.SolidLine))
        self.painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
        self.painter.drawRects([box.adjusted(0, 0, -1, -1) for box in boxes])
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def mixed(self, colour: QColor | str | Rgb, share: float) -> QColor:
        """Return a colour on the ground of the sheet: `share` of it, the rest is ground."""
        of = colour if isinstance(colour, tuple) else QColor(colour).name()
        return QColor(*_mixed(of if isinstance(of, tuple) else rgb(of), rgb(self.theme.background), share))

    def ink(self, fill: QColor) -> str:
        """Return the colour of text on a filled area."""
        return ink(self.theme, (fill.red(), fill.green(), fill.blue()))

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: QColor | str, dashed: bool = False) -> None:
        """Draw a thin line."""
        self.painter.setPen(QPen(QColor(colour), 1, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine))
        self.painter.drawLine(QPointF(x1, y1), QPointF(x2, y2))

    def arrow(self, begin: QPointF, end: QPointF, colour: QColor, dashed: bool = False) -> None:
        """Draw a bent arrow from a lane to another one, which it meets upright."""
        down = 1.0 if end.y() > begin.y() else -1.0
        half = (end.y() - begin.y()) / 2
        path = QPainterPath(begin)
        path.cubicTo(begin.x(), begin.y() + half, end.x(), end.y() - half, end.x(), end.y() - 4 * down)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.setPen(QPen(colour, 1.3, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine))
        self.painter.drawPath(path)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(colour)
        head = (QPointF(-3.5, -6 * down), QPointF(3.5, -6 * down), QPointF(0, 0))
        self.painter.drawPolygon(QPolygonF([end + corner for corner in head]))

    def pointer(self, begin: QPointF, end: QPointF, colour: QColor) -> None:
        """Draw a straight arrow to the right, or to the left."""
        self.painter.setPen(QPen(colour, 1.3))
        self.painter.drawLine(begin, end)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(colour)
        back = -6 if end.x() > begin.x() else 6
        self.painter.drawPolygon(QPolygonF([end + QPointF(*at) for at in ((back, -3.5), (back, 3.5), (0, 0))]))
