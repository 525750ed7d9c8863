"""Messages of the session while it is presented, at the foot of the picture, until the next event."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.theme import Theme

_SHARE = 0.8  # of the width of its parent, at most
_LONGEST = 300  # letters: the window has the rest


class PresenterNote(QLabel):
    """A message over the picture: the next step, rung or recording takes it away.

    Parameters
    ----------
    parent
        The widget that it covers.
    session
        The session of the messages.
    """

    def __init__(self, parent: QWidget, session: Session) -> None:
        super().__init__(parent)
        self._covered = parent
        self.session = session
        self.setObjectName("note")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.hide()
        listen(self, session.messages.changed, self._say)
        for signal in (session.cursor.stepped, session.cursor.recorded, session.tour.moved):
            listen(self, signal, self.drop)

    def _say(self) -> None:
        message = self.session.messages.current
        if message is None or not self._covered.isVisible():
            self.hide()
            return
        line = message.text.partition("\n")[0]
        self.setText(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")
        self.show()
        self.place()

    def drop(self) -> None:
        """Hide it: it was about an earlier state."""
        if self.isVisible():
            self.hide()

    def place(self) -> None:
        """Stand at the foot, in the middle."""
        around = self._covered.rect()
        # One line where there is room for one: a label that wraps reports less width than its text has.
        wanted = max(self.sizeHint().width(), self.fontMetrics().horizontalAdvance(self.text()) * 9 // 8)
        width = min(wanted, int(around.width() * _SHARE))
        self.resize(width, self.heightForWidth(width))
        self.move(around.center().x() - width // 2, around.bottom() - self.height() - around.height() // 20)
        self.raise_()

    def set_look(self, theme: Theme, pixels: int) -> None:
        """Choose colours and the height of the type in pixels."""
        self.setStyleSheet(
            f"QLabel#note {{ background: {theme.raised}; color: {theme.text}; border: 2px solid {theme.accent};"
            f" border-radius: 8px; padding: {pixels // 2}px; font-size: {pixels}px; }}"
        )
        self.place()
