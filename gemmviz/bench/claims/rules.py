"""The rules that decide whether a check holds: small functions over figures, chosen by name in a claim's file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

from gemmviz.bench.claims.claim_form import Limits
from gemmviz.bench.claims.claim_text import Value, figure
from gemmviz.language import tr


@dataclass(frozen=True)
class Outcome:
    """The result of a rule: our figure for comparison with the document's, and whether the check holds."""

    ours: Value | None
    holds: bool


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes
    ----------
    apply
        Takes our figures, the document's (or None), and the limits.
    words
        Takes the document's figure, the limits and the unit, and returns the condition of holding, for people:
        ``"52x or more"``.
    limits
        The limits that a check with this rule must give.
    """

    apply: Callable[[Sequence[Value], Value | None, Limits], Outcome]
    words: Callable[[Value | None, Limits, str], str]
    limits: tuple[str, ...] = ()


def _ratio(values: Sequence[Value]) -> float:
    first, second = (float(v) for v in values)
    return first / second if second else inf


def _shown(ratio: float) -> Value:
    return ratio if isfinite(ratio) else tr("nothing to divide by")


def _or_more(text: str) -> str:
    return tr("{figure} or more", figure=text)


def _at_least(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio = _ratio(values)
    return Outcome(_shown(ratio), ratio >= float(limits["least"]))


def _bounds(theirs: Value | None, limits: Limits) -> tuple[float, float]:
    middle, factor = float(theirs or 1.0), float(limits["factor"])
    return middle / factor, middle * factor


def _about(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio, (low, high) = _ratio(values), _bounds(theirs, limits)
    return Outcome(_shown(ratio), low <= ratio <= high)


def _about_words(theirs: Value | None, limits: Limits, unit: str) -> str:
    low, high = (f"{bound:.3g}x" for bound in _bounds(theirs, limits))
    return tr("{low} to {high}", low=low, high=high)


def _same(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio, within = _ratio(values), float(limits["within"])
    return Outcome(_shown(ratio), 1 / (1 + within) <= ratio <= 1 + within)


def _same_words(theirs: Value | None, limits: Limits, unit: str) -> str:
    within = float(limits["within"])
    return tr("a difference of up to {figure}", figure=f"{within:.0%}") if within else tr("an equal value")


def _slightly_above(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    ratio = _ratio(values)
    return Outcome(_shown(ratio), 1 < ratio <= 1 + float(limits["within"]))


def _slightly_above_words(theirs: Value | None, limits: Limits, unit: str) -> str:
    return tr("more than 1x and up to {high}", high=f"{1 + float(limits['within']):.3g}x")


def _ascending(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    pairs = list(pairwise(values))
    right = sum(float(a) < float(b) for a, b in pairs)
    return Outcome(tr("{right} of {all} steps go up", right=right, all=len(pairs)), right == len(pairs))


def _smallest(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    first, best = float(values[0]), min(float(v) for v in values[1:])
    return Outcome(best / first if first else None, first <= best)


def _greatest(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    first, best = float(values[0]), max(float(v) for v in values[1:])
    return Outcome(first / best if best else None, first >= best)


def _greater_ratio(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    one, other = _ratio(values[:2]), _ratio(values[2:])
    return Outcome(tr("{one} and {other}", one=f"{one:.3g}x", other=f"{other:.3g}x"), one > other)


def _above(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, float(value) >= float(limits["least"]))


def _equal(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, value == theirs)


def _unlike(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, value != limits["value"])


def _near(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, abs(float(value) - float(theirs or 0.0)) <= float(limits["within"]))


def _near_words(theirs: Value | None, limits: Limits, unit: str) -> str:
    within = float(limits["within"])
    if not within:
        return tr("an equal value")
    return tr("a difference of up to {figure}", figure=figure(within, unit))


def _none(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, float(value) == 0)


def _some(values: Sequence[Value], theirs: Value | None, limits: Limits) -> Outcome:
    (value,) = values
    return Outcome(value, float(value) > 0)


RULES: dict[str, Rule] = {
    "at least": Rule(_at_least, lambda _, limits, unit: _or_more(figure(limits["least"], "x")), ("least",)),
    "about": Rule(_about, _about_words, ("factor",)),
    "same": Rule(_same, _same_words, ("within",)),
    "slightly above": Rule(_slightly_above, _slightly_above_words, ("within",)),
    "ascending": Rule(_ascending, lambda *_: tr("each larger than the one before")),
    "smallest": Rule(_smallest, lambda *_: _or_more("1x")),
    "greatest": Rule(_greatest, lambda *_: _or_more("1x")),
    "greater ratio": Rule(_greater_ratio, lambda *_: tr("the first greater than the second")),
    "above": Rule(_above, lambda _, limits, unit: _or_more(figure(limits["least"], unit)), ("least",)),
    "equal": Rule(_equal, lambda *_: tr("an equal value")),
    "unlike": Rule(
        _unlike,
        lambda _, limits, unit: tr("anything but “{value}”", value=limits["value"]),
        ("value",),
    ),
    "near": Rule(_near, _near_words, ("within",)),
    "none": Rule(_none, lambda *_: tr("none")),
    "some": Rule(_some, lambda *_: tr("one or more")),
}
"""``at least``, ``about``, ``same`` and ``slightly above`` test the first figure divided by the second. ``greater
ratio`` compares this ratio with the third figure divided by the fourth. ``ascending`` tests whether each figure is
larger than the previous one, ``smallest`` and ``greatest`` whether the first is the smallest or largest of all.
``above`` is a lower bound of one figure; ``near`` and ``equal`` compare it with the document's figure, ``unlike`` with
a given text; ``none`` and ``some`` count."""
