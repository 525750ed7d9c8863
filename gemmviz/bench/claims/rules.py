"""The rules by which a check holds or not: small functions over figures, chosen by name in a claim's file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import Any

Value = float | str
Limits = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a rule found.

    Attributes
    ----------
    ours
        The figure to put beside the document's; None where the rule has no single one.
    holds
        Whether the check holds.
    because
        What was asked for, for people: ``"at least 1.1x was expected"``.
    """

    ours: Value | None
    holds: bool
    because: str


@dataclass(frozen=True)
class Rule:
    """A rule: how to apply it, and the limits that a check with this rule must give."""

    apply: Callable[[Sequence[Value], Value | None, Limits], Outcome]
    limits: tuple[str, ...] = ()


def _ratio(values: Sequence[Value]) -> float:
    first, second = (float(v) for v in values)
    return first / second if second else inf


def _shown(ratio: float) -> Value:
    return ratio if isfinite(ratio) else "nothing to divide by"


def _at_least(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio, least = _ratio(values), float(limits["least"])
    return Outcome(_shown(ratio), ratio >= least, f"at least {least:g}x is asked for")


def _about(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio, middle, factor = _ratio(values), float(theirs or 1.0), float(limits["factor"])
    low, high = middle / factor, middle * factor
    return Outcome(_shown(ratio), low <= ratio <= high, f"{low:.3g}x to {high:.3g}x counts as about the same")


def _same(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio, within = _ratio(values), float(limits["within"])
    asked = f"a difference below {within:.0%} counts as none" if within else "they must be equal"
    return Outcome(_shown(ratio), 1 / (1 + within) <= ratio <= 1 + within, asked)


def _ascending(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    pairs = list(pairwise(values))
    right = sum(float(a) < float(b) for a, b in pairs)
    return Outcome(f"{right} of {len(pairs)} steps go up", right == len(pairs), "each is to be above the one before")


def _smallest(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    first, others = float(values[0]), [float(v) for v in values[1:]]
    best = min(others)
    return Outcome(
        best / first if first else None, first <= best, "the next best over the one named; at least 1x holds"
    )


def _greater_ratio(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    one, other, least = _ratio(values[:2]), _ratio(values[2:]), float(limits["least"])
    asked = f"the first is to be at least {least:g} times the second"
    return Outcome(f"{one:.3g}x and {other:.3g}x", one >= least * other, asked)


def _equal(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, value == theirs, "it must be equal")


def _at_most(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,), most = values, float(limits["most"])
    return Outcome(value, float(value) <= most, f"at most {most:g} is asked for")


def _near(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,), within = values, float(limits["within"])
    near = abs(float(value) - float(theirs or 0.0)) <= within
    return Outcome(value, near, f"within {within:g} is asked for" if within else "it must be equal")


def _none(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, float(value) == 0, "there are to be none")


def _some(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, float(value) > 0, "there are to be some")


RULES: dict[str, Rule] = {
    "at least": Rule(_at_least, ("least",)),
    "about": Rule(_about, ("factor",)),
    "same": Rule(_same, ("within",)),
    "ascending": Rule(_ascending),
    "smallest": Rule(_smallest),
    "greater ratio": Rule(_greater_ratio, ("least",)),
    "equal": Rule(_equal),
    "at most": Rule(_at_most, ("most",)),
    "near": Rule(_near, ("within",)),
    "none": Rule(_none),
    "some": Rule(_some),
}
"""``at least``, ``about`` and ``same`` look at the first figure over the second, ``greater ratio`` at that against the
third over the fourth; ``smallest`` asks whether the first is the smallest; ``at most`` bounds one figure; ``near`` and
``equal`` compare it with the document's; ``none`` and ``some`` count."""
