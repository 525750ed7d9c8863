"""The Measure page: as many charts as fit, the others on tabs. It is redrawn at most ten times per second."""

from PySide6.QtCore import QRectF, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QTabBar, QTabWidget, QToolButton, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.ladder_chart import LadderChart
from gemmviz.ui.charts.occupancy import OccupancyPanel
from gemmviz.ui.charts.painted import PaintedChart
from gemmviz.ui.charts.roofline import RooflinePanel
from gemmviz.ui.charts.sample_chart import SampleChart
from gemmviz.ui.charts.size_chart import SizeChart
from gemmviz.ui.charts.tuning_chart import TuningChart
from gemmviz.ui.connections import listen
from gemmviz.ui.known import qt
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES

_REFRESH_MS, _LIVE_MS = 100, 250
"""Milliseconds between redraws after new figures, and while samples arrive: drawing disturbs the measurement."""
# The least widths, in pixels at a scale of type of 1, for all charts, and for the ladder and one chart, side by side.
_ALL_FROM, _ALL_HIGH, _TWO_FROM, _CLOSE_TABS = 1040, 640, 640, 470
_SPACE, _ROUND = 8, 6.0
_SHARE_OF_LADDER = 11, 9
_SHARES = (39, 25, 36)
"""The shares of the right column's height: over N, samples, the tabs."""


class MeasurePage(QWidget):
    """All charts of a session.

    Parameters
    ----------
    session
        The session with the results and samples to draw.
    """

    export_wanted = Signal()
    tune_wanted = Signal()
    use_wanted = Signal()
    turned = Signal(int)
    """The chart with this number is the current one: it is saved, and it gets the keys."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setAccessibleName(tr("Measure"))
        self.ladder, self.sizes, self.samples = LadderChart(session), SizeChart(session), SampleChart(session)
        self.roofline, self.occupancy, self.tuning = (
            RooflinePanel(session),
            OccupancyPanel(session),
            TuningChart(session),
        )
        self.tuning.tune.clicked.connect(lambda *_: self.tune_wanted.emit())
        self.tuning.use.clicked.connect(lambda *_: self.use_wanted.emit())
        self._charts: tuple[tuple[QWidget, str, str], ...] = (
            (self.ladder, tr("Kernels"), tr("GFLOPS of every kernel at one size")),
            (self.sizes, tr("Over N"), tr("GFLOPS of every kernel over the size")),
            (self.samples, tr("Samples"), tr("Each launch as it is timed")),
            (self.roofline, tr("Roofline"), tr("The bound of each kernel: memory or arithmetic")),
            (self.occupancy, tr("Occupancy"), tr("How many warps of a kernel fit on a multiprocessor")),
            (self.tuning, tr("Tuning"), tr("The search for the fastest parameters, candidate by candidate")),
        )
        self._current = 0
        self._apart = -1
        self._stale: set[LadderChart | SizeChart | SampleChart | TuningChart] = set()
        self._arrange()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_time)
        self.setCurrentIndex(session.sight.chart)
        self._listen()
        self.restyle()

    def _arrange(self) -> None:
        """Make the cards, and the tabs for the charts without a card."""
        self.tabs = QTabWidget()
        self.tabs.setTabBar(_Tabs())
        self.tabs.setUsesScrollButtons(True)
        save = self._save = QToolButton()
        save.setText(tr("Save…"))
        save.setObjectName("slim")
        save.setToolTip(tr("Save the framed chart as a picture (PNG), a drawing (SVG) or its figures (CSV) (Ctrl+E)"))
        save.clicked.connect(lambda *_: self.export_wanted.emit())
        self.tabs.setCornerWidget(save)
        self._cards = [_Card(self) for _ in range(4)]
        right = QVBoxLayout()
        right.setSpacing(_SPACE)
        for card, share in zip(self._cards[1:], _SHARES, strict=True):
            card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)  # the shares alone decide
            right.addWidget(card, share)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(_SPACE, _SPACE, _SPACE, _SPACE)
        row.setSpacing(_SPACE)
        row.addWidget(self._cards[0], 1)
        row.addLayout(right, 1)
        self._cards[3].hold(self.tabs)
        self._place(0)
        self.tabs.currentChanged.connect(self._on_tab)
        self.tabs.tabBarClicked.connect(self._on_tab)

    def _listen(self) -> None:
        session = self.session
        signals = (
            *(session.results.measured, session.results.referenced, session.results.device_changed),
            *(session.results.size_chosen, session.choice.chosen, session.choice.bench_chosen),
            session.choice.kernels_changed,
        )
        for signal in signals:
            listen(self, signal, self._on_figures)
        listen(self, session.results.sampled, self._on_samples)
        listen(self, session.tuning.changed, self._on_tuning)
        listen(self, session.preferences.themed, self.restyle)
        qt().focusChanged.connect(self._on_focus)

    # The places of the charts

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many charts at once as fit."""
        super().resizeEvent(event)
        width, height = event.size().width() / scaled(1), event.size().height() / scaled(1)
        if width >= _ALL_FROM and height >= _ALL_HIGH:
            self._place(3)
        else:
            self._place(1 if width >= _TWO_FROM else 0)
        close = (width / 2 if self._apart else width) < _CLOSE_TABS
        self._save.setVisible(not close)
        if close != self.tabs.property("narrow"):
            self.tabs.setProperty("narrow", close)
            # The style sheet reads a property only when the widget is polished.
            self.tabBar().style().unpolish(self.tabBar())
            self.tabBar().style().polish(self.tabBar())

    def _place(self, apart: int) -> None:
        """Give a card to each of the first charts, up to this number, and put the others on tabs."""
        if apart == self._apart:
            return
        self._apart = apart
        self.tabs.blockSignals(True)
        self.tabs.clear()
        for number, (chart, title, tip) in enumerate(self._charts):
            if isinstance(chart, PaintedChart):
                chart.heading.setVisible(number < apart)  # a tab shows the name already
            if number < apart:
                self._cards[number].hold(chart)
            else:
                self.tabs.setTabToolTip(self.tabs.addTab(chart, title), tip)
        for number, card in enumerate(self._cards[:3]):
            card.setVisible(number < apart)
        # Beside a single chart, the names and figures of the ladder need more than half of the width.
        for column, stretch in enumerate((1, 1) if apart > 1 else _SHARE_OF_LADDER):
            self._row.setStretch(column, stretch)
        self.tabs.blockSignals(False)
        self._turn()
        self.refresh()

    def _turn(self) -> None:
        """Show the tab of the current chart, if it has one."""
        if self._current >= self._apart:
            self.tabs.setCurrentIndex(self._current - self._apart)

    def _on_tab(self, number: int) -> None:
        if number >= 0:
            self.setCurrentIndex(number + self._apart)

    def _on_focus(self, _: QWidget | None, now: QWidget | None) -> None:
        for number, (chart, _title, _tip) in enumerate(self._charts):
            if now is not None and (now is chart or chart.isAncestorOf(now)) and number != self._current:
                self.setCurrentIndex(number)

    # The current chart

    def count(self) -> int:
        """Return the number of charts."""
        return len(self._charts)

    def currentIndex(self) -> int:
        """Return the number of the current chart."""
        return self._current

    def currentWidget(self) -> QWidget:
        """Return the current chart."""
        return self._charts[self._current][0]

    def setCurrentIndex(self, number: int) -> None:
        """Choose the current chart, which is framed and saved, and show it."""
        self._current = number if 0 <= number < len(self._charts) else 0
        self.session.sight.chart = self._current
        self._turn()
        self.refresh()
        for card in self._cards:
            card.update()
        self.turned.emit(self._current)

    def setCurrentWidget(self, chart: QWidget) -> None:
        """Choose a chart."""
        self.setCurrentIndex([one for one, _, _ in self._charts].index(chart))

    def tabBar(self) -> QTabBar:
        """Return the tabs of the charts without a card."""
        return self.tabs.tabBar()

    def stop(self) -> None:
        """End the work in the background; the window calls it when it closes."""
        qt().focusChanged.disconnect(self._on_focus)
        self.roofline.stop()

    # Drawing

    def _on_figures(self, *_: object) -> None:
        self._soon(self.ladder, self.sizes, self.samples, self.tuning)

    def _on_samples(self) -> None:
        self._soon(self.ladder, self.sizes, self.samples, wait_ms=_LIVE_MS)

    def _on_tuning(self) -> None:
        self._soon(self.tuning)

    def _soon(self, *charts: LadderChart | SizeChart | SampleChart | TuningChart, wait_ms: int = _REFRESH_MS) -> None:
        self._stale.update(charts)
        if not self._timer.isActive():
            self._timer.start(wait_ms)

    def _on_time(self) -> None:
        # A hidden page is not drawn until it is shown.
        if self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the changes made in the meantime."""
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Draw the visible charts that have changed."""
        for chart in [chart for chart in self._stale if chart.isVisibleTo(self)]:
            self._stale.discard(chart)
            chart.refresh()

    def restyle(self) -> None:
        """Apply the theme's colours."""
        for chart in (self.ladder, self.sizes, self.samples, self.tuning):
            chart.restyle()
        for card in self._cards:
            card.update()


class _Tabs(QTabBar):
    """Tabs. The current tab has a frame while the tabs have the focus."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tabs, and the frame."""
        super().paintEvent(event)
        if self.hasFocus():
            with QPainter(self) as painter:
                painter.setPen(QPen(self.palette().text().color(), 2))
                painter.drawRect(self.tabRect(self.currentIndex()).adjusted(1, 1, -1, -1))


class _Card(QWidget):
    """A frame around a chart; it is stronger for the current chart."""

    def __init__(self, page: MeasurePage) -> None:
        super().__init__()
        self._page = page
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(3, 3, 3, 3)

    def hasHeightForWidth(self) -> bool:
        """Return False: a chart with a long text would take the height of the cards above it."""
        return False

    def hold(self, widget: QWidget) -> None:
        """Put a widget into the frame."""
        self.column.addWidget(widget)
        widget.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the background and the frame."""
        theme = THEMES[self._page.session.preferences.theme]
        current = self.isAncestorOf(self._page.currentWidget())
        faint = QColor(theme.outline)
        faint.setAlpha(90)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(theme.accent) if current else faint, 1.5 if current else 1.0))
            painter.setBrush(QColor(theme.background))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), _ROUND, _ROUND)
