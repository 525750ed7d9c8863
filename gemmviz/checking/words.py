"""How people read what was found: the same words on the command line and in the window."""

from collections.abc import Iterable

from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.trace.hazards import Finding
from gemmviz.trace.sites import SiteTraffic

_COUNTED = {
    "out of bounds": "accesses",
    "race": "elements",
    "read of memory nobody wrote": "elements",
    "element of C written by two threads": "elements",
}


def key(thing: Finding | SiteTraffic) -> object:
    """Return what makes two of a kind the same: threads, elements and counts differ from size to size."""
    if isinstance(thing, SiteTraffic):
        return thing.line, thing.array, thing.write
    return thing.kind, thing.line, thing.other_line, thing.array


def kind(thing: Finding | SiteTraffic) -> str:
    """Return the class of a defect, or of wasted traffic."""
    if isinstance(thing, SiteTraffic):
        return "bank conflicts" if thing.space == "shared" else "uncoalesced"
    return thing.kind


def sentence(thing: Finding | SiteTraffic) -> str:
    """Say what happens, without its class and its line."""
    if isinstance(thing, SiteTraffic):
        unit = "wavefronts" if thing.space == "shared" else "sectors"
        return (
            f"{thing.array} is {'written' if thing.write else 'read'} in {thing.units / thing.requests:.3g} {unit} per "
            f"request, {thing.degree:.3g} times as many as needed"
        )
    counted = _COUNTED.get(thing.kind)
    times = f"; {thing.count:,} {counted}" if counted and thing.count > 1 else ""
    # Operands that are right one by one are mispaired where they are used, and C is wrong where it is stored.
    used = thing.kind == "wrong result" and thing.array == "C" and thing.other_line
    last_use = f"; the last use of an operand is in line {thing.other_line}" if used else ""
    return f"{thing.text}{times}{last_use}"


def names(reports: Iterable[Report]) -> str:
    """Name reports, those of one size together."""
    at: dict[Problem, list[str]] = {}
    for report in reports:
        at.setdefault(report.problem, []).append(report.label)
    return ", ".join(f"{', '.join(labels)} at {problem}" for problem, labels in at.items())
