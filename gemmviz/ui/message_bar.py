"""A bar above the stage for errors and hints: it never blocks the window, and goes when it is closed or outdated."""

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from gemmviz.session import Session

_MARKS = {"error": "✗", "warning": "!", "info": "i"}
_MOST_ANSWERS = 2
_MOST_LINES, _MOST_CHARACTERS, _LONGEST_WORD = 6, 500, 48


class MessageBar(QFrame):
    """Shows the session's message.

    Parameters
    ----------
    session
        Whose message to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setObjectName("message")
        self.mark = QLabel()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.answers = [QPushButton() for _ in range(_MOST_ANSWERS)]
        self.close_button = QToolButton()
        self.close_button.setText("×")
        self.close_button.setToolTip("Close this message")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 6, 6)
        row.addWidget(self.mark)
        row.addWidget(self.text, 1)
        for button in self.answers:
            row.addWidget(button)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        for number, button in enumerate(self.answers):
            button.clicked.connect(lambda *_, number=number: self._on_answer(number))
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
        for number, button in enumerate(self.answers):
            offered = number < len(message.answers)
            button.setVisible(offered)
            button.setText(message.answers[number].title if offered else "")
        self.setProperty("kind", message.kind)
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_answer(self, number: int) -> None:
        message = self.session.message
        if message is not None and number < len(message.answers):
            self.session.tell(None)
            message.answers[number].act()


def _breakable(text: str) -> str:
    """Let a word as long as a path or a template's name continue on the next line (zero-width spaces)."""
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", "\\1\u200b", text)
