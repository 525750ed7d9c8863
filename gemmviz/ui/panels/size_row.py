"""Boxes for the size of a product, and for several sizes to measure over."""

import re

from PySide6.QtCore import QEvent, QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSpinBox, QToolButton, QWidget

from gemmviz.catalogue.problem import LARGEST, Problem
from gemmviz.language import tr
from gemmviz.session.models.choice import Choice
from gemmviz.session.values.square import Square

_WIDEST_USUAL = "16384"
# Room beside the text of a box, of a button, and of the sizes, which have an arrow: in pixels.
_BOX_FRAME, _BUTTON_FRAME, _SIZES_FRAME = 15, 20, 44
_SWEEPS = ((256, 4096), (256, 2048), (128, 1024), (256, 8192), (1024, 16384))


class SizeRow(QWidget):
    """Three boxes M, N, K and a link that keeps them equal.

    Parameters
    ----------
    problem
        The size to show.
    what
        The name of the size, as shown to the user.
    square
        Whether the sides are linked.
    """

    changed = Signal(object)

    def __init__(self, problem: Problem, what: str, square: Square) -> None:
        super().__init__()
        self._square = square
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.boxes: dict[str, QSpinBox] = {}
        for name, value in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
            box = QSpinBox()
            box.setRange(1, LARGEST)
            box.setValue(value)
            box.setKeyboardTracking(False)
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
            box.setAccessibleName(f"{name}, {what}")
            box.setToolTip(tr("{name}: C is M × N, A is M × K, B is K × N ({what})", name=name, what=what))
            box.valueChanged.connect(lambda value, name=name: self._on_value(name, value))
            row.addWidget(QLabel(name))
            row.addWidget(box)
            self.boxes[name] = box
        self.link = QToolButton()
        self.link.setText("=")
        self.link.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.link.setCheckable(True)
        self.link.setToolTip(tr("Square: keep M = N = K"))
        self.link.setAccessibleName(tr("Square: keep M = N = K"))
        self.link.clicked.connect(self._on_link)
        row.addWidget(self.link)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Make the boxes wide enough for five digits at a new size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        for box in self.boxes.values():
            box.setFixedWidth(metrics.horizontalAdvance(_WIDEST_USUAL) + _BOX_FRAME)
        self.link.setFixedWidth(metrics.horizontalAdvance("=") + _BUTTON_FRAME)

    def problem(self) -> Problem:
        """Return the size in the boxes."""
        return Problem(*(self.boxes[n].value() for n in "MNK"))

    def show_problem(self, problem: Problem) -> None:
        """Put a size into the boxes without a signal."""
        for name, value in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
            self.boxes[name].blockSignals(True)
            self.boxes[name].setValue(value)
            self.boxes[name].blockSignals(False)
        self._square.follow(problem)
        self.link.setChecked(self._square.linked)

    def _on_link(self, linked: bool) -> None:
        """Link the sides, or remove the link; the first side is then that of all three."""
        self._square.choose(linked)
        problem = self.problem()
        if linked and problem != Problem.cube(problem.m):
            self._on_value("M", problem.m)

    def _on_value(self, name: str, value: int) -> None:
        if self._square.linked:
            self.show_problem(Problem.cube(value))
        self.changed.emit(self.problem())


class SizesBox(QComboBox):
    """The sizes N to measure over: lists to choose from, or any numbers with separators, typed by the user.

    Parameters
    ----------
    choice
        The model that keeps the typed text.
    """

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        for first, last in _SWEEPS:
            self.addItem(f"{first}…{last}")
        self.setValidator(QRegularExpressionValidator(QRegularExpression(r"\s*\d{1,5}(\s*[ ,;…]\s*\d{1,5})*\s*")))
        if choice.sweep:
            self.setEditText(choice.sweep)
        self.editTextChanged.connect(lambda text: setattr(choice, "sweep", text))
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(self.itemText(0)) + _SIZES_FRAME)
        self.setAccessibleName(tr("Sizes N to measure over"))
        self.setToolTip(tr("Sizes N = M = K: 256…4096 doubles from 256 to 4096; or type them: 500 1000 1500"))

    def sizes(self) -> list[int]:
        """Return the sizes, from small to large."""
        text = self.currentText()
        numbers = [min(max(int(n), 1), LARGEST) for n in re.findall(r"\d+", text)]
        if "…" in text and len(numbers) == 2 and numbers[0] < numbers[1]:
            first, last = numbers
            numbers = [first * 2**i for i in range(64) if first * 2**i <= last]
        return sorted(set(numbers)) or [_SWEEPS[0][0]]
