"""Faults that a window meets: in its files, its preferences, its editor, its engine, and when it is closed."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from faults_ground import HOUSE, Fault, Ground, make_irregular, need
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gemmviz.app import new_session
from gemmviz.control.controller import Controller
from gemmviz.engine.supervisor import Engine
from gemmviz.session import preferences_file
from gemmviz.session.drafts import Drafts
from gemmviz.ui.window.application import application
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.window import Window

_PATIENCE_S = 60.0
_raised: list[str] = []


def _hook(kind: type[BaseException], error: BaseException, trace: object) -> None:
    _raised.append(f"{kind.__name__}: {error}")


@contextmanager
def opened() -> Iterator[Window]:
    """Open a window with its first recording on the stage; close it, and need that nothing is left."""
    application()
    before_us = set(multiprocessing.active_children())
    sys.excepthook, before = _hook, sys.excepthook
    _raised.clear()
    session = new_session()
    session.faults = preferences_file.restore(session.preferences)
    window = Window(session, Controller(session, lambda: Engine(session.permission.trust), QtLoop()))
    window.show()
    window.controller.recording.play_next = False
    window.controller.recording.record()
    wait(lambda: session.cursor.playable is not None)
    try:
        yield window
        QApplication.processEvents()
        window.grab()
    finally:
        window.files.may_close = lambda: True
        begun = time.monotonic()
        window.close()
        took = time.monotonic() - begun
        sys.excepthook = before
        window.deleteLater()
    need(not _raised, f"raised: {_raised[:1]}")
    need(set(multiprocessing.active_children()) <= before_us, "a process is left")
    need(took < 2, f"closing took {took:.1f} s")


def wait(done: Callable[[], bool], seconds: float = _PATIENCE_S) -> None:
    """Run the event loop until something is so."""
    end = time.monotonic() + seconds
    while not done():
        need(time.monotonic() < end, f"nothing after {seconds:g} s")
        loop = QEventLoop()
        QTimer.singleShot(20, loop.quit)
        loop.exec()


def message_of(window: Window) -> str:
    """Return the message that stands in the window; empty: none."""
    message = window.session.messages.current
    return message.text if message is not None else ""


def works(window: Window) -> None:
    """Need that another rung can be recorded."""
    session = window.session
    session.choice.choose_kernel(next(kernel for kernel in session.choice.kernels if kernel.name == "hostmult0"))
    window.controller.recording.record()
    wait(lambda: session.cursor.playable is not None and session.cursor.playable.recording.kernel == "hostmult0")


def bad_text(ground: Ground) -> str:
    """Try a text that no compiler takes, typed in the editor: its line is marked and the last good recording stays."""
    with opened() as window:
        session = window.session
        text = session.choice.text.replace("float sum = 0;", "float sum = ;")
        line = text[: text.index("float sum = ;")].count("\n") + 1
        good = session.cursor.playable
        session.permission.trust.typed(session.choice.base.path, session.choice.text, text)
        session.choice.edit(text)
        window.controller.recording.record()
        wait(lambda: session.messages.current is not None)
        shown = message_of(window)
        need(window.source.error() == line, f"the marked line is {window.source.error()}, not {line}")
        need(session.cursor.playable is good, "the last good recording is gone")
        works(window)
    return shown


def closed_while_it_runs(ground: Ground) -> str:
    """Close the window while a kernel is measured and another is recorded."""
    with opened() as window:
        session = window.session
        window.controller.measuring.measure([k for k in session.choice.kernels if k.name == "hostmult0"])
        window.controller.recording.record()
        wait(lambda: session.progress["bench"] is not None)
    return "(nothing: it closes)"


def killed(ground: Ground) -> str:
    """Kill the recorder's process from outside."""
    with opened() as window:
        session = window.session
        pids = [child.pid for child in multiprocessing.active_children()]
        session.choice.choose(params={"TS": 2})
        window.controller.recording.record()
        for pid in pids:
            os.kill(pid or 0, signal.SIGKILL)
        wait(lambda: session.progress["record"] is None)
        shown = message_of(window)
        works(window)
    return shown or "(nothing: another process takes over)"


def type_sizes(ground: Ground) -> str:
    """Type at 0.79 of its size, by key and from the preferences; also 0.5, 0.01 and numbers that are none."""
    kept = preferences_file.file()
    kept.parent.mkdir(parents=True, exist_ok=True)
    shown = ""
    try:
        for scale in ("0.79", "0.5", "0.01", "1e308", "NaN", '"large"'):
            kept.write_text(f'{{"type_scale": {scale}}}')
            with opened() as window:
                window.session.preferences.set_type_scale(0.79)
                for page in ("charts", "claims", "stage"):
                    window.pages.turn_to(page)
                    QApplication.processEvents()
                shown = shown or "; ".join(window.session.faults)
    finally:
        kept.unlink()
    return shown


def preferences_that_are_none(ground: Ground) -> str:
    """Try a pipe, deep nesting and bytes that are no text in the place of the preferences."""
    kept, shown = preferences_file.file(), ""
    kept.parent.mkdir(parents=True, exist_ok=True)
    for kind in ("pipe", "deep", "bytes"):
        if kind == "pipe":
            os.mkfifo(kept)
        else:
            kept.write_bytes(b"[" * 100_000 if kind == "deep" else b"\xff\xfe")
        try:
            with opened() as window:
                shown = shown or "; ".join(window.session.faults)
                need(bool(window.session.faults), f"{kind}: no message appears")
        finally:
            kept.unlink()
    return shown


def states(ground: Ground) -> str:
    """States with a zoom of 0, NaN and 1e308, with huge numbers, deep nesting, a wrong kernel, or no state at all."""
    shown = ""
    parts = ['"view": {"zoom": 0}', '"view": {"zoom": NaN}', '"view": {"zoom": 1e308, "shift": [0.1, 0.1]}']
    parts += [
        f'"step": {"1" * 5000}',
        f'"cell": {"[" * 5000}{"]" * 5000}',
        '"type_scale": 0.01',
        '"size": [0, -1, 1e99]',
    ]
    with opened() as window:
        for part in parts:
            path = ground.folder() / "mine.gemmviz"
            path.write_text(f'{{"state_version": 1, "kernel": {{"name": "gpumult1"}}, {part}}}')
            window.open_file(path)
            QApplication.processEvents()
            window.grab()
            shown = shown or message_of(window)
        works(window)
    return shown


def no_regular_files(ground: Ground) -> str:
    """Try a state, a lesson and a kernel that are a pipe, a device, or 3 GB."""
    shown = ""
    with opened() as window:
        for suffix in (".gemmviz", ".toml", ".cu"):
            for kind in ("pipe", "device", "huge"):
                path = ground.folder() / f"my{suffix}"
                make_irregular(path, kind)
                window.session.messages.tell(None)
                window.open_file(path)
                need(
                    any(word in message_of(window) for word in ("not a regular file", "larger than")),
                    f"{kind}: {message_of(window)}",
                )
                shown = shown or message_of(window)
        works(window)
    return shown


def lessons(ground: Ground) -> str:
    """Lessons with huge numbers, deep nesting, a kernel that does not exist, and no TOML."""
    shown = ""
    texts = [f'kernel = "gputiled"\nsize = {"1" * 5000}\n', f"a = {'[' * 5000}", 'kernel = "nothing"\n', "= ="]
    with opened() as window:
        for text in texts:
            path = ground.folder() / "my.toml"
            path.write_text(text)
            window.session.messages.tell(None)
            window.open_file(path)
            need("my.toml" in message_of(window), message_of(window) or "no message appears")
            shown = shown or message_of(window)
        works(window)
    return shown


def out_of_range(ground: Ground) -> str:
    """Try a step and an element that the recording does not have."""
    with opened() as window:
        session = window.session
        for step in (10**9, -(10**9)):
            session.cursor.seek(step)
            window.grab()
        session.cursor.pick((99, 0), 10**6)
        window.grab()
        need(session.cursor.cell is None, "it is chosen")
    return "(nothing: the nearest step is shown)"


def terminated(ground: Ground) -> str:
    """SIGTERM to a program with text that is not saved, then a start after it."""
    took, shown = _ended_by(ground, signal.SIGTERM, 0)
    return f"(ends after {took:.1f} s; at the next start:) {shown}"


def killed_while_editing(ground: Ground) -> str:
    """SIGKILL to a program with text that is not saved, as when the machine dies, then a start after it."""
    return f"(at the next start:) {_ended_by(ground, signal.SIGKILL, -signal.SIGKILL)[1]}"


def _ended_by(ground: Ground, sent: signal.Signals, code: int) -> tuple[float, str]:
    """Edit, send a signal, and start again; return the seconds until the end, and the message at the next start."""
    home = ground.folder()
    environment = {**os.environ, "PYTHONPATH": str(HOUSE), "QT_QPA_PLATFORM": "offscreen"}
    environment |= {f"XDG_{name}_HOME": str(home / name) for name in ("STATE", "CONFIG", "DATA", "CACHE")}
    text = (
        (HOUSE / "kernels" / "cuda" / "30_gputiled.cu").read_text().replace("float sum = 0;", "float sum = 0; // mine")
    )
    path = home / "mine.gemmviz"
    path.write_text(json.dumps({"state_version": 1, "kernel": {"name": "gputiled", "text": text}}))
    program = subprocess.Popen([sys.executable, "-m", "gemmviz", str(path)], env=environment)
    try:
        time.sleep(1)
        end = time.monotonic() + _PATIENCE_S
        kept = home / "STATE"
        while not list(kept.rglob("*.json")) and time.monotonic() < end:
            time.sleep(0.5)
        program.send_signal(sent)
        begun = time.monotonic()
        need(program.wait(20) == code, f"exit code {program.returncode}")
        took = time.monotonic() - begun
    finally:
        program.kill()
    need(bool(list(kept.rglob("*.json"))), "the text is lost")
    os.environ["XDG_STATE_HOME"], before = str(kept), os.environ["XDG_STATE_HOME"]
    try:
        with opened() as window:
            from gemmviz.ui.window.leaving import offer

            offer(window.session, Drafts(window.session))
            shown = message_of(window)
            need("still there" in shown, shown or "nothing is offered")
    finally:
        os.environ["XDG_STATE_HOME"] = before
    return took, shown


FAULTS = [
    Fault("7b", "A text with a fault, typed in the editor", bad_text),
    Fault("30b", "The window is closed during a run", closed_while_it_runs),
    Fault("30c", "An engine is killed from outside", killed),
    Fault("34", "Type at 0.79 of its size, by key and from the preferences; sizes that cannot be", type_sizes),
    Fault("35", "Preferences that are a pipe, nested too deep, or no text", preferences_that_are_none),
    Fault("36", "States with a zoom of 0, NaN, 1e308; huge numbers; deep nesting", states),
    Fault("37", "A state, a lesson, a kernel that is a pipe, a device, or 3 GB", no_regular_files),
    Fault("42", "Lessons with huge numbers, deep nesting, an unknown kernel, no TOML", lessons),
    Fault("47", "A step and an element that the recording does not have", out_of_range),
    Fault("48", "SIGTERM with text that is not saved", terminated),
    Fault("48b", "The program is killed with text that is not saved", killed_while_editing),
]
