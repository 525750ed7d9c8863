"""Whether a damaged file crashes the window: opens thousands of damaged files in the real window, offscreen.

    python benchmarks/fuzzing.py                                    a few of every kind: seconds
    python benchmarks/fuzzing.py --counts front-matter=5000 kernels=2000 states=1000 lessons=1000 results=1000
    python benchmarks/fuzzing.py --kinds kernels --first 1234 --counts kernels=1 --seed 7     one file again

A file counts as opened when the window shows it, or asks a question about it, and as refused when the window shows why.
Everything else is a fault: an exception anywhere, a message with Python's own text, no message, a time above the
deadline, or a process, thread or timer that is left after the window closes. The file of each fault is kept.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
import traceback
from itertools import islice
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "tests" / "unit")]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

KINDS = ("front-matter", "kernels", "states", "lessons", "results", "preferences")
_FEW = 2
_SHOWN = 300  # characters of a fault that the table's notes show
_HANGS = 4  # deadlines after which the program gives up and prints its present state


class Row:
    """The outcomes of the files of one kind."""

    def __init__(self, kind):
        self.kind, self.tried, self.opened, self.refused = kind, 0, 0, 0
        self.tracebacks, self.late, self.longest_s, self.left = 0, 0, 0.0, 0

    @property
    def faults(self):
        """How many things went wrong."""
        return self.tracebacks + self.late + self.left

    def __str__(self):
        return (
            f"{self.kind:14} {self.tried:6} {self.opened:7} {self.refused:8} {self.tracebacks:7} {self.late:5}"
            f" {self.longest_s:10.2f} {self.left:5}"
        )


class Campaign:
    """Opens the files of one kind one after the other, and keeps the faults.

    Parameters
    ----------
    args
        From the command line.
    folder
        Where files are put.
    """

    def __init__(self, args, folder):
        self.args, self.folder, self.room, self.files = args, folder, None, 0
        for name in ("trusted", "strange"):
            (folder / name).mkdir()
        args.keep.mkdir(parents=True, exist_ok=True)
        from fuzzing_watch import Watch, adopt_orphans

        adopt_orphans()
        self.watch = Watch()
        self.states = None

    def run(self, kind):
        """Open the files of one kind; return its `Row`."""
        from damaging import damaged_files

        row, random = Row(kind), Random(f"{self.args.seed} {kind}")
        if self.room is None:
            self._open_room(row)
        if self.states is None and kind == "states":
            self.states = states_of(self.room, self.folder / "trusted")
        files = islice(damaged_files(kind, random, self.states), self.args.first, None)
        for number, damaged in zip(range(self.args.counts[kind]), files, strict=False):
            if self.files == self.args.per_window:
                self._close_room(row)
                self._open_room(row)
            self._try(row, self.args.first + number, damaged)
            self.files += 1
            if self.args.progress and row.tried % self.args.progress == 0:
                print(row, flush=True)
        if not self.args.together or kind == self.args.kinds[-1]:
            self._close_room(row)
        return row

    def _open_room(self, row):
        from fuzzing_window import Room

        self.room, self.files = Room(self.folder, self.args.deadline), 0
        self._note(row, "start", None, self.watch.taken())

    def _close_room(self, row):
        left = self.room.close()
        self.room = None
        row.left += len(left)
        self._note(row, "end", None, [*self.watch.taken(), *left])

    def _try(self, row, number, damaged):
        from fuzzing_watch import ugly

        place = self.folder / ("strange" if damaged.sort == "front-matter" else "trusted")
        path = (place / f"fuzzed_{damaged.suffix[1:]}{damaged.suffix}").resolve()
        path.write_bytes(damaged.raw)
        (self.args.keep / "current").write_bytes(damaged.raw)
        self.watch.expect_end(_HANGS * self.args.deadline)
        begin, faults = time.monotonic(), []
        try:
            opened, in_time = self.room.open(damaged, path)
        except Exception:
            opened, in_time = None, True
            faults.append(traceback.format_exc())
        self.watch.end_came()
        took = time.monotonic() - begin
        self.room.forget(path)
        path.unlink(missing_ok=True)
        if self.args.verbose and opened is not None:
            print(
                f"    {number} {took:.2f} s, {opened.outcome}: {' | '.join(opened.texts)[:_SHOWN]!r}",
                flush=True,
            )
        row.tried += 1
        row.longest_s = max(row.longest_s, took)
        if opened is not None:
            row.opened += opened.outcome == "opened"
            row.refused += opened.outcome == "refused"
            faults += [f"says {found!r}: {text}" for text in opened.texts if (found := ugly(text, damaged.raw))]
            faults += ["neither opened nor refused"] if opened.outcome == "silent" else []
        faults += self.watch.taken()
        row.tracebacks += bool(faults)
        if not in_time or took > self.args.deadline:
            row.late += 1
            faults.append(f"took {took:.1f} s")
        self._note(row, number, damaged, faults)

    def _note(self, row, number, damaged, faults):
        if not faults:
            return
        if damaged is None:
            row.tracebacks += any("Traceback" in fault for fault in faults)
        name = f"{row.kind}-{self.args.seed}-{number}"
        if damaged is not None:
            (self.args.keep / (name + damaged.suffix)).write_bytes(damaged.raw)
        (self.args.keep / f"{name}.txt").write_text("\n\n".join(faults), encoding="utf-8", errors="replace")
        last = " | ".join(map(_last_words, faults))
        print(f"    {name}: {last[:_SHOWN]}", flush=True)


def _last_words(fault):
    """Return the exception that a traceback ends in; anything else as it is."""
    found = re.findall(r"^\w[\w.]*(?:Error|Exception)\b.*$", fault, re.MULTILINE)
    return found[-1] if "Traceback" in fault and found else fault.strip()


def states_of(room, folder):
    """Return what states hold that the window itself writes: as it opens, edited, broken, compared, of a file."""
    from gemmviz.catalogue.ladder import find
    from gemmviz.session.files.state_file import write_state

    session, states = room.session, []

    def take():
        room.controller.recording.record()
        room.wait()
        write_state(room.window.saver.states.take(), folder / "written.gemmviz")
        states.append(json.loads((folder / "written.gemmviz").read_text(encoding="utf-8")))

    take()
    for name in ("gpumult1", "hostmult0", "matmul_tc"):
        session.choice.choose_kernel(find(name, session.choice.kernels))
        take()
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.choice.break_it(("no-second-barrier",))
    take()
    session.choice.break_it(())
    session.side_by_side.start_named("gpumult1", None)
    session.cursor.pick((2, 30), 1)
    session.playback.set_loop_range(2, 9)
    take()
    session.side_by_side.stop()
    text = session.choice.text
    session.permission.trust.typed(session.choice.base.path, text, text.replace("float sum = 0;", "float sum = 1;"))
    session.choice.edit(text.replace("float sum = 0;", "float sum = 1;"))
    take()
    session.choice.revert()
    mine = folder / "mine.cu"
    mine.write_text(text, encoding="utf-8")
    room.window.open_file(mine)
    take()
    return states


def arguments():
    """Return what to do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--counts", nargs="+", default=[], metavar="KIND=N", help=f"by default {_FEW} of each")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with the file of this number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deadline", type=float, default=120.0, metavar="S", help="seconds for one file")
    parser.add_argument("--per-window", type=int, default=250, metavar="N", help="files for each window")
    parser.add_argument("--together", action="store_true", help="all kinds in one window; by default one for each")
    parser.add_argument("--own-cache", action="store_true", help="take compiled kernels from the user's cache")
    parser.add_argument("--progress", type=int, default=0, metavar="N", help="print a line after every N files")
    parser.add_argument("--verbose", action="store_true", help="print the outcome of each file")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the files of faults go")
    args = parser.parse_args()
    counts = dict.fromkeys(KINDS, _FEW)
    for count_of in args.counts:
        kind, _, count = count_of.partition("=")
        if kind not in counts or not count.isdigit():
            parser.error(f"--counts takes KIND=N, with one of {', '.join(KINDS)}; not {count_of}")
        counts[kind] = int(count)
    args.counts = counts
    args.keep = args.keep or Path(tempfile.gettempdir()) / "gemmviz-fuzzing"
    return args


def main():
    """Run the campaign and print its table; 1 where something went wrong."""
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="gemmviz-fuzzing-") as folder:
        own_settings(Path(folder), args.own_cache)
        campaign = Campaign(args, Path(folder))
        try:
            rows = [campaign.run(kind) for kind in args.kinds]
        finally:
            campaign.watch.close()
    print(
        f"{'kind':14} {'tried':>6} {'opened':>7} {'refused':>8} {'faults':>7} {'late':>5} {'longest s':>10} {'left':>5}"
    )
    for row in rows:
        print(row)
    faults = sum(row.faults for row in rows)
    if faults:
        print(f"{faults} faults: their files are in {args.keep}")
    return bool(faults)


def own_settings(folder, own_cache):
    """Keep what the campaign writes out of the user's folders; the compiler's own cache, slow to fill, is reused.

    Parameters
    ----------
    folder
        Where it goes.
    own_cache
        Whether compiled kernels are taken from the user's cache, and kept there.
    """
    import platformdirs

    os.environ.setdefault(
        "ZIG_GLOBAL_CACHE_DIR", str(Path(platformdirs.user_cache_dir("gemmviz", appauthor=False)) / "zig")
    )
    for name in ("DATA", "CONFIG", "STATE", *(() if own_cache else ("CACHE",))):
        os.environ[f"XDG_{name}_HOME"] = str(folder / name.lower())


if __name__ == "__main__":
    sys.exit(main())
