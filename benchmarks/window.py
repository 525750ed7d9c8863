"""Measures the window: frame times of every rung while it plays, stalls, memory over minutes, time to the first paint.

Run it from the checkout on an idle machine; it prints each figure beside its target, and its exit code is 1 if a target
is missed. Everything is offscreen, with the real engine::

    python benchmarks/window.py                      # a few rungs at 1920 x 1080, stalls, start-up: a minute
    python benchmarks/window.py --rungs all --sizes hd 4k
    python benchmarks/window.py --rungs --sizes large --skip stalls start   # 256 x 256 x 256: needs 12 GB of memory
    python benchmarks/window.py --rungs --memory --minutes 10 --skip stalls start
"""

import argparse
import gc
import os
import sys
import time
from pathlib import Path

from window_start import measure_start

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent.parent))

RESOLUTIONS = {"hd": (1920, 1080), "4k": (3840, 2160), "large": (1920, 1080)}
FRAME_P95_MS = {"hd": 12.0, "4k": 33.0, "large": 1000 / 30}
STALL_MS, GROWTH_MB = 50.0, 10.0
USUAL = ("hostmult0", "matmul_kernel_naive", "gputiled", "matmul_kernel_2d_thread_tiling", "matmul_tc_2d_warp_tiling")
LARGE = (("gpumult0_restrict", {"BX": 16, "BY": 16}), ("gputiled", {"TS": 16}))
_RUNG_S, _PLAY_S, _QUICK_S = 2.5, 8.0, 0.2
_STARTS = 3
_PATIENCE = 10  # times as long as it plays, until the first sample: the machine is looked at before
_SIZE, _QUICK_SIZE = 64, 16
_BEAT_MS = 2
_RECORDING_S = 300.0
_SETTLED_MS = 400  # longer than the window waits for a further choice before it records


class LoopMeter:
    """Measures frames (from the clock's tick until everything that it changed is painted) and gaps of the event loop.

    Parameters
    ----------
    window
        The window to watch.
    clock
        Returns the time in seconds, for measuring frames.
    """

    def __init__(self, window, clock):
        from PySide6.QtCore import Qt, QTimer

        self.frames_ms, self.gaps_ms = [], []
        self._clock, self._tick, self._beat = clock, None, None
        session, stage = window.session, type(window.stage)
        advance, paint = session.advance, stage.paintEvent

        def timed_advance(seconds):
            begin, step = clock(), session.cursor.step
            advance(seconds)
            if session.cursor.step != step:
                self._tick = begin

        def timed_paint(widget, event):
            paint(widget, event)
            # Runs when the event loop continues: after all widgets of this repaint, and after the waiting events.
            QTimer.singleShot(0, self._frame)

        session.advance, stage.paintEvent = timed_advance, timed_paint
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start(_BEAT_MS)

    def stop(self):
        """Stop watching the event loop."""
        self._timer.stop()

    def take(self):
        """Return (frames, longest gap) in milliseconds since the last call."""
        import numpy as np

        taken = np.array(self.frames_ms), max(self.gaps_ms, default=0.0)
        self.frames_ms, self.gaps_ms = [], []
        return taken

    def _frame(self):
        if self._tick is not None:
            self.frames_ms.append((self._clock() - self._tick) * 1e3)
            self._tick = None

    def _on_beat(self):
        now = time.perf_counter()
        if self._beat is not None:
            self.gaps_ms.append((now - self._beat) * 1e3 - _BEAT_MS)
        self._beat = now


class Table:
    """Prints figures beside their targets, and counts the missed targets."""

    def __init__(self):
        self.missed = 0
        print(f"{'what':58} {'figure':>9}        target")

    def row(self, what, value, unit, target, more=""):
        """Print one figure, which should be below its target."""
        good = value < target
        self.missed += not good
        verdict = "ok" if good else "MISSED"
        print(f"{what:58} {value:9.3g} {unit:3} < {target:5.3g} {unit:3} {verdict}{more}", flush=True)


def wait(milliseconds):
    """Run the event loop as the real window does: it blocks between events, so that the meter sees every gap."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(int(milliseconds), loop.quit)
    loop.exec()


def open_window(clock):
    """Return the window, with its first recording, and its meter."""
    from gemmviz.app import new_session
    from gemmviz.control.controller import Controller
    from gemmviz.engine.supervisor import Engine
    from gemmviz.ui.window.qt_loop import QtLoop
    from gemmviz.ui.window.window import Window

    session = new_session()
    window = Window(session, Controller(session, lambda: Engine(session.permission.trust), QtLoop()))
    window.resize(*RESOLUTIONS["hd"])
    window.show()
    meter = LoopMeter(window, clock)
    window.controller.recording.record()
    wait_recorded(session)
    wait(500)
    return window, meter


def wait_recorded(session, seconds=_RECORDING_S):
    """Wait until the chosen recording is on the stage; return False if there is a message about a failure instead."""
    until = time.monotonic() + seconds
    wait(_SETTLED_MS)
    while time.monotonic() < until:
        wait(20)
        idle = session.progress["record"] is None
        if session.cursor.playable is not None and not session.staged.outdated and idle:
            return True
        message = session.messages.current
        if idle and message is not None and (message.kind == "error" or message.lasting):  # an exhibit may not compile
            return False
    return False


def play(window, meter, seconds):
    """Play as fast as every frame has a new step; return (frames, longest gap) in milliseconds."""
    session = window.session
    session.playback.pause()
    session.cursor.seek(0)
    # At 60 frames per second every frame then has a new step, up to the largest speed.
    session.playback.set_speed(16.0)
    session.playback.play()
    wait(300)
    meter.take()
    wait(seconds * 1e3)
    taken = meter.take()
    session.playback.pause()
    return taken


def percentile(values, percent):
    """Return a percentile; without values NaN, which misses every target."""
    import numpy as np

    return float(np.percentile(values, percent)) if len(values) else float("nan")


def measure_rungs(table, window, meter, names, sizes, seconds):
    """Play every rung at its default size, in each resolution."""
    from gemmviz.catalogue.renamed import today

    session, names = window.session, [today(name) for name in names]
    for kernel in [k for k in session.choice.kernels if k.recordable and (names == ["all"] or k.name in names)]:
        session.choice.choose_kernel(kernel)
        if not wait_recorded(session):
            print(f"{kernel.name:58} not recorded: {session.messages.current.text.splitlines()[0]}")
            continue
        for size in sizes:
            resize(window, size)
            frames, _ = play(window, meter, seconds)
            what = f"frame of {session.cursor.playable.recording.label} at {session.choice.problem}, {size}, p95"
            more = f"  median {percentile(frames, 50):.1f}, {len(frames)} frames"
            table.row(what, percentile(frames, 95), "ms", FRAME_P95_MS[size], more)


def resize(window, size):
    """Give the window a resolution."""
    window.resize(*RESOLUTIONS[size])
    wait(300)


def measure_large(table, window, meter):
    """Play matrices of 256 x 256, and measure the longest stall of the window while they arrive."""
    from gemmviz.catalogue.problem import Problem

    session = window.session
    resize(window, "large")
    for name, params in LARGE:
        kernel = next(k for k in session.choice.kernels if k.name == name)
        window.session.choice.auto = False  # several changes, of which only the last is recorded
        meter.take()
        session.choice.choose(problem=Problem.cube(256))
        session.choice.choose_kernel(kernel, {key: value for key, value in params.items() if key in kernel.params})
        window.session.choice.auto = True
        wait(_SETTLED_MS)
        _, chosen = meter.take()
        window.controller.recording.record()
        if not wait_recorded(session):
            print(f"{name} at 256: not recorded: {session.messages.current}")
            continue
        _, stall = meter.take()
        label = f"{session.cursor.playable.recording.label} at 256"
        frames, _ = play(window, meter, _PLAY_S)
        accesses = len(session.cursor.playable.recording.accesses)
        more = f"  median {percentile(frames, 50):.1f}, {accesses / 1e6:.0f} million accesses"
        table.row(f"frame of {label}, p95", percentile(frames, 95), "ms", FRAME_P95_MS["large"], more)
        table.row(f"longest stall while {label} is chosen", chosen, "ms", STALL_MS)
        table.row(f"longest stall while {label} is recorded and arrives", stall, "ms", STALL_MS)
        session.cursor.show(None)
        gc.collect()
    session.choice.choose(problem=Problem.cube(8))
    wait_recorded(session)


def measure_stalls(table, window, meter, seconds, size):
    """Measure the longest stall of the window: while playing, while a recording arrives, and during a benchmark."""
    from gemmviz.catalogue.ladder import find
    from gemmviz.catalogue.problem import Problem

    session = window.session
    resize(window, "hd")
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    wait_recorded(session)
    meter.take()
    session.choice.choose(problem=Problem.cube(size), params={"TS": 16})
    wait_recorded(session)
    wait(500)
    _, load_stall = meter.take()
    frames, playing_stall = play(window, meter, seconds)
    session.playback.play()
    session.choice.choose_bench(problem=Problem.cube(512))
    window.controller.measuring.measure(measured_here(session))
    until = time.monotonic() + _PATIENCE * seconds
    while not session.results.samples.gflops and time.monotonic() < until:
        wait(50)
    wait(seconds * 1e3)
    bench_frames, bench_stall = meter.take()
    measured = bool(session.results.samples.gflops)
    window.controller.engines.cancel()
    session.playback.pause()
    p95, bench_p95 = (percentile(f, 95) for f in (frames, bench_frames))
    more = f"  {len(frames)} frames; with a benchmark {len(bench_frames)}, p95 {bench_p95:.1f}"
    table.row(f"frame of gputiled at {size}, p95", p95, "ms", FRAME_P95_MS["hd"], more)
    table.row("longest stall while playing", playing_stall, "ms", STALL_MS)
    table.row("longest stall while a recording arrives", load_stall, "ms", STALL_MS)
    table.row("longest stall while a benchmark runs", bench_stall, "ms", STALL_MS)
    if not measured:
        table.missed += 1
        print("the benchmark gave no sample: the stall during it was not measured")


def measured_here(session):
    """Return the kernels that a benchmark measures: without a GPU those of the CPU, as no other gives a sample."""
    from gemmviz.bench.figures import ON_GPU
    from gemmviz.catalogue.scheduled import usual

    has_gpu, size = session.results.device_facts is not None, session.choice.bench_problem
    kernels = [kernel for kernel in session.choice.kernels if kernel.backend not in ON_GPU or has_gpu]
    return [{"path": str(k.path), "text": k.text, "params": usual(k, size)} for k in kernels]


def measure_memory(table, window, minutes):
    """Play for some minutes; after the first tenth of the time, memory must not grow."""
    from gemmviz.catalogue.ladder import find

    session = window.session
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    wait_recorded(session)
    session.playback.set_speed(16.0)
    session.playback.play()
    samples = []
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end or len(samples) < 2:  # a busy machine may take all of a short time for one sample
        wait(min(minutes * 60 / 40, 5) * 1e3)
        samples.append(resident_mb())
    session.playback.pause()
    settled = samples[len(samples) // 10 :]
    half = len(settled) // 2
    before, after = max(settled[:half]), max(settled[half:])
    table.row(
        f"growth of memory over {minutes:g} min of play",
        after - before,
        "MB",
        GROWTH_MB,
        f"  {before:.0f} MB at most in the first half, {after:.0f} in the second",
    )


def resident_mb():
    """Return the memory that this process has in use."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def arguments():
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rungs", nargs="*", default=list(USUAL), metavar="NAME", help="names of rungs, or: all")
    parser.add_argument(
        "--sizes", nargs="+", choices=RESOLUTIONS, default=["hd"], help="hd, 4k, and large: 256 x 256 matrices"
    )
    parser.add_argument("--memory", action="store_true", help="also measure the memory while it plays")
    parser.add_argument("--minutes", type=float, default=1.0, help="the duration (default 1; better 10)")
    parser.add_argument("--quick", action="store_true", help="run everything for a moment only, to see that it works")
    parser.add_argument("--skip", nargs="+", choices=("stalls", "start"), default=[], help="parts to leave out")
    parser.add_argument(
        "--cpu", action="store_true", help="measure only the processor time of the window's thread: for a busy machine"
    )
    return parser.parse_args()


def main():
    """Measure, print, and return the exit code."""
    asked = arguments()
    from gemmviz.ui.window.application import application

    table = Table()
    rung_s, play_s = (_QUICK_S, _QUICK_S) if asked.quick else (_RUNG_S, _PLAY_S)
    if "start" not in asked.skip:
        measure_start(table, 1 if asked.quick else _STARTS, compiled=asked.quick)
    application()
    window, meter = open_window(time.thread_time if asked.cpu else time.perf_counter)
    measure_rungs(table, window, meter, asked.rungs, [s for s in asked.sizes if s != "large"], rung_s)
    if "stalls" not in asked.skip:
        measure_stalls(table, window, meter, play_s, _QUICK_SIZE if asked.quick else _SIZE)
    if "large" in asked.sizes:
        measure_large(table, window, meter)
    if asked.memory:
        measure_memory(table, window, asked.minutes)
    meter.stop()
    window.close()
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
