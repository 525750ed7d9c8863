"""The chart of a running search for the fastest parameters: a dot per candidate, and a line for the best so far."""

from itertools import accumulate

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSpinBox

from gemmviz.bench.tuning.outcome import Candidate, params_text
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.measurable import why_not
from gemmviz.session.rules.rivals import Rival, rivals
from gemmviz.ui.charts.chart import Chart, small_font
from gemmviz.ui.charts.figures.figure_table import FigureTable
from gemmviz.ui.charts.tuning_text import candidate_text, headline, invitation, left_out_text
from gemmviz.ui.connections import listen
from gemmviz.ui.known import known
from gemmviz.ui.look.figure_text import gflops_text, origin_name

_NEAR_PX = 24.0
_WHOLE_UP_TO, _LEAST = 40, 5
# Below this height only the plot, a short sentence and the buttons have room.
_SMALL_BELOW = 240
# A library that is faster than this would compress the dots; only the legend shows it.
_RIVAL_WITHIN = 2.5
_ABOVE, _BELOW = 1.12, -0.035
_MOST_TICKS, _STEPS = 14, [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
_LEAST_SECONDS, _MOST_SECONDS, _STEP_SECONDS = 5, 3600, 30


class TuningChart(Chart):
    """GFLOPS of every candidate in the order in which they were first tried.

    A filled dot was timed in interleaved rounds, a hollow dot once, a cross has no figure.

    Parameters
    ----------
    session
        The session with the `tuning` to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("Tuning: GFLOPS of each candidate"))
        self.setAccessibleName(self.name)
        self.plot.setAccessibleName(self.name)
        self._make_controls()
        self._make_empty()
        self._make_legend()
        self._items: list[pg.GraphicsObject] = []
        self._at: int | None = None
        self.plot.showGrid(y=True, alpha=0.25)
        self.plot.pointed.connect(self._on_pointed)
        self.plot.left.connect(lambda: self._point(None))
        self.plot.moved.connect(self._on_moved)
        listen(self, session.progress.changed, lambda *_: self._offer())

    def _make_controls(self) -> None:
        """Make the row above the plot: the duration of the search, and its buttons."""
        self.seconds = QSpinBox()
        self.seconds.setRange(_LEAST_SECONDS, _MOST_SECONDS)
        self.seconds.setSingleStep(_STEP_SECONDS)
        self.seconds.setSuffix(tr(" s"))
        self.seconds.setValue(self.session.tuning.seconds)
        self.seconds.setKeyboardTracking(False)
        self.seconds.setAccessibleName(tr("How long a search may take"))
        self.seconds.setToolTip(tr("How long a search may take: the fewer candidates fit in, the fewer are tried"))
        self.seconds.valueChanged.connect(self._on_seconds)
        self.tune = QPushButton(tr("Tune"))
        self.tune.setAccessibleName(tr("Tune this kernel"))
        self.tune.setToolTip(
            tr("Search the declared values of the kernel's parameters for the fastest, at the size to measure (Ctrl+U)")
        )
        self.use = QPushButton(tr("Use these"))
        self.use.setObjectName("primary")
        self.use.setToolTip(tr("Measure this kernel with the parameters that were found (Ctrl+Shift+U)"))
        for widget in (self.seconds, self.tune, self.use):
            self.controls.addWidget(widget)

    def _make_empty(self) -> None:
        """Make the text that is shown while there is nothing to draw."""
        self.empty = QLabel()
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setMargin(24)
        # Even in a hidden tab its lines would require more height than a small screen has.
        self.empty.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self.body.addWidget(self.empty, 1)

    def _make_legend(self) -> None:
        """Make the part below the plot: the meaning of the marks, and the choice to measure with kept parameters."""
        self.legend = QLabel()
        self.legend.setObjectName("muted")
        self.legend.setWordWrap(True)
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.always = QCheckBox(tr("measure with the kept parameters"))
        self.always.setToolTip(
            tr(
                "Measure every kernel with the parameters that tuning found on this machine, for the nearest size, "
                "instead of its defaults"
            )
        )
        self.always.clicked.connect(self.session.tuning.want)
        below = QHBoxLayout()
        below.addWidget(self.legend, 1)
        below.addWidget(self.always)
        self.column.addLayout(below)

    def _on_seconds(self, seconds: int) -> None:
        self.session.tuning.seconds = seconds

    # Content

    def dots(self) -> list[Candidate]:
        """Return the candidates in the order in which they were first tried."""
        return sorted(self.session.tuning.candidates.values(), key=lambda c: c["place"])

    def table(self) -> FigureTable:
        """Return the candidates as a table."""
        tuning = self.session.tuning
        name = tuning.kernel.name if tuning.kernel else ""
        size = tuning.problem
        rows: list[tuple[object, ...]] = [
            (
                *(name, size.m, size.n, size.k, c["place"], params_text(c["params"]), c["status"], c["gflops"]),
                *(c["rounds"], c["number"] == tuning.default, c["number"] == tuning.best),
            )
            for c in self.dots()
        ]
        headings = (
            *("kernel", "M", "N", "K", "candidate", "parameters", "status", "GFLOPS", "rounds"),
            *("default", "best"),
        )
        return FigureTable(headings, rows)

    # Drawing

    def refresh(self) -> None:
        """Draw the current candidates."""
        self._offer()
        for item in self._items:
            self.plot.removeItem(item)
        self._items = []
        dots, tuning = self.dots(), self.session.tuning
        self._show_what_fits(bool(dots))
        most = max((c["gflops"] or 0.0 for c in dots), default=0.0)
        lines = rivals(tuning, self.session.results, self.session.choice.kernels) if dots else []
        drawn = [r for r in lines if r.gflops <= _RIVAL_WITHIN * most]
        self._say_legend(dots, [r for r in lines if r not in drawn])
        if not dots:
            return
        self._scale(len(dots), max([most, *(r.gflops for r in drawn)]) or 1.0)
        self._draw_best_line(dots)
        for rival in drawn:
            self._draw_rival(rival)
        self._draw_dots(dots)
        if not self._small:
            self._mark(dots)

    @property
    def _small(self) -> bool:
        return self.height() < _SMALL_BELOW

    def _show_what_fits(self, drawn: bool) -> None:
        """Show the widgets that fit; `drawn`: whether there are candidates to draw."""
        small = self._small
        for side in ("left", "bottom"):
            self.plot.showAxis(side, drawn)
        self.hint.setText(headline(self.session, brief=small))
        self.hint.setToolTip(headline(self.session))
        self.empty.setText("" if small else invitation(self.session))
        self.empty.setVisible(not drawn)
        self.plot.setVisible(drawn)
        for widget in (self.seconds, self.always, self.legend):
            widget.setVisible(not small)
        self.always.setChecked(self.session.tuning.wanted)

    def _scale(self, count: int, top: float) -> None:
        """Set the axes for a number of candidates and at most `top` GFLOPS."""
        total = self.session.tuning.total
        right = max(total if total <= _WHOLE_UP_TO else count, count, _LEAST)
        self.plot.setXRange(0.4, right + 0.6, padding=0)
        step = next(s for s in _STEPS if right <= _MOST_TICKS * s)
        self.plot.getAxis("bottom").setTicks([[(float(n), str(n)) for n in range(step, right + 1, step)]])
        # A little below 0; otherwise the crosses at 0 would be cut.
        self.plot.setYRange(_BELOW * top, _ABOVE * top, padding=0)

    def _draw_best_line(self, dots: list[Candidate]) -> None:
        best = list(accumulate((c["gflops"] or 0.0 for c in dots), max))
        x = np.repeat(np.arange(1, len(dots) + 1, dtype=float), 2)[1:]
        line = pg.PlotDataItem(x, np.repeat(best, 2)[:-1], pen=pg.mkPen(self.theme.good, width=2))
        self._add(line, 1)

    def _draw_dots(self, dots: list[Candidate]) -> None:
        self._add(pg.ScatterPlotItem([self._spot(c) for c in dots]), 3)

    def _spot(self, c: Candidate) -> dict[str, object]:
        """Return the look of a candidate."""
        theme, tuning = self.theme, self.session.tuning
        compared, best = bool(c["rounds"]), c["number"] == tuning.best
        if not c["gflops"]:
            symbol, colour, filled = "x", theme.bad, True
        else:
            symbol = "star" if best else "o"
            colour = theme.accent if compared or c["number"] in (tuning.best, tuning.default) else theme.muted
            filled = compared
        return {
            "pos": (c["place"], c["gflops"] or 0.0),
            "size": 13 if best else 9,
            "symbol": symbol,
            "pen": pg.mkPen(colour, width=1.5),
            "brush": pg.mkBrush(colour if filled else theme.background),
        }

    def _mark(self, dots: list[Candidate]) -> None:
        """Write names beside the dots of the default and the best."""
        names, best = self._names(), self.session.tuning.best
        right = self.plot.viewRange()[0][1]
        for c in dots:
            if c["number"] not in names or not c["gflops"]:
                continue
            # Below its dot if the best line rises from it.
            anchor = (_side(c["place"] / right), 1.3 if c["number"] == best else -0.3)
            text = pg.TextItem(names[c["number"]], color=self.theme.text, anchor=anchor)
            text.setFont(small_font())
            text.setPos(c["place"], c["gflops"])
            self._add(text, 4)

    def _names(self) -> dict[int, str]:
        """Return the labels of the default and the best, by their numbers."""
        tuning = self.session.tuning
        names = {} if tuning.default is None else {tuning.default: tr("default")}
        if tuning.best is None:
            return names
        both = tuning.best == tuning.default
        if tuning.running:
            return names | {tuning.best: tr("default, best so far") if both else tr("best so far")}
        return names | {tuning.best: tr("default, best") if both else tr("best")}

    def _draw_rival(self, rival: Rival) -> None:
        pen = pg.mkPen(self.theme.muted, style=Qt.PenStyle.DashLine)
        self._add(pg.InfiniteLine(rival.gflops, angle=0, pen=pen), 0)
        text = pg.TextItem(_rival_text(rival), color=self.theme.muted, fill=self.theme.background, anchor=(1, 0.5))
        text.setFont(small_font())
        text.setPos(self.plot.viewRange()[0][1], rival.gflops)
        self._add(text, 2)

    def _add(self, item: pg.GraphicsObject, z: int) -> None:
        item.setZValue(z)
        self.plot.addItem(item, ignoreBounds=True)
        self._items.append(item)

    def _say_legend(self, dots: list[Candidate], beyond: list[Rival]) -> None:
        parts, more = [], []
        if dots:
            marks = [("●", tr("measured in interleaved rounds")), ("○", tr("measured once"))]
            if any(not c["gflops"] for c in dots):
                marks.append(("×", tr("no figure")))
            parts = [f"{mark}\N{NO-BREAK SPACE}{text}" for mark, text in marks]
            device = self.session.tuning.device(known(self.session.tuning.kernel)) or tr("this machine")
            if self.session.results.away:
                parts.append(tr("measured: {device}", device=device))
            else:
                parts.append(tr("measured here: {device}", device=device))
        more += [tr("{library}, above this axis", library=_rival_text(rival)) for rival in beyond]
        if self.session.tuning.document is not None:
            more += left_out_text(self.session.tuning.document)
        self.legend.setText("\n".join("    ".join(line) for line in (parts, more) if line))

    def _offer(self) -> None:
        """Show the buttons that can be pressed now."""
        session, tuning = self.session, self.session.tuning
        self.tune.setEnabled(session.progress["bench"] is None and not why_not(session))
        same = tuning.kernel is not None and tuning.kernel.name == session.choice.kernel.name
        self.use.setVisible(tuning.found is not None and same)
        self.use.setEnabled(
            tuning.found is not None and session.choice.bench_params != session.choice.bench_params | tuning.found
        )

    def restyle(self) -> None:
        """Apply the theme's colours."""
        self.plot.setLabel("bottom", tr("candidate, in the order tried"))
        self.plot.setLabel("left", "GFLOPS")
        super().restyle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much text and as many choices as fit."""
        super().resizeEvent(event)
        if (event.size().height() < _SMALL_BELOW) != (event.oldSize().height() < _SMALL_BELOW):
            self.refresh()

    # Pointing

    def _on_pointed(self, place: QPointF) -> None:
        mouse = self.plot.pixel(place.x(), place.y())
        best: tuple[float, int] | None = None
        for number, c in enumerate(self.dots()):
            point = self.plot.pixel(c["place"], c["gflops"] or 0.0) - mouse
            distance = float(np.hypot(point.x(), point.y()))
            if distance < _NEAR_PX and (best is None or distance < best[0]):
                best = distance, number
        self._point(best[1] if best else None)

    def _on_moved(self, right: int, down: int) -> None:
        """Go to the next candidate, or (up and down) to the next in speed."""
        dots = self.dots()
        if not dots:
            return
        if self._at is None or self._at >= len(dots):
            best = self.session.tuning.best
            self._point(next((i for i, c in enumerate(dots) if c["number"] == best), 0))
        elif right:
            self._point(max(0, min(self._at + right, len(dots) - 1)))
        else:
            ranked = sorted(range(len(dots)), key=lambda i: -(dots[i]["gflops"] or 0.0))
            self._point(ranked[max(0, min(ranked.index(self._at) + down, len(ranked) - 1))])

    def _point(self, at: int | None) -> None:
        """Show the facts about a candidate."""
        self._at = at
        if at is None:
            self.plot.tell("", QPoint())
            return
        c = self.dots()[at]
        self.plot.tell(candidate_text(c, self.session.tuning), self.plot.pixel(c["place"], c["gflops"] or 0.0))


def _rival_text(rival: Rival) -> str:
    """Return the name and the figure of a library, and its origin if it is another machine."""
    figure = tr("{library}: {gflops} GFLOPS", library=tr(rival.title), gflops=gflops_text(rival.gflops))
    return f"{figure} ({origin_name(rival.origin)})" if rival.origin else figure


def _side(share: float) -> float:
    """Return the horizontal anchor of a name, 0 to 1, at a share of the width: a name at the edge would be cut."""
    if share > 0.75:
        return 1.0
    return 0.0 if share < 0.25 else 0.5
