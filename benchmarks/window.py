"""How smooth the window is: frames while a recording plays, stalls during a benchmark, time to the first paint.

Run it from the checkout, with nothing else going on: ``python benchmarks/window.py``. It prints each figure beside its
target and ends with 1 when one is missed. Everything is offscreen at 1920 x 1080, with the real engine.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent.parent))

FRAME_P95_MS, STALL_MS, START_S = 16.0, 50.0, 1.5
_PLAY_S = 8.0
_STARTS = 3
_BEAT_MS = 2
# Prints the time of the first paint of the real command's window, then closes it.
_FIRST_PAINT = """
import sys, time
from gemmviz.ui.stage.stage import Stage
paint = Stage.paintEvent
def first(self, event):
    paint(self, event)
    print(time.time(), flush=True)
    Stage.paintEvent = paint
    from PySide6.QtCore import QTimer
    QTimer.singleShot(0, self.window().close)
Stage.paintEvent = first
from gemmviz.cli import run
sys.exit(run(["window"]))
"""


class LoopMeter:
    """Measures frames (from the clock's tick until everything it changed is painted) and gaps of the event loop.

    Parameters
    ----------
    window
        The window to watch.
    """

    def __init__(self, window):
        from PySide6.QtCore import Qt, QTimer

        self.frames_ms, self.gaps_ms = [], []
        self._tick = self._beat = None
        session, stage = window.session, type(window.stage)
        advance, paint = session.advance, stage.paintEvent

        def timed_advance(seconds):
            begin, step = time.perf_counter(), session.step
            advance(seconds)
            if session.step != step:
                self._tick = begin

        def timed_paint(widget, event):
            paint(widget, event)
            # Runs when the loop is back: after all widgets of this repaint, and what waited for it.
            QTimer.singleShot(0, self._frame)

        session.advance, stage.paintEvent = timed_advance, timed_paint
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start(_BEAT_MS)

    def take(self):
        """Return (frames, longest gap) in milliseconds since the last call."""
        import numpy as np

        taken = np.array(self.frames_ms), max(self.gaps_ms)
        self.frames_ms, self.gaps_ms = [], []
        return taken

    def _frame(self):
        if self._tick is not None:
            self.frames_ms.append((time.perf_counter() - self._tick) * 1e3)
            self._tick = None

    def _on_beat(self):
        now = time.perf_counter()
        if self._beat is not None:
            self.gaps_ms.append((now - self._beat) * 1e3 - _BEAT_MS)
        self._beat = now


def first_paint_s():
    """Return the seconds from the command to its first painted window, the best of a few starts."""
    figures = []
    for _ in range(_STARTS):
        begin = time.time()
        done = subprocess.run(
            [sys.executable, "-c", _FIRST_PAINT],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        figures.append(float(done.stdout.split()[0]) - begin)
    return min(figures), max(figures)


def _wait(milliseconds):
    """Run the event loop as the real window does: it blocks between events, so that the meter sees every stretch."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def main():
    """Measure, print, and return the exit code."""
    import numpy as np
    from PySide6.QtWidgets import QApplication

    from gemmviz.app import new_session
    from gemmviz.catalogue.problem import Problem
    from gemmviz.engine.supervisor import Engine
    from gemmviz.ui.controller import Controller
    from gemmviz.ui.window import Window

    best, worst = first_paint_s()
    application = QApplication([])
    application.setStyle("Fusion")
    session = new_session()
    window = Window(session, Controller(session, Engine))
    window.resize(1920, 1080)
    window.show()
    session.choose(problem=Problem.cube(64), params={"TS": 16})
    meter = LoopMeter(window)
    while session.playable is None or session.playable.recording.m != 64:
        _wait(20)
    _, load_stall = meter.take()
    _wait(500)
    meter.take()
    session.play()
    # As fast as 60 frames a second can show: every frame then has a new step.
    session.set_speed(16.0)
    _wait(int(_PLAY_S * 1000))
    frames, playing_stall = meter.take()

    session.choose_bench(problem=Problem.cube(512))
    window.controller.measure_all()
    _wait(int(_PLAY_S * 1000))
    bench_frames, bench_stall = meter.take()
    measured = bool(session.samples.gflops)
    window.close()

    p95, bench_p95 = (float(np.percentile(f, 95)) for f in (frames, bench_frames))
    figures = (
        ("frame while playing 64 x 64 x 64, p95", p95, "ms", FRAME_P95_MS),
        ("longest stall while playing", playing_stall, "ms", STALL_MS),
        ("longest stall while a recording arrives", load_stall, "ms", STALL_MS),
        ("longest stall while a benchmark runs", bench_stall, "ms", STALL_MS),
        ("command to first painted window, best", best, "s", START_S),
        ("command to first painted window, worst", worst, "s", START_S),
    )
    print(f"{len(frames)} frames in {_PLAY_S:g} s; with a benchmark {len(bench_frames)}, p95 {bench_p95:.1f} ms")
    for name, value, unit, target in figures:
        print(f"{name:42} {value:8.3g} {unit:3} target {target:g} {unit}  {'ok' if value < target else 'MISSED'}")
    if not measured:
        print("the benchmark gave no sample: the stall during it says nothing")
    return 0 if measured and all(value < target for _, value, _, target in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
