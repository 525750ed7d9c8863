"""Paints the ladder: chapters, names, bars, the library's line, two columns of figures, and a linear axis below."""

from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen

from gemmviz.bench.figures import has_params
from gemmviz.bench.ranking import LIBRARIES
from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.figures.axis import linear_ticks
from gemmviz.ui.charts.figures.ladder_figures import Bar, LadderFigures
from gemmviz.ui.charts.painted import Mark, page_font, role_colour, share_text
from gemmviz.ui.look.figure_text import (
    changes_text,
    gflops_text,
    of_base_text,
    rung_text,
    shown_name,
    standing_text,
    times,
)
from gemmviz.ui.look.short_names import shortened
from gemmviz.ui.look.theme import THEMES

_NAMES, _GAP, _INSET = 0.3, 8.0, 3.0
_LEAST_ROW, _MOST_ROW = 0.98, 1.7  # in lines of text
_HEAD, _FOOT = 1.35, 2.5
_BAR = 0.62
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class LadderDrawing:
    """Paints the bars of `LadderFigures`.

    Parameters
    ----------
    session
        The session with the theme and the names of the kernels.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def rows(self, figures: LadderFigures) -> int:
        """Return the number of rows: kernels and headings of chapters."""
        return len(figures.bars) + len({bar.chapter for bar in figures.bars})

    def heights(self, figures: LadderFigures, height: float) -> tuple[float, float]:
        """Return the height of all rows and of those that are shown at once, in pixels, for the height of a surface."""
        line = QFontMetricsF(page_font()).height()
        pitch, shown = self._pitch(figures, height - (_HEAD + _FOOT) * line, line)
        return self.rows(figures) * pitch, shown * pitch

    def chosen_row(self, figures: LadderFigures, height: float) -> tuple[float, float]:
        """Return top and bottom of the chosen kernel's row, in pixels below the first row, with a heading above it."""
        whole, _ = self.heights(figures, height)
        pitch = whole / max(self.rows(figures), 1)
        number, chapter = 0, None
        for bar in figures.bars:
            begins, chapter = bar.chapter != chapter, bar.chapter
            if bar.role == "chosen":
                return number * pitch, (number + 1 + begins) * pitch
            number += 1 + begins
        return 0.0, 0.0

    def _pitch(self, figures: LadderFigures, room: float, line: float) -> tuple[float, int]:
        """Return the height of a row, and how many whole rows are shown at once."""
        rows = max(self.rows(figures), 1)
        pitch = min(max(room / rows, _LEAST_ROW * line), _MOST_ROW * line)
        return pitch, max(min(rows, int(room / pitch + 1e-6)), 1)

    def paint(self, painter: QPainter, size: QSize, figures: LadderFigures, scrolled: float) -> list[Mark]:
        """Paint everything.

        Parameters
        ----------
        painter, size
            The painter and the size of the surface.
        figures
            The figures to paint.
        scrolled
            The scroll position, in pixels; it is rounded to a whole row, so that none is cut.

        Returns
        -------
        list of Mark
            One per row.
        """
        if not figures.bars:
            return []
        self._theme, self._font, self._bold = THEMES[self._session.preferences.theme], page_font(), page_font(True)
        self._metrics = QFontMetricsF(self._bold)
        line = self._metrics.height()
        self._columns(figures, size.width())
        pitch, shown = self._pitch(figures, size.height() - (_HEAD + _FOOT) * line, line)
        room = QRectF(0, _HEAD * line, size.width(), shown * pitch)
        self._axis(painter, figures, room)
        painter.save()
        painter.setClipRect(room)
        marks, top = [], room.top() - round(scrolled / pitch) * pitch
        chapter = None
        for number, bar in enumerate(figures.bars):
            if bar.chapter != chapter:
                chapter = bar.chapter
                heading = QRectF(_INSET, top, self._right, pitch)
                self._write(painter, tr(chapter.title), heading, self._theme.text, bold=True)
                top += pitch
            row = QRectF(0, top, size.width(), pitch)
            self._row(painter, bar, figures.bars[number - 1] if number else None, row)
            marks.append(Mark(row.intersected(room), partial(_bar_text, bar, self._session), bar.kernel))
            top += pitch
        painter.restore()
        self._library_lines(painter, figures, room)
        return marks

    # The parts

    def _columns(self, figures: LadderFigures, width: float) -> None:
        """Divide the width: names, bars, GFLOPS, share of the library."""
        wide = self._metrics.horizontalAdvance
        above = [None, *figures.bars]
        names = [self._name(bar, over) for bar, over in zip(figures.bars, above, strict=False)]
        self._left = min(max(map(wide, names)) + 2 * _GAP, _NAMES * width)
        library = next((bar.standing.library for bar in figures.bars if bar.standing.library), "")
        self._heads = ("GFLOPS", tr("of {library}", library=tr(library).partition(",")[0]) if library else "")
        self._shared = bool(library) or any(bar.standing.is_variant for bar in figures.bars)
        cells = [(self._gflops(bar), self._share(bar)) for bar in figures.bars]
        self._widths = [max(wide(text) for text in column) + _GAP for column in zip(self._heads, *cells, strict=True)]
        self._right = width - sum(self._widths) - _INSET
        everywhere = [gflops for bar in figures.bars for gflops in (bar.gflops, *(one for _, one in bar.elsewhere))]
        self._most = 1.03 * max(everywhere) or 1.0
        self._ends = [self._x(bar.gflops) for bar in _libraries(figures)]

    def _x(self, gflops: float) -> float:
        return self._left + (self._right - self._left - _GAP) * (gflops / self._most)

    def _axis(self, painter: QPainter, figures: LadderFigures, area: QRectF) -> None:
        theme, line = self._theme, self._metrics.height()
        count = int((self._right - self._left) / (self._metrics.horizontalAdvance(gflops_text(self._most)) + 3 * _GAP))
        faint = QColor(theme.outline)
        faint.setAlpha(70)
        for tick in linear_ticks(self._most, max(count, 1)):
            x = self._x(tick)
            painter.setPen(QPen(faint if tick else QColor(theme.outline), 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 4))
            box = QRectF(x - 60, area.bottom() + 4, 120, line)
            self._write(
                painter, gflops_text(tick) if tick else "0", box, theme.muted, int(Qt.AlignmentFlag.AlignCenter)
            )
        box = QRectF(self._left, area.bottom() + 4 + line, self._right - self._left - _GAP, line)
        self._write(painter, "GFLOPS", box, theme.muted, _CENTRE)
        right = self._right
        for head, width in zip(self._heads, self._widths, strict=True):
            box = QRectF(right - 20, area.top() - _HEAD * line, width + 20, line)
            self._write(painter, head, box, theme.muted, _RIGHT)
            right += width

    def _row(self, painter: QPainter, bar: Bar, above: Bar | None, row: QRectF) -> None:
        theme, chosen = self._theme, bar.role == "chosen"
        if chosen:
            painter.fillRect(row, self._tint())
        colour = role_colour(bar.role, theme)
        strong = bar.role != "other"
        metrics = QFontMetricsF(self._bold if chosen else self._font)
        name = shortened(self._name(bar, above), metrics, self._left - _GAP - _INSET)
        self._write(painter, name, QRectF(0, row.top(), self._left - _GAP, row.height()), theme.text, _RIGHT, chosen)
        high = row.height() * _BAR
        end = self._x(bar.gflops)
        shape = QRectF(self._left, row.center().y() - high / 2, max(end - self._left, 2.0), high)
        if bar.gflops and bar.origin:
            painter.setPen(QPen(colour if strong else QColor(theme.outline), 2 if strong else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(shape.adjusted(0.5, 0.5, -0.5, -0.5), 1.5, 1.5)
        elif bar.gflops:
            painter.setPen(QPen(colour, 1))
            painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern) if bar.standing.is_variant else colour)
            painter.drawRoundedRect(shape, 1.5, 1.5)
        for _, gflops in bar.elsewhere:
            self._other_device(painter, QPointF(self._x(gflops), row.center().y()), high / 2)
        right = self._right
        for text, width in zip((self._gflops(bar), self._share(bar)), self._widths, strict=True):
            self._write(painter, text, QRectF(right, row.top(), width, row.height()), theme.text, _RIGHT, chosen)
            right += width
        if bar.jump is not None:
            self._jump(painter, bar, row, end)

    def _other_device(self, painter: QPainter, at: QPointF, radius: float) -> None:
        """Draw a ring at the figure of another device, as in the chart over N."""
        painter.setPen(QPen(QColor(self._theme.text), 2))
        painter.setBrush(QColor(self._theme.background))
        painter.drawEllipse(at, min(radius, 5.0), min(radius, 5.0))

    def _jump(self, painter: QPainter, bar: Bar, row: QRectF, end: float) -> None:
        """Write the speed relative to the kernel before it: beside the bar, or inside it if there is no room."""
        ratio = times(bar.jump or 0.0)
        texts = [tr("{times} the kernel before", times=ratio), ratio]
        if bar.role != "chosen":
            texts = [f"{ratio}: {title_text(bar.kernel)}", *texts]
        chosen = bar.role == "chosen"
        metrics = QFontMetricsF(self._bold if chosen else self._font)
        limit = min([x for x in self._ends if x > end] + [self._right])
        inside = min([x for x in self._ends if self._left < x < end] + [end])  # left of a library's line, too
        for text in texts:
            wide = metrics.horizontalAdvance(text) + 2 * _GAP
            if end + wide <= limit:
                box = QRectF(end + _GAP, row.top(), wide, row.height())
            elif self._left + wide <= inside and bar.origin:
                box = QRectF(inside - wide + _GAP, row.top(), wide - 2 * _GAP, row.height())
                self._clear(painter, box, chosen)
            else:
                continue
            self._write(painter, text, box, self._theme.accent if chosen else self._theme.muted, _LEFT, chosen)
            return

    def _clear(self, painter: QPainter, box: QRectF, chosen: bool) -> None:
        """Take away the edges of a low bar behind a text inside it."""
        painter.fillRect(box, QColor(self._theme.background))
        if chosen:
            painter.fillRect(box, self._tint())

    def _tint(self) -> QColor:
        ground = QColor(self._theme.accent)
        ground.setAlpha(30)
        return ground

    def _library_lines(self, painter: QPainter, figures: LadderFigures, area: QRectF) -> None:
        """Draw a dashed line at the figure of a library, with its name and figure above the line."""
        line, taken = self._metrics.height(), float("inf")
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for bar in sorted(_libraries(figures), key=lambda bar: -bar.gflops):
            x = self._x(bar.gflops)
            painter.setPen(QPen(QColor(self._theme.text), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top() - 3), QPointF(x, area.bottom()))
            text = f"{self._name(bar, None)} {gflops_text(bar.gflops)}"
            wide = self._metrics.horizontalAdvance(text)
            start = max(x - wide - 2, 0.0)
            if x + 2 <= taken and start + wide <= self._right:
                box = QRectF(start, area.top() - _HEAD * line, wide + 4, line)
                self._write(painter, text, box, self._theme.text, _RIGHT, True)
                taken = start - _GAP

    # Texts

    def _name(self, bar: Bar, above: Bar | None) -> str:
        kernel, session = bar.kernel, self._session
        if kernel.changes and above is not None and above.kernel.base_name == kernel.base_name:
            return f"↳ {changes_text(kernel)}"
        if kernel.backend in LIBRARIES:
            name = shown_name(kernel, session)
            # The element type is above the bars; products of TF32 stand beside those of its floats.
            return name if kernel.math == "tf32" else ", ".join(name.split(", ")[::2])
        usual = kernel.changes or has_params(bar.standing.row, kernel.defaults)
        return shown_name(kernel, session) if usual else rung_text(kernel, bar.standing.row, session)

    def _gflops(self, bar: Bar) -> str:
        if not bar.gflops:
            return of_base_text(bar.standing)
        return gflops_text(bar.gflops) + (" ⚑" if bar.standing.row.get("flags") else "")

    def _share(self, bar: Bar) -> str:
        if bar.standing.is_variant:
            return of_base_text(bar.standing) if bar.gflops else "–"
        return share_text(bar.standing.share) if self._shared else ""

    def _write(
        self, painter: QPainter, text: str, box: QRectF, colour: str, align: int = _LEFT, bold: bool = False
    ) -> None:
        painter.setFont(self._bold if bold else self._font)
        painter.setPen(QColor(colour))
        painter.drawText(box, align, text)


def _bar_text(bar: Bar, session: Session) -> str:
    """Return the text about a bar, with a line for each other device."""
    others = [f"{origin}: {gflops_text(gflops)} GFLOPS" for origin, gflops in bar.elsewhere]
    return "\n".join([standing_text(bar.standing, session), *others])


def _libraries(figures: LadderFigures) -> list[Bar]:
    return [bar for bar in figures.bars if bar.kernel.backend in LIBRARIES]
