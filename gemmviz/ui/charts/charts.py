"""The charts, each on its tab: only the one in sight is redrawn, at most ten times a second."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabWidget, QToolButton, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.chart import Chart
from gemmviz.ui.charts.ladder_chart import LadderChart
from gemmviz.ui.charts.occupancy import OccupancyPanel
from gemmviz.ui.charts.roofline import RooflinePanel
from gemmviz.ui.charts.sample_chart import SampleChart
from gemmviz.ui.charts.size_chart import SizeChart
from gemmviz.ui.charts.tuning_chart import TuningChart
from gemmviz.ui.connections import listen

_REFRESH_MS = 100
_SAVE_FROM = 470


class Charts(QTabWidget):
    """All charts of a session.

    Parameters
    ----------
    session
        The session with the results and samples to draw.
    """

    export_wanted = Signal()
    tune_wanted = Signal()
    use_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setDocumentMode(True)
        save = self._save = QToolButton()
        save.setText(tr("Save…"))
        save.setObjectName("slim")
        save.setToolTip(tr("Save this chart as a picture (PNG), a drawing (SVG) or its figures (CSV) (Ctrl+E)"))
        save.clicked.connect(lambda *_: self.export_wanted.emit())
        self.setCornerWidget(save)
        self.ladder = LadderChart(session)
        self.sizes = SizeChart(session)
        self.samples = SampleChart(session)
        self.tuning = TuningChart(session)
        self.tuning.tune.clicked.connect(lambda *_: self.tune_wanted.emit())
        self.tuning.use.clicked.connect(lambda *_: self.use_wanted.emit())
        self._stale: set[Chart] = set()
        for chart, title, tip in (
            (self.ladder, tr("Ladder"), tr("GFLOPS of every rung at one size")),
            (self.sizes, tr("Over N"), tr("GFLOPS of every rung over the size")),
            (self.samples, tr("Samples"), tr("Each launch as it is timed")),
        ):
            self.add(chart, title, tip)
        self.roofline, self.occupancy = RooflinePanel(session), OccupancyPanel(session)
        self.add(self.roofline, tr("Roofline"), tr("What bounds each rung: memory or arithmetic"))
        self.add(self.occupancy, tr("Occupancy"), tr("How many warps of a kernel fit on a multiprocessor"))
        self.add(self.tuning, tr("Tuning"), tr("The search for the fastest parameters, candidate by candidate"))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        self.setCurrentIndex(session.sight.chart)
        self.currentChanged.connect(self._on_current)
        for signal in (
            session.results.measured,
            session.results.referenced,
            session.choice.chosen,
            session.choice.bench_chosen,
        ):
            listen(self, signal, self._on_figures)
        listen(self, session.results.device_changed, self._on_figures)
        listen(self, session.choice.kernels_changed, self._on_figures)
        listen(self, session.results.sampled, self._on_samples)
        listen(self, session.tuning.changed, self._on_tuning)
        listen(self, session.tuning.started, self._on_tuning_started)
        listen(self, session.preferences.themed, self.restyle)
        self.restyle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep every tab in sight: where there is little room, only the menu saves, and tabs stand closer."""
        super().resizeEvent(event)
        narrow = event.size().width() < _SAVE_FROM
        self._save.setVisible(not narrow)
        if narrow != self.property("narrow"):
            self.setProperty("narrow", narrow)
            # The style sheet reads a property only at polish.
            self.tabBar().style().unpolish(self.tabBar())
            self.tabBar().style().polish(self.tabBar())

    def stop(self) -> None:
        """End the work in the background; the window calls it when it closes."""
        self.roofline.stop()

    def add(self, panel: QWidget, title: str, tip: str) -> None:
        """Put a chart or panel on a tab of its own."""
        self.setTabToolTip(self.addTab(panel, title), tip)

    def _on_current(self, number: int) -> None:
        self.session.sight.chart = number
        self.refresh()

    def _on_figures(self, *_: object) -> None:
        self._soon(self.ladder, self.sizes, self.samples, self.tuning)

    def _on_samples(self) -> None:
        self._soon(self.samples)

    def _on_tuning(self) -> None:
        self._soon(self.tuning)

    def _on_tuning_started(self) -> None:
        self.setCurrentWidget(self.tuning)

    def _soon(self, *charts: Chart) -> None:
        self._stale.update(charts)
        if not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Draw the chart in sight now, when something about it changed."""
        chart = self.currentWidget()
        if chart in self._stale:
            self._stale.discard(chart)
            chart.refresh()

    def restyle(self) -> None:
        """Apply the theme's colours."""
        for chart in (self.ladder, self.sizes, self.samples, self.tuning):
            chart.restyle()
