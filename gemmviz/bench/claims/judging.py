"""Judges a claim by what has been found so far."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from gemmviz.bench.claims import doubt
from gemmviz.bench.claims.evidence import Evidence, Missing
from gemmviz.bench.claims.record import Check, Claim, Table
from gemmviz.bench.claims.rules import RULES, Value

State = Literal["holds", "does not hold", "cannot be judged here", "not run"]


@dataclass(frozen=True)
class Finding:
    """What one check of a claim found.

    Attributes
    ----------
    label, unit
        What the figures are.
    theirs, ours
        The document's figure and ours: numbers, texts, or None where there is none.
    state
        As `Verdict.state`.
    origin
        Where our figure comes from, for people: ``"measured: NVIDIA H200, 2026-11-21"``, ``"recorded"``.
    because
        What was asked for, or why there is no figure.
    """

    label: str
    unit: str
    theirs: Value | None
    ours: Value | None
    state: State
    origin: str
    because: str


@dataclass(frozen=True)
class VerdictTable:
    """Two-dimensional figures, ours beside the document's; None in a cell where there is none.

    Attributes
    ----------
    title, unit, row_axis, column_axis, rows, columns
        As `gemmviz.bench.claims.record.Table` has them.
    theirs, ours
        (rows x columns), both in `unit`.
    origin
        Where our figures come from, for people.
    """

    title: str
    unit: str
    row_axis: str
    column_axis: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    theirs: tuple[tuple[float | None, ...], ...]
    ours: tuple[tuple[float | None, ...], ...]
    origin: str


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Attributes
    ----------
    claim
        Its id.
    state
        ``"holds"``, ``"does not hold"``, ``"cannot be judged here"``, or ``"not run"`` while figures are missing that
        a run would give.
    sentence
        Why, in one sentence.
    findings
        One per check.
    table
        Figures side by side, or None.
    """

    claim: str
    state: State
    sentence: str
    findings: tuple[Finding, ...]
    table: VerdictTable | None

    def to_plain(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return asdict(self)


def judge(claim: Claim, evidence: Evidence) -> Verdict:
    """Judge a claim by what has been found so far.

    Parameters
    ----------
    claim
        From `load`.
    evidence
        What has been measured and recorded; may be empty.

    Returns
    -------
    Verdict
        It holds when every check does; one check that does not hold is enough for the contrary.
    """
    findings = tuple(_look(check, evidence) for check in claim.checks)
    table = _fill(claim.table, evidence) if claim.table else None
    if claim.why:
        return Verdict(claim.id, "cannot be judged here", claim.why, findings, table)
    states = [finding.state for finding in findings]
    # What was found false stays false; what waits for a run may still come; what cannot be found here never does.
    worst: tuple[State, ...] = ("does not hold", "not run", "cannot be judged here")
    state: State = next((s for s in worst if s in states), "holds")
    telling = [finding for finding in findings if finding.state == state]
    return Verdict(claim.id, state, "; ".join(dict.fromkeys(_say(f) for f in telling[:2])), findings, table)


def _look(check: Check, evidence: Evidence) -> Finding:
    place = evidence.origin(check.quantities)
    try:
        values = [evidence.value(quantity) for quantity in check.quantities]
    except Missing as missing:
        state: State = "not run" if missing.waiting else "cannot be judged here"
        return Finding(check.label, check.unit, check.theirs, None, state, place, str(missing))
    outcome = RULES[check.rule].apply(values, check.theirs, check.limits)
    verdict: State = "holds" if outcome.holds else "does not hold"
    flags = evidence.flags(check.quantities)
    because = outcome.because + (f"; flagged {', '.join(flags)}" if flags else "")
    if evidence.doubts(check.quantities) and doubt.turns(check, evidence, outcome):
        verdict, because = "cannot be judged here", f"too noisy here; {because}"
    return Finding(check.label, check.unit, check.theirs, outcome.ours, verdict, place, because)


def _say(finding: Finding) -> str:
    if finding.ours is None:
        return finding.because
    theirs = "" if finding.theirs is None else f" against the document's {figure(finding.theirs, finding.unit)}"
    return f"{finding.label}: {figure(finding.ours, finding.unit)}{theirs} ({finding.because})"


def figure(value: Value | None, unit: str) -> str:
    """Return a figure for people: at most four significant digits, and its unit."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text + (unit if unit in ("x", "%", "") else f" {unit}")


def _fill(table: Table, evidence: Evidence) -> VerdictTable:
    ours = []
    for row in table.cells:
        line: list[float | None] = []
        for quantity in row:
            try:
                line.append(None if quantity is None else float(evidence.value(quantity)) * table.scale)
            except Missing:
                line.append(None)
        ours.append(tuple(line))
    return VerdictTable(
        table.title,
        table.unit,
        table.row_axis,
        table.column_axis,
        table.rows,
        table.columns,
        table.theirs,
        tuple(ours),
        evidence.origin(q for row in table.cells for q in row if q is not None),
    )
