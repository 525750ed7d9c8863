"""How ``gemmviz check`` says what it found: each thing once, with everything else that it holds for."""

from rich.console import Console

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.cli.check_run import Report
from gemmviz.trace.hazards import Finding
from gemmviz.trace.sites import SiteTraffic

_COUNTED = {
    "out of bounds": "accesses",
    "race": "elements",
    "read of memory nobody wrote": "elements",
    "element of C written by two threads": "elements",
}


def show(kernel: Kernel, reports: list[Report], left_out: list[str]) -> None:
    """Print the reports; what an earlier one has said is not said again."""
    console = Console()
    holders: dict[object, list[Report]] = {}
    for report in reports:
        for thing in report.things:
            held = holders.setdefault(_key(thing), [])
            if report not in held:
                held.append(report)
    quiet: list[Report] = []
    for report in reports:
        new = [thing for thing in report.things if holders[_key(thing)][0] is report]
        if quiet and (new or bool(quiet[0].findings) != bool(report.findings)):
            _say_quiet(console, quiet)
            quiet = []
        if not new:
            quiet.append(report)
            continue
        console.print(str(report), style="bold", markup=False, highlight=False, soft_wrap=True)
        for thing in new:
            where = f"{kernel.path.name}:{thing.line}" if thing.line else kernel.path.name
            what = _finding(thing) if isinstance(thing, Finding) else _cost(thing)
            others = holders[_key(thing)][1:]
            everywhere = len(others) > 1 and len(others) == len(reports) - 1
            also = "all others below" if everywhere else _names(others)
            _say(console, f"{where}: {what}" + (f"; also with {also}" if others else ""))
        if not report.findings:
            _say(console, "no defect found; the above costs time only")
    if quiet:
        _say_quiet(console, quiet)
    for what in left_out:
        _say(console, f"left out: {what}")


def _say_quiet(console: Console, reports: list[Report]) -> None:
    _say(console, f"{_names(reports)}: {'nothing but the above' if reports[0].findings else 'no defect found'}")


def _names(reports: list[Report]) -> str:
    """Name reports, those of one size together."""
    at: dict[Problem, list[str]] = {}
    for report in reports:
        at.setdefault(report.problem, []).append(report.label)
    return ", ".join(f"{', '.join(labels)} at {problem}" for problem, labels in at.items())


def _key(thing: Finding | SiteTraffic) -> object:
    """Return what makes two of a kind the same: threads, elements and counts differ from size to size."""
    if isinstance(thing, SiteTraffic):
        return thing.line, thing.array, thing.write
    return thing.kind, thing.line, thing.other_line, thing.array


def _finding(finding: Finding) -> str:
    counted = _COUNTED.get(finding.kind)
    times = f"; {finding.count:,} {counted}" if counted and finding.count > 1 else ""
    return f"{finding.kind}: {finding.text}{times}"


def _cost(site: SiteTraffic) -> str:
    kind, unit = ("bank conflicts", "wavefronts") if site.space == "shared" else ("uncoalesced", "sectors")
    return (
        f"{kind}: {site.array} is {'written' if site.write else 'read'} in {site.units / site.requests:.3g} {unit} per "
        f"request, {site.degree:.3g} times as many as needed"
    )


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
