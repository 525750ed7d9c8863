"""A bar above the stage for errors and hints: it never blocks the window, and goes when it is closed or outdated."""

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from gemmviz.session import Session

_MARKS = {"error": "✗", "warning": "!", "info": "i"}
_MOST_LINES, _MOST_CHARACTERS, _LONGEST_WORD = 6, 500, 48


class MessageBar(QFrame):
    """Shows the session's message.

    Parameters
    ----------
    session
        Whose message to show.
    """

    fixed = Signal(object)
    """The size that the message proposed was accepted."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setObjectName("message")
        self.mark = QLabel()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.fix = QPushButton()
        self.close_button = QToolButton()
        self.close_button.setText("×")
        self.close_button.setToolTip("Close this message")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 6, 6)
        row.addWidget(self.mark)
        row.addWidget(self.text, 1)
        row.addWidget(self.fix)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self.fix.clicked.connect(self._on_fix)
        self.close_button.clicked.connect(lambda *_: session.tell(None))
        session.messaged.connect(self._show)
        self._show()

    def _show(self) -> None:
        message = self.session.message
        self.setVisible(message is not None)
        if message is None:
            return
        self.mark.setText(_MARKS[message.kind])
        lines = message.text.splitlines()
        shown = "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]
        self.text.setText(_breakable(shown if shown == message.text else shown + "…"))
        self.text.setToolTip("" if shown == message.text else message.text[:5000])
        self.fix.setVisible(message.fix is not None)
        self.fix.setText(f"Use {message.fix}" if message.fix else "")
        self.setProperty("kind", message.kind)
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_fix(self) -> None:
        message = self.session.message
        if message is not None and message.fix is not None:
            self.session.tell(None)
            self.fixed.emit(message.fix)


def _breakable(text: str) -> str:
    """Let a word as long as a path or a template's name continue on the next line (zero-width spaces)."""
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", "\\1\u200b", text)
