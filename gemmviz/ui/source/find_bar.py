"""The line below the source for the text to find."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QWidget

from gemmviz.language import tr
from gemmviz.ui.source.editor import Editor


class FindBar(QWidget):
    """A line for the text to find; Enter goes on, Shift+Enter back, Esc leaves.

    Parameters
    ----------
    editor
        The editor to search in.
    """

    def __init__(self, editor: Editor) -> None:
        super().__init__()
        self._editor = editor
        self.box = QLineEdit()
        self.box.setAccessibleName(tr("Find in the source"))
        self.box.setPlaceholderText(tr("Find: Enter next, Shift+Enter back, Esc closes"))
        self.nothing = QLabel(tr("not found"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 3, 8, 3)
        row.addWidget(self.box, 1)
        row.addWidget(self.nothing)
        self.nothing.hide()
        self.box.textChanged.connect(self._on_text)
        self.box.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Show the line, with the selected word in it."""
        chosen = self._editor.textCursor().selectedText()
        if chosen and "\u2029" not in chosen:
            self.box.setText(chosen)
        self.show()
        self.box.selectAll()
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go(self, *, back: bool = False) -> None:
        """Go to the next place that has the text, or the one before; wrap round at the end of the text."""
        text, editor = self.box.text(), self._editor
        flags = QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
        if not text or editor.find(text, flags):
            self.nothing.hide()
            return
        place = editor.textCursor()
        end = QTextCursor.MoveOperation.End if back else QTextCursor.MoveOperation.Start
        editor.moveCursor(end)
        found = editor.find(text, flags)
        self.nothing.setVisible(not found)
        if not found:
            editor.setTextCursor(place)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Enter and Esc, which would be shortcuts of the window."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            is_press = event.type() == QEvent.Type.KeyPress
            if event.key() == Qt.Key.Key_Escape:
                event.accept()
                if is_press:
                    self.hide()
                    self._editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return True
            if is_press and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.go(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
        return super().eventFilter(watched, event)

    def _on_text(self, text: str) -> None:
        """Search from the start of the present match, so that it grows with the typed text."""
        cursor = self._editor.textCursor()
        cursor.setPosition(cursor.selectionStart())
        self._editor.setTextCursor(cursor)
        self.go()
