"""How a claim is put into words: its verdict as glyph, colour and text, and both figures in one line."""

from dataclasses import dataclass

from gemmviz.bench.claims import Claim, Finding, Verdict
from gemmviz.bench.claims.judging import figure
from gemmviz.language import mark, tr, trn


@dataclass(frozen=True)
class Badge:
    """A verdict for the eye: a glyph, the name of a colour of the theme, and words; hollow when it is not of here."""

    glyph: str
    colour: str
    words: str
    hollow: bool = False

    @property
    def text(self) -> str:
        """Glyph and words."""
        return f"{self.glyph} {tr(self.words)}"


_BADGES = {
    "holds": Badge("✓", "good", mark("holds")),
    "does not hold": Badge("✗", "bad", mark("does not hold")),
    "cannot be judged here": Badge("?", "muted", mark("cannot be judged here")),
    "not run": Badge("○", "faint", mark("not run yet")),
}
RUNNING = Badge("…", "accent", mark("running"))


def of_state(state: str) -> Badge:
    """Return the badge of a verdict's or a finding's state."""
    return _BADGES[state]


def badge(verdict: Verdict) -> Badge:
    """Return the badge of what was found here."""
    return _BADGES[verdict.state]


def reference_badge(verdict: Verdict) -> Badge:
    """Return the badge of what was found elsewhere."""
    found = _BADGES[verdict.state]
    return Badge(found.glyph, found.colour, tr("reference: {verdict}", verdict=tr(found.words)), hollow=True)


def telling(verdict: Verdict) -> Finding | None:
    """Return the finding that decided, or else the first one."""
    decisive = [f for f in verdict.findings if f.state == verdict.state and f.ours is not None]
    return next(iter(decisive or verdict.findings), None)


def is_decided(verdict: Verdict) -> bool:
    """Say whether a verdict is for or against the claim."""
    return verdict.state in ("holds", "does not hold")


def has_figures(verdict: Verdict) -> bool:
    """Say whether a verdict has any figure of ours."""
    cells = [value for row in verdict.table.ours for value in row] if verdict.table else []
    return any(value is not None for value in [*cells, *(f.ours for f in verdict.findings)])


def figures_text(claim: Claim, verdict: Verdict) -> str:
    """Return the telling figure, stated and found, with what each was taken on, in one line."""
    found = telling(verdict)
    parts = []
    if found is None or found.theirs is None:
        if claim.figures:
            parts.append(tr("stated: {figure}", figure=f"{claim.figures}{_on(claim.where)}"))
    else:
        parts.append(tr("stated: {figure}", figure=f"{figure(found.theirs, found.unit)}{_on(claim.where)}"))
    if found is not None and found.ours is not None:
        origin, _, device = found.origin.partition(": ")
        parts.append(f"{origin}: {figure(found.ours, found.unit)}{_on(device)}")
    text = "  ·  ".join(parts)
    return f"{found.label}:  {text}" if found is not None and text else text


def _on(device: str) -> str:
    return f" ({device})" if device else ""


def summary(verdicts: list[Verdict]) -> str:
    """Count the verdicts in words."""
    counts = {state: sum(v.state == state for v in verdicts) for state in _BADGES}
    holds, fails, unjudged, waiting = counts.values()
    words = {
        "holds": trn("{count} holds", "{count} hold", holds),
        "does not hold": trn("{count} does not", "{count} do not", fails),
        "cannot be judged here": tr("{count} cannot be judged here", count=unjudged),
        "not run": tr("{count} not run yet", count=waiting),
    }
    return "   ".join(f"{_BADGES[s].glyph} {words[s]}" for s, n in counts.items() if n)
