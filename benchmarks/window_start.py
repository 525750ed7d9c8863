"""The start of the window: the time from the command to the first paint, and to the first frame of a recording."""

import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAINTED_S, RECORDED_S = 1.0, 1.5
STARTED = "gputiled"
# Prints the time at which the command's window is first painted, and the time at which it first shows a recording of
# the chosen kernel; then closes the window. Its arguments are those of the command. It imports nothing of the window
# before the command does.
_FIRST_FRAMES = """
import sys, time
from gemmviz import cli
asked, load = sys.argv[1:], cli.import_module
def watch():
    from gemmviz.ui.stage.stage import Stage
    paint, seen = Stage.paintEvent, []
    def timed(self, event):
        paint(self, event)
        if not seen:
            seen.append("painted")
            print(time.time(), flush=True)
        recorded = self.staged.cursor.playable is not None and not self.staged.outdated
        if "--kernel" not in asked or recorded:
            if recorded:
                print(time.time(), flush=True)
            Stage.paintEvent = paint
            from PySide6.QtCore import QTimer
            QTimer.singleShot(0, self.window().close)
    Stage.paintEvent = timed
def load_and_watch(name):
    command = load(name)
    run = command._run
    def run_watched(args):
        from gemmviz import app
        show = app._show
        def show_watched(*values):
            watch()
            return show(*values)
        app._show = show_watched
        return run(args)
    command._run = run_watched
    return command
cli.import_module = load_and_watch
sys.exit(cli.run(["window", *asked]))
"""


def measure_start(table, starts, compiled=False):
    """Measure the time from the command to its first painted window, and to the first frame of a recording.

    Prints the best and the worst of a few starts, and the median of the processor time, including the engine. Python's
    modules are compiled before, as in an installed program. The first start does not count, because it compiles the
    kernel and records it, unless everything is compiled; later starts take the recording from the cache. The window
    opens as for a new user (with the doors). If everything is compiled, one start gives both times.
    """
    compileall.compile_dir(Path(__file__).parent.parent / "gemmviz", quiet=1)
    painted, recorded, cpu = [], [], []
    with tempfile.TemporaryDirectory() as config:
        if not compiled:
            start_window(config, "--kernel", STARTED)
        for _ in range(starts):
            times, seconds = start_window(config, "--kernel", STARTED)
            painted.append(times[0] if compiled else start_window(config)[0][0])
            recorded.append(times[-1])
            cpu.append(seconds)
    more = f"  {statistics.median(cpu):.2f} s of processor"
    table.row("command to first painted window, best", min(painted), "s", PAINTED_S)
    table.row("command to first painted window, worst", max(painted), "s", PAINTED_S)
    table.row(f"command to first frame of {STARTED}, best", min(recorded), "s", RECORDED_S, more)
    table.row(f"command to first frame of {STARTED}, worst", max(recorded), "s", RECORDED_S)


def start_window(config, *arguments):
    """Return the seconds from the command to each time that it prints, and its processor time in seconds."""
    before, begin = processor_s(), time.time()
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_FRAMES, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
        env=os.environ | {"XDG_CONFIG_HOME": config},
    )
    return [float(line) - begin for line in done.stdout.split()], processor_s() - before


def processor_s():
    """Return the processor time of ended child processes, with their descendants, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
