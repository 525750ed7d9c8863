"""One claim in full: the document's statement, our findings, check by check, and the chart."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from gemmviz.bench.claims import CheckResult, Claim, ClaimVerdict
from gemmviz.bench.claims.claim_text import figure
from gemmviz.control.claims_runner import ClaimsRunner
from gemmviz.language import mark, tr
from gemmviz.ui.claims.claims_charts import ClaimChart
from gemmviz.ui.claims.claims_text import RUNNING, Badge, badge, of_state, reference_badge
from gemmviz.ui.discard import discard
from gemmviz.ui.known import known
from gemmviz.ui.look.theme import THEMES

_LONG = 24
_WRAPPED = (0, 2)
_HEADINGS = (mark("looked at"), mark("stated"), mark("holds for"), mark("found"), mark("verdict"))


class ClaimDetail(QScrollArea):
    """Shows the chosen claim.

    Parameters
    ----------
    runner
        The runner with the verdicts.
    """

    asked = Signal(str)
    """The id of the claim to run."""

    def __init__(self, runner: ClaimsRunner) -> None:
        super().__init__()
        self.runner = runner
        self.claim: Claim | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("The chosen claim"))
        self.title, self.statement, self.verdict = _label("title"), _label("statement"), _label("verdict")
        self.elsewhere, self.note = _label("elsewhere"), _label("muted")
        self.run_button = QPushButton(tr("Run this claim"))
        self.run_button.clicked.connect(lambda *_: self.claim and self.asked.emit(self.claim.id))
        self.checks = QWidget()
        self._grid = QGridLayout(self.checks)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        for column, stretch in enumerate((3, 1, 2, 1, 0)):
            self._grid.setColumnStretch(column, stretch)
        self.chart = ClaimChart(runner.session)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(12, 8, 12, 8)
        for widget in (self.title, self.statement, self.verdict, self.elsewhere):
            layout.addWidget(widget)
        layout.addWidget(self.chart, 100)
        layout.addWidget(self.checks)
        layout.addWidget(self.note)
        layout.addWidget(self.run_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(1)
        self.setWidget(body)
        self._shown: object = None

    def show_claim(self, claim: Claim) -> None:
        """Show another claim."""
        self.claim = claim
        self.verticalScrollBar().setValue(0)
        self.refresh()

    def refresh(self) -> None:
        """Show the present state of the claim."""
        claim = self.claim
        if claim is None:
            return
        verdict, elsewhere = self.runner.judge.verdict(claim), self.runner.judge.reference(claim)
        running = self.runner.running(claim)
        self.run_button.setEnabled(not self.runner.busy)
        self.run_button.setVisible(bool(claim.quantities))
        shown = (claim, verdict, elsewhere, running, self.runner.session.preferences.theme)
        if shown == self._shown:
            return
        self._shown = shown
        self.title.setText(tr(claim.title))
        self.statement.setText(_says(claim))
        self._colour(self.verdict, RUNNING if running else badge(verdict), verdict.sentence)
        judged = elsewhere if elsewhere is not None and elsewhere.is_decided else None
        self.elsewhere.setVisible(judged is not None)
        if judged is not None:
            self._colour(self.elsewhere, reference_badge(judged), judged.sentence)
        drawn = verdict if elsewhere is None or verdict.has_figures else elsewhere
        self._fill_checks(drawn)
        self.chart.setVisible(self.chart.show_verdict(claim, drawn))
        self.note.setText(claim.note)
        self.note.setVisible(bool(claim.note))

    def _colour(self, label: QLabel, found: Badge, sentence: str) -> None:
        theme = THEMES[self.runner.session.preferences.theme]
        label.setText(f"{found.text}" + (f": {sentence}" if sentence else ""))
        label.setStyleSheet(f"color: {getattr(theme, found.colour)}; font-weight: bold;")

    def _fill_checks(self, verdict: ClaimVerdict) -> None:
        while (item := self._grid.itemAt(0)) is not None:
            widget = known(item.widget())
            self._grid.removeWidget(widget)  # which deletes the item; nothing deletes one that takeAt() returns
            discard(widget)
        self.checks.setVisible(bool(verdict.findings))
        for column, heading in enumerate(_HEADINGS):
            self._grid.addWidget(_label("muted", tr(heading)), 0, column)
        for row, finding in enumerate(verdict.findings, 1):
            for column, text in enumerate(_cells(finding)):
                # A short figure is never broken; a sentence is, so that the page stays as wide as its window.
                label = _label("", text, wrap=column in _WRAPPED or len(text) > _LONG)
                label.setToolTip(finding.sentence)
                self._grid.addWidget(label, row, column)


def _cells(finding: CheckResult) -> tuple[str, ...]:
    """Return a check's texts in the order of the headings."""
    theirs, ours = (figure(value, finding.unit) for value in (finding.theirs, finding.ours))
    if finding.ours is not None:
        ours += f" ({finding.origin.partition(':')[0]})"
    return finding.label, theirs, finding.rule, ours, of_state(finding.state).text


def _says(claim: Claim) -> str:
    """Return the document's statement, in its own words and figures."""
    sentence = tr("{document} says: {statement}", document=claim.source, statement=claim.statement)
    if not claim.figures:
        return sentence
    if not claim.where:
        return f"{sentence} {tr('It states {figures}.', figures=claim.figures)}"
    return f"{sentence} {tr('It states {figures} on {device}.', figures=claim.figures, device=claim.where)}"


def _label(name: str, text: str = "", wrap: bool = True) -> QLabel:
    label = QLabel(text)
    label.setObjectName(name)
    label.setWordWrap(wrap)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
