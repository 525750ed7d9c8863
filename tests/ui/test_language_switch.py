# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The language changes without a restart: the window is replaced, and its texts and messages are translated."""

import gc
import os
import subprocess
import sys
import weakref

import pytest
from window_driving import need_qt

need_qt()

from language_driving import speak
from psygnal import Signal
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox

from gemmviz.ui.known import qt
from gemmviz.ui.look.open_fonts import OpenFonts

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier

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


def test_buttons_of_qt_are_translated(windows, qtbot):
    speak(windows, qtbot, "es")
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    assert "Cancelar" in box.buttons()[0].text().replace("&", "")
    speak(windows, qtbot, "en")
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    assert box.buttons()[0].text().replace("&", "") == "Cancel"


def test_korean_without_a_font_is_reported(windows, qtbot, monkeypatch):
    monkeypatch.setattr("gemmviz.ui.look.korean.can_write_korean", lambda: False)
    speak(windows, qtbot, "ko")
    assert "fonts-noto-cjk" in windows.window.message_bar.text.text()


@pytest.mark.thorough
def test_the_program_frees_its_first_window(tmp_path):
    settings = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "LANG": "en_US.UTF-8", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([sys.executable, "-c", EXCHANGING], env=settings, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-2:] == ["exchanged", "gone"], done.stdout + done.stderr
