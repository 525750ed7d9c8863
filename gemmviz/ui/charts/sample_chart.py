"""GFLOPS of each launch as the samples arrive: the kernels of a run come in turns, and each keeps its curve."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QLabel

from gemmviz.bench.figures import SampleSeries
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.results import Sampled
from gemmviz.ui.charts.chart import CHOICE, Chart, FigureTable
from gemmviz.ui.look.figure_text import gflops_text, telemetry_text
from gemmviz.ui.look.style import letters_wide

_OTHERS, _CHOOSER_LETTERS = 12, 15
_FADED = 90


class SampleChart(Chart):
    """The samples of one kernel and their median; those of the others at the same size stand faded behind them.

    Parameters
    ----------
    session
        The session with the samples to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("Samples as they arrive"))
        self.setAccessibleName(self.name)
        self.plot.setAccessibleName(self.name)
        self.chooser = QComboBox()
        self.chooser.setObjectName(CHOICE)
        self.chooser.setAccessibleName(tr("Kernel whose samples are shown"))
        self.chooser.setToolTip(tr("Whose samples to show: those that arrive now, or always one kernel's"))
        letters_wide(self.chooser, _CHOOSER_LETTERS)
        self.chooser.activated.connect(self._on_chosen)
        self.controls.addWidget(self.chooser)
        self.telemetry = QLabel()
        self.telemetry.setObjectName("muted")
        self.column.addWidget(self.telemetry)
        self._others: list[pg.PlotDataItem] = []
        self.curve = self._new_curve()
        self.curve.setZValue(1)
        self.median = pg.InfiniteLine(0, angle=0)
        self.median.setZValue(2)
        self.plot.addItem(self.median)
        self._at: int | None = None
        self.plot.pointed.connect(self._on_pointed)
        self.plot.left.connect(lambda: self._point(None))
        self.plot.moved.connect(lambda right, _: self._point((self._at if self._at is not None else -right) + right))

    def _on_chosen(self) -> None:
        self.session.chart_choices.samples = self.chooser.currentData()
        self.refresh()

    def _new_curve(self) -> pg.PlotDataItem:
        curve = self.plot.plot([], [])
        curve.setDownsampling(auto=True, method="peak")
        curve.setClipToView(True)
        return curve

    def shown(self) -> SampleSeries:
        """Return the samples that are drawn in full."""
        chosen, results = self.session.chart_choices.samples, self.session.results
        return results.all_samples.get(chosen, results.samples) if chosen else results.samples

    def table(self) -> FigureTable:
        """Return the figures that are drawn in full."""
        samples = self.shown()
        rows = [(samples.label, samples.size, number, value) for number, value in enumerate(samples.gflops, 1)]
        return FigureTable(("kernel", "M × N × K", "sample", "GFLOPS"), rows)

    def refresh(self) -> None:
        """Draw the samples as they are now."""
        self._list_kernels()
        samples = self.shown()
        figures = np.array(samples.gflops)
        others = [s for s in self.session.results.all_samples.values() if s is not samples and s.size == samples.size]
        self._draw_others(others[-_OTHERS:])
        for side in ("left", "bottom"):
            self.plot.showAxis(side, len(figures) > 0)
        self.curve.setData(np.arange(1, len(figures) + 1), figures)
        self.median.setVisible(len(figures) > 0)
        self.chooser.setVisible(len(self.session.results.all_samples) > 1)
        self.telemetry.setText(self._telemetry(samples))
        self.telemetry.setVisible(bool(self.telemetry.text()))
        if not len(figures):
            self.hint.setText(tr("No samples yet: measure a rung, and they appear here"))
            return
        median = tr(
            "{kernel} at {size}: median {gflops} GFLOPS",
            kernel=samples.label,
            size=samples.size,
            gflops=gflops_text(samples.median),
        )
        self.hint.setText(median)
        self.hint.setToolTip(median)
        self.median.setPos(samples.median)
        # A faster kernel behind this one must not flatten it: the axis is this one's.
        self.plot.setXRange(0, max(len(figures), 10), padding=0.02)
        self.plot.setYRange(0, float(figures.max()) * 1.1, padding=0)

    def _list_kernels(self) -> None:
        entries: list[tuple[str, Sampled | None]] = [(tr("as they arrive"), None)]
        sizes = {size for _, size in self.session.results.all_samples}
        for label, size in self.session.results.all_samples:
            entries.append(
                (label if len(sizes) == 1 else tr("{kernel} at {size}", kernel=label, size=size), (label, size))
            )
        if [self.chooser.itemText(i) for i in range(self.chooser.count())] != [text for text, _ in entries]:
            self.chooser.clear()
            for text, which in entries:
                self.chooser.addItem(text, which)
            choices = self.session.chart_choices
            if choices.samples not in self.session.results.all_samples:
                choices.samples = None
            self.chooser.setCurrentIndex([which for _, which in entries].index(choices.samples))

    def _draw_others(self, others: list[SampleSeries]) -> None:
        while len(self._others) < len(others):
            self._others.append(self._new_curve())
        faded = QColor(self.theme.muted)
        faded.setAlpha(_FADED)
        for number, curve in enumerate(self._others):
            figures = others[number].gflops if number < len(others) else []
            curve.setData(np.arange(1, len(figures) + 1), np.array(figures, float))
            curve.setPen(pg.mkPen(faded, width=1))

    def _telemetry(self, samples: SampleSeries) -> str:
        """Return clock, power and temperature of the row that these samples belong to, once it is known."""
        rows = [r for r in self.session.results.figures if r.get("label") == samples.label]
        known = [telemetry for r in rows if (telemetry := r.get("telemetry"))]
        return telemetry_text(known[-1]) if known else ""

    def restyle(self) -> None:
        """Apply the theme's colours."""
        theme = self.theme
        self.curve.setPen(pg.mkPen(theme.accent, width=1))
        self.curve.setSymbol("o")
        self.curve.setSymbolSize(4)
        self.curve.setSymbolBrush(theme.accent)
        self.curve.setSymbolPen(None)
        self.median.setPen(pg.mkPen(theme.write, style=Qt.PenStyle.DashLine))
        self.plot.setLabel("bottom", tr("sample number"))
        self.plot.setLabel("left", "GFLOPS")
        super().restyle()

    # Pointing

    def _on_pointed(self, place: QPointF) -> None:
        self._point(round(place.x()) - 1)

    def _point(self, at: int | None) -> None:
        samples = self.shown()
        if at is None or not samples.gflops:
            self._at = None
            self.plot.tell("", QPoint())
            return
        self._at = at = max(0, min(at, len(samples.gflops) - 1))
        text = tr(
            "{kernel}, sample {number}: {gflops} GFLOPS",
            kernel=samples.label,
            number=at + 1,
            gflops=gflops_text(samples.gflops[at]),
        )
        self.plot.tell(text, self.plot.pixel(at + 1, samples.gflops[at]))
