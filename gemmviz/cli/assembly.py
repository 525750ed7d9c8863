"""``gemmviz assembly``: the machine code of a CUDA kernel, line by line of its source; no GPU is needed."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from gemmviz.assembly.architecture import DEFAULT
from gemmviz.assembly.counts import by_line, in_order
from gemmviz.assembly.listing import Listing
from gemmviz.assembly.summary import Part, summary
from gemmviz.catalogue.errors import BuildError, ConstraintError, GemmvizError, Unavailable
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.user_file import write_text
from gemmviz.cli import options
from gemmviz.cli.driving import driving
from gemmviz.cli.own_size import own_problem
from gemmviz.cli.tables import console
from gemmviz.engine.consent import Named
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Assembled, AssembleRequest, Failed
from gemmviz.language.numbers import thousands

_SCHEMA_VERSION = 1
_USUAL = 4096


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "assembly",
        help=summary,
        description="Compiles a CUDA kernel with NVRTC, as for a measurement, and disassembles it: registers, spills, "
        "instructions per source line and per product, and the listing. No GPU is needed.",
        epilog="Needs NVRTC and nvdisasm: pip install 'gemmviz[assembly]', or a CUDA toolkit.",
    )
    parser.add_argument("kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    size_help = f"M = N = K = N (default {_USUAL}, {options.OR_NEAREST})"
    parser.add_argument("--size", type=options.whole, metavar="N", help=size_help)
    options.add_sides(parser)
    options.add_set(parser)
    options.add_include(parser)
    parser.add_argument(
        "--arch",
        default="",
        metavar="ARCH",
        help=f"for example sm_80 (default: this machine's GPU, else {DEFAULT}, or what the kernel needs)",
    )
    parser.add_argument("--ptx", action="store_true", help="list PTX instead of SASS")
    parser.add_argument("--counts", action="store_true", help="no listing, only the counts")
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write everything as JSON; - is the standard output"
    )
    parser.set_defaults(run=_run, default_size=_USUAL)


def _run(args: argparse.Namespace) -> int:
    kernel = find(args.kernel, options.ladder())
    if not kernel.recordable or kernel.backend != "cuda":
        raise ConstraintError(f"{kernel.name} is not a CUDA kernel: it has no machine code to show")
    options.print_notes(kernel)
    settings = options.params(args)
    problem = own_problem(kernel, args, settings)
    request = AssembleRequest(1, **launched(kernel, problem), params=settings, architecture=args.arch)
    with driving(Named([kernel])) as engine:
        reply = engine.run(request)
    if isinstance(reply, Failed):
        kinds = {"unsupported": Unavailable, "refused": ConstraintError}
        if reply.kind == "compile":
            raise BuildError(reply.message, reply.line)
        raise kinds.get(reply.kind, GemmvizError)(reply.message)
    assert isinstance(reply, Assembled)
    listing = reply.listing
    if args.json:
        text = json.dumps(_document(listing), indent=1) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            write_text(Path(args.json), text)
    if args.json != "-":
        _print(listing)
        if not args.counts:
            lines = _ptx(listing) if args.ptx else _sass(listing)
            sys.stdout.write("\n" + "\n".join(lines) + "\n")
    return 0


def _document(listing: Listing) -> Plain:
    found = summary(listing)
    return {
        "schema_version": _SCHEMA_VERSION,
        "provenance": "compiled",
        **{key: value for key, value in asdict(listing).items() if key not in ("files", "places")},
        "files": [file.name for file in listing.files],
        "places": [[[frame.file, frame.line] for frame in place] for place in listing.places],
        "whole": _part(found.whole),
        "loop": _part(found.loop) if found.loop else None,
        "lines": {str(line): dict(counts) for line, counts in sorted(by_line(listing).items())},
    }


def _part(part: Part) -> Plain:
    return {
        "instructions": list(part.instructions),
        "counts": dict(part.counts),
        "products_per_warp": part.products,
        "unit": part.unit,
        "shared_bytes_per_thread": part.shared_bytes,
    }


def _print(listing: Listing) -> None:
    used = listing.usage
    out = console()
    print(f"{listing.label} for {listing.architecture}, compiled by {listing.compiler}")
    print(
        f"{used.registers} registers per thread, {thousands(used.shared_bytes)} bytes of shared memory per block, "
        f"{used.stack_bytes} bytes of local memory per thread"
    )
    spilled = f"{used.spill_store_bytes} bytes stored, {used.spill_load_bytes} loaded"
    print(f"spilled registers: {spilled if used.spill_store_bytes or used.spill_load_bytes else 'none'}")
    found = summary(listing)
    table = Table(title="Instructions")
    table.add_column("kind")
    table.add_column("all", justify="right")
    if found.loop:
        table.add_column("main loop", justify="right")
        table.add_column(f"per {found.loop.unit}", justify="right")
    for name, count in in_order(found.whole.counts):
        cells = [name, str(count)]
        if found.loop:
            inside = found.loop.counts[name]
            cells += [str(inside), f"{found.loop.ratio(name):.3g}"] if inside else ["-", "-"]
        table.add_row(*cells)
    out.print(table)
    if found.loop:
        first, last = (listing.instructions[found.loop.instructions[at]].address for at in (0, -1))
        print(f"main loop: {first:04x} to {last:04x}, {thousands(found.loop.products)} products per warp and iteration")
    else:
        print("no loop makes products")
    lines = Table(title=f"Lines of {escape(listing.files[0].name)}")
    lines.add_column("line", justify="right")
    lines.add_column("instructions", overflow="fold")
    lines.add_column("source", overflow="ellipsis", no_wrap=True)
    source = listing.files[0].text.splitlines()
    for line, counts in sorted(by_line(listing).items()):
        counted = ", ".join(f"{count} {name}" for name, count in in_order(counts))
        text = source[line - 1].strip() if 0 < line <= len(source) else "(no line)"
        lines.add_row(str(line or "-"), counted, escape(text))
    out.print(lines)


def _sass(listing: Listing) -> Iterator[str]:
    found = summary(listing)
    inside = set(found.loop.instructions) if found.loop else set()
    place = None
    for index, one in enumerate(listing.instructions):
        if one.place != place:
            place = one.place
            yield f"// {listing.where(place) or '(no line)'}"
        if one.label:
            yield f"{one.label}:"
        guard = f"{one.predicate:>6}" if one.predicate else " " * 6
        yield f"{'|' if index in inside else ' '} {one.address:04x} {guard} {one.opcode} {one.operands}".rstrip()


def _ptx(listing: Listing) -> Iterator[str]:
    place = None
    for one in listing.ptx:
        if one.place != place:
            place = one.place
            yield f"// {listing.where(place) or '(no line)'}"
        yield one.text
