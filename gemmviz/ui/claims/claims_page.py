"""The page of claims: the statements of the five documents, and whether they hold on this machine."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from gemmviz.control.claims_runner import ClaimsRunner
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.claims.claims_detail import ClaimDetail
from gemmviz.ui.claims.claims_list import ClaimsList
from gemmviz.ui.claims.claims_text import summary
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES

_REFRESH_MS = 100
# From this width on, list and detail stand beside each other.
_WIDE = 880
_SMALLEST_PT, _LARGEST_PT, _PIXELS_PER_PT = 9.5, 10.5, 160


class ClaimsPage(QWidget):
    """List of claims with their verdicts, buttons that run them, and the chosen claim in full.

    Parameters
    ----------
    session
        Progress and theme.
    runner
        Runs and judges the claims.
    """

    def __init__(self, session: Session, runner: ClaimsRunner) -> None:
        super().__init__()
        self.session = session
        self.runner = runner
        self.setAccessibleName(tr("Claims"))
        self.counts, self.progress, self.bar = QLabel(), QLabel(), QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the measurement"))
        self.progress.setObjectName("muted")
        for label in (self.counts, self.progress):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.run_all = QPushButton(tr("Run all"))
        self.run_all.setObjectName("primary")
        self.run_all.setToolTip(
            tr("Measure and record for all claims, each experiment once; experiments of many minutes are left out")
        )
        self.stop = QPushButton(tr("Stop"))
        self.stop.setToolTip(tr("Stop the run; verdicts reached so far stay (Esc)"))
        self.list = ClaimsList(runner)
        self.detail = ClaimDetail(runner)
        top = QHBoxLayout()
        top.setContentsMargins(8, 4, 8, 4)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.counts)
        words.addWidget(self.progress)
        words.addWidget(self.bar)
        top.addLayout(words, 1)
        top.addWidget(self.run_all)
        top.addWidget(self.stop)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.list)
        self.splitter.addWidget(self.detail)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.splitter, 1)
        self._fitted = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        self.run_all.clicked.connect(lambda *_: runner.run([claim.id for claim in runner.claims if not claim.long]))
        self.stop.clicked.connect(lambda *_: runner.cancel())
        self.list.chosen.connect(self._on_chosen)
        self.list.asked.connect(self._on_asked)
        self.detail.asked.connect(self._on_asked)
        listen(self, runner.changed, self._soon)
        listen(self, runner.finished, self._soon)
        listen(self, session.preferences.themed, self._on_theme)
        if runner.claims:
            self.list.choose(runner.claims[0].id)
        self.refresh()

    def _on_chosen(self, name: str) -> None:
        self.detail.show_claim(next(claim for claim in self.runner.claims if claim.id == name))

    def _on_asked(self, name: str) -> None:
        self.runner.run([name])

    def _on_theme(self) -> None:
        self._fit()
        self.refresh()

    def _soon(self) -> None:
        # A hidden page is not updated: judging must not disturb a measurement.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Show the changes made while the page was hidden."""
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Show everything as it is now."""
        runner = self.runner
        self.list.refresh()
        self.detail.refresh()
        counts = summary([runner.judge.verdict(claim) for claim in runner.claims])
        self.counts.setText(
            runner.fault or counts or tr("There are no claims: this copy of gemmviz lacks resources/claims.")
        )
        progress = self.session.progress["bench"]
        place = self.session.results.device_and_host or tr("this machine")
        self.progress.setText(
            progress[0] if progress else tr("Judged on {device}. Enter runs the chosen claim.", device=place)
        )
        self.bar.setVisible(progress is not None)
        share = progress[1] if progress else None
        self.bar.setRange(0, 0 if share is None else 1000)
        self.bar.setValue(int(1000 * (share or 0.0)))
        self.progress.setToolTip(self.progress.text())
        self.run_all.setEnabled(bool(runner.claims) and not runner.busy)
        self.stop.setEnabled(runner.active)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt to the room."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Choose larger letters, and list and detail beside each other, where there is more room."""
        wide = self.width() >= _WIDE
        if wide != (self.splitter.orientation() == Qt.Orientation.Horizontal) or not self._fitted:
            self._fitted = True
            self.splitter.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
            self.splitter.setSizes([500, 500] if wide else [400, 600])
            # Above the detail the list says it already.
            self.detail.statement.setVisible(wide)
        points = scaled(min(max(self.width() / _PIXELS_PER_PT, _SMALLEST_PT), _LARGEST_PT))
        theme = THEMES[self.session.preferences.theme]
        sheet = (
            f"QWidget {{ font-size: {points:.1f}pt; }}"
            f"QLabel#title {{ font-size: {points * 1.3:.1f}pt; font-weight: bold; }}"
            "QProgressBar { min-height: 6px; max-height: 6px; }"
            f"QTreeWidget {{ selection-background-color: {theme.raised}; background: {theme.background};"
            " border: 2px solid transparent; }"
            f"QTreeWidget:focus {{ border: 2px solid {theme.text}; }}"
        )
        if sheet != self.styleSheet():  # every widget is styled anew
            self.setStyleSheet(sheet)
