"""The stage, and a second one beside it when two rungs are compared."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.session.models.sight import StageSight
from gemmviz.session.rules.staged import Staged
from gemmviz.ui.comparison.figures_panel import FiguresPanel
from gemmviz.ui.comparison.heads import Head, SecondMessage, column
from gemmviz.ui.connections import listen
from gemmviz.ui.panels.kernel_chooser import Chooser, choose_beside
from gemmviz.ui.stage.stage import Stage


class SecondStage(Stage):
    """The second stage: while it is empty, its text is about the rung beside.

    Parameters
    ----------
    beside
        The rung and recording beside, wanted or shown.
    lens
        The lens of the first stage: the same stands on both, as far as it suits both recordings.
    sight
        Keeps the visible part for the next window.
    """

    def __init__(self, beside: Staged, lens: LensChoice, sight: StageSight) -> None:
        super().__init__(beside, lens=lens, sight=sight)
        self.setAccessibleName(tr("Stage beside: matrices A, B and C of the second kernel"))
        listen(self, beside.messages.changed, self._on_message)

    def _on_message(self) -> None:
        self.update()

    def _empty_text(self) -> tuple[str, str]:
        beside = self.staged
        progress = beside.progress["record"]
        if progress is not None:
            repeated = progress[0] == tr("Recording {rung}", rung=beside.choice.kernel.alias)  # says it only once
            return tr("Recording {rung}…", rung=beside.choice.kernel.alias), "" if repeated else progress[0]
        if beside.messages.current is not None:
            return tr("No recording of {rung}", rung=beside.choice.kernel.alias), tr("The line above says why.")
        return tr("{rung} comes next", rung=beside.choice.kernel.alias), tr(
            "It is recorded after the kernel on the left."
        )


class Arena(QWidget):
    """Holds the session's stage, and shows another beside it while there is a rung beside.

    Parameters
    ----------
    session
        The session with the comparison.
    stage
        The session's stage.
    """

    def __init__(self, session: Session, stage: Stage) -> None:
        super().__init__()
        self.session, self.comparison, self.stage = session, session.comparison, stage
        self.figures = FiguresPanel(session)
        self.second: Stage | None = None
        self._head = Head(session, 0)
        self._side: QWidget | None = None
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(2)
        self._row.addLayout(column(self._head, stage), 1)
        listen(self, self.comparison.changed, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show one stage, or two."""
        on = self.comparison.on
        if on and self._side is None:
            self._make()
        self._head.setVisible(on)
        if self._side is not None:
            self._side.setVisible(on)

    def choose(self) -> Chooser | None:
        """Open the list of rungs to put beside; None if there is nothing to compare."""
        if not self.session.choice.kernel.recordable:
            self.session.side_by_side.start()  # which shows the reason
            return None
        return choose_beside(self.session, self.window())

    def _make(self) -> None:
        """Build the second stage on first use."""
        self._side = QWidget()
        self.second = SecondStage(self.session.second, self.session.lens, self.session.sight.second)
        if self.stage.late.turns is not None:
            self.second.follow(self.stage.late.turns)
        head = Head(self.session, 1)
        head.choose.connect(self.choose)
        self._side.setLayout(column(head, SecondMessage(self.session), self.second))
        self._row.addWidget(self._side, 1)
