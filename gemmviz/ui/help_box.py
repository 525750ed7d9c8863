"""The list of keys, beside the window: it never blocks it, and scrolls where the screen is too small for it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from gemmviz.language import tr

_SHARE_OF_SCREEN = 0.9


class HelpBox(QDialog):
    """Shows a rich text.

    Parameters
    ----------
    text
        What to show.
    parent
        The window that it belongs to.
    """

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys and mouse"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.label = QLabel(text)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.label.setMargin(12)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self.label)
        area.setWidgetResizable(True)
        area.setAccessibleName(tr("Keys and mouse"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(area, 1)
        column.addWidget(buttons)
        wanted = self.label.sizeHint() + buttons.sizeHint() * 1.2
        self.resize(wanted.boundedTo(self.screen().availableSize() * _SHARE_OF_SCREEN))

    def text(self) -> str:
        """Return what is shown."""
        return self.label.text()
