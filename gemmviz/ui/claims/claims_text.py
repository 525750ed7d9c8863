"""The text of a claim: its verdict as glyph, colour and words, and the reason, in one line."""

from dataclasses import dataclass

from gemmviz.bench.claims import CheckResult, Claim, ClaimVerdict
from gemmviz.bench.claims.claim_text import STATES, beside
from gemmviz.language import mark, tr, trn


@dataclass(frozen=True)
class Badge:
    """A verdict for the eye: a glyph, the name of a colour of the theme, and words; hollow for another machine's."""

    glyph: str
    colour: str
    words: str
    hollow: bool = False

    @property
    def text(self) -> str:
        """Glyph and words."""
        return f"{self.glyph} {tr(self.words)}"


_BADGES = {
    "holds": Badge("✓", "good", STATES["holds"]),
    "does not hold": Badge("✗", "bad", STATES["does not hold"]),
    "cannot be judged here": Badge("?", "muted", STATES["cannot be judged here"]),
    "not run": Badge("○", "faint", STATES["not run"]),
}
RUNNING = Badge("…", "accent", mark("running"))


def of_state(state: str) -> Badge:
    """Return the badge of a verdict's or a finding's state."""
    return _BADGES[state]


def badge(verdict: ClaimVerdict) -> Badge:
    """Return the badge of this machine's verdict."""
    return _BADGES[verdict.state]


def reference_badge(verdict: ClaimVerdict) -> Badge:
    """Return the badge of another machine's verdict."""
    found = _BADGES[verdict.state]
    return Badge(found.glyph, found.colour, tr("reference: {verdict}", verdict=tr(found.words)), hollow=True)


def telling(verdict: ClaimVerdict) -> CheckResult | None:
    """Return the decisive finding, or else the first one."""
    decisive = [f for f in verdict.findings if f.state == verdict.state and f.ours is not None]
    return next(iter(decisive or verdict.findings), None)


def figures_text(claim: Claim, verdict: ClaimVerdict) -> str:
    """Return the decisive check in one line: the stated figure, the condition of holding, our figure, the verdict."""
    found = telling(verdict)
    if found is None:
        return tr("stated: {figure}", figure=beside(claim.figures, claim.where)) if claim.figures else ""
    return f"{found.label}: {found.sentence}"


def summary(verdicts: list[ClaimVerdict]) -> str:
    """Return the numbers of verdicts in words."""
    counts = {state: sum(v.state == state for v in verdicts) for state in _BADGES}
    holds, fails, unjudged, waiting = counts.values()
    words = {
        "holds": trn("{count} holds", "{count} hold", holds),
        "does not hold": trn("{count} does not", "{count} do not", fails),
        "cannot be judged here": tr("{count} cannot be judged here", count=unjudged),
        "not run": tr("{count} not run yet", count=waiting),
    }
    return "   ".join(f"{_BADGES[s].glyph} {words[s]}" for s, n in counts.items() if n)
