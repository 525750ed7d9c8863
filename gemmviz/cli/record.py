"""``gemmviz record``: records a kernel on the CPU and prints its work."""

import argparse
import json
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from gemmviz.catalogue.errors import BuildError, ConstraintError, GemmvizError, KernelFault, KernelTimeout, Unavailable
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import write_text
from gemmviz.cli import options
from gemmviz.cli.own_size import fitting, own_problem
from gemmviz.cli.record_print import show
from gemmviz.engine.consent import Consent, Named
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Failed, Progress, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.trace import untrusted
from gemmviz.trace.cost.link import links
from gemmviz.trace.cost.memory_levels import levels
from gemmviz.trace.cost.sites import SiteTraffic, by_line
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.recording.recording import Recording

_SCHEMA_VERSION = 2


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "record",
        help=summary,
        description="Runs the unmodified source of a kernel on the CPU, one fibre per thread, and counts every access "
        "that remains after compiling (as compiled), or every access in the text (--as-written).",
        epilog="Exit code 1 when C is wrong, or an access is out of bounds or misaligned, or threads miss a barrier. "
        "`gemmviz check` looks for further defects.",
    )
    parser.add_argument("kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    options.add_launch(parser, default_size=8)
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the figures as JSON; - is the standard output"
    )
    parser.add_argument(
        "--lines", action="store_true", help="the cost of each line of the source (--json always has it)"
    )
    parser.add_argument(
        "--blocks",
        type=options.block_range,
        metavar="FIRST:END",
        help="only these blocks of the grid (numbered with x fastest), as 0:4 for the first four",
    )
    options.add_view(parser)
    parser.add_argument("--accesses", action="store_true", help="with --json: also each single access")
    parser.add_argument(
        "--deadline",
        type=options.seconds,
        default=20.0,
        metavar="S",
        help="give up after S seconds of processor time (default 20)",
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernel = find(args.kernel, options.ladder())
    if not kernel.recordable:
        raise GemmvizError(f"{kernel.name} is a library call: there is no source to record")
    options.print_notes(kernel)
    params = options.params(args)
    if kernel.demo is not None and not options.has_size(args):
        params = kernel.demo.params | params
        problem = fitting(kernel, Problem(*kernel.demo.size), params)
    else:
        problem = own_problem(kernel, args, params)
    job = launch(kernel, problem, params)
    request = RecordRequest(
        1,
        **launched(kernel, problem),
        params=job.params,
        # The traffic of the links between several GPUs is counted from the accesses.
        order="none" if args.accesses or kernel.division else "totals",
        deadline_s=args.deadline,
        blocks=args.blocks,
        as_written=args.as_written,
    )
    reply = engine_reply(request, Named([kernel]))
    recording = untrusted.checked_recording(reply.recording)
    traffic = untrusted.checked_traffic(reply.traffic, recording, None)
    if args.json:
        text = json.dumps(document(recording, traffic, args.accesses), indent=None if args.accesses else 2) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            write_text(Path(args.json), text)
    if args.json != "-":
        show(recording, traffic, lines=args.lines)
        if kernel.exhibit:
            Console().print(f"exhibit: {kernel.exhibit}", markup=False, highlight=False)
    return 1 if recording.wrong or recording.notes else 0


def engine_reply(request: RecordRequest, consent: Consent) -> Recorded:
    """Return the recording of a permitted text, made by a child process; raise the reason if there is none."""
    engine = Engine(consent)
    try:
        with Console(stderr=True).status("Recording") as status:
            for reply in engine.run(request, threading.Event()):
                if isinstance(reply, Progress):
                    status.update(reply.text)
                elif isinstance(reply, Failed):
                    raise failure(reply)
                elif isinstance(reply, Recorded):
                    return reply
    finally:
        engine.close()
    raise GemmvizError("the engine ended without an answer")


def failure(reply: Failed) -> GemmvizError:
    """Return the error of a failed request."""
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


def document(recording: Recording, traffic: Traffic, accesses: bool) -> Plain:
    """Return the data that ``--json`` writes.

    Parameters
    ----------
    recording, traffic
        The recording and its memory traffic.
    accesses
        Whether to list every access, column by column.
    """
    body: Plain = {
        "schema_version": _SCHEMA_VERSION,
        "provenance": "recorded",
        "view": recording.view,
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
        "recorded_blocks": recording.scope or (0, recording.blocks),
        "threads_per_block": recording.threads,
        "tile_steps_per_block": traffic.tile_steps,
        "accesses": traffic.accesses,
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
        "levels": levels(recording, traffic).to_plain(),
        **_links(recording),
        "lines": [_line(site, recording.backend == "cuda") for site in by_line(traffic.sites)],
        "c_wrong_elements": recording.wrong,
        "notes": list(recording.notes),
    }
    if recording.backend == "c":  # no warps on a CPU: requests and sectors have no meaning there
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


def _links(recording: Recording) -> Plain:
    """Return the traffic between several GPUs, by GPU and owner; nothing for one GPU."""
    if recording.sharing is None:
        return {}
    names = ("device", "owner", "once_bytes", "read_bytes")
    return {
        "gpus": recording.sharing.devices,
        "links": [{name: getattr(one, name) for name in names} for one in links(recording)],
    }


def _line(site: SiteTraffic, on_gpu: bool) -> Plain:
    """Return the cost of a line of the source; without warps there are no requests."""
    counts: Plain = {
        "line": site.line,
        "array": site.array,
        "space": site.space,
        "write": site.write,
        "accesses": site.accesses,
        "asked_bytes": site.asked_bytes,
    }
    if on_gpu:
        counts |= {
            "requests": site.requests,
            "units": site.units,
            "least_units": site.least_units,
            "units_per_request": site.units_per_request,
            "degree": site.degree,
        }
    return counts
