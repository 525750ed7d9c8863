"""The window that damaged files are opened in, one after the other, as its user opens them."""

import threading
import time
from dataclasses import replace

from fuzzing_watch import processes_left
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QDialog

from gemmviz.app import new_session
from gemmviz.bench import reference_results, store
from gemmviz.bench.tuning import kept
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.control.controller import Controller
from gemmviz.engine.messages import RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.language import set_language
from gemmviz.proving import proofs
from gemmviz.sandbox.limits import Limits
from gemmviz.session import Message
from gemmviz.session.files import preferences_file, snapshot
from gemmviz.ui.window.application import application
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.windows import Windows

RECORDING_S, COMPILING_S = 2.0, 60
"""The time limits of a kernel's run and compilation here; in the program they are 20 s and 300 s."""


class QuickEngine(Engine):
    """An engine in which a kernel that does not end, or cannot be compiled in time, is stopped sooner."""

    def run(self, request, cancel):
        """Yield the replies to a request; see `Engine.run`."""
        if isinstance(request, RecordRequest):
            request = replace(request, deadline_s=RECORDING_S)
        return super().run(request, cancel)


class Opened:
    """The outcome of a file: ``outcome`` is ``"opened"``, ``"refused"`` or ``"silent"``; ``texts``: all messages."""

    def __init__(self):
        self.outcome, self.texts = "silent", []


class Room:
    """A window in which one file after the other is opened.

    Parameters
    ----------
    folder
        Where the files are put: kernels in ``trusted`` may run, those in ``strange`` may not.
    deadline_s
        When to give up waiting.
    """

    def __init__(self, folder, deadline_s):
        self.running = application()
        self.deadline_s = deadline_s
        self.folder = folder
        session = self.session = new_session()
        set_language("en")
        self.controller = Controller(
            session, lambda: QuickEngine(session.permission.trust, Limits(compile_s=COMPILING_S)), QtLoop()
        )
        self.controller.recording.play_next = False
        self.windows = Windows(session, self.controller)
        self.windows.window.show()
        session.messages.changed.connect(self._on_message)
        session.choice.choose(problem=Problem.cube(8))
        self.shown, self._failing = [], False
        session.permission.trust.allow_folder(folder / "trusted")
        self.controller.recording.record()
        self.wait()
        while not session.results.references:  # read while the window is idle
            self.turn(20)
        for page in ("charts", "claims"):
            self.window.pages.page(page)
        session.results.set_references([])  # else every change of colours draws hundreds of curves

    @property
    def window(self):
        """The window as it is now: another language makes another one."""
        return self.windows.window

    def _on_message(self):
        if self.session.messages.current is not None:
            self.shown.append(self.session.messages.current)

    def turn(self, milliseconds=0):
        """Let the window process its events."""
        until = time.monotonic() + milliseconds / 1e3
        while True:
            self.running.processEvents()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            if time.monotonic() >= until:
                return
            time.sleep(0.002)

    def wait(self):
        """Wait until nothing is being recorded; False if that takes longer than the deadline."""
        until = time.monotonic() + self.deadline_s
        self.turn()
        while self.session.progress["record"] is not None or self.session.progress["bench"] is not None:
            if time.monotonic() > until:
                self.controller.engines.cancel()
                self.turn(1000)
                return False
            self.turn(2)
        self.turn()
        return True

    def open(self, damaged, path):
        """Open a file as the window does; return `Opened`, and whether that ended before the deadline."""
        self.shown.clear()
        opened = Opened()
        kind = "kernels" if damaged.sort in ("kernels", "front-matter") else damaged.sort
        in_time = getattr(self, f"_{kind}")(path, opened)
        opened.texts = [message.text for message in self.shown]
        for dialog in self.window.findChildren(QDialog):
            opened.outcome = "opened"  # the form that asks how a kernel is to be run
            dialog.reject()
        self.turn()
        if opened.outcome == "silent" and any(text.strip() for text in opened.texts):
            opened.outcome = "refused"
        return opened, in_time

    def _kernels(self, path, opened):
        session = self.session
        session.choice.choose_kernel(find("gputiled", session.choice.kernels))
        self.shown.clear()
        self.window.open_file(path)
        while self.window.files.bare.pending:
            self.turn(5)
        if session.choice.base.path == path:
            self.controller.recording.record()
            in_time = self.wait()
            shown = session.cursor.playable
            if session.permission.held or (
                shown is not None and shown.recording.sha256 == session.choice.kernel.sha256
            ):
                opened.outcome = "opened"
                self._look()
            return in_time
        self.controller.recording.pause.stop()
        return True

    def forget(self, path):
        """Take a kernel from the ladder again: it is about to be another one."""
        session = self.session
        if any(kernel.path == path for kernel in session.choice.kernels):
            session.choice.choose_kernel(find("gputiled", session.choice.kernels))
            session.choice.kernels[:] = [kernel for kernel in session.choice.kernels if kernel.path != path]
            session.choice.kernels_changed.emit()
            self.controller.recording.pause.stop()

    def _states(self, path, opened):
        begun = []
        wanted = self.session.reopening.recording_wanted
        wanted.connect(lambda: begun.append(True))
        before = len(self.shown)
        self.window.open_file(path)
        message = self.session.messages.current
        if message is not None and message.asks:
            message.answers[0].act()
        self.controller.recording.pause.stop()
        in_time = self.wait()
        if begun and not any(m.kind == "error" for m in self.shown[before:]):
            opened.outcome = "opened"
            self._look()
        if begun:
            self._as_before()
        return in_time

    def _lessons(self, path, opened):
        tour = self.session.tour
        self.window.open_file(path)
        in_time = self.wait()
        if tour.lesson is not None and tour.lesson.path == path:
            opened.outcome = "opened"
            for _ in range(min(len(tour.stops), 3)):
                self.session.guide.next(1)
                self.turn()
            self._look()
        if tour.lesson is not None:
            self.session.guide.leave()
        self.controller.recording.pause.stop()
        self.wait()
        return in_time

    def _run(self, path, opened):
        found, faults = reference_results.load(path.parent)
        faults += store.runs()[1]
        return self._show_results(found, [], faults, opened)

    def _proofs(self, path, opened):
        found = proofs.kept(path.parent)
        return self._show_results([], found, [] if found else ["left out"], opened)

    def _tuned(self, path, opened):
        place = kept.folder() / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        found, faults = kept.kept()
        self.session.tuning.set_machine({"device": {"name": "a processor"}, "env": {}, "cpu": {"model": "x"}})
        self.session.tuning.want(True)
        self.session.tuning.want(False)
        place.unlink()
        return self._show_results([], [], [] if found else faults, opened)

    def _show_results(self, references, proved, faults, opened):
        session = self.session
        session.results.set_references(references)
        session.results.set_proofs(proved)
        session.results.want_references(True)
        if faults:
            session.messages.tell(Message("\n".join(faults), "warning", lasting=True))
        else:
            opened.outcome = "opened"
            for page in ("charts", "claims", "stage"):
                self.window.pages.turn_to(page)
                self.turn()
            if references:
                self._draw_charts()
        return True

    def _draw_charts(self):
        charts = self.window.charts
        self.window.pages.turn_to("charts")
        for size in (*self.session.results.sizes()[:1], None):
            self.session.results.want_size(size)
            for number in range(charts.count()):
                charts.setCurrentIndex(number)
                self.turn()
        self.window.pages.turn_to("stage")

    def _preferences(self, path, opened):
        place = preferences_file.file()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        faults = preferences_file.restore(self.session.preferences)
        if faults:
            self.session.messages.tell(Message("\n".join(faults), "warning", lasting=True))
        else:
            opened.outcome = "opened"
        self.turn()
        self._as_before()
        return True

    def _as_before(self):
        """Undo what a state or the preferences change for the files after them."""
        snapshot.apply(
            self.session,
            {"theme": "dark", "type_scale": 1.0, "calm": False, "language": "en", "size": [8, 8, 8], "beside": None}
            | {"order": "grid", "as_written": False, "kernel": {"name": "gputiled"}, "breaks": [], "params": {}},
        )
        self.controller.recording.pause.stop()
        self.wait()
        self.window.pages.turn_to("stage")

    def _look(self):
        """Draw the beginning, the middle and the end of the recording on the stage, and all texts about it."""
        session, window = self.session, self.window
        if session.cursor.playable is None:
            return
        steps = session.cursor.steps
        for step in {0, steps // 2, max(steps - 1, 0)}:
            session.cursor.seek(step)
            window.stage.repaint()
            self.turn()

    def close(self):
        """Close the window as its user does; return the remaining processes, threads and timers."""
        window = self.window
        window.files.may_close = lambda: True  # there is no user to answer
        window.close()
        here = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
        left = [f"thread {name}" for name in here if not name.startswith("Dummy")]  # those are Qt's, and have ended
        left += [
            "timer"
            for t in window.findChildren(QTimer) + self.controller.engines.loop.findChildren(QTimer)
            if t.isActive()
        ]
        left += [f"process {found}" for found in processes_left()]
        self.windows._wanted.stop()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.session.messages.changed.disconnect(self._on_message)
        return left
