"""The findings as text for people: the same on the command line and in the window."""

from collections.abc import Iterable

from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.hazards import Finding

_ACCESSES, _ELEMENTS = mark("{what}; {count} accesses"), mark("{what}; {count} elements")
_COUNTED = {
    "out of bounds": _ACCESSES,
    "race": _ELEMENTS,
    "read of memory nobody wrote": _ELEMENTS,
    "element of C written by two threads": _ELEMENTS,
}
# Classes that a break cannot declare (see `gemmviz.catalogue.switches`), but that are found.
_MORE_KINDS = (
    mark("misaligned vector access"),
    mark("alignment of shared memory"),
    mark("too many threads"),
    mark("state left behind"),
    mark("false assertion"),
    mark("crash"),
    mark("does not compile"),
    mark("front matter"),
)
# By (whether in shared memory, whether written).
_COSTS = {
    (False, False): mark("a warp's read of {array} moves {cost} sectors where {least} would do"),
    (False, True): mark("a warp's write of {array} moves {cost} sectors where {least} would do"),
    (True, False): mark("a warp's read of {array} takes {cost} wavefronts where {least} would do"),
    (True, True): mark("a warp's write of {array} takes {cost} wavefronts where {least} would do"),
}


def key(thing: Finding | SiteTraffic) -> object:
    """Return the key of a finding: equal for the same finding at two sizes, as threads, elements and counts differ.

    A cost that is caused only by narrow blocks has a separate key for each width, as its sentence names the width.
    """
    if isinstance(thing, SiteTraffic):
        return thing.line, thing.array, thing.write, thing.narrow
    return thing.kind, thing.line, thing.other_line, thing.array


def kind(thing: Finding | SiteTraffic) -> str:
    """Return the class of a defect, or of wasted traffic."""
    if isinstance(thing, SiteTraffic):
        return tr("bank conflicts") if thing.space == "shared" else tr("uncoalesced")
    return tr(thing.kind)


def sentence(thing: Finding | SiteTraffic) -> str:
    """Describe the finding, without its class and its line."""
    if isinstance(thing, SiteTraffic):
        least = f"{thing.least_units / thing.requests:.3g}"
        moved = {"array": thing.array, "cost": f"{thing.units / thing.requests:.3g}", "least": least}
        text = tr(_COSTS[thing.space == "shared", bool(thing.write)], **moved)
        return (
            tr("{what}, only because blocks are {wide} wide here", what=text, wide=thing.narrow)
            if thing.narrow
            else text
        )
    counted = _COUNTED.get(thing.kind)
    text = thing.text
    if counted and thing.count > 1:
        text = tr(counted, what=text.removesuffix("."), count=thousands(thing.count))
    # Right operands may be paired wrongly on the line that uses them; C is wrong on the line that stores it.
    used = thing.kind == "wrong result" and thing.array == "C" and thing.other_line
    return (
        tr("{what}; the last use of an operand is in line {line}", what=text, line=thing.other_line) if used else text
    )


def names(reports: Iterable[Report]) -> str:
    """Return the names of reports: each launch, or several ones of the same sizes, with all its sizes."""
    at: dict[Problem, list[str]] = {}
    for report in reports:
        at.setdefault(report.problem, []).append(report.label)
    sizes: dict[tuple[str, ...], list[str]] = {}
    for problem, labels in at.items():
        sizes.setdefault(tuple(labels), []).append(str(problem))
    named = (
        tr("{launches} at {size}", launches=", ".join(labels), size=", ".join(several))
        for labels, several in sizes.items()
    )
    return ", ".join(named)
