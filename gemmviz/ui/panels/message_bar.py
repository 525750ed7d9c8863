"""A bar above the stage for errors and hints. It does not block the window, and outdated messages disappear."""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from gemmviz.language import mark, tr
from gemmviz.session.models.messages import Messages
from gemmviz.session.values.message import MOST_ANSWERS
from gemmviz.ui.connections import listen

_MARKS = {"error": "✗", "warning": "!", "info": "i"}
_KINDS = {"error": mark("Error"), "warning": mark("Warning"), "info": mark("Note")}
_MOST_LINES, _MOST_CHARACTERS, _LONGEST_WORD = 12, 1500, 48
_ANY_HEIGHT = 16_777_215  # of Qt: no limit
_LEAST_LINES = 2  # that are shown before the button "More"


class MessageBar(QFrame):
    """Shows the last message.

    Parameters
    ----------
    messages
        The messages to show.
    """

    def __init__(self, messages: Messages) -> None:
        super().__init__()
        self._messages = messages
        self.setObjectName("message")
        self.setAccessibleName(tr("Message"))
        self.mark = QLabel()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.answers = [QPushButton() for _ in range(MOST_ANSWERS)]
        self.more = QPushButton()
        self.more.setToolTip(tr("Show all of this message, or only its beginning (Alt+M)"))
        self._whole, self._room = False, (0, 0)
        self.close_button = QToolButton()
        self.close_button.setText("×")
        self.close_button.setToolTip(tr("Close this message (Alt+X)"))
        self.close_button.setAccessibleName(tr("Close this message"))
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 6, 6)
        row.addWidget(self.mark)
        row.addWidget(self.text, 1)
        for button in (self.more, *self.answers):
            row.addWidget(button)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        for number, button in enumerate(self.answers):
            button.clicked.connect(lambda *_, number=number: self.answer(number))
        self.more.clicked.connect(self.show_more)
        self.close_button.clicked.connect(self.dismiss)
        listen(self, messages.changed, self._show)
        self._show()

    def _show(self) -> None:
        message = self._messages.current
        self.setVisible(message is not None)
        if message is None:
            return
        self._whole = False
        self.mark.setText(_MARKS[message.kind])
        self.mark.setAccessibleName(tr(_KINDS[message.kind]))
        lines = message.text.splitlines()
        shown = "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]
        self.text.setText(_breakable(shown if shown == message.text else shown + "…"))
        self.text.setToolTip("" if shown == message.text else message.text[:5000])
        for number, button in enumerate(self.answers):
            offered = number < len(message.answers)
            button.setVisible(offered)
            button.setText(message.answers[number].title if offered else "")
            button.setToolTip(f"Alt+{number + 1}")
        self.setProperty("kind", message.kind)
        self.style().unpolish(self)
        self.style().polish(self)
        self.setAccessibleDescription(message.text)
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def fit(self, width: int, height: int) -> None:
        """Show the lines of the text that have room; a button shows the others.

        Parameters
        ----------
        width, height
            Of the bar, in pixels.
        """
        self._room = width, height
        margins, gap, line = self._row.contentsMargins(), self._row.spacing(), self.text.fontMetrics().lineSpacing()
        beside = (self.mark, self.close_button, *(button for button in self.answers if not button.isHidden()))
        room = width - margins.left() - margins.right() - sum(one.sizeHint().width() + gap for one in beside)
        lines = max((height - margins.top() - margins.bottom()) // line, _LEAST_LINES)
        is_long = self.text.heightForWidth(room) > lines * line
        self.more.setText(tr("Less") if self._whole else tr("More"))
        self.more.setVisible(is_long)
        self.text.setMaximumHeight(lines * line if is_long and not self._whole else _ANY_HEIGHT)
        # Lines that have no room are below the others.
        top = Qt.AlignmentFlag.AlignTop if is_long else Qt.AlignmentFlag.AlignVCenter
        self.text.setAlignment(Qt.AlignmentFlag.AlignLeft | top)

    def show_more(self, *_: object) -> None:
        """Show all of a long message; or its beginning again."""
        if self._messages.current is not None and not self.more.isHidden():
            self._whole = not self._whole
            self.fit(*self._room)

    def dismiss(self, *_: object) -> None:
        """Close the message, if there is one."""
        if self._messages.current is not None:
            self._messages.tell(None)

    def answer(self, number: int) -> None:
        """Run the action of one of the message's answers; do nothing if it has no such answer."""
        message = self._messages.current
        if message is not None and number < len(message.answers):
            self._messages.tell(None)
            message.answers[number].act()


def _breakable(text: str) -> str:
    """Return a text whose long words, such as paths, can continue on the next line (with zero-width spaces)."""
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", "\\1\u200b", text)
