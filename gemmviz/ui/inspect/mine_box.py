"""Which element of C a thread owns: the formulas of the source, evaluated for the thread, as recorded."""

from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout

from gemmviz.language import tr
from gemmviz.trace.origin.index_formulas import Formula, index_formulas
from gemmviz.trace.playable import Playable
from gemmviz.ui.inspect.panel import OneLine


class MineBox(QFrame):
    """Two lines: how the thread finds its row and its column. It is hidden where the source has no such formula."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("mine")
        self.title, self.row, self.column = QLabel(tr("Which element is mine?")), OneLine(), OneLine()
        below = QVBoxLayout(self)
        below.setContentsMargins(8, 2, 8, 2)
        below.setSpacing(1)
        for line in (self.title, self.row, self.column):
            below.addWidget(line)
        self._shown: tuple[Playable, int, int] | None = None
        self.hide()

    def show_element(self, playable: Playable, row: int, column: int) -> None:
        """Show the formulas of an element's thread; on a CPU a loop finds the element, so there are none."""
        if playable.recording.backend != "cuda" or int(playable.recording.owners[0][row, column]) < 0:
            self.forget()
            return
        if self._shown is not None and self._shown[0] is playable and self._shown[1:] == (row, column):
            return
        self._shown = playable, row, column
        found = index_formulas(playable.recording, row, column)
        for line, name, formula, place in zip(
            (self.row, self.column), (tr("row"), tr("column")), found, (row, column), strict=True
        ):
            line.say(_written(name, formula, place))
        self.setVisible(any(formula is not None for formula in found))

    def forget(self) -> None:
        """Let go of the recording."""
        self._shown = None
        self.hide()


def _written(name: str, formula: Formula | None, place: int) -> str:
    """Write a formula with its values and its result; where the source has none, the recorded place alone."""
    if formula is None:
        return f"{name} = {place}"
    parts = [formula.name or name, formula.text]
    if formula.values != str(formula.result):
        parts.append(formula.values)
    return " = ".join([*parts, str(formula.result)])
