"""``gemmviz bench``: verifies kernels and measures their GFLOPS."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import significant
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import options
from gemmviz.engine import messages
from gemmviz.engine.supervisor import Engine

_DEFAULT_SIZE = 512
_REFERENCE = {"c": "numpy", "numpy": "numpy", "cuda": "cublas", "cublas": "cublas"}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help=summary,
        description="Verifies each kernel against a float64 reference, then measures it. A wrong one gets no GFLOPS.",
        epilog="Exit code 1 when a kernel is wrong, does not compile, crashes or hangs; a skipped one is no failure.",
    )
    parser.add_argument(
        "kernels",
        nargs="*",
        metavar="KERNEL",
        help="names from `gemmviz list`, or paths of .cu or .c files (default: the whole ladder)",
    )
    parser.add_argument(
        "--size", type=options.whole, nargs="+", metavar="N", help=f"M = N = K = N (default {_DEFAULT_SIZE})"
    )
    for name in "mnk":
        parser.add_argument(f"--{name}", type=options.whole, metavar=name.upper(), help=f"{name.upper()} by itself")
    options.add_set(parser)
    parser.add_argument(
        "--json", type=options.json_file, metavar="FILE", help="write the result file; - is the standard output"
    )
    parser.add_argument("--quick", action="store_true", help="a first impression: fewer samples, less accuracy")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    known = ladder()
    kernels = [find(name, known) for name in args.kernels] or known
    sizes = _sizes(args)
    protocol = Protocol.quick() if args.quick else Protocol()
    request = messages.BenchRequest(
        1, _entries(kernels, options.params(args)), [(p.m, p.n, p.k) for p in sizes], protocol.to_plain()
    )
    document, interrupted = _drive(request)
    if args.json == "-":
        sys.stdout.write(results.to_json(document))
    else:
        _print(document)
        if args.json:
            results.write(document, Path(args.json))
    if interrupted:
        return 130
    return 1 if results.failed(document["results"]) else 0


def _sizes(args: argparse.Namespace) -> list[Problem]:
    return [
        Problem(*(size if own is None else own for own in (args.m, args.n, args.k)))
        for size in args.size or [_DEFAULT_SIZE]
    ]


def _entries(kernels: list[Kernel], settings: dict[str, int]) -> list[dict[str, Any]]:
    """Give each kernel those of the settings that it has a parameter for."""
    for name in settings:
        if not any(name in kernel.params for kernel in kernels):
            raise ConstraintError(f"none of these kernels has a parameter {name!r}")
    return [
        {"path": str(k.path), "text": k.text, "params": {n: v for n, v in settings.items() if n in k.params}}
        for k in kernels
    ]


def _drive(request: messages.BenchRequest) -> tuple[results.Document, bool]:
    """Run the request; return the result file, and whether Ctrl-C cut it short."""
    cancel = threading.Event()
    engine = Engine()
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    try:
        with _ctrl_c(cancel), bar:
            task = bar.add_task("Starting", total=1.0)
            for reply in engine.run(request, cancel):
                match reply:
                    case messages.Progress():
                        bar.update(task, description=escape(reply.text), completed=reply.share or 0.0)
                    case messages.Sample():
                        size = Problem(reply.m, reply.n, reply.k)
                        bar.update(task, description=escape(f"{reply.label}: {reply.gflops:.4g} GFLOPS at {size}"))
                    case messages.Done():
                        return reply.document, cancel.is_set()
                    case messages.Failed():
                        raise GemmvizError(reply.message)
    finally:
        engine.close()
    raise GemmvizError("the engine ended without an answer")


@contextmanager
def _ctrl_c(cancel: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C end the run in order, keeping what is finished; the second one ends the program."""

    def handle(number: int, frame: object) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield  # signals can be handled in the main thread only
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _print(document: results.Document) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    table = Table(title="GFLOPS as measured on this machine now")
    # Names and sizes are never cut: what is cut cannot be typed.
    table.add_column("kernel", overflow="fold", min_width=16)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("status", overflow="fold")
    for name in ("GFLOPS", "median ms", "spread", "of library"):
        table.add_column(name, justify="right", overflow="fold")
    rows = document["results"]
    for row in rows:
        table.add_row(*map(escape, _cells(row, rows)))
    console.print(table)
    told = dict.fromkeys((row["status"], row["message"]) for row in rows if row["message"])
    for status, message in told:
        labels = [r["label"] for r in rows if (r["status"], r["message"]) == (status, message)]
        who = labels[0] if len(labels) == 1 else f"{len(labels)} kernels"
        console.print(f"{who}: {status}: {message}", markup=False, highlight=False)


def _cells(row: results.Row, rows: list[results.Row]) -> list[str]:
    m, n, k = row["M"], row["N"], row["K"]
    size = str(m) if m == n == k else f"{m} x {n} x {k}"
    status = row["status"]
    if status == "skipped":
        status += ": " + row["message"].split(": ")[0].split(" (")[0]
    stats = row["stats"]
    if stats is None:
        return [row["label"], size, status, "-", "-", "-", "-"]
    if row["flags"]:
        status += f" ({', '.join(row['flags'])})"
    spread = stats["iqr_rel"]
    share = _share(row, rows)
    return [
        row["label"],
        size,
        status,
        significant(row["gflops"], spread),
        significant(stats["median"] * 1e3, spread),
        f"{spread:.1%}",
        "-" if share is None else f"{share:.1%}",
    ]


def _share(row: results.Row, rows: list[results.Row]) -> float | None:
    """Return the row's GFLOPS over those of the library that runs in the same place, at the same size."""
    same = ("M", "N", "K", "dtype_in")
    for other in rows:
        is_reference = other["backend"] == _REFERENCE[row["backend"]] and all(other[k] == row[k] for k in same)
        if is_reference and other["gflops"]:
            return float(row["gflops"] / other["gflops"])
    return None
