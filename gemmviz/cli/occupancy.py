"""``gemmviz occupancy``: the number of warps on one SM, for the kernels of a run or for a given block."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.model.devices import Facts, Limits, limits, published
from gemmviz.bench.model.occupancy import Use, advice, compiled_use, occupancy
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.source_files import SOURCES
from gemmviz.cli import options
from gemmviz.cli.tables import console

_DEVICES = {device.name: device for device in published()}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "occupancy",
        help=summary,
        description="Theoretical occupancy, modelled from published limits: of the CUDA kernels of a run, with their "
        "registers, shared memory and named barriers as compiled, or of a block that --threads describes.",
        epilog=f"Devices: {', '.join(_DEVICES)}.",
    )
    parser.add_argument(
        "source",
        metavar="RUN",
        nargs="?",
        default="last",
        help="a file that `gemmviz bench --json` wrote, or a stored run (see `gemmviz runs`); by default the last run",
    )
    parser.add_argument("--device", choices=_DEVICES, metavar="NAME", help="another device than that of the run")
    parser.add_argument("--threads", type=options.whole, metavar="T", help="threads per block, instead of a run")
    parser.add_argument("--registers", type=options.whole, default=32, metavar="R", help="per thread (default 32)")
    parser.add_argument("--shared", type=options.whole, default=0, metavar="BYTES", help="per block (default 0)")
    parser.add_argument("--cluster", type=options.whole, default=1, metavar="BLOCKS", help="of a cluster (default 1)")
    parser.add_argument(
        "--barriers",
        type=options.whole,
        default=0,
        metavar="N",
        help="named barriers per block (default 0: no limit); they count from compute capability 9.0 on, and if the "
        "compiler does not know the number in a bar.sync, the block takes all 16",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    device: Facts | None = _DEVICES[args.device].facts() if args.device else None
    if args.threads is None:
        if Path(args.source).suffix in SOURCES:
            raise ConstraintError(
                f"{args.source} is a source file: `gemmviz bench {args.source} --json RUN` on a machine with a GPU "
                "writes a run with its registers and shared memory; or describe a block with --threads"
            )
        if args.source in {kernel.name for kernel in ladder()} and not Path(args.source).exists():
            raise ConstraintError(
                f"{args.source} is a kernel, and this command reads runs: `gemmviz bench {args.source}` on a machine "
                "with a GPU makes one, with its registers and shared memory; or describe a block with --threads"
            )
        document = results.read_results(options.result_file(args.source))
        device = device or document["device"]
        uses = list(_compiled(document))
        if not uses:
            run = "the last run" if args.source == "last" else args.source
            raise ConstraintError(f"{run} has no compiled CUDA kernel: describe a block with --threads")
    else:
        if min(args.threads, args.registers) < 1 or args.shared < 0:
            raise ConstraintError("a block has at least 1 thread, 1 register per thread and 0 bytes of shared memory")
        if args.barriers < 0:
            raise ConstraintError("a block has 0 named barriers or more")
        if args.cluster < 1:
            raise ConstraintError("a cluster has at least 1 block")
        uses = [("what if", Use(args.threads, args.registers, args.shared, args.cluster, args.barriers))]
    found = limits(device)
    if device is None or found is None:
        raise ConstraintError(
            "there is no GPU: choose a device with --device NAME (`gemmviz occupancy --help` lists them)"
        )
    if args.json:
        rows = [{"kernel": n, **asdict(u), **asdict(occupancy(u, found)), "advice": advice(u, found)} for n, u in uses]
        sys.stdout.write(json.dumps({"device": device["name"], "limits": asdict(found), "rows": rows}, indent=1) + "\n")
    else:
        _print(uses, found, str(device["name"]))
    return 0


def _compiled(document: Document) -> Iterator[tuple[str, Use]]:
    """Return the kernels of a run with the resources that the compiler reported, each once."""
    seen = set()
    kernels = {kernel.sha256: kernel for kernel in ladder()}
    for row in document["results"]:
        if row["backend"] != "cuda" or not row["block"] or row["regs"] is None or row["smem"] is None:
            continue
        entry = row["label"], compiled_use(row, kernels.get(row["source_sha256"] or ""))
        if entry not in seen:
            seen.add(entry)
            yield entry


def _print(uses: list[tuple[str, Use]], found: Limits, device: str) -> None:
    table = Table(title=f"Theoretical occupancy on one SM of {device} (modelled)")
    table.add_column("kernel", overflow="fold", min_width=16)
    # Few kernels are limited by barriers; a column for all would only make the sentences narrower.
    barriers = any("barriers" in occupancy(use, found).limiters for _, use in uses)
    for name in ("threads", "registers", "shared B", *["barriers"] * barriers, "blocks", "warps", "occupancy"):
        table.add_column(name, justify="right")
    table.add_column("limited by", overflow="fold")
    for name, use in uses:
        now = occupancy(use, found)
        taken = (use.threads, use.registers, use.shared_bytes, *[use.barriers] * barriers)
        held = f"{now.warps} / {found.warps_per_sm}"
        figures = (*map(str, (*taken, now.blocks)), held, f"{now.fraction:.1%}")
        table.add_row(escape(name), *figures, escape(advice(use, found)))
    console().print(table)
