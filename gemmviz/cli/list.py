"""``gemmviz list``: the kernels of the ladder."""

import argparse
import json
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder

_BACKEND = {"c": "CPU (C)", "cuda": "CUDA", "numpy": "CPU library", "cublas": "GPU library"}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("list", help=summary, description="Lists the kernels, in the order they are taught.")
    parser.add_argument("--json", action="store_true", help="as JSON, with everything that the files say")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernels = ladder()
    if args.json:
        sys.stdout.write(json.dumps([describe(kernel) for kernel in kernels], indent=1) + "\n")
        return 0
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    table = Table(title="The ladder")
    for name in ("kernel", "title", "from", "runs on", "parameters", "requires"):
        table.add_column(name, overflow="fold")
    for kernel in kernels:
        name = kernel.name if kernel.alias == kernel.name else f"{kernel.name} ({kernel.alias})"
        params = ", ".join(f"{key} = {' | '.join(map(str, values))}" for key, values in kernel.params.items())
        requires = ", ".join(e.text for e in kernel.requires)
        cells = (name, kernel.title, kernel.source, _BACKEND[kernel.backend], params, requires)
        table.add_row(*map(escape, cells))
    console.print(table)
    return 0


def describe(kernel: Kernel) -> dict[str, Any]:
    """Return what a kernel's file says, as plain data."""
    return {
        "name": kernel.name,
        "alias": kernel.alias,
        "title": kernel.title,
        "idea": kernel.idea,
        "source": kernel.source,
        "backend": kernel.backend,
        "file": kernel.path.name,
        "source_sha256": kernel.sha256,
        "entry": kernel.entry,
        "args": list(kernel.args),
        "params": {name: list(values) for name, values in kernel.params.items()},
        "block": [e.text for e in kernel.block],
        "grid": [e.text for e in kernel.grid],
        "shared": kernel.shared.text,
        "requires": [e.text for e in kernel.requires],
        "dtype": kernel.dtype,
        "accumulate": kernel.accumulate,
        "layout": {matrix: "column" if matrix in kernel.column_major else "row" for matrix in "ABC"},
    }
