"""Findings that only one of two versions has."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from gemmviz.checking.report import Report
from gemmviz.checking.report_text import kind
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.hazards import Finding
from gemmviz.versions.line_match import Place, places
from gemmviz.versions.version import Version

State = Literal["new", "gone", "both", "unclear"]
Thing = Finding | SiteTraffic
_ENDS_IT = ("crash", "does not compile", "front matter")
"""Classes of findings after which a recording has no others."""


@dataclass(frozen=True)
class Change:
    """A finding, or wasted traffic, of one version or of both.

    Attributes
    ----------
    state
        ``"new"``: only the second version has it. ``"gone"``: only the first one. ``"unclear"``: one has it, and the
        other one crashed or hung before it could be seen.
    before, after
        The finding in each version; None if a version does not have it.
    """

    state: State
    before: Thing | None
    after: Thing | None

    @property
    def defect(self) -> bool:
        """Whether it is a defect; else it is an inefficiency."""
        return isinstance(self.after or self.before, Finding)


def changes(before: Version, after: Version) -> list[Change]:
    """Return the findings in this order: new ones, those that are gone, those of both; defects before wasted traffic.

    A finding is in both if its class and its array are the same, and its lines match (see `line_match`). If one version
    has no report, the result is empty.

    Parameters
    ----------
    before, after
        The versions.
    """
    if before.report is None or after.report is None:
        return []
    mine, theirs = places(before.launch.kernel.text, after.launch.kernel.text)
    held: dict[Hashable, list[Thing]] = {}
    for thing in before.report.things:
        held.setdefault(_key(thing, mine), []).append(thing)
    new: State = "unclear" if _ended_early(before.report) else "new"
    gone: State = "unclear" if _ended_early(after.report) else "gone"
    found = []
    for thing in after.report.things:
        same = held.get(_key(thing, theirs))
        found.append(Change("both", same.pop(0), thing) if same else Change(new, None, thing))
    found += [Change(gone, thing, None) for same in held.values() for thing in same]
    order: tuple[State, ...] = ("new", "gone", "unclear", "both")
    return sorted(found, key=lambda change: (not change.defect, order.index(change.state)))


def _ended_early(report: Report) -> bool:
    return any(finding.kind in _ENDS_IT for finding in report.findings)


def _key(thing: Thing, of_line: Sequence[Place]) -> Hashable:
    def place(line: int) -> Place:
        return of_line[line] if line < len(of_line) else line

    if isinstance(thing, SiteTraffic):
        return "cost", kind(thing), thing.array, thing.write, place(thing.line)
    return "defect", thing.kind, thing.array, place(thing.line), place(thing.other_line)
