"""Does the checker find every mistake? Makes mutants of the ladder's kernels by script and checks each of them.

    python benchmarks/mutants.py                        a table per operator; --json FILE keeps everything
    python benchmarks/mutants.py --originals            the ladder itself at 20 sizes: nothing may be found
    python benchmarks/mutants.py --sample 100 --write DIR    CUDA programs of the mutants, with what was found
    python benchmarks/mutants.py --sanitizer DIR        on a machine with a GPU: compute-sanitizer on these programs

The operators are in tests/unit/mutating. A mutant changes behaviour when C is wrong at any size tried, when it crashes
or does not end, or when it has a defect that is one by definition, such as a race. It is found when it is reported in a
class that its mistake can be, on a line that holds the mistake or uses what it computes.
"""

import argparse
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "unit")]

# Behind 20 sizes for the originals: one element, primes, long and flat ones, multiples of every tile.
SIDES = (1, 2, 3, 5, 7, 16, 17, 31, 32, 33)
SIZES = [(n, n, n) for n in SIDES] + [
    *((1, 17, 5), (23, 1, 9), (11, 13, 1), (64, 16, 32), (16, 64, 48)),
    *((37, 45, 41), (9, 34, 3), (19, 53, 29), (96, 32, 64), (40, 24, 56)),
]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--originals", action="store_true", help="check the ladder itself at 20 sizes")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write CUDA programs of the mutants")
    parser.add_argument("--sample", type=int, metavar="N", help="take N mutants, the operators in turns")
    parser.add_argument("--sanitizer", type=Path, metavar="DIR", help="run compute-sanitizer on the programs of DIR")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="kernels, operators or mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was found")
    args = parser.parse_args()
    if args.sanitizer:  # on a machine that need not have gemmviz's own needs
        import sanitizer_mutants

        return sanitizer_mutants.run(args.sanitizer, args.jobs)
    if args.originals:
        return originals(args.only, args.jobs)
    found = judge(chosen(args), args.jobs)
    if args.write:
        import sanitizer_programs

        sanitizer_programs.write(found, args.write)
    if args.json:
        args.json.write_text(json.dumps([plain(row) for row in found], indent=1) + "\n", encoding="utf-8")
    return show(found)


def chosen(args: argparse.Namespace) -> list[Any]:
    """Return the mutants that the command line names."""
    from mutating import mutants, sample

    from gemmviz.catalogue.ladder import ladder

    # The other rungs of several GPUs have the code of `every_shape`.
    rungs = [k for k in ladder() if k.recordable and not k.exhibit and (k.division is None or k.division.inside)]
    every = [m for rung in rungs for m in mutants(rung)]
    if args.only:
        every = [m for m in every if {m.name, m.original.name, m.operator} & set(args.only)]
    if args.write:
        every = [m for m in every if m.original.backend == "cuda"]
    return sample(every, args.sample) if args.sample else every


def judge(mutants: list[Any], jobs: int) -> list[dict[str, Any]]:
    """Check each mutant: at a few small sizes, and at all that `gemmviz check` tries when these show nothing."""
    from mutating.expected import is_named
    from mutating.sizes import small_launches

    from gemmviz.catalogue.errors import GemmvizError
    from gemmviz.checking.plan import CheckPlan, plan

    def one(mutant: Any) -> dict[str, Any]:
        try:
            usual = plan(mutant.original, [], {})
        except GemmvizError:
            usual = CheckPlan()
        reports = check(mutant.kernel, CheckPlan(small_launches(mutant.original)))
        if not any(r.findings for r in reports):
            reports += check(mutant.kernel, usual)
        findings = [f for r in reports for f in r.findings]
        kind, line = is_named(mutant, findings)
        return {
            "mutant": mutant,
            "compiles": all(f.kind != "does not compile" for f in findings),
            "reports": reports,
            "findings": findings,
            "class": kind,
            "line": line,
        }

    with ThreadPoolExecutor(jobs) as pool:
        found = []
        for number, row in enumerate(pool.map(one, mutants), 1):
            found.append(row)
            print(f"\r{number} of {len(mutants)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


_engines = threading.local()


class _Mutants:
    """Consent: every mutant is made here, of gemmviz's own kernels."""

    def allows(self, path: Path, text: str) -> bool:
        return True


def check(kernel: Any, todo: Any) -> list[Any]:
    """Return the reports of an engine of this thread's own."""
    from gemmviz.catalogue.errors import GemmvizError
    from gemmviz.engine.messages import Checked, CheckRequest, Failed
    from gemmviz.engine.supervisor import Engine

    if not hasattr(_engines, "mine"):
        _engines.mine = Engine(_Mutants())
    request = CheckRequest(1, str(kernel.path), kernel.text, todo.to_plain(), deadline_s=5.0)
    reports = []
    for reply in _engines.mine.run(request, threading.Event()):
        if isinstance(reply, Checked):
            reports.append(reply.report)
        elif isinstance(reply, Failed):
            raise GemmvizError(f"{kernel.name}: {reply.message}")
    return reports


def show(found: list[dict[str, Any]]) -> int:
    """Print the table and the missed mistakes; return 1 if there are any."""
    operators = list(dict.fromkeys(row["mutant"].operator for row in found))
    print(f"{'operator':<22}{'mutants':>8}{'compile':>8}{'changed':>8}{'reported':>9}{'class':>7}{'line':>6}")
    for operator in [*operators, "all"]:
        rows = [r for r in found if operator in (r["mutant"].operator, "all")]
        compile_ = [r for r in rows if r["compiles"]]
        # Dropping a barrier or leaving before one is a defect by definition.
        changed = [r for r in compile_ if r["findings"] or r["mutant"].operator in ("drop-barrier",)]
        counts = [len([r for r in changed if r[key]]) for key in ("findings", "class", "line")]
        print(
            f"{operator:<22}{len(rows):>8}{len(compile_):>8}{len(changed):>8}{counts[0]:>9}{counts[1]:>7}{counts[2]:>6}"
        )
    missed = [r for r in found if r["compiles"] and r["findings"] and not r["line"]]
    missed += [r for r in found if r["mutant"].operator == "drop-barrier" and not r["findings"]]
    for row in missed:
        print(f"\nmissed: {row['mutant'].name}: {source_line(row)}")
        for finding in {(f.kind, f.line, f.other_line, f.text) for f in row["findings"]}:
            print(f"    {finding[0]}, line {finding[1]} and {finding[2]}: {finding[3]}")
    equal = [r["mutant"].name for r in found if not r["findings"]]
    print(f"\nequivalent at all sizes tried ({len(equal)}): {', '.join(equal)}")
    return 1 if missed else 0


def source_line(row: dict[str, Any]) -> str:
    """Return the mistaken line."""
    return row["mutant"].kernel.text.split("\n")[row["mutant"].line - 1].strip()


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about a mutant as plain data."""
    mutant = row["mutant"]
    return {
        "name": mutant.name,
        "kernel": mutant.original.name,
        "operator": mutant.operator,
        "line": mutant.line,
        "text": source_line(row),
        "compiles": row["compiles"],
        "verdict": "reported" if row["findings"] else "equivalent at all sizes tried",
        "right_class": row["class"],
        "right_line": row["line"],
        "sizes": [str(r.problem) for r in row["reports"]],
        "findings": [asdict(f) for f in row["findings"]],
    }


def originals(only: list[str] | None, jobs: int) -> int:
    """Check rungs at 20 sizes or those nearest, with two tile sizes; return 1 when anything is found."""
    from mutating.sizes import small_params

    from gemmviz.catalogue.ladder import ladder
    from gemmviz.catalogue.launch import nearest_size
    from gemmviz.catalogue.problem import Problem
    from gemmviz.checking.plan import CheckPlan

    rungs = [k for k in ladder() if k.recordable and not k.exhibit and (not only or k.name in only)]

    def one(kernel: Any) -> tuple[Any, list[Any]]:
        launches = {}
        for params in (kernel.defaults, small_params(kernel)):
            for size in SIZES:
                near = nearest_size(kernel, Problem(*size), params)
                if near:
                    launches[near, tuple(params.items())] = near, params
        return kernel, check(kernel, CheckPlan(list(launches.values())))

    alarms = 0
    with ThreadPoolExecutor(jobs) as pool:
        for kernel, reports in pool.map(one, rungs):
            print(f"{kernel.name:<34}{len([r for r in reports if not r.refused]):>3} launches, ", end="")
            found = [f"{r}: {f.kind}, line {f.line}: {f.text}" for r in reports for f in r.findings]
            print("nothing found" if not found else "\n    ".join(["", *found]))
            alarms += len(found)
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
