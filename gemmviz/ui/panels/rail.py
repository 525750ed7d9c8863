"""The left side of the window: the kernels, with a heading that folds the list."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.ui.look.style import scaled
from gemmviz.ui.panels.ladder import Ladder
from gemmviz.ui.panels.rings import Rings

NARROW, LEAST = 44, 168
"""Widths in pixels at a scale of type of 1: when it is folded, and the least width when it is not."""


class Rail(QWidget):
    """The list of kernels, or a narrow strip in its place.

    Parameters
    ----------
    ladder
        The list.
    """

    folded_or_shown = Signal()
    """The needed width has changed."""

    def __init__(self, ladder: Ladder) -> None:
        super().__init__()
        self._ladder = ladder
        self.heading = QLabel(tr("Kernels"))
        self.heading.setObjectName("heading")
        self.button = QToolButton()
        self.button.setObjectName("slim")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(lambda *_: self.toggle())
        row = QHBoxLayout()
        row.setContentsMargins(0, 3, 6, 3)
        row.addWidget(self.heading, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(ladder, 1)
        self.rings = Rings(ladder)
        self.rings.chosen.connect(self._open)
        column.addWidget(self.rings, 1)
        self.folded = False
        self._in_need: set[str] = set()
        self._made_room = False
        self.fold(False)

    def toggle(self) -> None:
        """Fold the list away, or show it again."""
        self.fold(not self.folded)

    def _open(self, chapter: str) -> None:
        self.fold(False)
        self._ladder.open(chapter)

    def make_room(self, who: str, needed: bool) -> None:
        """Fold the list away while another widget needs its width, and show it again afterwards.

        Parameters
        ----------
        who
            The name of the widget that needs the width.
        needed
            Whether it does.
        """
        before = bool(self._in_need)
        (self._in_need.add if needed else self._in_need.discard)(who)
        if bool(self._in_need) == before:
            return
        if self._in_need:
            self._made_room = not self.folded
            self.fold(True)
        elif self._made_room and self.folded:
            self.fold(False)

    def go_on(self, before: "Rail") -> None:
        """Be folded like the list of the window before; `make_room` then knows what was folded by hand."""
        self._made_room = before._made_room
        self.fold(before.folded)

    def fold(self, folded: bool) -> None:
        """Fold the list away, or show it again."""
        self.folded = folded
        self._ladder.setVisible(not folded)
        self.rings.setVisible(folded)
        self.heading.setVisible(not folded)
        self.button.setText("☰" if folded else "«")
        self.button.setToolTip(tr("Show the kernels (K)") if folded else tr("Fold the kernels away (K)"))
        self.button.setAccessibleName(self.button.toolTip())
        self.fit()
        self.folded_or_shown.emit()

    def fit(self) -> None:
        """Set the width for the size of type."""
        if self.folded:
            self.setFixedWidth(round(scaled(NARROW)))
        else:
            self.setMinimumWidth(round(scaled(LEAST)))
            self.setMaximumWidth(1 << 14)

    def sizeHint(self) -> QSize:
        """Prefer the least width."""
        return QSize(round(scaled(NARROW if self.folded else LEAST)), 400)
