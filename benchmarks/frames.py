"""What a frame of every rung costs: each demo played at 1920 x 1080, with its gestures and step by step.

Run it from the checkout. It prints the slowest first, in milliseconds of processor time of the window's thread (wall
time beside it), and its exit status is 1 when the 95th percentile of one is above the target::

    python benchmarks/frames.py                     # every rung: some minutes
    python benchmarks/frames.py --rungs gputiled stream_k --json frames.json
    python benchmarks/frames.py --rungs gputiled --profile    # where the time goes

The clock of playing is replaced by ticks of 1/60 s, so that every run shows the same moments: from the first step, from
the demo's step, and from two places between. A frame is all that the window's thread does from one tick to the next;
the tab beside the stage is refreshed at every sixth.
"""

import argparse
import cProfile
import json
import os
import pstats
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))

import window as windows

TARGET_MS = 12.0
TICK_S = 1 / 60
PACES = {"gestures": 1.0, "steps": 16.0}
"""Speeds: at 1 there are frames between two steps, at 16 most frames have a new step."""
_FRAMES, _QUICK_FRAMES = 30, 3
_TAB_TICKS, _SHORT_MS = 6, 50
_YARD = 10000
_PLACES = (None, 0.0, 1 / 3, 2 / 3)  # of the steps; None: the demo's


class Meter:
    """The processor time and the wall time of frames.

    Parameters
    ----------
    window
        The window that plays.
    profile
        Takes part in each frame; None: none does.
    """

    def __init__(self, window, profile=None):
        from PySide6.QtCore import QTimer

        self._session, self._profile = window.session, profile
        window.transport.timer.timeout.disconnect()  # the ticks come from here
        self._find_timers = lambda: window.inspector.findChildren(QTimer)  # a tab is made when it is first shown
        self._tabs, self._soon, self._due, self._ticks = [], set(), set(), 0

    def frames(self, count, seconds):
        """Play some frames from here; return the milliseconds of each: (processor, wall, yardstick)."""
        from PySide6.QtCore import QCoreApplication

        found, self._tabs = [], self._find_timers()
        for _ in range(count):
            begin, cpu = time.perf_counter(), time.thread_time()
            if self._profile is not None:
                self._profile.enable()
            self._session.advance(seconds)
            self._refresh_tabs()
            QCoreApplication.processEvents()
            if self._profile is not None:
                self._profile.disable()
            found.append(((time.thread_time() - cpu) * 1e3, (time.perf_counter() - begin) * 1e3, yardstick_ms()))
        return found

    def _refresh_tabs(self):
        """Refresh a tab that waits for it at every sixth tick, ten times a second as in the window; others at the next.

        A short timer waits for one of the next frames: see `gemmviz.ui.turns`.
        """
        self._ticks += 1
        soon, self._soon = self._soon, set()
        for timer in self._tabs:
            if timer.isActive() and timer.isSingleShot():
                timer.stop()
                (self._soon if timer.interval() < _SHORT_MS else self._due).add(timer)
        if self._ticks % _TAB_TICKS == 0:
            soon, self._due = soon | self._due, set()
        for timer in soon:
            timer.timeout.emit()


def yardstick_ms():
    """Return the processor time of a fixed piece of work: it grows when other programs slow this machine down."""
    begin = time.thread_time()
    sum(number % 7 for number in range(_YARD))
    return (time.thread_time() - begin) * 1e3


def play(window, meter, speed, count):
    """Play frames from several places at a speed; return the milliseconds of each: (processor, wall, yardstick)."""
    session, found = window.session, []
    at = session.cursor.step
    for place in _PLACES:
        session.playback.pause()
        session.cursor.seek(at if place is None else int(place * session.cursor.steps))
        session.playback.set_speed(speed)
        session.playback.play()
        rate = session.playback.rate
        seconds = TICK_S if speed == PACES["gestures"] else max(TICK_S, 1 / rate)
        meter.frames(2, seconds)  # caches of this place
        found += meter.frames(count, seconds)
    session.playback.pause()
    session.cursor.seek(at)
    return found


def measure(window, meter, names, count):
    """Yield for each rung: its name, and by pace the milliseconds of its frames."""
    session = window.session
    for kernel in [k for k in session.choice.kernels if k.recordable and (not names or k.name in names)]:
        session.choice.choose_kernel(kernel)
        if not windows.wait_recorded(session):
            print(f"{kernel.name:40} not recorded: {session.messages.current.text.splitlines()[0]}")
            continue
        if kernel.demo is not None:
            session.demonstration.show()
        windows.wait(500)
        yield kernel.name, {pace: play(window, meter, speed, count) for pace, speed in PACES.items()}


def print_table(found):
    """Print the rungs, slowest first; return how many miss the target."""
    import numpy as np

    least = np.percentile(
        [frame[2] for by_pace in found.values() for frames in by_pace.values() for frame in frames], 5
    )
    rows = []
    for name, by_pace in found.items():
        for pace, frames in by_pace.items():
            cpu, wall, yard = np.array(frames).T
            slowed, p95 = np.median(yard) / least, np.percentile(cpu, 95)
            rows.append(
                (p95 / slowed, name, pace, np.median(cpu), p95, cpu.max(), *np.percentile(wall, [50, 95]), slowed)
            )
    print(
        "Milliseconds of processor, and of wall time; slowed: how much longer a fixed piece of work took than at best."
    )
    heads = f"{'median':>7} {'p95':>7} {'max':>7} {'slowed':>7} {'p95/slowed':>10}   wall: median, p95"
    print(f"{'rung':44} {'pace':9} {heads}")
    for scaled, name, pace, median, p95, most, wall, wall_95, slowed in sorted(rows, reverse=True):
        figures = f"{median:7.2f} {p95:7.2f} {most:7.2f} {slowed:7.2f} {scaled:10.2f}   {wall:7.2f} {wall_95:7.2f}"
        print(f"{name:44} {pace:9} {figures}{'' if p95 < TARGET_MS else '  MISSED'}")
    return sum(row[4] >= TARGET_MS for row in rows)


def arguments():
    """Return what to run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rungs", nargs="*", default=[], metavar="NAME", help="which rungs (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the milliseconds of every frame")
    parser.add_argument("--profile", action="store_true", help="print the functions that take the most time")
    parser.add_argument("--quick", action="store_true", help="a few frames only, to see whether it works")
    return parser.parse_args()


def main():
    """Measure, print, and return the exit code."""
    asked = arguments()
    from gemmviz.ui.window.application import application

    application()
    profile = cProfile.Profile(time.thread_time) if asked.profile else None
    window, watch = windows.open_window(time.thread_time)
    watch.stop()
    meter = Meter(window, profile)
    found = {}
    for name, frames in measure(window, meter, asked.rungs, _QUICK_FRAMES if asked.quick else _FRAMES):
        found[name] = frames
        if asked.json is not None:
            asked.json.write_text(json.dumps(found), encoding="utf-8")
    missed = print_table(found)
    if profile is not None:
        pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    window.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
