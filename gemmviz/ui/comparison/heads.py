"""The heads of the two stages: the names of the rungs, the message about the second, and its buttons."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.models.preferences import Preferences
from gemmviz.ui.comparison.bars import fill_side
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import shown_name

_LINES = 1.9
_PADDING = 8


class Swatch(QWidget):
    """The colour and pattern of a side, as its bars have them.

    Parameters
    ----------
    preferences
        The preferences with the theme.
    side
        0: the chosen rung, 1: the one beside.
    """

    def __init__(self, preferences: Preferences, side: int) -> None:
        super().__init__()
        self._preferences, self._side = preferences, side
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As high as a capital letter, twice as wide."""
        height = round(self.fontMetrics().capHeight() * 1.2)
        return QSize(height * 2, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        with QPainter(self) as painter:
            fill_side(painter, QRectF(self.rect()), self._preferences.theme, self._side)


class Head(QWidget):
    """Names a stage.

    Parameters
    ----------
    session, side
        As for `Swatch`.
    """

    choose = Signal()
    """A request for another rung beside."""

    def __init__(self, session: Session, side: int) -> None:
        super().__init__()
        self.session, self.side = session, side
        self.name = QLabel()
        self.name.setObjectName("heading")
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 4, 2)
        row.addWidget(Swatch(session.preferences, side))
        row.addWidget(self.name, 2)
        if not side:
            self.note = QLabel()
            self.note.setObjectName("muted")
            self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            row.addWidget(self.note, 3)
        else:
            other = QToolButton()
            other.setText(tr("Another kernel…"))
            other.setToolTip(tr("Choose the kernel beside ({key})", key="Ctrl+D"))
            other.clicked.connect(self._on_choose)
            close = QToolButton()
            close.setText("×")
            close.setToolTip(tr("One stage again ({key})", key="D"))
            close.setAccessibleName(tr("One stage again"))
            close.clicked.connect(self._on_close)
            for button in (other, close):
                button.setObjectName("slim")
                row.addWidget(button)
        self._keep_height()
        comparison = session.comparison
        for signal in (session.choice.chosen, comparison.changed, session.second.choice.chosen):
            listen(self, signal, self.refresh)
        self.refresh()

    def _keep_height(self) -> None:
        """Make both heads as high as each other, so that the two stages stand at one height."""
        self.setFixedHeight(round(self.fontMetrics().height() * _LINES))

    def changeEvent(self, event: QEvent) -> None:
        """Make room for type of another size."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._keep_height()

    def refresh(self) -> None:
        """Show the rung's name, or as much of it as fits."""
        comparison = self.session.comparison
        kernel = self.session.second.choice.kernel if self.side else self.session.choice.kernel
        name = shown_name(kernel, self.session)
        _elide(self.name, name, f"{name}\n{title_text(kernel)}")
        if not self.side:
            # Not in a bar above the stages: a text that moves or shrinks them costs more than it gives.
            self.note.setVisible(bool(comparison.note))
            _elide(self.note, comparison.note, comparison.note)

    def resizeEvent(self, event: object) -> None:
        """Fit the name again."""
        self.refresh()

    def _on_choose(self, *_: object) -> None:
        self.choose.emit()

    def _on_close(self, *_: object) -> None:
        self.session.side_by_side.stop()


class SecondMessage(QFrame):
    """The message about the second recording, with its answers; hidden where there is none.

    Parameters
    ----------
    session
        The session with the comparison.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._messages = session.second.messages
        self.setObjectName("message")
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.answer = QPushButton()
        close = QToolButton()
        close.setText("×")
        close.setToolTip(tr("Close this message"))
        close.setAccessibleName(tr("Close this message"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 3, 4, 3)
        row.addWidget(self.text, 1)
        row.addWidget(self.answer)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.answer.clicked.connect(self._on_answer)
        close.clicked.connect(self._on_close)
        listen(self, self._messages.changed, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the message, if there is one."""
        message = self._messages.current
        self.setVisible(message is not None)
        if message is None:
            return
        self.text.setText(message.text)
        self.answer.setVisible(bool(message.answers))
        if message.answers:
            self.answer.setText(message.answers[0].title)
        self.setProperty("kind", message.kind)
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_answer(self, *_: object) -> None:
        message = self._messages.current
        self._messages.tell(None)
        if message is not None and message.answers:
            message.answers[0].act()

    def _on_close(self, *_: object) -> None:
        self._messages.tell(None)


def _elide(label: QLabel, text: str, tip: str) -> None:
    """Show as much of a text as fits, and all of it as a tip."""
    room = label.width() - 2 * _PADDING
    label.setText(label.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room))
    label.setToolTip(tip)


def column(*widgets: QWidget) -> QVBoxLayout:
    """Return a column without margins; the last widget takes the room."""
    layout = QVBoxLayout()
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for widget in widgets:
        layout.addWidget(widget)
    layout.setStretchFactor(widgets[-1], 1)
    return layout
