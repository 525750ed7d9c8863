# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Each action has a key of its own, and the key calls it with an effect that can be seen."""

from collections import Counter
from dataclasses import replace

import pytest
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QMenu, QTabWidget, QWidget

from gemmviz.catalogue.ladder import find
from gemmviz.session import Answer, Message
from gemmviz.ui.window.window_actions import window_actions

# The whole table of actions. For some only the call is tested: engines, the end of the window, another window.
ONLY_CALLED = {
    *("quit", "record", "check", "measure", "measure_all", "over_n", "all_over_n", "tune", "cancel", "reload"),
    *("speak_en", "speak_ko", "speak_es"),
}


@pytest.fixture
def called(monkeypatch):
    """The ids of the called actions, in all windows that are made from now on."""
    ids = []

    def spied(window):
        def spy(action):
            def call():
                ids.append(action.id)
                if action.id not in ONLY_CALLED:
                    action.callback()

            return replace(action, callback=call)

        return [spy(action) for action in window_actions(window)]

    monkeypatch.setattr("gemmviz.ui.window.window.window_actions", spied)
    return ids


@pytest.fixture
def asked(monkeypatch):
    """The purposes of the opened file dialogs; no file is chosen."""
    titles = []
    for name in ("getOpenFileName", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *args, **_: (titles.append(args[1]), ("", ""))[1])
    return titles


def plain(value):
    """Return the comparable values of a part of the session; objects in lists are never changed, but replaced."""
    if isinstance(value, (tuple, list)):
        return repr([plain(part) for part in value])
    if isinstance(value, (int, float, str, bool, type(None))):
        return repr(value)
    return "" if callable(value) else f"{type(value).__name__} {id(value)}"


def named(widget):
    """Return the properties of widgets that this test compares."""
    return type(widget).__name__, widget and (widget.objectName(), widget.accessibleName())


def seen(window, asked):
    """Return all state that an action can visibly change."""
    session, app = window.session, QApplication
    parts = [session, *(part for part in vars(session).values() if type(part).__module__.startswith("gemmviz.session"))]
    return (
        [{name: plain(value) for name, value in vars(part).items()} for part in parts],
        window.pages.name(),
        window.stage.view,
        window.charts.currentIndex(),
        window.source.locked,
        named(app.focusWidget()),
        window.presenting.on,
        window.message_bar.text.maximumHeight(),
        Counter(named(w) for w in window.findChildren(QWidget) if w.isVisible()),
        app.clipboard().text(),
        [box.currentIndex() for box in window.findChildren(QTabWidget)],
        list(asked),
    )


def make_ready(window, name):
    """Close open dialogs, and set the state in which an action has an effect."""
    session = window.session
    window.presenting.end()
    while QApplication.activePopupWidget() is not None:
        QApplication.activePopupWidget().close()
    for dialog in window.findChildren(QDialog):
        dialog.reject()
    if session.predict.on:
        session.predict.toggle()
    session.playback.pause()
    session.cursor.choose_warp(0)
    session.cursor.pick((2, 5 * 16 + 5), 0)
    session.cursor.seek(session.cursor.steps // 2)
    window.source.lock(True)
    window.activateWindow()
    if name in ("answer_1", "answer_2", "close_message", "whole_message"):
        no = Answer("No", lambda: None)
        session.messages.tell(Message("Really? " * 100, "info", answers=(no, no)))
        QApplication.sendPostedEvents()  # it is arranged
    elif name in ("revert", "undo"):
        session.choice.break_it(("no-second-barrier",))
    elif name == "loop_all":
        session.playback.set_loop_range(2, 20)
    elif name in ("next_stop", "previous_stop"):
        session.guide.go(1)
    elif name == "reset" or name.startswith("shift_"):
        window.stage.zoom(3)
    elif name == "type_size" and session.preferences.type_scale == 1:
        session.preferences.set_type_scale(1.1)
    elif name == "page_stage":
        window.pages.turn_to("charts")
    (window.source if name in ("focus_stage", "focus_ladder") else window.stage).setFocus()


def test_every_action_has_its_own_key_and_a_place_in_the_menu(make_window):
    window = make_window()
    keys = [QKeySequence(key).toString() for action in window.actions_table for key in action.keys]
    assert all(keys) and sorted(keys) == sorted(set(keys))
    in_menus = {action.objectName() for menu in window.menuBar().findChildren(QMenu) for action in menu.actions()}
    assert {action.id for action in window.actions_table} <= in_menus
    assert all(action.keys for action in window.actions_table)


def without_effect(window, qtbot, called, asked, actions):
    """Press the first key of each action; return a sentence about each that does not what its action says."""
    session = window.session
    # Several warps per block, tiles in shared memory, and a lesson of the size that is shown.
    session.choice.choose_kernel(find("RR", session.choice.kernels))
    wait_recorded(window, qtbot)
    window.tour_bar.lesson_button.click()
    wait_recorded(window, qtbot)
    wrong = []
    for action in actions:
        make_ready(window, action.id)
        before = seen(window, asked)
        called.clear()
        QTest.keySequence(window, QKeySequence(action.keys[0]))
        if called != [action.id]:
            wrong.append(f"{action.keys[0]}: calls {called}, not {action.id}")
        elif action.id not in ONLY_CALLED and seen(window, asked) == before:
            wrong.append(f"{action.keys[0]}: {action.id} changes nothing")
        if action.id.startswith("page_"):
            window.pages.turn_to("stage")
    make_ready(window, "")
    session.choice._drafts.clear()
    return "\n".join(wrong)


@pytest.mark.new_window
def test_the_keys_of_some_actions_call_them_with_a_visible_effect(called, asked, window, qtbot):
    assert without_effect(window, qtbot, called, asked, window.actions_table[::7]) == ""


@pytest.mark.thorough
@pytest.mark.new_window
def test_each_key_calls_its_action_with_a_visible_effect(called, asked, window, qtbot):
    assert without_effect(window, qtbot, called, asked, window.actions_table) == ""
