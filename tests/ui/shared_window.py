"""One window for many tests: after each of them it goes back to its first state.

All that a test could leave behind is compared. A window that is not as at first is closed, and the next test gets a new
one: so no test sees what another one did, and the tests run in any order.
"""

from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QWidget,
)

from gemmviz.catalogue.kernel import Kernel
from gemmviz.ui.stage.view import View

SIZE = (1280, 800)
PAGES = ("charts", "claims", "versions")
SETTLED_MS = 20_000
_TRIES, _MOMENT_MS = 3, 20
STAYS = (
    *("made", "preferences.finished", "preferences.calm", "choice.sweep"),
    *("results.document", "results.device", "results.references_wanted", "tuning.kernel", "versions.before"),
)
"""What `put_back` cannot change."""
DEEP = 4
"""Levels of lists, dictionaries and data classes that are compared."""


def state_of(window):
    """Return all that a test can leave behind: the session's public state, and the look of the widgets."""
    session = window.session
    models = {name: part for name, part in vars(session).items() if type(part).__module__.startswith("gemmviz.session")}
    found = {
        f"{model}.{name}": plain(value)
        for model, part in models.items()
        for name, value in vars(part).items()
        if not name.startswith("_") and name not in ("kernels", "trust")
    }
    found["kernels"] = [kernel.name for kernel in session.choice.kernels]
    found["unsaved"] = [kernel.name for kernel in session.choice.all_unsaved()]
    found["trust"] = plain(vars(session.permission.trust.kept))
    found["texts"] = [plain(texts) for texts in texts_of(session)]
    found["window"] = (window.size().toTuple(), window.windowState(), window.inspector.panel)
    found["page"], found["made"] = window.pages.name(), [name for name in PAGES if window.pages.made(name)]
    found["places"] = (window.stage.geometry().getRect(), window.columns.sizes(), window.stage.view)
    found["undo"] = (window.source.document().isUndoAvailable(), window.source.document().isRedoAvailable())
    found["progress"] = {engine: session.progress[engine] for engine in session.progress}
    found["plays"] = window.controller.recording.play_next
    found["focus"] = type(window.focusWidget()).__name__
    found["source"] = (window.source.locked, window.source.toPlainText(), window.ladder.open_chapter)
    found["seen"] = looks(window, visible=True)
    return found, looks(window, visible=False)


def texts_of(session):
    """Return the collections of edited texts, and of those that may or may not run until the window is closed."""
    choice, permission, trust = session.choice, session.permission, session.permission.trust
    return choice._drafts, choice._on_file, permission._looked, trust._here, trust._foreign, trust._bases


def looks(window, visible):
    """Return the visible widgets with their texts, or what is checked or chosen in the hidden ones.

    A hidden text is written again before it is shown. Tabs that are made later have more parts, whose choices the
    session has.
    """
    parts = [part for part in window.findChildren(QWidget) if part.isVisible() == visible]
    found = ((type(part).__name__, part.objectName(), visible and part.isEnabled(), content(part)) for part in parts)
    return Counter(look for look in found if visible or look[-1] is not None)


def content(part):
    """Return what a widget shows, or what is chosen in it; None for other widgets."""
    match part:
        case QAbstractButton() if part.isCheckable():
            return part.text(), part.isChecked()
        case QComboBox():
            return part.currentText(), part.count()
        case QAbstractButton() | QAbstractSpinBox() | QLineEdit() | QLabel() if part.isVisible():
            return part.text()
    return None


def plain(value, deep=DEEP):
    """Return a value that can be compared; an object of another class is its type's name."""
    match value:
        case int() | float() | str() | bytes() | None:
            return value
        case Path():
            return str(value)
        case Kernel():
            return value.name, value.sha256
        case dict() if deep:
            return {repr(key): plain(part, deep - 1) for key, part in value.items()}
        case list() | tuple() if deep:
            return [plain(part, deep - 1) for part in value]
        case set() | frozenset():
            return sorted(map(repr, value))
    if is_dataclass(value) and deep and type(value).__module__.startswith(("gemmviz.session", "gemmviz.catalogue")):
        return {field.name: plain(getattr(value, field.name), deep - 1) for field in fields(value)}
    return type(value).__name__


def put_back(window, first):
    """Bring a window back to its first choice, place and look, and forget its opened files and edits.

    Parameters
    ----------
    window
        The window.
    first
        Its first choice: see `choice_of`.
    """
    session, choice = window.session, window.session.choice
    _close_all(window)
    if session.predict.on:
        session.predict.toggle()
    if session.comparison.on:
        session.side_by_side.stop()
    if session.tour.active:
        session.guide.leave()
    session.frozen_warp.release()
    session.playback.pause()
    choice.wanted, choice.protocol = None, {}
    other_text = choice.variant or choice.fault is not None or session.cursor.failure is not None
    _forget_texts(session)
    # A text that was edited and taken back waits for its recording: `pause.stop` below calls that off.
    if choice_of(window) != first or other_text or not rests(window):
        choice.order, choice.as_written = "grid", False
        choice.choose_kernel(next(kernel for kernel in choice.kernels if kernel.name == first[0]))
        window.controller.recording.record()
    if opened := [kernel for kernel in choice.kernels if not choice.is_shipped_file(kernel)]:
        for kernel in opened:
            choice.kernels.remove(kernel)
        choice.kernels_changed.emit()
    window.controller.recording.pause.stop()
    session.comparison.kernel = None
    if session.playback.loop_range is not None:
        session.playback.loop_all()
    session.playback.set_speed(1.0)
    session.cursor.seek(0)
    session.cursor.pick(None, 0)
    session.cursor.choose_warp(0)
    session.inspection.choose_lane(0)
    session.preferences.set_theme("dark")
    session.preferences.set_type_scale(1.0)
    session.lens.show_own()
    session.messages.tell(None)
    window.pages.turn_to("stage")
    for button in (window.recording.auto, window.recording.size_row.link):
        if not button.isChecked():
            button.click()
    window.source.lock(True)
    window.source.document().clearUndoRedoStacks()
    window.inspector.show_panel("source")
    if window.rail.folded:
        window.rail.fold(False)
    window.stage.view = View()
    window.showNormal()
    window.resize(*SIZE)
    window.stage.setFocus()


def _forget_texts(session):
    session.permission.trust.forget()
    for texts in texts_of(session):
        texts.clear()


def _close_all(window):
    while QApplication.activePopupWidget() is not None:
        QApplication.activePopupWidget().close()
    for dialog in window.findChildren(QDialog):
        dialog.reject()
    window.presenting.end()
    window.size_popover.close()


def choice_of(window):
    """Return the choice that a recording depends on."""
    choice = window.session.choice
    return choice.base.name, choice.problem, dict(choice.params), choice.order, choice.as_written, choice.breaks


class SharedWindow:
    """The window that the tests of a process share.

    Parameters
    ----------
    opened
        Opens a window with its first recording.
    end
        Closes one, and checks that nothing of it is left.
    wait_until
        Waits until something holds; returns False if it does not within a time in milliseconds.
    """

    def __init__(self, opened, end, wait_until):
        self._opened, self._end, self._wait_until = opened, end, wait_until
        self._window = None

    def take(self):
        """Return the window: as it was at first."""
        if self._window is None:
            self._window = self._opened()
            self._settle()
            self._choice, self._first = choice_of(self._window), self._state_at_rest()
        return self._window

    def give_back(self):
        """Put the window back; close it if it is not as it was at first."""
        same = False
        try:
            same = self._is_as_at_first()
        finally:
            if not same:
                self.close()

    def close(self):
        """Close the window, if there is one."""
        if self._window is not None:
            window, self._window = self._window, None
            window.session.permission.trust.forget()  # its file is left to the next window
            self._end(window)

    def _is_as_at_first(self):
        window = self._window
        if not window.isVisible() or window.session.progress["bench"] is not None:
            return False
        (first, _), (now, _) = self._first, state_of(window)
        if any(now[name] != first[name] for name in STAYS):
            return False
        put_back(window, self._choice)
        # Some parts follow a moment later.
        return self._settle() and any(self._looks_as_at_first() for _ in range(_TRIES))

    def _looks_as_at_first(self):
        (first, hidden), (now, now_hidden) = self._first, state_of(self._window)
        same = now == first and hidden <= now_hidden
        if not same:
            QTest.qWait(_MOMENT_MS)
        return same

    def _state_at_rest(self):
        before, state = None, state_of(self._window)
        while state != before:
            QTest.qWait(_MOMENT_MS)
            before, state = state, state_of(self._window)
        return state

    def _settle(self):
        window = self._window
        window.activateWindow()
        there = self._wait_until(lambda: window.isActiveWindow() and rests(window), SETTLED_MS)
        window.strip.refresh()  # otherwise a moment later
        QApplication.processEvents()
        return there


def rests(window):
    """Return whether the chosen recording is on the stage."""
    session = window.session
    return session.progress["record"] is None and session.cursor.playable is not None and not session.staged.outdated
