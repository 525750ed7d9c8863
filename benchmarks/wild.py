"""Tries kernels of other repositories as they stand: is each described, recorded and right? If not, it says why.

The list has a line per kernel: repository (``owner/name``), file, kernel, with tabs between them. A repository lies in
the folder ``owner+name`` below FOLDER. Each kernel is tried in a process of its own, which has DEADLINE seconds.
"""

import argparse
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.user_file import read_source
from gemmviz.checking import plan as plans
from gemmviz.checking.report_text import sentence
from gemmviz.engine.consent import Described
from gemmviz.engine.messages import Checked, CheckRequest
from gemmviz.engine.race_trials import race_trier
from gemmviz.engine.spending import Spending
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import device_trier, trier

Name = tuple[str, str, str]
"""Repository, file and kernel."""
_OF_WRONG_C = ("wrong result", "element of C never written")
_SHOWN = 100  # characters of a reason in the printed table


@dataclass
class Row:
    """What became of one kernel.

    Attributes
    ----------
    repository, file, kernel
        As in the list.
    described
        Whether the guess records with a right C.
    recorded
        Whether a launch of it could be recorded to its end.
    right
        Whether it is described, and C was right in every launch that was checked.
    findings
        The defects found, each with its launch.
    seconds
        The time that it took.
    why
        Why it is not described, or what the recording said.
    asm
        Whether its file, or a header of its own, has inline PTX.
    matter
        The front matter that was guessed.
    measured
        The outcome on the GPU (`wild_gpu.py` fills it in): ``"ok"``, or a message; empty: not tried.
    size
        M, N and K of that measurement.
    gflops
        Its figure; 0 where there is none.
    """

    repository: str
    file: str
    kernel: str
    described: bool = False
    recorded: bool = False
    right: bool = False
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    why: str = ""
    asm: bool = False
    matter: str = ""
    measured: str = ""
    size: tuple[int, int, int] = (0, 0, 0)
    gflops: float = 0.0

    @property
    def name(self) -> Name:
        """Repository, file and kernel."""
        return self.repository, self.file, self.kernel

    def path(self, folder: Path) -> Path:
        """Return the file, where the repositories lie in a folder."""
        return folder / self.repository.replace("/", "+") / self.file


def tried(row: Row, folder: Path) -> Row:
    """Describe, record and check a kernel in this process.

    Parameters
    ----------
    row
        Its first three fields.
    folder
        The repositories lie in it.
    """
    path = row.path(folder)
    try:
        text = read_source(path)
        around = surroundings(path, text)
        row.asm = any(re.search(r"\b(?:asm|__asm__)\b", body) for body in (text, *around.headers))
        made = guess(text, path, row.kernel, around)
        names = {name.rpartition("::")[2] for name in made.entries}
        if row.kernel not in {*made.entries, *names}:
            row.why = f"no kernel {row.kernel} was found: {made.doubts[0] if made.doubts else made.entries}"
            return row
        row.matter = made.front_matter()
        engine = Engine(Described(path, text))
        try:
            try_one, try_random = (trier(engine, threading.Event(), random=random) for random in (False, True))
            # On a busy machine a kernel is tried as often as on an idle one: only the processor time counts.
            spent = Spending(engine)
            try_device = device_trier(engine, threading.Event())
            made = settle(
                made,
                try_one,
                try_random=try_random,
                try_device=try_device,
                try_race=race_trier(engine, threading.Event()),
                spent=spent,
                clock=spent,
            )
            row.described, row.why, row.matter = made.right, made.settled, made.front_matter()
            row.recorded = made.right or "elements of C are wrong" in made.settled
            # A kernel may be wrong with a launch that is known to be right: then the findings say where.
            if made.right or made.wrong_itself:
                _check(row, engine, made.described(), path)
            row.findings += [f"{row.kernel}: line {one.line}: {one.kind}: {one.text}" for one in made.flaws]
        finally:
            engine.close()
    except (GemmvizError, OSError) as error:
        row.why = f"{type(error).__name__}: {error}"
    return row


def _check(row: Row, engine: Engine, text: str, path: Path) -> None:
    """Check the described kernel at the sizes that suit it."""
    from gemmviz.catalogue.kernel import parse

    kernel = parse(text, path)
    plan = plans.plan(kernel, (), {})
    request = CheckRequest(1, str(path), text, plan.to_plain())
    found: list[str] = []
    for reply in engine.run(request, threading.Event()):
        if isinstance(reply, Checked):
            report = reply.report
            found += [f"{report}: line {one.line}: {one.kind}: {sentence(one)}" for one in report.findings]
    row.findings = list(dict.fromkeys(found))
    # A kernel that is wrong with its own launch is checked for its findings only.
    row.right = row.described and not any(kind in one for one in found for kind in _OF_WRONG_C)


def main() -> int:
    """Try every kernel of a list, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path, help="repository, file and kernel of each, with tabs between them")
    parser.add_argument("folder", type=Path, help="where the repositories lie, as owner+name")
    parser.add_argument("--deadline", type=float, default=120.0, metavar="S", help="seconds for each kernel")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table; an old one is read with --again")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many kernels are tried at a time")
    parser.add_argument("--again", action="store_true", help="try only what was not described in --json's table")
    parser.add_argument("--only", default="", metavar="TEXT", help="only lines that contain this")
    parser.add_argument("--one", nargs=3, metavar=("REPOSITORY", "FILE", "KERNEL"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print("\n" + json.dumps(asdict(tried(Row(*args.one), args.folder))))
        return 0
    lines = [line.split("\t") for line in args.list.read_text(encoding="utf-8").splitlines() if line.strip()]
    known = read_rows(args.json) if args.json and args.json.exists() else {}
    names = [(line[0], line[1], line[2]) for line in lines]

    def wanted(name: Name) -> bool:
        tried_well = args.again and name in known and known[name].described
        return args.only in "\t".join(name) and not tried_well

    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda name: _apart(args, name), filter(wanted, names)):
            known[row.name] = row
            _say(row)
            if args.json:
                write_rows(args.json, known.values())
    rows = [known[name] for name in names if name in known]
    _sum(rows)
    return 0


def read_rows(file: Path) -> dict[Name, Row]:
    """Return the rows of a table that `write_rows` wrote, by their names."""
    known = {one.name for one in fields(Row)}
    table = json.loads(file.read_text(encoding="utf-8"))
    rows = [Row(**{key: value for key, value in entry.items() if key in known}) for entry in table]
    return {row.name: row for row in rows}


def write_rows(file: Path, rows: Iterable[Row]) -> None:
    """Write a table, in place of an old one."""
    file.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")


def _apart(args: argparse.Namespace, name: Name) -> Row:
    """Try a kernel in a process of its own."""
    row, began = Row(*name), time.perf_counter()
    command = [sys.executable, __file__, str(args.list), str(args.folder), "--one", *name]
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=args.deadline, check=False
        )
        last = said.stdout.strip().splitlines()[-1:]
        row = Row(**json.loads(last[0])) if last and last[0].startswith("{") else row
        if not last:
            row.why = f"its process ended with {said.returncode}: {(said.stderr.strip().splitlines() or [''])[-1]}"
    except subprocess.TimeoutExpired:
        row.why = f"no end within {args.deadline:g} s"
    row.seconds = time.perf_counter() - began
    return row


def _say(row: Row) -> None:
    marks = " ".join(word if yes else "-" * len(word) for word, yes in _marks(row))
    why = "" if row.described and row.right else row.why
    print(f"{marks} {row.seconds:5.1f} s {row.repository} {row.file} {row.kernel}: {why[:_SHOWN]}", flush=True)
    for finding in row.findings:
        print(f"      {finding[: 2 * _SHOWN]}", flush=True)


def _marks(row: Row) -> Iterable[tuple[str, bool]]:
    return ("described", row.described), ("right", row.right), ("findings", bool(row.findings)), ("asm", row.asm)


def _sum(rows: list[Row]) -> None:
    plain = [row for row in rows if not row.asm]
    for name, some in (("all", rows), ("without inline PTX", plain)):
        counted: Counter[str] = Counter()
        for row in some:
            counted.update(word for word, yes in _marks(row) if yes)
        said = ", ".join(f"{word} {count}" for word, count in counted.items())
        print(f"{name}: {len(some)} kernels; {said}")


if __name__ == "__main__":
    sys.exit(main())
