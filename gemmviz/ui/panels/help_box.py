"""The list of keys in a dialog that does not block the window. On a small screen the list scrolls."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.ui.panels.help_text import Groups, help_text

_SHARE_OF_SCREEN = 0.9


class HelpBox(QDialog):
    """The list with a search field; it scrolls vertically only.

    Parameters
    ----------
    groups
        The entries to list.
    parent
        The window of the dialog.
    """

    def __init__(self, groups: Groups, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys and mouse"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Type to search: a key, or its effect"))
        self.search.setAccessibleName(tr("Search the keys"))
        self.search.setClearButtonEnabled(True)
        self.label = QLabel(help_text(groups))
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.label.setMargin(12)
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidget(self.label)
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(tr("Keys and mouse"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(self.area, 1)
        column.addWidget(buttons)
        self.search.textChanged.connect(lambda wanted: self.label.setText(help_text(groups, wanted)))
        bar = self.area.verticalScrollBar().sizeHint().width()
        wanted = self.label.sizeHint() + buttons.sizeHint() * 2.5 + QSize(bar + 8, 0)
        self.resize(wanted.boundedTo(self.screen().availableSize() * _SHARE_OF_SCREEN))
        # As wide as the list needs, because a list that scrolls horizontally is hard to read.
        self.setMinimumWidth(min(self.label.sizeHint().width() + bar + 40, self.screen().availableSize().width()))

    def text(self) -> str:
        """Return the shown text."""
        return self.label.text()
