"""Chooses one of two versions: a kernel of the list on the left, the text as it is edited, or a file."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QPushButton, QSizePolicy

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.two_versions import Side
from gemmviz.ui.connections import listen
from gemmviz.ui.look.accessible import name_parts
from gemmviz.ui.look.style import letters_wide

_LETTERS = 18


class VersionChooser(QComboBox):
    """A box with all kernels that have a source, and a button beside it that opens a file.

    Parameters
    ----------
    session
        The session with the kernels.
    title
        The name of the version on the page.
    file_tip
        The text of the button.
    """

    chosen = Signal()
    """Another version is chosen."""
    file_wanted = Signal()
    """A file is to be opened."""

    def __init__(self, session: Session, title: str, file_tip: str) -> None:
        super().__init__()
        self._session = session
        self.side: Side | None = None
        self._offered: list[Side | None] = []
        self.label, self.file = QLabel(title), QPushButton(tr("Open…"))
        self.label.setBuddy(self)
        self.setAccessibleName(title)
        self.file.setAccessibleName(file_tip)
        self.file.setToolTip(file_tip)
        letters_wide(self, _LETTERS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.activated.connect(self._on_activated)
        self.file.clicked.connect(lambda *_: self.file_wanted.emit())
        listen(self, session.choice.kernels_changed, self.refresh)
        listen(self, session.choice.chosen, self.refresh)
        self.refresh()
        name_parts(self)

    def place(self, grid: QGridLayout, row: int) -> None:
        """Put label, box and button into a row."""
        for column, widget in enumerate((self.label, self, self.file)):
            grid.addWidget(widget, row, column)

    def show_side(self, side: Side | None) -> None:
        """Show a version without announcing it."""
        self.side = side
        self.refresh()

    def refresh(self) -> None:
        """Offer the kernels as they are now."""
        choice = self._session.choice
        offered: list[Side | None] = [None]
        if choice.kernel is not choice.base and choice.kernel.recordable:
            offered.append(Side(choice.title, choice.kernel))
        offered += [Side(_name(kernel), kernel) for kernel in choice.kernels if kernel.recordable]
        if self.side is not None and self.side not in offered:
            offered.insert(1, self.side)
        if offered == self._offered and self.currentIndex() == self._place():
            return
        self._offered = offered
        self.blockSignals(True)
        self.clear()
        self.addItems([tr("choose a version") if side is None else side.name for side in offered])
        self.setCurrentIndex(self._place())
        self.blockSignals(False)

    def _place(self) -> int:
        return self._offered.index(self.side) if self.side in self._offered else 0

    def _on_activated(self, index: int) -> None:
        self.side = self._offered[index]
        self.chosen.emit()


def _name(kernel: Kernel) -> str:
    return kernel.alias
