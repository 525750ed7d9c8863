"""Finds out whether noisy rows can change a verdict: the check is repeated at the ends of the rows' spreads."""

from collections.abc import Iterator, Sequence
from itertools import product

from gemmviz.bench.claims.evidence import Evidence
from gemmviz.bench.claims.record import Case, Check
from gemmviz.bench.claims.rules import RULES, Outcome

# Up to this number every combination of the ends is tried; above, each case alone is taken at its other end.
_FEW = 6


def turns(check: Check, evidence: Evidence, outcome: Outcome) -> bool:
    """Return whether a check has another result at some ends of the spreads of its cases' rows.

    Parameters
    ----------
    check
        The check.
    evidence
        The evidence; it must have every figure of the check.
    outcome
        Its result with the medians.
    """
    reaches = [evidence.reach(quantity) for quantity in check.quantities]
    cases = list(dict.fromkeys(quantity.case for quantity in check.quantities))
    for slow in _choices(cases):
        # A slow case is slow in all of its figures.
        values = [reach[q.case in slow] for q, reach in zip(check.quantities, reaches, strict=True)]
        if RULES[check.rule].apply(values, check.theirs, check.limits).holds != outcome.holds:
            return True
    return False


def _choices(cases: Sequence[Case]) -> Iterator[set[Case]]:
    """Yield the cases that are taken at their slow ends; the others are taken at their fast ends."""
    if len(cases) <= _FEW:
        for ends in product((False, True), repeat=len(cases)):
            yield {case for case, slow in zip(cases, ends, strict=True) if slow}
        return
    for case in cases:
        yield {case}
        yield set(cases) - {case}
