"""Provoke every fault that gemmviz promises to survive, and print the message that the user sees.

``python benchmarks/faults.py [NUMBER...] [--kind KIND] [--json FILE]`` prints one line per fault: the fault, what the
user sees, and whether the promises held: the next run works, no wrong figure is ranked, and no process is left. The
exit status is 1 when one did not hold. Faults that need a GPU are left out where there is none. ``--write FILE...``
takes the JSON files of such runs, on machines with and without a GPU, and writes the table into
``docs/reliability.md``.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
from pathlib import Path

from faults_ground import HOUSE, Broken, Fault, Ground

BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
KINDS = ("kernels", "files", "window", "gpu")
_LONGEST = 260


def faults(kind: str) -> list[Fault]:
    """Return the faults of a kind; their modules are imported only now."""
    if kind == "window":
        from faults_window import FAULTS
    elif kind == "gpu":
        from faults_gpu import FAULTS
    elif kind == "files":
        from faults_files import FAULTS
    else:
        from faults_kernels import FAULTS
    return FAULTS


def one(fault: Fault, ground: Ground) -> dict[str, object]:
    """Provoke a fault."""
    try:
        seen, survived = fault.provoke(ground) or "(nothing: it works)", True
    except Broken as error:
        seen, survived = str(error), False
    except Exception as error:
        seen, survived = f"{type(error).__name__}: {error}", False
    seen = seen.replace(str(ground.home), "FOLDER")
    row = {"number": fault.number, "fault": fault.name, "seen": seen, "survived": survived}
    return row | {"stand_in": fault.stand_in, "gpu": fault.gpu}


def order(number: str) -> tuple[int, str]:
    """Sort ``"7b"`` after ``"7a"`` and before ``"10"``."""
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits), number[len(digits) :]


def table(rows: list[dict[str, object]]) -> str:
    """Return the table for the page."""
    lines = ["| | fault | what the user sees | survived | seen on |", "|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: order(str(row["number"]))):
        name = str(row["fault"]) + (f" (*stand-in: {row['stand_in']}*)" if row["stand_in"] else "")
        seen = " ".join(str(row["seen"]).split()).replace("|", "\\|").replace("<", "&lt;")
        seen = seen if len(seen) <= _LONGEST else seen[:_LONGEST] + " ..."
        lines.append(f"| {row['number']} | {name} | {seen} | {'yes' if row['survived'] else '**no**'} | {row['on']} |")
    return "\n".join(lines)


def write(files: list[str]) -> None:
    """Put the rows of some runs into the page; where a fault stands in several, the last file counts."""
    rows = {row["number"]: row for file in files for row in json.loads(Path(file).read_text())}
    page = HOUSE / "docs" / "reliability.md"
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    page.write_text(f"{head}{BEGIN}\n{table(list(rows.values()))}\n{END}{tail}", encoding="utf-8")


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="these faults only")
    parser.add_argument("--kind", choices=KINDS, action="append", help="faults of this kind only")
    parser.add_argument("--json", metavar="FILE", help="write the rows")
    parser.add_argument("--on", default="a CPU", help="what the machine is called in the table")
    parser.add_argument("--write", nargs="+", metavar="FILE", help="write the table of these rows into the page")
    args = parser.parse_args()
    if args.write:
        write(args.write)
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as home:
        ground = Ground(Path(home))
        from gemmviz.backends.cupy_check import cuda_verdict  # late: the folders are ours by now

        has_gpu = cuda_verdict().usable
        for kind in args.kind or KINDS:
            if kind == "gpu" and not has_gpu:
                print(f"left out: faults of a GPU: {cuda_verdict()}")
                continue
            for fault in faults(kind):
                if args.numbers and fault.number not in args.numbers:
                    continue
                row = one(fault, ground) | {"on": args.on}
                rows.append(row)
                print(
                    f"{row['number']:4} {'yes' if row['survived'] else 'NO '} {row['fault']}\n      {row['seen']}",
                    flush=True,
                )
        took = ground.close()
        left = multiprocessing.active_children()
        survived = sum(bool(row["survived"]) for row in rows)
        print(f"{survived} of {len(rows)} survived; engine closed in {took:.2f} s; {len(left)} left")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))
    return 0 if all(row["survived"] for row in rows) and not left else 1


if __name__ == "__main__":
    sys.exit(main())
