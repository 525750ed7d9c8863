"""``gemmviz check``: looks for defects in a kernel's recordings, and names the lines that waste memory traffic."""

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import write_text
from gemmviz.checking.plan import plan
from gemmviz.checking.report import Report
from gemmviz.cli import check_print, cluster_options, options
from gemmviz.cli.check_run import Serve, check

_SCHEMA_VERSION = 1
_USUAL = 32


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "check",
        help=summary,
        description="Records a kernel at sizes at which its declared changes have an effect, and with each value of "
        "its parameters. Reports accesses out of bounds, races, reads of uninitialised memory, barriers that threads "
        "miss, and elements of C that are not written; then the lines that waste memory traffic.",
        epilog="Exit code 1 when a defect is found. Wasted traffic is not a defect.",
    )
    parser.add_argument("kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    parser.add_argument("--size", type=options.whole, nargs="+", metavar="N", help="M = N = K = N (default: several)")
    options.add_sides(parser)
    options.add_set(parser)
    options.add_include(parser)
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the findings as JSON; - is the standard output"
    )
    cluster_options.add(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernel = find(args.kernel, options.ladder())
    if not kernel.recordable:
        raise GemmvizError(f"{kernel.name} is a library call: there is no source to check")
    options.print_notes(kernel)
    sizes = _sizes(args)
    try:
        todo = plan(kernel, sizes, options.params(args))
    except FrontMatterError as error:
        raise FrontMatterError(f"{kernel.path.name}: {error}") from None
    serve: Serve | None = None
    if args.cluster:
        from gemmviz.cli import clustering  # late: few people have a cluster

        serve = partial(clustering.check, args, kernel=kernel)
    reports, left_out = check(kernel, todo, must_fit=bool(sizes), serve=serve)
    if args.json:
        text = json.dumps(_document(kernel, reports, left_out), indent=2) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            write_text(Path(args.json), text)
    if args.json != "-":
        check_print.show(kernel, reports, left_out)
    return 1 if any(report.findings for report in reports) else 0


def _sizes(args: argparse.Namespace) -> list[Problem]:
    """Return the requested sizes; an empty list if the command chooses them."""
    sides = [args.m, args.n, args.k]
    cubes = args.size or ([] if sides == [None] * 3 else [_USUAL])
    return [Problem(*(cube if side is None else side for side in sides)) for cube in cubes]


def _document(kernel: Kernel, reports: list[Report], left_out: list[str]) -> Plain:
    return {
        "schema_version": _SCHEMA_VERSION,
        "provenance": "recorded",
        "kernel": kernel.name,
        "source_sha256": kernel.sha256,
        "sizes": [
            {
                "entry": report.label,
                "params": report.params,
                "M": report.problem.m,
                "N": report.problem.n,
                "K": report.problem.k,
                "findings": [asdict(finding) for finding in report.findings],
                "costs": [asdict(site) | {"degree": site.degree} for site in report.costs],
            }
            for report in reports
        ],
        "left_out": left_out,
    }
