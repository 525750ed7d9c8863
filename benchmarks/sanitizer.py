"""Runs compute-sanitizer's tools on the ladder's CUDA rungs, on a machine with nvcc, compute-sanitizer and a GPU.

    python benchmarks/sanitizer.py                       every rung; --json FILE keeps everything
    python benchmarks/sanitizer.py wgmma 66_cluster      some of them, by name or by the number that they begin with
    python benchmarks/sanitizer.py --build               only write and compile the programs: no GPU is needed

A rung is launched at a small odd size and at a rectangular one, or the nearest sizes that it takes. A rung whose blocks
take tiles in turns is also launched with so few blocks that each gets several. Sizes at which its declared changes show
are launched too. Each launch is one program, in which A, B and C are allocations of their exact size, and which
compares C with a plain sum. A launch is clean when a tool reports nothing and C is right under the tool too.

What the tools check of asynchronous copies (Compute Sanitizer's documentation, "Racecheck support for asynchronous
copy" and "Racecheck cluster entry and exit race detection", and its release notes):

* Racecheck checks shared memory only. It supports ``cp.async`` and mbarriers since 2021.2, and reports an access to a
  destination before the wait for its group. It checks remote shared memory where a block may not have started, or may
  have ended. It supports copies by the copy engine from global to shared memory (``cp.async.bulk``) since 2024.4. No
  document states that it checks the reads of ``wgmma``, or a missing ``fence.proxy.async`` between a plain write and
  the copy engine, so the absence of a report there proves nothing.
* Before 2025.4 racecheck had false alarms with mbarriers, before 2026.1 with barriers of a warpgroup and with barriers
  across clusters, before 2026.3 where bytes complete an mbarrier. CUDA 13.0 comes with 2025.3: check by hand each
  hazard that it reports between a copy and a product that only an mbarrier separates.
* Memcheck checks copies with a tensor map since 2026.2; before, only copies without one. The copy engine itself drops
  elements outside a matrix.
* The tools take the number of mbarriers from the compiler, which can be too low; this program sets 64.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from sanitizer_programs import program  # noqa: E402
from sanitizer_tools import RUN_S, TOOLS, build, look_at, missing, options, plain_run  # noqa: E402

from gemmviz.catalogue.capability import architecture  # noqa: E402
from gemmviz.catalogue.errors import GemmvizError  # noqa: E402
from gemmviz.catalogue.kernel import Kernel  # noqa: E402
from gemmviz.catalogue.ladder import find, ladder  # noqa: E402
from gemmviz.catalogue.launch import Launch, launch, nearest_size  # noqa: E402
from gemmviz.catalogue.problem import Problem  # noqa: E402
from gemmviz.checking.plan import telling  # noqa: E402

# No side is a multiple of a tile's, nor are the nearest ones that are multiples of 4 or 8; the second has more k-steps
# than any ring has stages, and tiles enough for several blocks, or for several rounds of few.
ODD, RECTANGULAR = Problem(67, 75, 57), Problem(261, 397, 301)


def main() -> int:
    """Run the command line; return 1 if anything is reported, or does not compile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rungs", nargs="*", metavar="RUNG", help="a kernel's name, its file, or 66_; all without any")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS), help="all four without any")
    parser.add_argument("--build", action="store_true", help="write and compile the programs, run none")
    parser.add_argument("--quick", action="store_true", help="one launch of each rung, to see whether it works")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep the programs there")
    parser.add_argument("--arch", help="for rungs that run on many GPUs: that of this machine, or with --build sm_90")
    parser.add_argument("--limit", type=float, default=RUN_S, metavar="SECONDS", help="longest run of one tool")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was found")
    args = parser.parse_args()
    if lacking := missing("nvcc", *([] if args.build else ["compute-sanitizer"])):
        print(lacking, file=sys.stderr)
        return 2
    try:
        rungs = chosen(args.rungs)
    except GemmvizError as error:
        print(error, file=sys.stderr)
        return 2
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = args.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = [job for rung in rungs for job in launches(rung)[: 1 if args.quick else None]]
        rows = compiled(jobs, folder, args.arch or ("sm_90" if args.build else "native"), args.jobs)
        if not args.build:
            looked_at(rows, folder, args.tools, args.jobs, args.limit)
    print(table(rows, [] if args.build else args.tools))
    print(f"{len(rows)} launches of {len(rungs)} rungs in {time.monotonic() - started:.0f} s")
    if args.json:
        kept = {"machine": {} if args.build else machine(), "tools": args.tools, "launches": rows}
        args.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return int(not all(row["clean"] for row in rows))


def chosen(names: list[str]) -> list[Kernel]:
    """Return the CUDA rungs for one GPU of that name, file or number; without names all that are meant to be right."""
    cuda = [k for k in ladder() if k.backend == "cuda" and not k.division]
    if not names:
        return [k for k in cuda if not k.exhibit]
    rungs = []
    for name in names:
        found = [
            k for k in cuda if name in (k.path.name, k.path.stem) or (name[-1] == "_" and k.path.name.startswith(name))
        ]
        rungs += found or [find(name, cuda)]
    return list({rung.path: rung for rung in rungs}.values())


def launches(kernel: Kernel) -> list[Launch]:
    """Return the launches of a kernel: see the file's head."""
    few = {name: min(v for v in values if v > 1) for name, values in kernel.params.items() if name == "BLOCKS"}
    wanted = [(ODD, kernel.defaults), (RECTANGULAR, kernel.defaults)]
    if few:
        wanted.append((RECTANGULAR, kernel.defaults | few))
    if "SPLIT" in kernel.params:  # several blocks for one tile
        wanted.append((RECTANGULAR, kernel.defaults | {"SPLIT": 2}))
    near = [(nearest_size(kernel, size, params), params) for size, params in wanted]
    cases = [case for case in near if case[0]]
    cases += [case for case in telling(kernel, kernel.defaults) if case not in cases]
    return [launch(kernel, size, params) for size, params in cases if size]


def compiled(cases: list[Launch], folder: Path, otherwise: str, jobs: int) -> list[dict[str, Any]]:
    """Write and compile the programs and return a row for each."""
    rows = []
    for number, job in enumerate(cases):
        row = {"rung": job.kernel.path.stem, "size": str(job.problem), "launch": job.label, "blocks": job.blocks}
        row |= {"program": f"{number:03}_{job.kernel.name}", "arch": architecture(job.kernel.capability), "tools": {}}
        (folder / f"{row['program']}.cu").write_text(program(job), encoding="utf-8")
        rows.append(row)

    def one(row: dict[str, Any]) -> None:
        row["compiler"] = build(folder / f"{row['program']}.cu", row["arch"], otherwise)
        row["clean"] = not row["compiler"]
        print(f"{row['rung']} {row['size']}: {'does not compile' if row['compiler'] else 'compiled'}", file=sys.stderr)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, rows))
    return rows


def looked_at(rows: list[dict[str, Any]], folder: Path, tools: list[str], jobs: int, limit_s: float) -> None:
    """Run each program by itself and under each tool, and fill in the rows."""
    extra = options()
    ready = [row for row in rows if not row["compiler"]]

    def alone(row: dict[str, Any]) -> None:
        row["status"] = plain_run(folder / row["program"], limit_s)

    def under(task: tuple[str, dict[str, Any]]) -> None:
        tool, row = task
        row["tools"][tool] = seen = look_at(folder / row["program"], tool, extra, limit_s)
        summary = seen["status"] if seen["errors"] is None else f"{seen['errors']} reported, C {seen['status']}"
        print(f"{row['rung']} {row['size']} {tool}: {summary}, {seen['seconds']} s", file=sys.stderr, flush=True)

    # The longest jobs come first.
    order = sorted(tools, key=("racecheck", "initcheck", "memcheck", "synccheck").index)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(alone, ready))
        list(pool.map(under, [(tool, row) for tool in order for row in ready]))
    for row in ready:
        seen = row["tools"].values()
        row["clean"] = row["status"] == "0 wrong" and all(s["errors"] == 0 and s["status"] == "0 wrong" for s in seen)


def table(rows: list[dict[str, Any]], tools: list[str]) -> str:
    """Return the rows as a table, and below it how each report that is not clean begins."""
    head = ["rung", "size", "blocks", "launch", *(["C alone", *tools] if tools else ["compiler"])]
    lines = ["| " + " | ".join(head) + " |", "|---|---|---:|---" + "|---:" * (len(head) - 4) + "|"]
    below = []
    for row in rows:
        cells = [row["rung"], row["size"], str(row["blocks"]), row["launch"]]
        if not tools or row["compiler"]:
            cells += ["fails" if row["compiler"] else "compiles"] + [""] * len(tools)
            below += [f"{row['rung']} {row['size']}:\n{row['compiler']}"] if row["compiler"] else []
        else:
            cells += [row["status"], *(_cell(row["tools"][tool]) for tool in tools)]
            for tool, seen in row["tools"].items():
                if seen["report"]:
                    places = ", ".join(seen["places"]) or "no place named"
                    below.append(f"{row['rung']} {row['size']}, {tool}: {places}\n{seen['report'][:1200]}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n\n".join(["\n".join(lines), *below]) + "\n"


def _cell(seen: dict[str, Any]) -> str:
    number = seen["status"] if seen["errors"] is None else str(seen["errors"])
    wrong = f", C {seen['status']}" if seen["errors"] is not None and seen["status"] != "0 wrong" else ""
    return number + wrong + (" (!)" if seen["trouble"] else "")


def machine() -> dict[str, str]:
    """Return the facts that a result depends on: the device and the versions of driver, compiler and tool."""
    asked = {
        "gpu": ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        "nvcc": ["nvcc", "--version"],
        "compute-sanitizer": ["compute-sanitizer", "--version"],
    }
    versions = {"date": time.strftime("%Y-%m-%d")}
    for name, command in asked.items():
        if shutil.which(command[0]):
            output = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
            version = re.search(r"V\d+\.[\d.]+|Version [\d.]+", output)
            versions[name] = version[0] if version else output
    return versions


if __name__ == "__main__":
    sys.exit(main())
