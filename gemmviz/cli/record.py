"""``gemmviz record``: records a kernel on the CPU and says what it did."""

import argparse
import json
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gemmviz.catalogue.errors import BuildError, ConstraintError, GemmvizError, KernelFault, KernelTimeout, Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.cli import options
from gemmviz.engine.messages import Failed, Progress, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.trace.recording import Recording
from gemmviz.trace.traffic import Traffic

_SCHEMA_VERSION = 1


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "record",
        help=summary,
        description="Runs the unmodified source of a kernel on the CPU, one fibre per thread, and counts every access.",
    )
    parser.add_argument("kernel", metavar="KERNEL", help="a name from `gemmviz list`, or the path of a .cu or .c file")
    options.add_launch(parser, default_size=8)
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the figures as JSON; - is the standard output"
    )
    parser.add_argument("--accesses", action="store_true", help="with --json: every single access as well")
    parser.add_argument(
        "--deadline", type=options.seconds, default=20.0, metavar="S", help="give up after S seconds (default 20)"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernel = find(args.kernel, ladder())
    if not kernel.recordable:
        raise GemmvizError(f"{kernel.name} is a library call: there is no source to record")
    job = launch(kernel, options.problem(args), options.params(args))
    problem = job.problem
    request = RecordRequest(
        1, str(kernel.path), kernel.text, problem.m, problem.n, problem.k, job.params, deadline_s=args.deadline
    )
    reply = engine_reply(request)
    recording, traffic = Recording.from_plain(reply.recording), Traffic.from_plain(reply.traffic)
    if args.json:
        text = json.dumps(document(recording, traffic, args.accesses), indent=None if args.accesses else 2) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            Path(args.json).write_text(text, encoding="utf-8")
    if args.json != "-":
        _print(recording, traffic)
        if kernel.exhibit:
            Console().print(f"wrong on purpose: {kernel.exhibit}", markup=False, highlight=False)
    return 1 if recording.wrong or recording.notes else 0


def engine_reply(request: RecordRequest, engine: Engine | None = None) -> Recorded:
    """Return the recording that a child process makes, or raise what kept it from one.

    An engine that is given stays open for the next request.
    """
    mine = engine or Engine()
    try:
        with Console(stderr=True).status("Recording") as status:
            for reply in mine.run(request, threading.Event()):
                if isinstance(reply, Progress):
                    status.update(reply.text)
                elif isinstance(reply, Failed):
                    raise _error(reply)
                elif isinstance(reply, Recorded):
                    return reply
    finally:
        if engine is None:
            mine.close()
    raise GemmvizError("the engine ended without an answer")


def _error(reply: Failed) -> GemmvizError:
    match reply.kind:
        case "compile":
            return BuildError(reply.message, reply.line)
        case "refused":
            return ConstraintError(reply.message)
        case "unsupported":
            return Unavailable(reply.message)
        case "timeout":
            return KernelTimeout(reply.message, reply.line)
        case _:
            return KernelFault(reply.message, reply.line)


def document(recording: Recording, traffic: Traffic, accesses: bool) -> dict[str, Any]:
    """Return what ``--json`` writes.

    Parameters
    ----------
    recording, traffic
        What was recorded.
    accesses
        Whether to list every access, column by column.
    """
    body: dict[str, Any] = {
        "schema_version": _SCHEMA_VERSION,
        "provenance": "recorded",
        "kernel": recording.kernel,
        "entry": recording.label,
        "source_sha256": recording.sha256,
        "M": recording.m,
        "N": recording.n,
        "K": recording.k,
        "params": recording.params,
        "block": recording.block,
        "grid": recording.grid,
        "blocks": recording.blocks,
        "threads_per_block": recording.threads,
        "tile_steps_per_block": traffic.tile_steps,
        "accesses": len(recording.accesses),
        "arrays": {entry.name: {k: v for k, v in asdict(entry).items() if k != "name"} for entry in traffic.arrays},
        "shared": {
            "reads": sum(a.reads for a in traffic.arrays if a.space == "shared"),
            "writes": sum(a.writes for a in traffic.arrays if a.space == "shared"),
            "wavefronts_per_request": traffic.conflict_degree(),
        },
        "global": {
            "load_requests": traffic.requests(write=False),
            "load_sectors": traffic.sectors(write=False),
            "store_requests": traffic.requests(write=True),
            "store_sectors": traffic.sectors(write=True),
        },
        "c_wrong_elements": recording.wrong,
        "notes": list(recording.notes),
    }
    if recording.backend == "c":  # no warps on a CPU: requests and sectors mean nothing there
        del body["global"]
    if accesses:
        log = recording.accesses
        body["sites"] = [asdict(site) for site in recording.sites]
        body["array_names"] = [a.name for a in recording.arrays]
        body["columns"] = {
            name: getattr(log, name).tolist()
            for name in ("site", "array", "write", "bytes", "element", "block", "thread", "phase")
        }
    return body


def _print(recording: Recording, traffic: Traffic) -> None:
    console = Console()
    is_cuda = recording.backend == "cuda"
    table = Table(title=f"{recording.label}  at {recording.m} x {recording.n} x {recording.k}   (recorded)")
    columns = ["array", "memory", "reads", "writes", "bytes read", "bytes written"]
    for name in [*columns, *(["requests", "units"] if is_cuda else [])]:
        table.add_column(name, justify="left" if name in columns[:2] else "right")
    for a in traffic.arrays:
        row = [
            a.name,
            a.space if is_cuda else "memory",
            *(f"{v:,}" for v in (a.reads, a.writes, a.read_bytes, a.write_bytes)),
        ]
        if is_cuda:
            row += [f"{a.read_requests + a.write_requests:,}", f"{a.read_units + a.write_units:,}"]
        table.add_row(*row)
    console.print(table)
    if is_cuda:
        block, grid = (" x ".join(map(str, shape)) for shape in (recording.block, recording.grid))
        console.print("units: sectors of 32 bytes in global memory, wavefronts in shared memory")
        blocks = "1 block" if recording.blocks == 1 else f"{recording.blocks} blocks ({grid})"
        console.print(f"{blocks} of {recording.threads} threads ({block})")
        console.print(f"global load sectors {traffic.sectors(False):,}, store sectors {traffic.sectors(True):,}")
    if traffic.tile_steps:
        console.print(
            f"{traffic.tile_steps} tile steps per block, {traffic.conflict_degree():.3g} wavefronts per shared request"
        )
    verdict = f"WRONG in {recording.wrong} elements" if recording.wrong else "right in every element"
    console.print(f"C as recorded is {verdict}; {len(recording.accesses):,} accesses in {recording.run_seconds:.2g} s")
    for note in recording.notes:
        console.print(f"! {note}", markup=False)
