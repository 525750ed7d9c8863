"""GFLOPS over N: the chosen kernel, the one before it, the best and the library in colour, all others pale."""

from functools import partial
from itertools import pairwise
from math import hypot

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from gemmviz.bench.figures import has_params
from gemmviz.bench.row import Row
from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.ui.charts.figures.curves import Curve, curves
from gemmviz.ui.charts.figures.figure_table import FigureTable
from gemmviz.ui.charts.log_frame import LogFrame
from gemmviz.ui.charts.painted import Mark, PaintedChart, nudged, page_font, role_colour
from gemmviz.ui.look.figure_text import (
    details,
    dtype_text,
    measured_briefly,
    measured_text,
    origin_name,
    rung_text,
    shown_name,
)
from gemmviz.ui.look.short_names import shortened

_MOST_LABEL = 0.32  # the largest share of the width
_REACH, _STEP = 9.0, 10.0
_DOT = {"chosen": 4.0, "before": 3.2, "best": 3.2, "library": 3.2, "other": 0.0}
_ORDER = ("other", "library", "best", "before", "chosen")


class SizeChart(PaintedChart):
    """GFLOPS over N of every kernel of one element type at M = N = K; both axes are logarithmic.

    A filled dot was measured here, a hollow dot is a reference.

    Parameters
    ----------
    session
        The session with the results to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("Over N"))
        self.curves: list[Curve] = []

    def drawn(self) -> list[Curve]:
        """Return the curves, in the ladder's order."""
        return self.curves

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        headings = ("kernel", "parameters", "N (= M = K)", "GFLOPS (cold median)", "origin")
        rows: list[tuple[object, ...]] = []
        for curve in self.drawn():
            origin = curve.origin or f"measured: {self.session.results.device_and_host or 'this machine'}"
            for row in curve.rows:
                params = " ".join(f"{name}={value}" for name, value in (row.get("params") or {}).items())
                rows.append((curve.kernel.name, params, row["N"], row["gflops"], origin))
        return FigureTable(headings, rows)

    def refresh(self) -> None:
        """Draw the results as they are now."""
        self.curves = curves(self.session)
        origins = {curve.origin for curve in self.curves}
        if len(origins) == 1:
            (origin,) = origins
            whole = origin_name(origin)
            self.tag.say(whole.rpartition(", ")[0] if origin else tr("measured"), bool(origin), whole)
        else:
            self.tag.say("")
        if self.curves:
            dtype = dtype_text(self.session.choice.kernel.dtype)
            text = tr("GFLOPS for M = N = K, {dtype}; both axes logarithmic", dtype=dtype)
            marks = self._marks(origins) if len(origins) > 1 else ""
            self.hint.setText(f"{text}  ·  {marks}" if marks else text)
        elif self.session.results.reading:
            self.hint.setText(tr("Reading the results…"))
        else:
            self.hint.setText(tr("Nothing is measured at M = N = K yet: press “Over N”"))
        self.plot.update()

    def _marks(self, origins: set[str]) -> str:
        """Return the legend of the dots: filled where measured, hollow for each other origin."""
        texts = [("●", measured_briefly(self.session.results))] if "" in origins else []
        for origin in sorted(origins - {""}):
            named = tr("reference") if origin.startswith("reference") else origin_name(origin).rpartition(", ")[0]
            texts.append(("○", named))
        return ", ".join(f"{mark}\N{NO-BREAK SPACE}{text}" for mark, text in dict.fromkeys(texts))

    # Painting

    def frame(self, size: QSize) -> LogFrame:
        """Return the axes for a surface of a size."""
        live = self._live_point()
        sizes = [row["N"] for curve in self.curves for row in curve.rows] + ([live[0]] if live else [])
        figures = [row["gflops"] or 1.0 for curve in self.curves for row in curve.rows] + ([live[1]] if live else [])
        return LogFrame(
            QSize(round(size.width() - self._label_width(size.width())), size.height()),
            (min(sizes), max(sizes)),
            (min(figures), max(figures)),
            sorted(set(sizes)),
        )

    def paint_all(self, painter: QPainter) -> list[Mark]:
        """Paint axes, curves and their labels."""
        live = self._live_point()
        if not self.curves and live is None:
            return []
        frame = self.frame(self.plot.size())
        frame.paint(painter, self.theme, "N", "GFLOPS")
        marks: list[Mark] = []
        for curve in sorted(self.curves, key=lambda c: _ORDER.index(c.role)):
            marks += self._curve(painter, frame, curve)
        if live is not None:
            self._live(painter, frame, live)
        self._labels(painter, frame)
        return marks

    def _curve(self, painter: QPainter, frame: LogFrame, curve: Curve) -> list[Mark]:
        colour = role_colour(curve.role, self.theme)
        focus = curve.role != "other"
        points = [frame.at(row["N"], row["gflops"] or 1.0) for row in curve.rows]
        painter.setPen(QPen(colour, 2.4 if curve.role == "chosen" else 1.6 if focus else 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(points)
        radius = _DOT[curve.role] or (1.5 if len(points) > 1 else 2.5)
        painter.setPen(QPen(colour, 1.5 if focus else 1.0))
        painter.setBrush(QColor(self.theme.background) if curve.origin else colour)
        for point in points if focus or len(points) == 1 else ():
            painter.drawEllipse(point, radius, radius)
        marks = [
            Mark(_spot(point), partial(self._facts, curve, row), curve.kernel, _REACH)
            for point, row in zip(points, curve.rows, strict=True)
        ]
        whole = partial(self._facts, curve)
        for start, end in pairwise(points):
            length = hypot(end.x() - start.x(), end.y() - start.y())
            for step in range(1, int(length / _STEP)):
                along = start + (end - start) * (step * _STEP / length)
                marks.append(Mark(_spot(along), whole, curve.kernel, _REACH / 2, by_key=False))
        return marks

    def _facts(self, curve: Curve, row: Row | None = None) -> str:
        """Return a text about a curve and its origin; with a row, also the figures of that point."""
        origin = origin_name(curve.origin) if curve.origin else measured_text(self.session.results)
        point = [f"N = {row['N']}", *details(row)] if row is not None else []
        return "\n".join([f"{self._name(curve)}: {title_text(curve.kernel)}", origin, *point])

    def _live_point(self) -> tuple[int, float] | None:
        """Return (N, GFLOPS so far) of the current measurement if it has M = N = K and a drawn kernel."""
        live = self.session.results.live
        if live is None or live.turn is None or len(set(live.turn.size)) > 1 or not live.median:
            return None
        return (live.turn.size[1], live.median) if live.turn.kernel == self.session.choice.kernel.name else None

    def _live(self, painter: QPainter, frame: LogFrame, live: tuple[int, float]) -> None:
        point, colour = frame.at(*live), role_colour("chosen", self.theme)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour)
        painter.drawEllipse(point, 4.0, 4.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(point, 8.0, 8.0)

    def _labels(self, painter: QPainter, frame: LogFrame) -> None:
        """Write the names of the coloured curves to the right of their ends, without overlaps."""
        named: dict[str, tuple[Curve, QPointF]] = {}
        for curve in self.curves:
            end = frame.at(curve.rows[-1]["N"], curve.rows[-1]["gflops"] or 1.0)
            known = named.get(curve.kernel.name)
            if curve.role != "other" and (known is None or end.x() > known[1].x()):
                named[curve.kernel.name] = curve, end
        others = {curve.kernel.name for curve in self.curves if curve.role == "other"} - named.keys()
        plain, bold = page_font(), page_font(True)
        line = QFontMetricsF(plain).height()
        left = frame.area.right() + 20
        room = self.plot.width() - left - 2
        labels: list[tuple[float, str, QColor, bool, QPointF | None]] = []
        for curve, end in named.values():
            colour = role_colour(curve.role, self.theme)
            strong = curve.role == "chosen"
            # If there is little room, only the colour shows the relation to the chosen kernel.
            metrics = QFontMetricsF(bold if strong else plain)
            fits = metrics.horizontalAdvance(self._label(curve)) <= room
            labels.append((end.y(), self._label(curve) if fits else self._name(curve), colour, strong, end))
        if others:
            texts = (
                trn("{count} other: hover", "{count} others: hover", len(others)),
                trn("{count} other kernel", "{count} other kernels", len(others)),
            )
            wide = QFontMetricsF(plain).horizontalAdvance
            label = next((text for text in texts if wide(text) <= room), f"+ {len(others)}")
            labels.append((frame.area.center().y() + 3 * line, label, QColor(self.theme.muted), False, None))
        wanted = [label[0] for label in labels]
        places = nudged(wanted, line, frame.area.top(), frame.area.bottom())
        for (_, text, colour, strong, point), y in zip(labels, places, strict=True):
            if point is not None and (abs(point.y() - y) > 3 or left - point.x() > 24):
                faint = QColor(colour)
                faint.setAlpha(110)
                painter.setPen(QPen(faint, 1, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(point.x() + 5, point.y()), QPointF(left - 3, y))
            font = bold if strong else plain
            painter.setFont(font)
            painter.setPen(colour)
            box = QRectF(left, y - line / 2, room, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shortened(text, QFontMetricsF(font), room))

    def _label_width(self, width: float) -> float:
        """Return the room for the names of the coloured curves, in pixels."""
        metrics = QFontMetricsF(page_font(True))
        names = [self._label(curve) for curve in self.curves if curve.role != "other"]
        return min(max(map(metrics.horizontalAdvance, names), default=0.0) + 16, _MOST_LABEL * width)

    def _label(self, curve: Curve) -> str:
        name = self._name(curve)
        if curve.role == "before":
            return tr("{kernel}, before", kernel=name)
        return tr("{kernel}, best own", kernel=name) if curve.role == "best" else name

    def _name(self, curve: Curve) -> str:
        if has_params(curve.rows[0], curve.kernel.defaults):
            return shown_name(curve.kernel, self.session)
        return rung_text(curve.kernel, curve.rows[0], self.session)


def _spot(point: QPointF) -> QRectF:
    return QRectF(point.x() - 1, point.y() - 1, 2, 2)
