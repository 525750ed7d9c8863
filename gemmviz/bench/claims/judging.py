"""Judges a claim by the evidence so far."""

from dataclasses import asdict, dataclass
from typing import Literal

from gemmviz.bench import quality_flags
from gemmviz.bench.claims import sensitivity
from gemmviz.bench.claims.claim_text import Value, beside, figure, sentence
from gemmviz.bench.claims.evidence import Evidence, Missing
from gemmviz.bench.claims.record import Check, Claim, StatedTable
from gemmviz.bench.claims.rules import RULES
from gemmviz.catalogue.plain import Plain
from gemmviz.language import tr

State = Literal["holds", "does not hold", "cannot be judged here", "not run"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check of a claim.

    Attributes
    ----------
    label, unit
        Name and unit of the figures.
    theirs, ours
        The document's figure and ours: numbers, texts, or None if there is none.
    state
        As `ClaimVerdict.state`.
    origin
        The origin of our figure, for people: ``"measured: NVIDIA H200, 2026-11-21"``, ``"recorded"``.
    rule
        The condition under which the claim holds, for people: ``"52x or more"``.
    because
        Why there is no figure, or a remark about it; may be empty.
    where
        The document's device; may be empty.
    """

    label: str
    unit: str
    theirs: Value | None
    ours: Value | None
    state: State
    origin: str
    rule: str
    because: str = ""
    where: str = ""

    @property
    def sentence(self) -> str:
        """The stated figure, the condition, our figure, and the verdict."""
        stated = "" if self.theirs is None else beside(figure(self.theirs, self.unit), self.where)
        found = ""
        if self.ours is not None:
            origin, _, device = self.origin.partition(": ")
            found = beside(f"{origin} {figure(self.ours, self.unit)}", device)
        return sentence(stated, self.rule, found, self.state, self.because)


@dataclass(frozen=True)
class VerdictTable:
    """Two-dimensional figures, ours and the document's; None in a cell without a figure.

    Attributes
    ----------
    title, unit, row_axis, column_axis, rows, columns
        As in `gemmviz.bench.claims.record.StatedTable`.
    theirs, ours
        (rows x columns), both in `unit`.
    origin
        The origin of our figures, for people.
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
class ClaimVerdict:
    """The verdict on a claim.

    Attributes
    ----------
    claim
        Its id.
    state
        ``"holds"``, ``"does not hold"``, ``"cannot be judged here"``, or ``"not run"`` while figures are missing that a
        run can give.
    sentence
        The reason, in one sentence.
    findings
        One per check.
    table
        Figures side by side, or None.
    """

    claim: str
    state: State
    sentence: str
    findings: tuple[CheckResult, ...]
    table: VerdictTable | None

    def to_plain(self) -> Plain:
        """Return the verdict as plain data; every finding with its sentence."""
        findings = [asdict(finding) | {"sentence": finding.sentence} for finding in self.findings]
        return asdict(self) | {"findings": findings}

    @property
    def is_decided(self) -> bool:
        """Whether the claim holds or does not hold."""
        return self.state in ("holds", "does not hold")

    @property
    def has_figures(self) -> bool:
        """Whether it has any figure of ours."""
        cells = [value for row in self.table.ours for value in row] if self.table else []
        return any(value is not None for value in [*cells, *(finding.ours for finding in self.findings)])


def judge(claim: Claim, evidence: Evidence) -> ClaimVerdict:
    """Judge a claim by the evidence so far.

    Parameters
    ----------
    claim
        From `load`.
    evidence
        Measured, profiled and recorded figures; may be empty.

    Returns
    -------
    ClaimVerdict
        The claim holds if every check holds; if one check does not hold, it does not hold.
    """
    findings = tuple(_look(check, claim.where, evidence) for check in claim.checks)
    table = _fill(claim.table, evidence) if claim.table else None
    if claim.why:
        return ClaimVerdict(claim.id, "cannot be judged here", claim.why, findings, table)
    states = [finding.state for finding in findings]
    # A false check stays false; a check that waits for a run may still hold; one that cannot be judged here cannot
    # hold.
    worst: tuple[State, ...] = ("does not hold", "not run", "cannot be judged here")
    state: State = next((s for s in worst if s in states), "holds")
    telling = [finding for finding in findings if finding.state == state][: 1 if state == "holds" else 2]
    return ClaimVerdict(claim.id, state, "; ".join(dict.fromkeys(map(_summary, telling))), findings, table)


def _look(check: Check, where: str, evidence: Evidence) -> CheckResult:
    place, rule = evidence.origin(check.quantities), RULES[check.rule]
    words = rule.words(check.theirs, check.limits, check.unit)
    try:
        values = [evidence.value(quantity) for quantity in check.quantities]
    except Missing as missing:
        state: State = "not run" if missing.waiting else "cannot be judged here"
        return CheckResult(check.label, check.unit, check.theirs, None, state, place, words, str(missing), where)
    outcome = rule.apply(values, check.theirs, check.limits)
    verdict: State = "holds" if outcome.holds else "does not hold"
    notes = quality_flags.words(evidence.flags(check.quantities))
    if evidence.doubts(check.quantities) and sensitivity.turns(check, evidence, outcome):
        verdict, notes = "cannot be judged here", [tr("too noisy here"), *notes]
    because = "; ".join(notes)
    return CheckResult(check.label, check.unit, check.theirs, outcome.ours, verdict, place, words, because, where)


def _summary(finding: CheckResult) -> str:
    return finding.because if finding.ours is None else f"{finding.label}: {finding.sentence}"


def _fill(table: StatedTable, evidence: Evidence) -> VerdictTable:
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
