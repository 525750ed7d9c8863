"""``gemmviz check``: looks for defects in a kernel's recordings, and names the lines that waste memory traffic."""

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from gemmviz.catalogue.errors import ConstraintError, GemmvizError, KernelFault
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import options
from gemmviz.cli.record import engine_reply
from gemmviz.engine.messages import RecordRequest
from gemmviz.trace.hazards import Finding
from gemmviz.trace.hazards import find as find_hazards
from gemmviz.trace.recording import Recording
from gemmviz.trace.sites import SiteTraffic, by_site
from gemmviz.trace.timeline import Timeline

_SCHEMA_VERSION = 1
# One that tiles divide and one that they do not, with three different lengths.
_DEFAULT_SIZES = (Problem.cube(32), Problem(37, 21, 19))
# Below this a request is about as good as it can be: an edge of a matrix, a row that begins within a sector.
_WASTEFUL = 1.5


@dataclass
class Report:
    """What was found at one size."""

    problem: Problem
    findings: list[Finding] = field(default_factory=list)
    costs: list[SiteTraffic] = field(default_factory=list)


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "check",
        help=summary,
        description="Records a kernel at some sizes and reports accesses out of bounds, races, reads of memory that "
        "nobody wrote, barriers that threads miss, and elements of C left out; then what wastes memory traffic.",
        epilog="Exit code 1 when a defect is found. Wasted traffic is no defect.",
    )
    parser.add_argument("kernel", metavar="KERNEL", help="a name from `gemmviz list`, or the path of a .cu or .c file")
    parser.add_argument("--size", type=options.whole, nargs="+", metavar="N", help="M = N = K = N (default: two sizes)")
    options.add_set(parser)
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the findings as JSON; - is the standard output"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernel = find(args.kernel, ladder())
    if not kernel.recordable:
        raise GemmvizError(f"{kernel.name} is a library call: there is no source to check")
    params = options.params(args)
    reports = [_check(kernel, problem, params) for problem in _sizes(kernel, args.size, params)]
    if args.json:
        text = json.dumps(_document(kernel, reports), indent=2) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            Path(args.json).write_text(text, encoding="utf-8")
    if args.json != "-":
        _print(kernel, reports)
    return 1 if any(report.findings for report in reports) else 0


def _sizes(kernel: Kernel, wanted: list[int] | None, params: dict[str, int]) -> list[Problem]:
    """Return the sizes asked for, or by default those nearest to `_DEFAULT_SIZES` that the kernel takes."""
    if wanted:
        return [Problem.cube(size) for size in wanted]
    nearest = [nearest_size(kernel, problem, kernel.defaults | params) for problem in _DEFAULT_SIZES]
    if not any(nearest):
        raise ConstraintError(f"{kernel.name} takes no size near {_DEFAULT_SIZES[0]}: name one with --size")
    return list(dict.fromkeys(problem for problem in nearest if problem))


def _check(kernel: Kernel, problem: Problem, params: dict[str, int]) -> Report:
    job = launch(kernel, problem, params)
    request = RecordRequest(1, str(kernel.path), kernel.text, problem.m, problem.n, problem.k, job.params)
    try:
        reply = engine_reply(request)
    except KernelFault as fault:
        return Report(problem, [Finding("crash", fault.line or 0, str(fault).split(": ", 1)[-1])])
    recording = Recording.from_plain(reply.recording)
    sites = by_site(recording, Timeline(**reply.timeline)) if kernel.backend == "cuda" else []
    costs = [site for site in sites if site.degree >= _WASTEFUL]
    return Report(problem, find_hazards(recording, c_is_input="beta" in kernel.args), costs)


def _document(kernel: Kernel, reports: list[Report]) -> dict[str, Any]:
    return {
        "schema_version": _SCHEMA_VERSION,
        "provenance": "recorded",
        "kernel": kernel.name,
        "source_sha256": kernel.sha256,
        "sizes": [
            {
                "M": report.problem.m,
                "N": report.problem.n,
                "K": report.problem.k,
                "findings": [asdict(finding) for finding in report.findings],
                "costs": [asdict(site) | {"degree": site.degree} for site in report.costs],
            }
            for report in reports
        ],
    }


def _print(kernel: Kernel, reports: list[Report]) -> None:
    console = Console()
    for report in reports:
        console.print(f"{kernel.name} at {report.problem}", style="bold", highlight=False)
        for finding in report.findings:
            times = f" ({finding.count:,} elements)" if finding.count > 1 else ""
            where = f"{kernel.path.name}:{finding.line}" if finding.line else kernel.path.name
            _say(console, f"{where}: {finding.kind}: {finding.text}{times}")
        for site in report.costs:
            _say(console, f"{kernel.path.name}:{site.line}: {_cost(site)}")
        if not report.findings:
            _say(console, "no defect found" if not report.costs else "no defect found; the above costs time only")


def _cost(site: SiteTraffic) -> str:
    verb = "written" if site.write else "read"
    if site.space == "shared":
        return (
            f"bank conflicts: {site.array} is {verb} in {site.units / site.requests:.3g} wavefronts per request, "
            f"{site.degree:.3g} times as many as needed"
        )
    return (
        f"uncoalesced: {site.array} is {verb} in {site.units / site.requests:.3g} sectors per request, "
        f"{site.degree:.3g} times as many as needed"
    )


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
