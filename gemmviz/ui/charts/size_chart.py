"""GFLOPS over N: one curve per rung, with a point at each size that was measured."""

from dataclasses import dataclass, replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QCheckBox

from gemmviz.bench.figures import has_params, key_of
from gemmviz.bench.ranking import LIBRARIES, place
from gemmviz.bench.row import Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.chart import Chart, FigureTable, small_font
from gemmviz.ui.charts.chart_choices import PlaceBox, ReferenceBox, SourceLegend
from gemmviz.ui.charts.curve_list import SYMBOLS, CurveEntry, CurveList
from gemmviz.ui.look.figure_text import details, origin_name, rung_text, shown_name

_LIST_FROM = 640
_NEAR_PX = 24.0
_LABEL_GAP = 5.0
"""Pixels on either side of a size below the axis."""


@dataclass(frozen=True)
class Curve:
    """The rows of one rung with the same parameters, measured in one place, from small to large N.

    ``usual``: drawn unless the user switches it off; the others are drawn when the user switches them on.
    """

    kernel: Kernel
    name: str
    origin: str
    rows: tuple[Row, ...]
    usual: bool

    @property
    def key(self) -> tuple[str, str]:
        """The key that distinguishes this curve from all others."""
        return self.name, self.origin


def curves(session: Session, where: str | None = None) -> list[Curve]:
    """Return the curves, in the ladder's order; a reference stands where this machine has no figure.

    Usual are those measured here, and of the references those with the parameters measured here last, else with the
    default ones. The first curve of a rung is a usual one.

    Parameters
    ----------
    session
        The session with the figures.
    where
        ``"CPU"``, ``"GPU"`` or None for both.
    """
    found = []
    for kernel in session.choice.kernels:
        if kernel.exhibit or where not in (None, place(kernel)):
            continue
        found += sorted(_of_rung(session, kernel), key=lambda curve: not curve.usual)
    return found


def _of_rung(session: Session, kernel: Kernel) -> list[Curve]:
    """Return the curves of one rung: those measured here first, the last one before the others."""
    measured = list(session.results.figures.over_n(kernel.name).values())
    order = [key_of(row) for row in reversed(session.results.figures.of(kernel.name))]
    measured.sort(key=lambda rows: min(order.index(key_of(row)) for row in rows))
    here = {row["N"] for rows in measured for row in rows}
    params = (measured[0][0].get("params") or {}) if measured else kernel.defaults
    rest: list[tuple[list[Row], str]] = []
    for reference in session.results.references if session.results.references_shown else ():
        for rows in reference.figures.over_n(kernel.name).values():
            left = [row for row in rows if row["N"] not in here]
            if left:
                rest.append((left, reference.origin(left[0])))
    found = [_curve(session, kernel, rows, "", True) for rows in measured]
    found += [_curve(session, kernel, rows, origin, has_params(rows[0], params)) for rows, origin in rest]
    if found and not any(curve.usual for curve in found):
        found[0] = replace(found[0], usual=True)
    return found


def _curve(session: Session, kernel: Kernel, rows: list[Row], origin: str, usual: bool) -> Curve:
    return Curve(kernel, rung_text(kernel, rows[0], session), origin, tuple(rows), usual)


class SizeChart(Chart):
    """GFLOPS over N of every rung measured at M = N = K; libraries and references are dashed.

    Parameters
    ----------
    session
        The session with the results to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("GFLOPS over N"))
        self.setAccessibleName(self.name)
        self.log = QCheckBox(tr("log GFLOPS"))
        self.log.setAccessibleName(tr("Logarithmic GFLOPS"))
        self.log.setChecked(session.chart_choices.log_sizes)
        self.log.setToolTip(tr("Logarithmic or linear GFLOPS; N is always logarithmic"))
        self.places = PlaceBox(session.chart_choices.places, "sizes")
        self.reference = ReferenceBox(session.results)
        self.log.toggled.connect(self._on_log)
        self.places.activated.connect(lambda *_: self.refresh())
        for widget in (self.reference, self.places, self.log):
            self.controls.addWidget(widget)
        self.list = CurveList()
        self.list.toggled.connect(self._draw)
        self.body.addWidget(self.list)
        self.legend = SourceLegend(session.results)
        self.column.addWidget(self.legend)
        self.curves: list[Curve] = []
        self._at: tuple[int, int] | None = None
        self._sizes: list[int] = []
        self.plot.plotItem.vb.sigResized.connect(self._label_sizes)
        self.plot.showGrid(x=True, y=True, alpha=0.25)
        self.plot.pointed.connect(self._on_pointed)
        self.plot.left.connect(lambda: self._point(None))
        self.plot.clicked.connect(self._on_clicked)
        self.plot.moved.connect(self._on_moved)

    def drawn(self) -> list[Curve]:
        """Return the curves that are not switched off."""
        return [curve for curve in self.curves if self.list.is_on(curve.key)]

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        headings = ("kernel", "parameters", "N (= M = K)", "GFLOPS (cold median)", "origin")
        rows: list[tuple[object, ...]] = []
        for curve in self.drawn():
            origin = curve.origin or f"measured: {self.session.results.device or 'this machine'}"
            for row in curve.rows:
                params = " ".join(f"{name}={value}" for name, value in (row.get("params") or {}).items())
                rows.append((curve.kernel.name, params, row["N"], row["gflops"], origin))
        return FigureTable(headings, rows)

    def refresh(self) -> None:
        """Draw the results as they are now."""
        self.curves = curves(self.session, self.places.currentData())
        entries = [CurveEntry(c.key, self._short_name(c), c.kernel.name, self._look(c), c.usual) for c in self.curves]
        self.list.show_curves(entries, self.theme)
        self._draw()

    def _short_name(self, curve: Curve) -> str:
        """Return a rung's name, with parameters where they are not its defaults; these alone, below its first line."""
        params = curve.rows[0].get("params") or {}
        if not curve.usual and params:
            return " ".join(f"{name}={value}" for name, value in params.items())
        plain = has_params(curve.rows[0], curve.kernel.defaults)
        return shown_name(curve.kernel, self.session) if plain else curve.name

    def _look(self, curve: Curve) -> tuple[str, str, bool, bool]:
        """Return colour, symbol, whether the line is dashed and whether the points are hollow: a rung keeps its own."""
        if curve.kernel.backend in LIBRARIES:
            libraries = [k.name for k in self.session.choice.kernels if k.backend in LIBRARIES]
            symbol = SYMBOLS[libraries.index(curve.kernel.name) % len(SYMBOLS)]
            return self.theme.text, symbol, True, bool(curve.origin)
        number = [k.name for k in self.session.choice.kernels].index(curve.kernel.name)
        colours = self.theme.curves
        dashed = bool(curve.origin) or curve.kernel.backend in LIBRARIES
        return (
            colours[number % len(colours)],
            SYMBOLS[number // len(colours) % len(SYMBOLS)],
            dashed,
            bool(curve.origin),
        )

    def _draw(self) -> None:
        drawn, log = self.drawn(), self.log.isChecked()
        self.plot.clear()
        self.list.setVisible(bool(self.curves) and self.width() >= _LIST_FROM)
        self.legend.say([c.origin for c in self.curves], "●", "○")
        self.hint.setText("" if self.curves else tr("Nothing is measured at M = N = K yet: press “Over N”"))
        for widget in (self.places, self.log):
            widget.setVisible(bool(self.session.results.sizes()))
        for side, mode in (("left", log), ("bottom", True)):
            self.plot.getAxis(side).setLogMode(mode)
            self.plot.showAxis(side, bool(drawn))
        if not drawn:
            return
        self.plot.setLabel("bottom", tr("N, with M = N = K"))
        self.plot.setLabel("left", "GFLOPS")
        for curve in drawn:
            colour, symbol, dashed, hollow = self._look(curve)
            chosen = curve.kernel.name == self.session.choice.kernel.name
            pen = pg.mkPen(colour, width=2 if chosen else 1, style=_DASH if dashed else Qt.PenStyle.SolidLine)
            x, y = self._places(curve)
            self.plot.plot(
                x,
                y,
                pen=pen,
                symbol=symbol,
                symbolSize=10 if chosen else 7,
                symbolPen=pg.mkPen(colour, width=1),
                symbolBrush=None if hollow else colour,
            )
        self._fit(drawn, log)

    def _places(self, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
        figures = np.array([row["gflops"] for row in curve.rows])
        sizes = np.log10([row["N"] for row in curve.rows])
        return sizes, np.log10(figures) if self.log.isChecked() else figures

    def _on_log(self, log: bool) -> None:
        self.session.chart_choices.log_sizes = log
        self.refresh()

    def _fit(self, drawn: list[Curve], log: bool) -> None:
        sizes = sorted({row["N"] for curve in drawn for row in curve.rows})
        figures = np.concatenate([self._places(curve)[1] for curve in drawn])
        low, high = float(figures.min()), float(figures.max())
        margin = max(high - low, 0.3) * 0.06
        self.plot.setYRange(low - margin if log else 0.0, high + margin if log else high * 1.06, padding=0)
        ends = float(np.log10(sizes[0])), float(np.log10(sizes[-1]))
        self.plot.setXRange(ends[0] - 0.08, ends[1] + 0.08, padding=0)
        self._sizes = sizes
        self._label_sizes()

    def _label_sizes(self, *_: object) -> None:
        """Write below the axis as many sizes as have room, the powers of two first; the others keep a tick."""
        metrics = QFontMetricsF(small_font())
        labelled: dict[int, tuple[float, float]] = {}
        for size in sorted(self._sizes, key=lambda size: (-(size & -size), size)):
            middle, half = self.plot.pixel(np.log10(size), 0).x(), metrics.horizontalAdvance(str(size)) / 2 + _LABEL_GAP
            if all(middle + half <= left or right <= middle - half for left, right in labelled.values()):
                labelled[size] = middle - half, middle + half
        places = [(float(np.log10(n)), str(n) if n in labelled else "") for n in self._sizes]
        self.plot.getAxis("bottom").setTicks([places])

    # Pointing

    def _on_pointed(self, place: QPointF) -> None:
        mouse = self.plot.pixel(place.x(), place.y())
        best: tuple[float, tuple[int, int]] | None = None
        for number, curve in enumerate(self.drawn()):
            for at, (x, y) in enumerate(zip(*self._places(curve), strict=True)):
                point = self.plot.pixel(x, y) - mouse
                distance = float(np.hypot(point.x(), point.y()))
                if distance < _NEAR_PX and (best is None or distance < best[0]):
                    best = distance, (number, at)
        self._point(best[1] if best else None)

    def _on_clicked(self, place: QPointF) -> None:
        self._on_pointed(place)
        if self._at is not None and (kernel := self.drawn()[self._at[0]].kernel) is not self.session.choice.kernel:
            self.session.choice.choose_kernel(kernel)

    def _on_moved(self, right: int, down: int) -> None:
        number, at = self._at or (0, -right if right > 0 else 0)
        drawn = self.drawn()
        if drawn:
            number = (number + (down if self._at else 0)) % len(drawn)
            self._point((number, max(0, min(at + right, len(drawn[number].rows) - 1))))

    def _point(self, which: tuple[int, int] | None) -> None:
        """Show all figures of a point."""
        self._at = which
        if which is None:
            self.plot.tell("", QPoint())
            return
        curve = self.drawn()[which[0]]
        row = curve.rows[which[1]]
        x, y = self._places(curve)
        device = self.session.results.device or tr("this machine")
        origin = origin_name(curve.origin) if curve.origin else tr("measured here, {device}", device=device)
        text = "\n".join([f"{curve.name}: {tr(curve.kernel.title)}", origin, f"N = {row['N']}", *details(row)])
        self.plot.tell(text, self.plot.pixel(x[which[1]], y[which[1]]))

    def picture_size(self) -> QSize:
        """Return a size that shows the whole list of curves."""
        return super().picture_size().expandedTo(QSize(0, self.list.whole_height() + self.legend.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the list of curves where there is room for it."""
        super().resizeEvent(event)
        self.list.setVisible(bool(self.curves) and self.width() >= _LIST_FROM)


_DASH = Qt.PenStyle.DashLine
