"""The main window: ladder, stage, source, transport, charts and counters put together."""

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QIcon, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from gemmviz import data
from gemmviz.bench import reference_results
from gemmviz.proving import proofs
from gemmviz.session import Message, Session
from gemmviz.ui.actions import Action, help_text
from gemmviz.ui.controller import Controller
from gemmviz.ui.controls import MeasureControls, RecordControls
from gemmviz.ui.help_box import HelpBox
from gemmviz.ui.keys import KeyGuard
from gemmviz.ui.ladder import Ladder
from gemmviz.ui.message_bar import MessageBar
from gemmviz.ui.pages import Pages
from gemmviz.ui.saver import Saver
from gemmviz.ui.source.kernel_files import KernelFiles
from gemmviz.ui.source.source_side import SourceSide
from gemmviz.ui.stage.counters import Counters
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.stage.transport import Transport
from gemmviz.ui.theme import THEMES, palette, style_sheet
from gemmviz.ui.window_actions import PAGES, window_actions

_LEAST_SIDE, _MEASURE_WIDTH, _SOURCE_WIDTH = 180, 300, 390


class Window(QMainWindow):
    """The window of one session.

    Parameters
    ----------
    session
        What to show.
    controller
        Records and measures for it; closed with the window.
    """

    def __init__(self, session: Session, controller: Controller) -> None:
        super().__init__()
        self.session = session
        self.controller = controller
        self.setWindowTitle("gemmviz")
        self.resize(1280, 800)
        self.ladder = Ladder(session)
        self.stage = Stage(session)
        self.source_side = SourceSide(session)
        self.source, self.source_heading = self.source_side.source, self.source_side.heading
        self.files = KernelFiles(self, session)
        self.transport = Transport(session)
        self.counters = Counters(session)
        self.message_bar = MessageBar(session)
        self.recording = RecordControls(session)
        self.measuring = MeasureControls(session)
        self.charts: QWidget | None = None
        self.claims: QWidget | None = None
        self.pages = Pages()
        self._chart_place, self._chart_page = _column(), _column()
        self._measure_place, self._measure_side = _column(self.measuring), _column()
        self.saver = Saver(self, session)
        self._page_before, self._source_width = "stage", _SOURCE_WIDTH
        self._arrange()
        self.actions_table = window_actions(self)
        self._make_menus(self.actions_table)
        self.source.line_clicked.connect(self._on_line)
        self.source.left.connect(lambda: self.stage.setFocus(Qt.FocusReason.ShortcutFocusReason))
        self.source_side.findings.check.connect(controller.checks.check_sizes)
        self.recording.record.connect(controller.record)
        self.recording.auto.toggled.connect(self._on_auto)
        self.measuring.measure_this.connect(controller.measure_this)
        self.measuring.measure_all.connect(controller.measure_all)
        self.measuring.measure_over_n.connect(controller.measure_over_n)
        self.measuring.cancel.connect(controller.cancel)
        self.pages.switched.connect(self._on_page)
        session.themed.connect(self._on_theme)
        self._keys = KeyGuard(self)
        self._on_theme()
        # pyqtgraph takes longer to import than all the rest to show: the first paint does not wait for it.
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.timeout.connect(self.make_charts)
        self._late.start(0)
        self.stage.setFocus()

    def _arrange(self) -> None:
        stage = _column(self.recording, self.stage, self.transport)
        stage.layout().setStretchFactor(self.stage, 1)
        for name, title, key, tip in PAGES:
            self.pages.announce(name, title, key, tip)
        self.pages.fill("stage", stage)
        self.pages.fill("charts", self._chart_page)
        middle = _column(self.pages.bar, self.message_bar, self.pages)
        middle.layout().setStretchFactor(self.pages, 1)
        right = _column(self.source_side, self._measure_side)
        self._measure_side.hide()
        upper = QSplitter(Qt.Orientation.Horizontal)
        left = _column(_heading("Ladder"), self.ladder)
        for widget, stretch in ((left, 0), (middle, 3), (right, 1)):
            upper.addWidget(widget)
            upper.setStretchFactor(upper.count() - 1, stretch)
        # The middle takes what its controls need: they must not overlap.
        left.setMinimumWidth(_LEAST_SIDE)
        right.setMinimumWidth(_LEAST_SIDE)
        upper.setSizes([240, 650, _SOURCE_WIDTH])
        self._upper, self._right, self._lower = upper, right, QSplitter(Qt.Orientation.Horizontal)
        lower = self._lower
        for widget, stretch in ((self._chart_place, 3), (self._measure_place, 0), (self.counters, 3)):
            lower.addWidget(widget)
            lower.setStretchFactor(lower.count() - 1, stretch)
        lower.setSizes([420, 284, 576])
        whole = QSplitter(Qt.Orientation.Vertical)
        whole.addWidget(upper)
        whole.addWidget(lower)
        whole.setStretchFactor(0, 3)
        whole.setStretchFactor(1, 1)
        whole.setSizes([566, 210])
        for splitter in (upper, lower, whole):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)
        self.setCentralWidget(whole)

    def make_charts(self) -> None:
        """Put the charts in their place (once), and what else the first paint need not wait for."""
        if self.charts is None:
            self.setWindowIcon(QIcon(str(data.root("resources") / "icons" / "gemmviz.svg")))
            from gemmviz.ui.charts.charts import Charts

            self.charts = Charts(self.session)
            self.charts.export_wanted.connect(self.save_chart)
            self._on_page()
            self._keys.guard(self.charts)
            references, faults = reference_results.load()
            self.session.set_references(references)
            self.session.set_proofs(proofs.kept())
            if faults:
                self.session.tell(Message("\n".join(faults), "warning", lasting=True))

    def _make_claims(self) -> None:
        """Build the page of claims when it is first turned to: it reads files that nothing else needs."""
        from gemmviz.ui.claims.claims_page import ClaimsPage
        from gemmviz.ui.claims.claims_runner import ClaimsRunner

        self.claims = ClaimsPage(self.session, ClaimsRunner(self.session, self.controller))
        self.pages.fill("claims", self.claims)
        self._keys.guard(self.claims)

    def _on_page(self, *_: object) -> None:
        """Move charts and controls to where the page has room for them."""
        page = self.pages.name()
        if page == "claims" and self.claims is None:
            self._make_claims()
        on_charts = page == "charts"
        if self.charts is not None:
            (self._chart_page if on_charts else self._chart_place).layout().addWidget(self.charts)
            self.charts.show()
            self.charts.refresh()
        (self._measure_side if on_charts else self._measure_place).layout().addWidget(self.measuring)
        self.measuring.show()
        self.source_side.setVisible(not on_charts)
        self._measure_side.setVisible(on_charts)
        self._right.setVisible(page != "claims")
        self._lower.setVisible(page == "stage")
        self._share_width(page)

    def _share_width(self, page: str) -> None:
        """Give the controls beside the charts what they need, and the source what it had before."""
        ladder, middle, side = self._upper.sizes()
        if self._page_before == "stage" and side:
            self._source_width = side
        wanted = {"stage": self._source_width, "charts": _MEASURE_WIDTH}.get(page, side)
        self._right.setMinimumWidth(_MEASURE_WIDTH if page == "charts" else _LEAST_SIDE)
        if page != self._page_before and wanted != side:
            self._upper.setSizes([ladder, middle + side - wanted, wanted])
        self._page_before = page

    def _make_menus(self, table: list[Action]) -> None:
        menus = {}
        for record in table:
            menu = menus.get(record.menu)
            if menu is None:
                menu = menus[record.menu] = self.menuBar().addMenu(record.menu)
            action = QAction(record.title, self)
            action.setObjectName(record.id)
            action.setShortcuts([QKeySequence(k) for k in record.keys])
            action.triggered.connect(lambda *_, record=record: record.callback())
            menu.addAction(action)

    def show_help(self) -> HelpBox:
        """Show the list of keys beside the window, without blocking it."""
        box = HelpBox(help_text(self.actions_table), self)
        box.show()
        return box

    # Files

    def open_file(self, path: Path) -> None:
        """Put a kernel file on the ladder and choose it."""
        self.files.open(path)

    def save_chart(self) -> None:
        """Let the user save the chart in sight."""
        if self.charts is not None:
            self.saver.chart(self.charts.currentWidget())

    def next_chart(self) -> None:
        """Turn to the next chart."""
        if self.charts is not None:
            self.charts.setCurrentIndex((self.charts.currentIndex() + 1) % self.charts.count())

    # What the session says

    def _on_line(self, line: int) -> None:
        self.session.seek_line(line)

    def _on_auto(self, auto: bool) -> None:
        self.controller.auto = auto

    def _on_theme(self) -> None:
        theme = THEMES[self.session.theme]
        application = QApplication.instance()
        application.setPalette(palette(theme))
        self.setStyleSheet(style_sheet(theme))

    def closeEvent(self, event: QCloseEvent) -> None:
        """End the engines with the window, unless edits are to be saved first."""
        if not self.files.may_close():
            event.ignore()
            return
        self.session.pause()
        self.files.close()
        for timer in self.findChildren(QTimer):
            timer.stop()
        if self.charts is not None:
            self.charts.stop()
        self.controller.close()
        event.accept()


def _column(*widgets: QWidget) -> QWidget:
    column = QWidget()
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for widget in widgets:
        layout.addWidget(widget)
    return column


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName("heading")
    return label
