"""The CPU rungs beside OpenBLAS at its best core type, on one thread and on all cores, in one run.

Run it from the checkout: ``python benchmarks/cpu.py [NAME...] [--size N ...] [--rounds R]``; a name may carry
parameters: ``simd:BITS=256,KC=256``. After ``--together`` stand kernels of several threads. The kernels take turns,
round by round, in one order and then in the reverse one. A round's figure is the median of a few calls, a kernel's the
median over its rounds, its share that of the ratios to OpenBLAS in the same round, with its 95% interval. On one thread
the time is the thread's own CPU time, so that other work on the machine counts little; on all cores it is wall time,
and wants an idle machine. C is compared with NumPy's before. It prints and does not judge. The table of the CPU
in docs/results.md is made of the file that ``--json docs/results-cpu.json`` writes, by ``python docs/results.py``.
``--core Haswell`` compares with another core type of OpenBLAS than the fastest one, for example with its code for AVX2.

Columns: threads, N, kernel, GFLOPS, share of OpenBLAS with its interval, speed-up over the line before.
"""

import argparse
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))

from sandbox import interval

from gemmviz.backends import machine, openblas
from gemmviz.backends.base import Prepared
from gemmviz.backends.native import NativeBackend
from gemmviz.bench.results import to_json
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs

ALONE = ("loop_order", "blocked", "register_block", "packed", "simd")
TOGETHER = ("simd_threads",)
# Plain loops take a minute for one product beyond this size.
PLAIN_ALONE, PLAIN_TOGETHER, _PLAIN_MOST = ("hostmult0", "hostmult1", "hostmult1_opt"), ("hostmult_threads",), 1024
_SLICE_S = 0.3  # a kernel's time in a round, unless one call takes longer
_PAUSE_S = 0.05  # OpenBLAS's threads look for work for some 30 ms after a product, on cores that the next one needs


def prepared(spec: str, problem: Problem) -> Prepared:
    """Compile a kernel, or take OpenBLAS, and check its C."""
    name, _, settings = spec.partition(":")
    params = {key: int(value) for key, _, value in (part.partition("=") for part in settings.split(",") if part)}
    backend = openblas.OpenblasBackend() if name == "openblas" else NativeBackend()
    job = backend.prepare(launch(find(name, ladder()), problem, params))
    a, b = small_integer_inputs(problem, "float32")
    job.load(a, b)
    job.poison()
    job.run()
    if not (job.fetch() == a @ b).all():
        raise SystemExit(f"{spec} at {problem} is wrong")
    return job


def one_round(job: Prepared, flops: float, alone: bool) -> float:
    """Return the median GFLOPS of a few calls, after one that is not counted."""
    clock = time.thread_time if alone else time.perf_counter
    time.sleep(_PAUSE_S)
    job.run()
    taken: list[float] = []
    until = time.perf_counter() + _SLICE_S
    while not taken or time.perf_counter() < until:
        start = clock()
        job.run()
        taken.append(clock() - start)
    return flops / statistics.median(taken) / 1e9


def compare(specs: list[str], size: int, rounds: int, threads: int) -> list[dict[str, Any]]:
    """Measure kernels and OpenBLAS in turns, print a line for each, and return the figures of the lines."""
    library = openblas.best()
    getattr(library.code, f"{library.prefix}openblas_set_num_threads{library.suffix}")(threads)
    problem = Problem.cube(size)
    jobs = {spec: prepared(spec, problem) for spec in (*specs, "openblas")}
    found: dict[str, list[float]] = {spec: [] for spec in jobs}
    for turn in range(rounds):
        for spec, job in list(jobs.items())[:: -1 if turn % 2 else 1]:
            found[spec].append(one_round(job, 2.0 * size**3, threads == 1))
    before, rows = 0.0, []
    for spec, figures in found.items():
        figure = statistics.median(figures)
        shares = [mine / its for mine, its in zip(figures, found["openblas"], strict=True)]
        share, (low, high) = statistics.median(shares), interval(shares)
        step = f"{figure / before:6.2f}x" if before else " " * 7
        name = f"openblas ({library.core})" if spec == "openblas" else spec
        between = f"({low:.1%} to {high:.1%})"
        print(f"{threads:3d} {size:6d}  {name:32s} {figure:8.1f} {share:8.1%} {between:20s} {step}", flush=True)
        before = figure
        rows.append(
            {"threads": threads, "N": size, "kernel": spec, "gflops": figure, "of_openblas": share}
            | {"interval": (low, high)}
        )
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="rungs of one thread; by default all, then those of several")
    parser.add_argument(
        "--together", nargs="+", default=[], metavar="NAME", help="these with all threads, and others only if named"
    )
    parser.add_argument("--size", type=int, nargs="+", default=[1024, 2048])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write it all, with the machine and the time")
    parser.add_argument("--core", help="compare with this core type of OpenBLAS, not with the fastest one")
    args = parser.parse_args()
    if args.core:
        mock.patch.object(openblas, "fastest_core", return_value=args.core).start()
    started, library, rows = datetime.now(UTC).isoformat(timespec="seconds"), openblas.best(), []
    for size in args.size if args.names or not args.together else ():
        alone = (*PLAIN_ALONE, *ALONE) if size <= _PLAIN_MOST else ALONE
        rows += compare(args.names or list(alone), size, args.rounds, 1)
    for size in args.size:
        if library.threads > 1 and (args.together or not args.names):
            together = (*PLAIN_TOGETHER, *TOGETHER) if size <= _PLAIN_MOST else TOGETHER
            rows += compare(args.together or list(together), size, args.rounds, library.threads)
    if args.json:
        host = {"cpu": {"model": machine.cpu_model(), "cores": machine.cores()}, "core": library.core}
        measured = {"started_utc": started, **host, "rounds": args.rounds, "rows": rows}
        args.json.write_text(to_json(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
