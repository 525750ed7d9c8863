"""The main window: arranges the kernels, the stage, the tabs beside it and the pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.control.controller import Controller
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.session.rules.compared_edits import compare_edits
from gemmviz.ui import connections
from gemmviz.ui.charts.strip import Strip
from gemmviz.ui.comparison.arena import Arena
from gemmviz.ui.comparison.layout import ComparisonLayout
from gemmviz.ui.connections import listen
from gemmviz.ui.export.states import States
from gemmviz.ui.inspect.inspector import Inspector
from gemmviz.ui.known import known, qt
from gemmviz.ui.look.accessible import Announcer
from gemmviz.ui.look.open_fonts import open_fonts
from gemmviz.ui.look.style import scaled, set_scale, style_sheet
from gemmviz.ui.look.theme import THEMES, palette
from gemmviz.ui.panels.controls import MeasureControls, RecordControls
from gemmviz.ui.panels.doors import ASKED, Doors
from gemmviz.ui.panels.floating import Floating
from gemmviz.ui.panels.help_box import HelpBox
from gemmviz.ui.panels.help_text import help_groups
from gemmviz.ui.panels.ladder import Ladder
from gemmviz.ui.panels.message_bar import MessageBar
from gemmviz.ui.panels.on_stage import OnStage
from gemmviz.ui.panels.rail import Rail
from gemmviz.ui.panels.run_question import RunQuestion
from gemmviz.ui.panels.size_popover import SizePopover
from gemmviz.ui.panels.view_box import ViewBox
from gemmviz.ui.present.predict_panel import PredictPanel
from gemmviz.ui.present.presenting import Presenting
from gemmviz.ui.source.kernel_files import KernelFiles
from gemmviz.ui.source.source_side import SourceSide
from gemmviz.ui.stage.arrival import Arrival
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.stage.transport import Transport
from gemmviz.ui.tour.my_stops import StopsList
from gemmviz.ui.tour.tour_bar import TourBar
from gemmviz.ui.turns import Turns
from gemmviz.ui.window.columns import Columns
from gemmviz.ui.window.drops import DropWindow
from gemmviz.ui.window.keys import KeyGuard
from gemmviz.ui.window.late_tasks import LateTasks
from gemmviz.ui.window.menus import fill_menus
from gemmviz.ui.window.pages import Pages
from gemmviz.ui.window.saver import Saver
from gemmviz.ui.window.window_actions import PAGES, window_actions

if TYPE_CHECKING:
    from gemmviz.ui.charts.measure_page import MeasurePage
    from gemmviz.ui.claims.claims_page import ClaimsPage
    from gemmviz.ui.versions.versions_page import VersionsPage

_ROOMY_WINDOW = 1600  # from which on there is room for the kernels beside a lesson's text or the charts


class Window(DropWindow):
    """The window of one session.

    Parameters
    ----------
    session
        The session to show.
    controller
        Records and measures for it; closed with the window.
    """

    def __init__(self, session: Session, controller: Controller) -> None:
        super().__init__(self._open_dropped, lambda: THEMES[session.preferences.theme])
        self.session = session
        self.controller = controller
        self._ended = self._at_once = False
        # This comes before the widgets, because they depend on the size of type that it sets.
        listen(self, session.preferences.themed, self._on_theme)
        set_scale(session.preferences.type_scale)
        self.setWindowTitle("gemmviz")
        self.resize(1280, 800)
        turns, arrival = Turns(session, self), Arrival(session, self)
        self.ladder = Ladder(session)
        self.rail = Rail(self.ladder)
        shown = session.frozen_warp, session.inspection, session.permission, session.lens
        self.stage = Stage(session.staged, *shown, sight=session.sight.stage)
        self.stage.follow(turns)
        arrival.keep(self.stage)
        guesses, choice = session.guesses, session.choice
        asked = session.permission, session.messages, self.stage
        self.run_question = RunQuestion(*asked, lambda: guesses.file(choice.kernel) is not None)
        self.arena = Arena(session, self.stage)
        self.source_side = SourceSide(session)
        self.source, self.source_heading = self.source_side.source, self.source_side.heading
        self.files = KernelFiles(self, session)
        self.predict = PredictPanel(session)
        self.presenting = Presenting(self, session)
        self.transport = Transport(session)
        self.predict.takes_place_of(self.transport.slider)
        self.inspector = Inspector(session, self.source_side, turns)
        self.message_bar = MessageBar(session.messages)
        self.recording = RecordControls(session)
        self.view_box = ViewBox(session.choice)
        self.measuring = MeasureControls(session)
        self.strip = Strip(session)
        self.strip.in_turn.turns = self.ladder.in_turn.turns = turns
        self.tour_bar = TourBar(session)
        self.size_popover = SizePopover(session, self.recording, (self.view_box, self.tour_bar.demo_button), self)
        self.stops = StopsList(session, self)
        self.doors: Doors | None = None
        self.pages = Pages()
        self.saver = Saver(self, session, self.stage, States(self, session, self.stage, self.pages, self.inspector))
        self.files.state_wanted.connect(self.saver.states.open)
        self._arrange()
        self.actions_table = window_actions(self)
        fill_menus(self, self.actions_table)
        self.room = ComparisonLayout(self, session.comparison, self.inspector, self.arena.figures, self.rail)
        self.source.line_clicked.connect(self._on_line)
        self.source.left.connect(lambda: self.stage.setFocus(Qt.FocusReason.ShortcutFocusReason))
        self.source_side.findings.check.connect(controller.checks.check_sizes)
        self.recording.record.connect(controller.recording.record)
        self.measuring.measure_this.connect(controller.measuring.measure_this)
        self.measuring.what_next.gone.connect(lambda: self.pages.turn_to("stage"))
        self.measuring.measure_all.connect(controller.measuring.measure_all)
        self.measuring.measure_over_n.connect(controller.measuring.measure_over_n)
        self.measuring.cancel.connect(controller.engines.cancel)
        self.strip.measure_wanted.connect(controller.measuring.measure_this)
        self.strip.stop_wanted.connect(controller.engines.cancel)
        self.strip.page_wanted.connect(lambda: self.pages.turn_to("charts"))
        for place in (self.measuring.place, self.strip.place):
            place.look_wanted.connect(controller.elsewhere.look)
            place.place_wanted.connect(controller.elsewhere.choose)
            place.beside_wanted.connect(controller.elsewhere.measure_beside)
            place.cluster_wanted.connect(self._name_cluster)
        self.stage.size_wanted.connect(self.size_popover.open)
        self.pages.switched.connect(self._on_switched)
        listen(self, session.tuning.started, self._on_tuning_started)
        listen(self, session.tour.changed, self._on_tour)
        listen(self, session.permission.changed, self._on_asked)
        self._keys = KeyGuard(self)
        Announcer(session.cursor, session.playback, self.stage)
        self._on_theme()
        LateTasks(self, session)
        self.stage.setFocus()

    def _arrange(self) -> None:
        self._below_stages = QVBoxLayout()
        makers = {
            "stage": self._make_stage_page,
            "charts": self._make_charts,
            "claims": self._make_claims,
            "versions": self._make_versions,
        }
        for name, title, key, tip in PAGES:
            self.pages.announce(name, tr(title), key, tr(tip), makers[name])
        self.menuBar().setCornerWidget(self.pages.bar, Qt.Corner.TopRightCorner)
        # A question stands below the tabs: on the stage it took the room of the shared tiles.
        self._looks = _Column(self.inspector, self.predict)
        self._looks.column.setStretchFactor(self.inspector, 1)
        bar = self.tour_bar
        self._on_stage = OnStage(
            *(self.stage, bar, self._looks.column, bar.beside_title, bar.has_buttons, bar.put_buttons),
            lambda: self._below_stages if self.session.comparison.on else None,
        )
        self._right = _Column(self._looks, self.measuring)
        self.measuring.hide()
        self.columns = Columns(self.rail, self.pages, self._right)
        whole = _Column(self.columns, self.strip)
        whole.column.setStretchFactor(self.columns, 1)
        self.setCentralWidget(whole)
        self._floating = Floating(self.message_bar, whole, self.strip.bars, self.message_bar.fit)

    def _name_cluster(self) -> None:
        from gemmviz.ui.panels.cluster_box import ClusterBox  # late: few people have a cluster

        ClusterBox(self.session, self.controller.elsewhere, self).open()

    def _on_asked(self) -> None:
        """Show the question whether a text may run, and its source beside it: people read it first."""
        if self.session.permission.asks:
            self.pages.turn_to("stage")
            self.inspector.show_panel("source")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width."""
        super().resizeEvent(event)
        self.columns.share()

    @property
    def charts(self) -> "MeasurePage":
        """The Measure page; it is made when it is first shown or requested."""
        return cast("MeasurePage", self.pages.page("charts"))

    @property
    def claims(self) -> "ClaimsPage":
        """The page of claims; it is made when it is first shown or requested."""
        return cast("ClaimsPage", self.pages.page("claims"))

    @property
    def versions(self) -> "VersionsPage":
        """The page of two versions; it is made when it is first shown or asked for."""
        return cast("VersionsPage", self.pages.page("versions"))

    def _make_stage_page(self) -> QWidget:
        page = _Column(self.arena, self.transport)
        page.column.setStretchFactor(self.arena, 1)
        page.column.insertLayout(1, self._below_stages)
        return page

    def _make_charts(self) -> QWidget:
        from gemmviz.ui.charts.measure_page import MeasurePage  # late: made when it is first shown

        page = MeasurePage(self.session)
        page.setAccessibleName(tr("Measure"))
        page.export_wanted.connect(self.save_shown)
        page.tune_wanted.connect(self.controller.tuning.start)
        page.use_wanted.connect(self.controller.tuning.use)
        self._keys.guard(page)
        return page

    def _make_claims(self) -> QWidget:
        from gemmviz.ui.claims.claims_page import ClaimsPage

        page = ClaimsPage(self.session, self.controller.claims)
        self._keys.guard(page)
        return page

    def _make_versions(self) -> QWidget:
        from gemmviz.ui.versions.versions_page import VersionsPage  # late: made when it is first shown

        page = VersionsPage(self.session)
        page.file_wanted.connect(self.files.ask_version)
        page.stage_wanted.connect(lambda: self.pages.turn_to("stage"))
        self._keys.guard(page)
        return page

    def _on_switched(self, page: str) -> None:
        self.session.sight.page = page
        self._on_page()

    def _on_page(self) -> None:
        """Show the widgets that belong to a page beside it."""
        page = self.pages.name()
        if page == "charts":
            self.charts.refresh()
        self._looks.setVisible(page == "stage")
        self.measuring.setVisible(page == "charts")
        self.strip.setVisible(page != "charts")
        self._right.setVisible(page in ("stage", "charts"))
        # The chart of all kernels is a list of them, too.
        self.rail.make_room("charts", page == "charts" and self._narrow())
        self.columns.share()

    def open_doors(self) -> None:
        """Show the doors, with three ways to begin."""
        self._leave_doors()
        self.doors = Doors(self.session, known(self.centralWidget()), self.columns, self.files.ask_file, self.open_file)
        self.doors.left.connect(self._on_doors_left)
        self.pages.switched.connect(self.doors.turned_from)
        self.strip.compare_from(ASKED)
        self.doors.show()

    def _on_doors_left(self) -> None:
        self.doors = None
        self.strip.compare_from("")
        self.stage.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_size(self) -> None:
        """Open the sheet with the size and the parameters of the recording, at the stage's title."""
        self.pages.turn_to("stage")
        self.size_popover.open(self.stage.mapToGlobal(self.stage.title_place().bottomLeft()))

    def show_help(self) -> HelpBox:
        """Show the list of keys beside the window. It does not block the window."""
        box = HelpBox(help_groups(self.actions_table), self)
        box.show()
        return box

    # Files

    def open_file(self, path: Path) -> None:
        """Put a kernel file on the ladder and choose it."""
        self.files.open(path)

    def paste(self) -> None:
        """Open the kernel whose text, or whose file, is on the clipboard."""
        self._leave_doors()
        self.files.paste()

    def _open_dropped(self, paths: Sequence[Path]) -> None:
        self._leave_doors()
        self.files.open_all(paths)

    def _leave_doors(self) -> None:
        if self.doors is not None:
            self.doors.leave()

    def copy_picture(self) -> None:
        """Copy the visible page: of Measure its chart, of others the stage."""
        self.saver.copy(self.charts.currentWidget() if self.pages.name() == "charts" else self.stage)

    def ask_versions(self) -> None:
        """Let the user choose two files to compare."""
        self.pages.turn_to("versions")
        self.files.ask_versions()

    def compare_edits(self) -> None:
        """Compare the edited text with the text as it was opened."""
        fault = compare_edits(self.session.choice, self.session.versions)
        if fault:
            self.session.messages.tell(Message(fault, "info"))
        else:
            self.pages.turn_to("versions")

    def save_shown(self) -> None:
        """Let the user save what is visible: on Measure its chart, else steps of the stage."""
        if self.pages.name() == "charts":
            self.saver.chart(self.charts.currentWidget())
        else:
            self.saver.export()

    def next_chart(self) -> None:
        """Turn to the next chart."""
        self.charts.setCurrentIndex((self.charts.currentIndex() + 1) % self.charts.count())

    # Signals of the session

    def _on_line(self, line: int) -> None:
        self.session.player.seek_line(line)

    def _on_tour(self) -> None:
        self.rail.make_room("lesson", self.session.tour.active and self._narrow())

    def _narrow(self) -> bool:
        return self.width() < scaled(_ROOMY_WINDOW)

    def _on_tuning_started(self) -> None:
        self.charts.setCurrentWidget(self.charts.tuning)

    def _on_theme(self) -> None:
        theme = THEMES[self.session.preferences.theme]
        set_scale(self.session.preferences.type_scale)
        qt().setPalette(palette(theme))
        sheet = style_sheet(theme, self.session.preferences.type_scale)
        if sheet != self.styleSheet():
            if self.styleSheet():
                open_fonts(qt()).open_all()  # fonts of the present size go out of use
            self.setStyleSheet(sheet)
        # Larger or smaller type needs another room for the kernels and the right column.
        self.rail.fit()
        self.columns.share()

    def closeEvent(self, event: QCloseEvent) -> None:
        """End the engines with the window, unless the user wants to save edits first."""
        if not self._ended:
            if not self._at_once and not self.files.may_close():
                event.ignore()
                return
            self._ended = True
            self.session.playback.pause()
            self.retire()
            self.controller.close()
        event.accept()

    def end(self) -> None:
        """Close the window without a question, and end its background work."""
        self._at_once = True
        self.close()

    def retire(self) -> None:
        """End all automatic work, because the window is closed or replaced."""
        self.presenting.close()
        self.stops.retire()
        self.files.close()
        connections.close(self)
        for timer in self.findChildren(QTimer):
            timer.stop()
        if self.pages.made("charts"):
            self.charts.stop()


class _Column(QWidget):
    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        for widget in widgets:
            self.column.addWidget(widget)
