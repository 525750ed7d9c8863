# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The language changes without a restart: only the window is replaced."""

import gc
import json
import os
import subprocess
import sys
import weakref
from dataclasses import replace

import pytest
from remembering_engine import RememberingEngine, ask_for_the_machine
from window_driving import RECORDING_MS, need_qt, wait_recorded

need_qt()

from psygnal import Signal
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QWidget

from gemmviz import language
from gemmviz.app import new_session
from gemmviz.control.controller import Controller
from gemmviz.language.catalogue import Catalogue
from gemmviz.session.files import preferences_file
from gemmviz.session.models.two_versions import Side
from gemmviz.session.rules.setting_stops import stop_here
from gemmviz.ui.known import qt
from gemmviz.ui.look.open_fonts import OpenFonts
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.windows import Windows

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
KOREAN = {"Kernels": "커널", "Record": "기록", "Play": "재생", "Measure": "측정"}


# Changes the language of the program, and prints whether its first window is freed some time later.
EXCHANGING = """
import gc, weakref
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from gemmviz.app import new_session
from gemmviz.engine.supervisor import Engine
from gemmviz.ui.window import application
from gemmviz.ui.window.window import Window

session, first = new_session(), []
running = application.application()
timer = QTimer()

def look():
    window = next(w for w in running.topLevelWidgets() if isinstance(w, Window) and w.isVisible())
    if not first:
        if session.results.references:
            window.pages.page("charts")
            first.append(weakref.ref(window))
            session.preferences.speak("es")
    elif window is not first[0]():
        print("exchanged", flush=True)
        timer.timeout.disconnect(look)
        QTimer.singleShot(500, leave)

def leave():
    gc.collect()
    print("kept" if first[0]() is not None else "gone", flush=True)
    running.exit(0)
    next(w for w in running.topLevelWidgets() if isinstance(w, Window) and w.isVisible()).end()

timer.timeout.connect(look)
timer.start(50)
application.show(session, lambda: Engine(session.permission.trust), None)
"""


@pytest.fixture
def windows(qtbot, monkeypatch):
    """The window of the program with a recording on the stage; the Korean catalogue has only a few texts."""
    monkeypatch.setitem(language._state, "ko", Catalogue(KOREAN, {}, lambda n: 0))
    monkeypatch.setattr("gemmviz.ui.window.windows.can_write_korean", lambda: True)
    session = new_session()
    ask_for_the_machine(session.permission.trust)
    windows = Windows(session, Controller(session, lambda: RememberingEngine(session.permission.trust), QtLoop()))
    windows.window.show()
    windows._controller.recording.play_next = False
    windows._controller.recording.record()
    wait_recorded(windows.window, qtbot)
    qtbot.waitUntil(lambda: bool(session.results.references))
    yield windows
    session.choice._drafts.clear()
    windows.window.close()
    assert not windows._controller.engines.recorder.running
    assert not [t for t in windows.window.findChildren(QTimer) if t.isActive()]
    windows.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    language.set_language("en")


def speak(windows, qtbot, code):
    with qtbot.waitSignal(windows.exchanged):
        windows.session.preferences.speak(code)


def listeners(model, seen):
    """Count the listeners of a model of the session and of the models in it."""
    if not type(model).__module__.startswith("gemmviz.session") or id(model) in seen:
        return 0
    seen.add(id(model))
    signals = [name for name, value in vars(type(model)).items() if isinstance(value, Signal)]
    own = sum(len(getattr(model, name)) for name in signals)
    return own + sum(listeners(part, seen) for part in list(vars(model).values()))


def menus(window):
    return [action.text() for action in window.menuBar().actions()]


def test_a_change_of_size_or_language_first_opens_all_fonts_that_stay_open(windows, qtbot, monkeypatch):
    for module, change in (
        ("window", lambda: windows.session.preferences.set_type_scale(1.25)),
        ("windows", lambda: speak(windows, qtbot, "es")),
    ):
        fonts = OpenFonts(qt())
        with monkeypatch.context() as patched:
            patched.setattr(f"gemmviz.ui.window.{module}.open_fonts", lambda _, fonts=fonts: fonts)
            change()
        assert not fonts.open_next()
        fonts.deleteLater()
    windows.session.preferences.set_type_scale(1)


def test_a_key_changes_the_language_and_back_while_the_recording_plays(windows, qtbot):
    session, playable = windows.session, windows.session.cursor.playable
    session.playback.play()
    window = windows.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    with qtbot.waitSignal(windows.exchanged):
        qtbot.keyClick(window, Qt.Key.Key_2, CTRL_ALT)
    assert session.preferences.language == "ko"
    assert windows.window.recording.button.text() == "기록"
    assert "재생" in menus(windows.window)
    assert windows.window.isVisible() and windows.window.windowTitle() == window.windowTitle()
    assert session.playback.playing and session.cursor.playable is playable
    step = session.cursor.step
    qtbot.waitUntil(lambda: session.cursor.step != step)
    session.playback.pause()
    with qtbot.waitSignal(windows.exchanged):
        qtbot.keyClick(windows.window, Qt.Key.Key_1, CTRL_ALT)
    assert windows.window.recording.button.text() == "Record"


def test_places_sizes_tabs_and_focus_stay(windows, qtbot):
    window = windows.window
    window.setGeometry(40, 30, 1400, 820)  # room for the texts of each language
    window.columns.setSizes([300, 700, 380])
    window.stage.zoom(1)
    window.charts.setCurrentIndex(2)
    window.measuring.quick.setChecked(True)
    window.recording.auto.setChecked(False)
    window.ladder.setFocus()
    view, sizes, geometry = window.stage.view, window.columns.sizes(), window.geometry()
    speak(windows, qtbot, "es")
    new = windows.window
    assert new is not window
    assert new.geometry() == geometry
    assert new.columns.sizes() == sizes
    assert new.stage.view == view
    assert new.charts.currentIndex() == 2
    assert new.measuring.quick.isChecked() and windows.session.choice.protocol
    assert not new.recording.auto.isChecked() and not windows.session.choice.auto
    assert new.focusWidget() is new.ladder


def test_choices_in_the_panels_stay(windows, qtbot):
    session, window = windows.session, windows.window
    for label in ("one", "other"):
        session.results.add_samples(label, "8 × 8 × 8", [1.0, 2.0], 1.5)
    session.results.end_samples()
    window.source_side.found.click()
    assert window.inspector.panel == "findings"
    window.recording.size_row.link.click()
    window.measuring.sizes.setEditText("32, 16")
    charts = window.charts
    charts.setCurrentWidget(charts.samples)
    charts.refresh()
    boxes = (charts.roofline.device, charts.samples.chooser)
    for box, text in zip(boxes, ("T4", "one"), strict=True):
        box.setCurrentText(text)
        box.activated.emit(box.currentIndex())
    speak(windows, qtbot, "ko")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    speak(windows, qtbot, "es")
    new = windows.window
    assert new is not window
    assert new.inspector.panel == "findings" and new.source_side.findings.list.isVisible()
    assert not new.recording.size_row.link.isChecked() and new.measuring.size_row.link.isChecked()
    assert new.measuring.sizes.sizes() == [16, 32]
    assert new.charts.currentWidget() is new.charts.samples
    new.charts.samples.refresh()
    charts = new.charts
    boxes = (charts.roofline.device, charts.samples.chooser)
    assert [box.currentText() for box in boxes] == ["T4", "one"]
    assert charts.roofline.device.facts["name"] != charts.occupancy.device.facts["name"]


def test_playing_frozen_warp_and_loop_stay(windows, qtbot):
    session, window = windows.session, windows.window
    window.inspector.show_panel("warp")
    session.warp_steps.toggle()
    session.playback.set_loop(not session.playback.loop)
    looping = session.playback.loop
    window.inspector.show_panel("counters")
    speak(windows, qtbot, "es")
    new = windows.window
    assert session.frozen_warp.on and session.playback.loop == looping
    assert new.inspector.warp.frozen.isChecked() and new.transport.loop.isChecked() == looping
    session.playback.play()  # lets the warp go while its tab is not seen
    assert not new.inspector.warp.frozen.isChecked()
    speak(windows, qtbot, "en")
    assert session.playback.playing and not session.frozen_warp.on
    session.playback.pause()


def test_the_list_of_stops_stays_open(windows, qtbot):
    session = windows.session
    for step in (1, 3):
        session.own_stops.add(replace(stop_here(session.staged), step=step, say="Here."))
    listed = windows.window.stops.show_list()
    listed.setGeometry(50, 60, 500, 300)
    listed.list.setCurrentRow(1)
    speak(windows, qtbot, "es")
    shown = windows.window.stops.list_box
    assert shown is not None and shown.isVisible()
    assert shown.list.count() == 2 and shown.list.currentRow() == 1
    assert shown.geometry().getRect() == (50, 60, 500, 300)
    shown.close()
    speak(windows, qtbot, "en")
    assert windows.window.stops.list_box is None


def test_presenter_mode_stays_with_its_size_of_type(windows, qtbot):
    windows.window.presenting.start()
    presenter = windows.window.presenting.presenter
    presenter.stage.zoom(1)
    presenter.resize_type(1)
    scale, seen = windows.session.sight.presented_scale, windows.window.stage.view
    assert scale > 1 and seen.zoom == 1
    speak(windows, qtbot, "es")
    assert windows.window.presenting.on and windows.session.sight.presented_scale == scale
    windows.window.presenting.end()
    speak(windows, qtbot, "en")
    assert not windows.window.presenting.on


def test_the_visible_part_of_both_stages_stays(windows, qtbot):
    session = windows.session
    session.side_by_side.start_named("gputiled~no-second-barrier")
    qtbot.waitUntil(lambda: session.comparison.match is not None, timeout=30_000)
    for stage, direction in ((windows.window.stage, 1), (windows.window.arena.second, 2)):
        for _ in range(direction):
            stage.zoom(1)
    seen = windows.window.stage.view, windows.window.arena.second.view
    assert seen[1].zoom > seen[0].zoom > 1
    speak(windows, qtbot, "ko")
    assert (windows.window.stage.view, windows.window.arena.second.view) == seen
    session.side_by_side.stop()


def test_the_visible_page_stays(windows, qtbot):
    windows.window.pages.turn_to("charts")
    speak(windows, qtbot, "ko")
    assert windows.window.pages.name() == "charts"
    assert windows.window.pages.buttons["charts"].text() == "측정"
    assert windows.window.charts.isVisible()


def test_typed_text_can_still_be_undone(windows, qtbot):
    source = windows.window.source
    source.toggle_edit()
    before = source.text()
    source.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(source, "// mine")
    speak(windows, qtbot, "es")
    new = windows.window.source
    assert new.text() == before + "// mine" and not new.locked
    assert new.textCursor().atEnd()
    qtbot.keyClicks(new, "!")
    assert windows.session.choice.text == before + "// mine!"
    for _ in range(8):
        new.undo()
    assert new.text() == before
    assert windows.session.choice.text == before


def test_a_message_stays_and_its_answers_work(windows, qtbot):
    session = windows.session
    session.choice.choose(params={"TS": 64})
    qtbot.waitUntil(lambda: session.messages.current is not None)
    speak(windows, qtbot, "ko")
    bar = windows.window.message_bar
    assert bar.isVisible() and "TS <= 32" in bar.text.text()
    english = session.messages.current.text
    speak(windows, qtbot, "es")
    assert windows.window.message_bar.text.text() != english and "TS <= 32" in session.messages.current.text


def test_a_note_of_a_lesson_is_told_again_in_another_language(windows, qtbot):
    session = windows.session
    library = next(kernel for kernel in session.choice.kernels if not kernel.recordable)
    session.guide.start_rung(library.name)
    english = session.messages.current.text
    speak(windows, qtbot, "es")
    assert session.messages.current.text != english and library.alias in session.messages.current.text


def test_the_purpose_of_an_exhibit_is_told_again_in_another_language(windows, qtbot):
    session = windows.session
    session.choice.auto = False
    session.choice.choose_kernel(next(kernel for kernel in session.choice.kernels if kernel.exhibit))
    english = session.messages.current.text
    speak(windows, qtbot, "es")
    assert session.messages.current.text != english and session.messages.current.text.startswith("Kernel de exhibición")
    speak(windows, qtbot, "en")
    assert session.messages.current.text == english


def test_several_changes_of_the_language_leak_nothing(windows, qtbot):
    def state():
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        heard = listeners(windows.session, set())
        return len(QApplication.topLevelWidgets()), len(QApplication.allWidgets()), heard

    speak(windows, qtbot, "ko")
    begin, gone = state(), []
    for code in ("es", "ko"):
        gone.append(weakref.ref(windows.window))
        speak(windows, qtbot, code)
    assert state() == begin and begin[2] > 0
    assert [window() for window in gone] == [None] * 2


@pytest.mark.thorough
def test_the_program_frees_its_first_window(tmp_path):
    settings = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "LANG": "en_US.UTF-8", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([sys.executable, "-c", EXCHANGING], env=settings, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-2:] == ["exchanged", "gone"], done.stdout + done.stderr


def test_buttons_of_qt_are_translated(windows, qtbot):
    speak(windows, qtbot, "es")
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    assert "Cancelar" in box.buttons()[0].text().replace("&", "")
    speak(windows, qtbot, "en")
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    assert box.buttons()[0].text().replace("&", "") == "Cancel"


def test_korean_without_a_font_is_reported(windows, qtbot, monkeypatch):
    monkeypatch.setattr("gemmviz.ui.window.windows.can_write_korean", lambda: False)
    speak(windows, qtbot, "ko")
    assert "fonts-noto-cjk" in windows.window.message_bar.text.text()


def test_preferences_are_kept_between_two_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("LANG", "es_MX.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    try:
        first = new_session()
        preferences_file.restore(first.preferences)
        assert first.preferences.language == "es"
        preferences_file.remember(first.preferences)
        first.preferences.speak("ko")
        first.preferences.set_theme("light")
        first.preferences.set_type_scale(1.5)
        first.preferences.set_calm(True)
        second = new_session()
        preferences_file.restore(second.preferences)
        assert (
            second.preferences.language,
            second.preferences.theme,
            second.preferences.type_scale,
            second.preferences.calm,
        ) == ("ko", "light", 1.5, True)
        third = new_session("dark")
        preferences_file.restore(third.preferences, theme="dark", language="en")
        assert (third.preferences.language, third.preferences.theme) == ("en", "dark")
        preferences_file.file().write_text("no JSON")
        fourth = new_session()
        preferences_file.restore(fourth.preferences)
        assert (fourth.preferences.language, fourth.preferences.theme) == ("es", "dark")
        preferences_file.remember(fourth.preferences)
        fourth.preferences.set_calm(True)
        assert json.loads(preferences_file.file().read_text())["calm"] is True
    finally:
        language.set_language("en")


def test_the_choices_of_the_page_of_two_versions_stay(windows, qtbot):
    session = windows.session
    before, after = (
        Side(name, next(kernel for kernel in session.choice.kernels if kernel.name == name))
        for name in ("mm", "gputiled")
    )
    windows.window.pages.turn_to("versions")
    session.versions.choose(before, after)
    page = windows.window.versions
    page.extent.setValue(24)
    page.measures.setChecked(True)
    page.changed_only.setChecked(False)
    speak(windows, qtbot, "es")
    new = windows.window.versions
    assert new is not page and windows.window.pages.name() == "versions"
    assert (new.before.side, new.after.side, new.extent.value()) == (before, after, 24)
    assert new.measures.isChecked() and not new.changed_only.isChecked()


class _Shown(QObject):
    """Notes every widget that is shown as a window of its own."""

    def __init__(self):
        super().__init__()
        self.kinds = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.kinds.append(type(watched).__name__)
        return False


def test_no_other_window_is_shown_for_a_moment_and_the_list_stays_folded_in_a_lesson(windows, qtbot):
    session = windows.session
    windows.window.resize(1280, 800)
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=RECORDING_MS)
    assert windows.window.rail.folded
    shown = _Shown()
    qt().installEventFilter(shown)
    with qtbot.waitSignal(windows.exchanged):
        session.preferences.speak("es")
    QApplication.processEvents()
    qt().removeEventFilter(shown)
    assert shown.kinds == ["Window"]
    assert windows.window.rail.folded and windows.window.tour_bar.sentence.text() == session.tour.stop.say
    session.guide.leave()
    assert not windows.window.rail.folded
