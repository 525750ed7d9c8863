"""The table of everything that can be done in the window: each feature's actions, in the order of the menus."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from gemmviz.ui.actions import Action, session_actions

if TYPE_CHECKING:
    from gemmviz.ui.window import Window

PAGES = (
    ("stage", "Stage", "F2", "What the kernel does, step by step"),
    ("charts", "Charts", "F3", "How fast it is: the charts fill the middle"),
    ("claims", "Claims", "F4", "What the five documents say, judged on this machine"),
)


def window_actions(window: "Window") -> list[Action]:
    """Return every action of a window."""
    return [*_file_actions(window), *session_actions(window.session), *_view_actions(window)]


def _file_actions(window: "Window") -> list[Action]:
    controller, over_n = window.controller, window.measuring.start_over_n
    return [
        Action("open", "File", "Open a kernel file…", ("Ctrl+O",), window.files.ask_file),
        Action("reload", "File", "Reload the kernel's file", ("F5",), window.files.reload),
        Action("save", "File", "Save the results of the last run…", ("Ctrl+S",), window.saver.results),
        Action(
            "save_picture",
            "File",
            "Save the stage as a picture…",
            ("Ctrl+P",),
            lambda: window.saver.stage(window.stage),
        ),
        Action("save_chart", "File", "Save the chart (PNG, SVG, CSV)…", ("Ctrl+E",), window.save_chart),
        Action("save_kernel", "File", "Save the kernel", ("Ctrl+Alt+S",), window.files.save),
        Action("save_kernel_as", "File", "Save the kernel as…", ("Ctrl+Shift+S",), window.files.save_as),
        Action("quit", "File", "Quit", ("Ctrl+Q",), window.close),
        Action("record", "Run", "Record", ("Ctrl+R",), controller.record),
        Action("check", "Run", "Check at other sizes", ("Ctrl+Shift+R",), controller.checks.check_sizes),
        Action("measure", "Run", "Measure this rung", ("Ctrl+M",), controller.measure_this),
        Action("measure_all", "Run", "Measure all rungs", ("Ctrl+Shift+M",), controller.measure_all),
        Action("over_n", "Run", "Measure this rung over N", ("Ctrl+Alt+M",), lambda: over_n(False)),
        Action("all_over_n", "Run", "Measure all rungs over N", ("Ctrl+Alt+Shift+M",), lambda: over_n(True)),
        Action("cancel", "Run", "Cancel", ("Esc",), controller.cancel),
    ]


def _view_actions(window: "Window") -> list[Action]:
    stage, session, by_key = window.stage, window.session, Qt.FocusReason.ShortcutFocusReason
    pages = [
        Action(f"page_{name}", "View", f"Page {title}", (key,), lambda name=name: window.pages.turn_to(name))
        for name, title, key, _ in PAGES
    ]
    side = window.source_side
    return [
        *pages,
        Action("edit", "Source", "Edit the source / lock it", ("Ctrl+Shift+E",), window.source.toggle_edit),
        Action("revert", "Source", "Back to the text on file", ("F6",), session.revert),
        Action("break", "Source", "Break it: take a part away…", ("Ctrl+B",), side.break_box.open),
        Action("find", "Source", "Find in the source", ("Ctrl+F",), side.find_bar.open),
        Action("findings", "Source", "To the findings", ("Ctrl+4",), side.findings.take_focus),
        Action("next_chart", "View", "Next chart", ("G",), window.next_chart),
        Action(
            "references",
            "View",
            "Show / hide references",
            ("Ctrl+H",),
            lambda: session.want_references(not session.references_shown),
        ),
        Action("reset", "View", "Show the whole stage", ("0",), stage.reset_view),
        Action("zoom_in", "View", "Zoom in", ("Ctrl++", "Ctrl+="), lambda: stage.zoom(1)),
        Action("zoom_out", "View", "Zoom out", ("Ctrl+-",), lambda: stage.zoom(-1)),
        Action("shift_left", "View", "Shift the stage left", ("Ctrl+Left",), lambda: stage.shift(-1, 0)),
        Action("shift_right", "View", "Shift the stage right", ("Ctrl+Right",), lambda: stage.shift(1, 0)),
        Action("shift_up", "View", "Shift the stage up", ("Ctrl+Up",), lambda: stage.shift(0, -1)),
        Action("shift_down", "View", "Shift the stage down", ("Ctrl+Down",), lambda: stage.shift(0, 1)),
        Action("cell_left", "Cell", "Choose the cell to the left", ("Shift+Left",), lambda: stage.pick_beside(0, -1)),
        Action("cell_right", "Cell", "Choose the cell to the right", ("Shift+Right",), lambda: stage.pick_beside(0, 1)),
        Action("cell_up", "Cell", "Choose the cell above", ("Shift+Up",), lambda: stage.pick_beside(-1, 0)),
        Action("cell_down", "Cell", "Choose the cell below", ("Shift+Down",), lambda: stage.pick_beside(1, 0)),
        Action("cell_array", "Cell", "Choose in the next array", ("X",), stage.pick_next_array),
        Action("cell_none", "Cell", "Choose no cell", ("Backspace",), stage.let_go),
        Action("focus_ladder", "View", "To the ladder", ("Ctrl+1",), lambda: window.ladder.setFocus(by_key)),
        Action("focus_stage", "View", "To the stage", ("Ctrl+2",), lambda: stage.setFocus(by_key)),
        Action("focus_source", "View", "To the source", ("Ctrl+3",), lambda: window.source.setFocus(by_key)),
        Action("help", "Help", "Keys and mouse", ("F1",), window.show_help),
    ]
