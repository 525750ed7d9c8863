"""A soak: the real window with its engines, used at random for some minutes.

The targets: no exception and no warning from Qt; after the first five minutes, memory that stays within a tenth; a
program that ends within a second of its closing; no process left. The exit status is 1 when a target is missed.
Settings, results and compiled kernels go into a temporary folder. However short the run is, each action is done once::

    python benchmarks/soak.py --minutes 15 --seed 1
    python benchmarks/soak.py --minutes 8 --objects     # also count which Python objects grow in number
    python benchmarks/soak.py --minutes 1 --own-cache   # take compiled kernels from the user's cache
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]

_SAMPLED_S, _LEAST_SAMPLED_S, _SETTLED_MIN = 30.0, 1.0, 5.0
_MOST_GROWTH, _MOST_CLOSING_S = 1.10, 1.0
_VERDICTS = {True: "ok", False: "BROKEN", None: "not judged"}
# Pauses between two actions, in milliseconds: sometimes long enough for a recording to arrive.
_PAUSES = ((0.6, (0, 40)), (0.3, (40, 250)), (0.1, (250, 2500)))
_GOING_S, _WAITS_S = 3.0, 3.0
# A recording takes up to tens of megabytes, pictures of a large window as well: memory is compared while the window
# shows the same recording and looks the same.
_RESTS_EVERY, _LONGEST_REST_S, _REST_MS, _RESTED_S, _COLLECTED_AGAIN_S = 2, 60.0, 300, 2.5, 1.0
_MIB = 1 << 20


class Soak:
    """Lets a `User` act between the events of the window, samples memory, and closes the window at the end.

    Parameters
    ----------
    user
        Acts.
    faults
        Notes the actions.
    minutes
        How long.
    counts_objects
        Whether Python's objects are counted, after a third of the time and at the end.
    """

    def __init__(self, user, faults, minutes, counts_objects, parts_to=None):
        from PySide6.QtCore import QTimer

        self.done, self.samples, self.rests, self.objects = Counter(), [], [], []
        self.closing_at, self._parts_to = None, parts_to
        self._user, self._faults, self._counts_objects = user, faults, counts_objects
        self._seconds = minutes * 60
        self._begin = time.monotonic()
        self._sampled = max(min(_SAMPLED_S, self._seconds / 4), _LEAST_SAMPLED_S)
        self._watched = self._rests_since = self._rested_since = None
        self._collections = 0
        self._next_rest = self._sampled * _RESTS_EVERY
        self._timer = QTimer()
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        self._timer.start(300)
        # An action may have opened a dialog that waits for an answer, which only the next action gives.
        self._acts_since = None
        self._helper = QTimer()
        self._helper.timeout.connect(self._help)
        self._helper.start(1000)

    def _go_on(self):
        passed = time.monotonic() - self._begin
        if passed >= len(self.samples) * self._sampled:
            self._sample(passed, self.samples)
        if passed >= self._next_rest and passed <= self._seconds:
            self._rest(passed)
            return
        if self._counts_objects and len(self.objects) < 1 and passed > self._seconds / 3:
            self._count()
        if passed > self._seconds and not self._user.untried:
            self._leave()
            return
        try:
            self._watch_workers()
            self._acts_since = time.monotonic()
            name = self._user.act()
        except StopIteration:  # the window is being exchanged
            name = "no window"
        except Exception:
            name = "an action that failed"
            sys.excepthook(*sys.exc_info())
        self._acts_since = None
        self.done[name.partition(":")[0]] += 1
        self._faults.after(name)
        pause = random.uniform
        least, most = random.choices([p for _, p in _PAUSES], [w for w, _ in _PAUSES])[0]
        self._timer.start(round(pause(least, most)))

    def _help(self):
        if self._acts_since is not None and time.monotonic() > self._acts_since + _WAITS_S:
            self._user.give_no_answer()

    def _watch_workers(self):
        controller = self._user.window.controller if self._watched is None else None
        if controller is not None:
            self._watched = controller.engines.workers
            for worker in self._watched:
                worker.replied.connect(self._faults.on_reply)

    def _rest(self, passed):
        """Let the window rest until the recording on the stage is small, for a limited time, and take a sample."""
        if self._rests_since is None:
            self._rests_since = passed
            self._user.rest()
        elif self._at_rest(passed) or passed > self._rests_since + _LONGEST_REST_S:
            # A sample of a busy window cannot be compared: it is printed only.
            rested = self._user.rested
            self._sample(passed, self.rests if rested else [], "at rest" if rested else "still busy")
            self._take_apart(passed)
            self._rests_since, self._next_rest = None, passed + self._sampled * _RESTS_EVERY
            self._rested_since = None
        elif not self._user.looks_as_at_first:
            with suppress(StopIteration):  # the window is being exchanged
                self._user.rest()
        self._timer.start(_REST_MS)

    def _at_rest(self, passed):
        """Return whether the window has rested for a moment; it gives memory back soon after garbage is collected."""
        if not self._user.rested:
            self._rested_since = None
            return False
        from PySide6.QtWidgets import QApplication

        from gemmviz.ui.window.garbage import collect_garbage_here

        if self._rested_since is None:
            self._rested_since, self._collections = passed, 0
        # Twice, as a widget that is deleted later holds others until then. Not more often: half a second after the last
        # collection the window gives free memory back.
        if self._collections < 2 and passed >= self._rested_since + self._collections * _COLLECTED_AGAIN_S:
            self._collections += 1
            collect_garbage_here(QApplication.instance()).collect()
        return passed >= self._rested_since + _RESTED_S

    def _sample(self, passed, samples, how="in use"):
        from soak_watch import sample

        taken = sample(passed)
        samples.append(taken)
        print(
            f"{passed / 60:6.2f} min {how:10} window {taken.window / _MIB:7.1f} MiB, "
            f"{taken.own / _MIB:7.1f} outside files   {taken.count} processes below it "
            f"{taken.others / _MIB:7.1f} MiB   {sum(self.done.values())} actions",
            flush=True,
        )

    def _take_apart(self, passed):
        if self._parts_to is not None:
            from soak_memory import large_mappings, parts
            from soak_watch import shares_below

            taken = {"minute": round(passed / 60, 2), **self._user.shown(), "mappings": large_mappings(), **parts()}
            taken["processes"] = shares_below()
            with self._parts_to.open("a", encoding="utf-8") as file:
                file.write(json.dumps(taken) + "\n")

    def _count(self):
        from soak_watch import objects

        self.objects.append(objects())

    def _leave(self):
        from soak_watch import sample

        from gemmviz.sandbox import heap

        if self._counts_objects:
            self._count()
        before = sample(0).window
        heap.give_back()
        print(f"of it free, and kept by the allocator: {(before - sample(0).window) / _MIB:.1f} MiB")
        self.closing_at = time.monotonic()
        self._user.leave()


def growth(samples, of, end):
    """Return the median of the last three minutes over that of the minutes around the fifth; None for a shorter run.

    `end`: the run's length in seconds. Infinite, where there is no sample then: the window did not come to rest.
    """
    settled = _SETTLED_MIN * 60
    if end < settled + 240:
        return None
    first = [of(s) for s in samples if abs(s.at_s - settled) <= 90]
    last = [of(s) for s in samples if s.at_s >= end - 180]
    if not first or not last:
        return float("inf")
    return statistics.median(last) / max(statistics.median(first), 1)


def own_folders(folder, own_cache):
    """Give this process, and those that it starts, folders for settings, results and compiled kernels."""
    from platformdirs import user_cache_dir

    cache = str(Path(user_cache_dir()).resolve()) if own_cache else str(folder / "cache")
    places = {"CONFIG": "config", "DATA": "data", "STATE": "state", "RUNTIME": "runtime"}
    for name, below in places.items():
        path = folder / below
        path.mkdir(mode=0o700)
        os.environ[f"XDG_{name}_{'DIR' if name == 'RUNTIME' else 'HOME'}"] = str(path)
    os.environ["XDG_CACHE_HOME"] = cache
    Path(cache).mkdir(mode=0o700, exist_ok=True)


def run(asked, folder):
    """Soak; return the exit code."""
    from soak_user import User
    from soak_watch import Faults, describe, processes_below

    from gemmviz.app import new_session
    from gemmviz.engine.supervisor import Engine
    from gemmviz.sandbox import processes
    from gemmviz.ui.window import application

    processes.adopt()  # a process that loses its parent stays in the list
    running = application.application()
    faults = Faults()
    session = new_session()
    files = folder / "files"
    files.mkdir()
    soak = Soak(User(session, random, files), faults, asked.minutes, asked.objects, asked.parts)
    application.show(session, lambda: Engine(session.permission.trust), None)
    ended = time.monotonic()
    closing_s = ended - (soak.closing_at or ended)
    while (left := processes_below()) and time.monotonic() < ended + _GOING_S:
        time.sleep(0.01)
    going_s = time.monotonic() - ended
    running.processEvents()
    faults.end()
    return report(soak, faults, closing_s, going_s, [describe(pid) for pid in left])


def report(soak, faults, closing_s, going_s, left):
    """Print the figures beside their targets; return the exit code."""
    print("\nactions:")
    for name, count in soak.done.most_common():
        print(f"  {name:28} {count:6}")
    if len(soak.objects) == 2:
        print("more objects at the end than after a third of the time:")
        for name, count in (soak.objects[1] - soak.objects[0]).most_common(25):
            print(f"  {name:60} +{count}")
    rows = [
        ("exceptions and warnings", len(faults.texts), "", not faults.texts),
        ("closing took", round(closing_s, 2), f"s, < {_MOST_CLOSING_S:g}", closing_s < _MOST_CLOSING_S),
        ("the last process then went after", round(going_s, 2), f"s, < {_GOING_S:g}", not left),
        ("processes left", len(left), "", not left),
    ]
    for what, samples, of in (
        ("window at rest", soak.rests, lambda s: s.window),
        ("window at rest, outside files", soak.rests, lambda s: s.own),
        ("window in use", soak.samples, lambda s: s.window),
        ("mean process below it at rest", soak.rests, lambda s: s.others / max(s.count, 1)),
    ):
        ratio = growth(samples, of, soak.samples[-1].at_s if soak.samples else 0)
        if ratio is not None:
            judged = what != "window in use"  # its memory depends on the recording that it shows
            good = ratio < _MOST_GROWTH if judged else None
            unit = f"< {_MOST_GROWTH:g}" if judged else ""
            rows.append((f"memory of the {what}, at the end / minute five", round(ratio, 3), unit, good))
    for what, figure, unit, good in rows:
        print(f"{what:76} {figure!s:>7} {unit:10} {_VERDICTS[good]}")
    for process in left:
        print(f"left: {process}")
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    print(f"load of the machine {load} on {os.cpu_count()} cores")
    return 0 if all(good is not False for *_, good in rows) else 1


def arguments():
    """Return what to do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0, help="for how long (default 15)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the random choices")
    parser.add_argument("--own-cache", action="store_true", help="take compiled kernels from the user's cache")
    parser.add_argument("--objects", action="store_true", help="print the Python objects that grow in number")
    parser.add_argument("--parts", type=Path, help="append the parts of memory at rest to this file, as JSON lines")
    return parser.parse_args()


def main():
    """Soak in a separate folder, and return the exit code."""
    asked = arguments()
    random.seed(asked.seed)
    with tempfile.TemporaryDirectory(prefix="gemmviz-soak-", ignore_cleanup_errors=True) as name:
        own_folders(Path(name), asked.own_cache)
        return run(asked, Path(name))


if __name__ == "__main__":
    sys.exit(main())
