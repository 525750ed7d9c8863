"""A line below size and parameters: what the kernel's schedule takes at this size, why, and a button that takes it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from gemmviz.catalogue.scheduled import left_open, scheduled, why
from gemmviz.language import tr
from gemmviz.session.models.choice import Choice
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import short_size

_MARGIN = 10


class ScheduleRow(QWidget):
    """Explains the parameters of the recording, and those of measurements, where the kernel has a schedule.

    Parameters
    ----------
    choice
        The kernel, its size and its parameters.
    """

    resized = Signal()
    """The text has changed: it may need more lines, or fewer."""

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        self._choice = choice
        self._offered: dict[str, int] = {}
        self.reason = QLabel()
        self.reason.setAccessibleName(tr("Why this tile?"))
        self.reason.setWordWrap(True)
        self.take = QPushButton(tr("Take these"))
        self.take.setToolTip(tr("Record with the parameters that the schedule takes; they follow the size then"))
        self.take.clicked.connect(lambda *_: self._choice.choose(params=self._offered))
        row = QHBoxLayout(self)
        row.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
        row.addWidget(self.reason, 1)
        row.addWidget(self.take, 0, Qt.AlignmentFlag.AlignTop)
        listen(self, choice.chosen, self.refresh)
        listen(self, choice.bench_chosen, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what holds for the present size and parameters."""
        choice = self._choice
        parts = [self._of_recording()]
        if choice.bench_problem != choice.problem and (
            reason := why(choice.kernel, choice.bench_problem, choice.bench_params)
        ):
            problem = choice.bench_problem
            size = short_size((problem.m, problem.n, problem.k))
            parts.append(tr("To measure, at {size}: {reason}", size=size, reason=reason))
        text = "\n".join(filter(None, parts))
        self.take.setVisible(bool(self._offered))
        self.setVisible(bool(text))
        if text != self.reason.text():
            self.reason.setText(text)
            self.resized.emit()

    def _of_recording(self) -> str:
        choice = self._choice
        self._offered = {}
        found = scheduled(choice.kernel, choice.problem, left_open(choice.kernel, choice.params))
        if not found:
            return ""
        params = found[0].params
        size = short_size((choice.problem.m, choice.problem.n, choice.problem.k))
        reason = why(choice.kernel, choice.problem, params)
        self._offered = {name: value for name, value in params.items() if value != choice.params[name]}
        if not self._offered:
            return tr("The schedule chose these parameters for {size}. {reason}", size=size, reason=reason)
        changes = ", ".join(f"{name} = {value}" for name, value in self._offered.items())
        return tr(
            "For {size} the schedule takes other parameters: {changes}. {reason}",
            size=size,
            changes=changes,
            reason=reason,
        )
