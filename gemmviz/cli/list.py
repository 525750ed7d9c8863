"""``gemmviz list``: the kernels that come with gemmviz."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemmviz.backends.driver import Device, driver
from gemmviz.backends.machine import schedule_for_this_gpu
from gemmviz.catalogue.capability import need
from gemmviz.catalogue.documents import Document, documents
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import read_ladder
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual, why
from gemmviz.catalogue.switches import NOTHING

_SCHEDULED_AT = 4096
_BACKEND = {
    "c": "CPU (C)",
    "cuda": "CUDA",
    "numpy": "CPU library",
    "openblas": "CPU library",
    "cublas": "GPU library",
}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "list",
        help=summary,
        description="Lists the kernels, in the order in which they are taught.",
        epilog="Exit code 1 when the file of a kernel cannot be read; the other kernels are still listed.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, with everything in the kernels' files")
    parser.add_argument(
        "--breaks",
        action="store_true",
        help="the declared changes of each kernel; their names can be used in place of a kernel's name",
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernels, faults = read_ladder()
    for fault in faults:
        print(f"gemmviz: {fault}", file=sys.stderr)
    code = 1 if faults else 0
    if args.json:
        sources = documents()
        sys.stdout.write(json.dumps([describe(kernel, sources) for kernel in kernels], indent=1) + "\n")
        return code
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(_breaks_table(kernels) if args.breaks else _kernel_table(kernels))
    return code


def _breaks_table(kernels: Sequence[Kernel]) -> Table:
    """Return a row for each variant that the kernels declare."""
    table = Table(title="What if...? Use the name in any command that takes a kernel; join several changes with +")
    for name in ("name", "change", "effect", "size and parameters"):
        table.add_column(name, overflow="fold", no_wrap=name == "name")
    for kernel in kernels:
        for change in kernel.breaks:
            where = [" x ".join(map(str, change.at))] if change.at else []
            where += [f"{name} = {value}" for name, value in change.params.items()]
            expected = "no defect: measure it" if change.expect == (NOTHING,) else ", ".join(change.expect)
            table.add_row(*map(escape, (f"{kernel.name}~{change.id}", change.title, expected, ", ".join(where))))
    return table


def _kernel_table(kernels: Sequence[Kernel]) -> Table:
    table = Table(title="Kernels")
    device = driver().device
    for name in ("kernel", "title", "from", "runs on", "elements", "parameters", "requires"):
        # A kernel's name must stay whole: it gets copied.
        table.add_column(name, overflow="fold", no_wrap=name == "kernel")
    for kernel in kernels:
        source = kernel.source if kernel.alias == kernel.name else f"{kernel.source}: {kernel.alias}"
        params = ", ".join(f"{key} = {' | '.join(map(str, values))}" for key, values in kernel.params.items())
        requires = ", ".join(text for text in (_runs_on(kernel, device), *(e.text for e in kernel.requires)) if text)
        title = f"Exhibit: {kernel.title}" if kernel.exhibit else kernel.title
        cells = (kernel.name, title, source, _BACKEND[kernel.backend], _elements(kernel), params, requires)
        table.add_row(*map(escape, cells))
    return table


def _runs_on(kernel: Kernel, device: Device | None) -> str:
    """Return the compute capability that a kernel needs, and the device's if it differs."""
    return need(kernel.capability, device.cc if device else "") or need(kernel.capability)


def _elements(kernel: Kernel) -> str:
    sums = "" if kernel.accumulate == kernel.dtype else f", sums {kernel.accumulate}"
    return kernel.dtype + sums + (f", C {kernel.stores}" if kernel.stores else "")


def _schedule(kernel: Kernel) -> Plain | None:
    """Return the choice of a kernel's schedule at 4096, and the reason for it; None without a schedule."""
    if kernel.schedule is None:
        return None
    schedule_for_this_gpu()
    problem = Problem.cube(_SCHEDULED_AT)
    params = usual(kernel, problem)
    return {"size": _SCHEDULED_AT, "params": params, "why": why(kernel, problem, params)}


def describe(kernel: Kernel, sources: Sequence[Document]) -> Plain:
    """Return the description in a kernel's file and the names that the documents use for it, as plain data."""
    return {
        "name": kernel.name,
        "alias": kernel.alias,
        "title": kernel.title,
        "idea": kernel.idea,
        "source": kernel.source,
        "backend": kernel.backend,
        "file": kernel.path.name,
        "version": kernel.version,
        "notes": list(kernel.notes),
        "source_sha256": kernel.sha256,
        "entry": kernel.entry,
        "args": list(kernel.args),
        "params": {name: list(values) for name, values in kernel.params.items()},
        "block": [e.text for e in kernel.block],
        "grid": [e.text for e in kernel.grid],
        "shared": kernel.shared.text,
        "requires": [e.text for e in kernel.requires],
        "schedule": _schedule(kernel),
        "capability": kernel.capability,
        "cluster": [e.text for e in kernel.cluster],
        "maps": {
            matrix: {"box": [box.rows.text, box.columns.text], "swizzle": box.swizzle.text, "rank": box.rank}
            for matrix, box in kernel.maps.items()
        },
        "dtype": kernel.dtype,
        "accumulate": kernel.accumulate,
        "stores": kernel.dtype_out,
        "layout": {matrix: "column" if matrix in kernel.column_major else "row" for matrix in MATRICES},
        "demo": kernel.demo and kernel.demo.to_plain(),
        "exhibit": kernel.exhibit,
        "breaks": [
            {"id": change.id, "title": change.title, "expect": [e for e in change.expect if e != NOTHING]}
            for change in kernel.breaks
        ],
        "stands_for": [
            {
                "source": document.id,
                "name": name.name,
                "listing": name.listing,
                "text": name.text,
                "repaired": name.repaired,
                "params": {key: list(v) for key, v in name.params.items()},
            }
            for document in sources
            for name in document.names
            if name.kernel == kernel.name
        ],
    }
