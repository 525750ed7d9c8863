"""The table of all commands of the window, with the actions of each feature in the order of the menus."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenuBar

from gemmviz.control.controller import Controller
from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.comparison import comparison_actions as comparison
from gemmviz.ui.comparison.arena import Arena
from gemmviz.ui.export import export_actions
from gemmviz.ui.inspect import inspector
from gemmviz.ui.inspect.inspector import Inspector
from gemmviz.ui.panels.controls import MeasureControls
from gemmviz.ui.panels.kernel_chooser import find_kernel
from gemmviz.ui.panels.ladder import Ladder
from gemmviz.ui.panels.message_bar import MessageBar
from gemmviz.ui.panels.rail import Rail
from gemmviz.ui.panels.run_question import RunQuestion
from gemmviz.ui.present.presenting import Presenting, present_actions
from gemmviz.ui.source.kernel_files import KernelFiles
from gemmviz.ui.source.source import Source
from gemmviz.ui.source.source_side import SourceSide
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.tour import tour_actions
from gemmviz.ui.tour.my_stops import StopsList
from gemmviz.ui.window import menu_keys
from gemmviz.ui.window.actions import Action, cell_actions, language_actions, session_actions
from gemmviz.ui.window.pages import Pages
from gemmviz.ui.window.saver import Saver

PAGES = (
    ("stage", mark("Stage"), "F2", mark("What the kernel does, step by step")),
    ("charts", mark("Measure"), "F3", mark("How fast it is: measured here, or on another machine")),
    ("claims", mark("Claims"), "F4", mark("The claims of the five documents, judged on this machine")),
    ("versions", mark("Versions"), "F7", mark("The changes from one version of a kernel to another")),
)
MENUS = (
    mark("File"),
    mark("Play"),
    mark("Run"),
    mark("View"),
    mark("Go to"),
    mark("Zoom and shift"),
    mark("Second kernel"),
    mark("Type size"),
    mark("Language"),
    mark("Source"),
    mark("Cell"),
    mark("Help"),
)
"""The names of menus in an `Action`."""
SUBMENU = " > "
SCALE_STEP = 1.125
"""The growth of type by one press of a key."""
_LANGUAGE_MENU = f"View{SUBMENU}Language"
_GO_TO, _ZOOM, _TYPE = (f"View{SUBMENU}{title}" for title in ("Go to", "Zoom and shift", "Type size"))


class Acting(Protocol):
    """The parts of a `gemmviz.ui.window.window.Window` that actions act on."""

    session: Session
    controller: Controller
    ladder: Ladder
    rail: Rail
    stage: Stage
    arena: Arena
    source: Source
    source_side: SourceSide
    inspector: Inspector
    stops: StopsList
    presenting: Presenting
    measuring: MeasureControls
    run_question: RunQuestion
    message_bar: MessageBar
    files: KernelFiles
    saver: Saver
    pages: Pages

    def paste(self) -> None:
        """Open the kernel on the clipboard."""

    def copy_picture(self) -> None:
        """Copy the stage, or the visible chart, as a picture."""

    def save_shown(self) -> None:
        """Let the user save the visible chart."""

    def ask_versions(self) -> None:
        """Let the user choose two files to compare."""

    def compare_edits(self) -> None:
        """Compare the edited text with the text as it was opened."""

    def next_chart(self) -> None:
        """Turn to the next chart."""

    def open_doors(self) -> None:
        """Show the doors, with three ways to begin."""

    def open_size(self) -> None:
        """Open the size and parameters of the recording."""

    def menuBar(self) -> QMenuBar:
        """Return the menu bar."""

    def show_help(self) -> object:
        """Show the list of keys."""

    def close(self) -> bool:
        """Close the window."""


def window_actions(window: Acting) -> list[Action]:
    """Return every action of a window."""
    return [
        *_file_actions(window),
        *export_actions.actions(window.saver),
        *session_actions(window.session),
        *_view_actions(window),
        *inspector.actions(window.inspector),
        *tour_actions.actions(window.session, window.stops),
        *present_actions(window.presenting, window.session.predict),
        *comparison.actions(window.arena),
        *_type_actions(window),
        *language_actions(window.session, "speak", _LANGUAGE_MENU),
        *_message_actions(window),
        Action("doors", "Help", tr("Where to begin…"), ("Ctrl+F1",), window.open_doors),
        Action("menus", _GO_TO, tr("To the menus"), ("F10",), partial(menu_keys.enter, window.menuBar())),
        Action("help", "Help", tr("Keys and mouse"), ("F1",), window.show_help),
    ]


def _file_actions(window: Acting) -> list[Action]:
    controller, over_n, question = window.controller, window.measuring.start_over_n, window.run_question

    def cancel() -> None:
        predict = window.session.predict
        predict.toggle() if predict.on else controller.engines.cancel()

    return [
        Action("open", "File", tr("Open a kernel file…"), ("Ctrl+O",), window.files.ask_file),
        Action("paste", "File", tr("Paste a kernel"), ("Ctrl+V",), window.paste),
        Action("reload", "File", tr("Reload the kernel's file"), ("F5",), window.files.reload),
        Action("save", "File", tr("Save the results of the last run…"), ("Ctrl+S",), window.saver.results),
        Action(
            "save_picture",
            "File",
            tr("Save the stage as a picture…"),
            ("Ctrl+P",),
            lambda: window.saver.stage(window.stage),
        ),
        Action(
            "copy_picture", "File", tr("Copy the stage or the chart as a picture"), ("Ctrl+C",), window.copy_picture
        ),
        Action("save_chart", "File", tr("Save the chart, or steps of the stage…"), ("Ctrl+E",), window.save_shown),
        Action("versions", "File", tr("Compare two versions…"), ("Ctrl+Alt+V",), window.ask_versions),
        Action("save_kernel", "File", tr("Save the kernel"), ("Ctrl+Alt+S",), window.files.saving.save),
        Action("save_kernel_as", "File", tr("Save the kernel as…"), ("Ctrl+Shift+S",), window.files.saving.save_as),
        Action("trusted", "File", tr("Trusted files and folders…"), ("Ctrl+Alt+O",), question.tell_trusted),
        Action("quit", "File", tr("Quit"), ("Ctrl+Q",), window.close),
        Action("record", "Run", tr("Record"), ("Ctrl+R",), controller.recording.record),
        Action("allow_run", "Run", tr("Run a text that is only looked at…"), ("Ctrl+Shift+O",), question.ask),
        Action("check", "Run", tr("Check at other sizes"), ("Ctrl+Shift+R",), controller.checks.check_sizes),
        Action("measure", "Run", tr("Measure this kernel"), ("Ctrl+M",), controller.measuring.measure_this),
        Action("measure_all", "Run", tr("Measure all kernels"), ("Ctrl+Shift+M",), controller.measuring.measure_all),
        Action("over_n", "Run", tr("Measure this kernel over N"), ("Ctrl+Alt+M",), lambda: over_n(False)),
        Action("all_over_n", "Run", tr("Measure all kernels over N"), ("Ctrl+Alt+Shift+M",), lambda: over_n(True)),
        Action("tune", "Run", tr("Tune this kernel"), ("Ctrl+U",), controller.tuning.start),
        Action("use_tuned", "Run", tr("Measure with the tuned parameters"), ("Ctrl+Shift+U",), controller.tuning.use),
        Action("cancel", "Run", tr("Close the question, or cancel"), ("Esc",), cancel),
    ]


def _view_actions(window: Acting) -> list[Action]:
    stage, session, by_key = window.stage, window.session, Qt.FocusReason.ShortcutFocusReason
    pages = [
        Action(
            f"page_{name}",
            _GO_TO,
            tr("Page {title}", title=tr(title)),
            (key,),
            partial(window.pages.turn_to, name),
        )
        for name, title, key, _ in PAGES
    ]
    side, inspector = window.source_side, window.inspector

    def on(panel: str, act: Callable[[], object]) -> Callable[[], object]:
        """Return a function that shows the tab first and then acts."""

        def turn_and_act() -> None:
            window.pages.turn_to("stage")
            inspector.show_panel(panel)
            act()

        return turn_and_act

    def to_kernels() -> None:
        window.rail.fold(False)
        window.ladder.setFocus(by_key)

    def undo() -> None:
        if session.choice.breaks:
            session.choice.revert()
        else:
            window.source.undo()

    def find() -> None:
        find_kernel(session, window.rail.window())

    edit, source = on("source", window.source.toggle_edit), on("source", lambda: window.source.setFocus(by_key))
    return [
        *pages,
        Action("rail", "View", tr("Fold the kernels away / show them"), ("K",), window.rail.toggle),
        Action("find_kernel", _GO_TO, tr("Find a kernel…"), ("Ctrl+K",), find),
        Action("size", "View", tr("Size and parameters of the recording…"), ("S",), window.open_size),
        Action("edit", "Source", tr("Edit the source / lock it"), ("Ctrl+Shift+E",), edit),
        Action("undo", "Source", tr("Undo the last change of the source"), ("Ctrl+Z",), undo),
        Action("revert", "Source", tr("Back to the text on file"), ("F6",), session.choice.revert),
        Action("compare_edits", "Source", tr("Compare with the text as opened"), ("Shift+F6",), window.compare_edits),
        Action(
            "break", "Source", tr("What if…? Remove or change a part…"), ("Ctrl+B",), on("source", side.break_box.open)
        ),
        Action("check_guess", "Source", tr("Check the guess of the launch…"), ("Ctrl+G",), window.files.bare.check),
        Action("find", "Source", tr("Find in the source"), ("Ctrl+F",), on("source", side.find_bar.open)),
        Action("findings", "Source", tr("To the findings"), ("Ctrl+4",), on("findings", side.findings.take_focus)),
        Action("next_chart", _GO_TO, tr("Next chart"), ("G",), window.next_chart),
        Action(
            "references",
            "View",
            tr("Show / hide references"),
            ("Ctrl+H",),
            lambda: session.results.want_references(not session.results.references_shown),
        ),
        Action("reset", _ZOOM, tr("Show the whole stage"), ("0",), stage.reset_view),
        Action("zoom_in", _ZOOM, tr("Zoom in"), ("Ctrl++", "Ctrl+="), lambda: stage.zoom(1)),
        Action("zoom_out", _ZOOM, tr("Zoom out"), ("Ctrl+-",), lambda: stage.zoom(-1)),
        Action("shift_left", _ZOOM, tr("Shift the stage left"), ("Ctrl+Left",), lambda: stage.shift(-1, 0)),
        Action("shift_right", _ZOOM, tr("Shift the stage right"), ("Ctrl+Right",), lambda: stage.shift(1, 0)),
        Action("shift_up", _ZOOM, tr("Shift the stage up"), ("Ctrl+Up",), lambda: stage.shift(0, -1)),
        Action("shift_down", _ZOOM, tr("Shift the stage down"), ("Ctrl+Down",), lambda: stage.shift(0, 1)),
        *cell_actions(stage.picking),
        Action("focus_ladder", _GO_TO, tr("To the kernels"), ("Ctrl+1",), to_kernels),
        Action("focus_stage", _GO_TO, tr("To the stage"), ("Ctrl+2",), lambda: stage.setFocus(by_key)),
        Action("focus_source", _GO_TO, tr("To the source"), ("Ctrl+3",), source),
    ]


def _type_actions(window: Acting) -> list[Action]:
    session = window.session

    def scale(direction: int) -> None:
        session.preferences.set_type_scale(round(session.preferences.type_scale * SCALE_STEP**direction, 3))

    return [
        Action("larger", _TYPE, tr("Larger type"), ("Ctrl+Alt++", "Ctrl+Alt+="), lambda: scale(1)),
        Action("smaller", _TYPE, tr("Smaller type"), ("Ctrl+Alt+-",), lambda: scale(-1)),
        Action(
            "type_size",
            _TYPE,
            tr("Type as large as at first"),
            ("Ctrl+Alt+0",),
            lambda: session.preferences.set_type_scale(1),
        ),
        Action(
            "calm",
            "View",
            tr("Reduced motion on / off: nothing flies, an access glows only during its step"),
            ("Ctrl+Alt+C",),
            lambda: session.preferences.set_calm(not session.preferences.calm),
        ),
    ]


def _message_actions(window: Acting) -> list[Action]:
    bar = window.message_bar
    return [
        Action("answer_1", "Help", tr("First answer to the message"), ("Alt+1",), lambda: bar.answer(0)),
        Action("answer_2", "Help", tr("Second answer to the message"), ("Alt+2",), lambda: bar.answer(1)),
        Action("whole_message", "Help", tr("All of a long message"), ("Alt+M",), bar.show_more),
        Action("close_message", "Help", tr("Close the message"), ("Alt+X",), bar.dismiss),
    ]
