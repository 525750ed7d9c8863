"""The question of predict mode with its four answers, in the window and, larger, in front of an audience."""

import re
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QMouseEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QTableView,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.values.kernel_names import no_source
from gemmviz.ui.connections import listen
from gemmviz.ui.known import qt
from gemmviz.ui.look.fonts import mono_style
from gemmviz.ui.look.theme import THEMES, Theme, for_presenting
from gemmviz.ui.shown import show_inside

_ANSWERS = 4
_KEYS = tuple("1234")
_MARK = "✗ "  # the widest sign in front of an answer
# A focused widget for typing, or one with a use of its own for Return, keeps these keys.
_TYPED_INTO = (QLineEdit, QAbstractSpinBox, QPlainTextEdit, QComboBox)
_ENTERED = (*_TYPED_INTO, QTableView, QTreeView)
# Of the size of the interface's type; answers and code in the window are smaller than the question.
_CODE_LINES = 1.8  # two lines, less the rest of the first one that a word may leave
_BREAKABLE = re.compile(r"[.,:;(\[]")  # a line of code may be broken after these
_QUESTION, _INTERFACE_POINTS, _SMALLER = 1.25, 9.5, 0.85


class PredictPanel(QWidget):
    """Shows the question; hidden while predict mode is off.

    Parameters
    ----------
    session
        The session whose `predict` is shown.
    presented
        Whether an audience reads it: in the colours for that, and in a size given by `set_size`.
    """

    def __init__(self, session: Session, presented: bool = False) -> None:
        super().__init__()
        self.session = session
        self._presented = presented
        self._pixels: float | None = None
        self._hidden_meanwhile: QWidget | None = None
        self.setObjectName("predict")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = _Label("question")
        self.score = QLabel()
        self.score.setObjectName("score")
        self.score.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self.code = _Label("code")
        self.why = _Hint("why", session.predict.reveal)
        self.why.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.answers = [self._button(index) for index in range(_ANSWERS)]
        head = QHBoxLayout()
        head.addWidget(self.text, 1)
        head.addWidget(self.score, 0, Qt.AlignmentFlag.AlignTop)
        self._grid = QGridLayout()
        self._column = column = QVBoxLayout(self)
        for part in (head, self.code, self._grid, self.why):
            column.addLayout(part) if isinstance(part, QHBoxLayout | QGridLayout) else column.addWidget(part)
        self._columns = 0
        self._digits = [QShortcut(key, self, lambda i=i: session.predict.answer(i)) for i, key in enumerate(_KEYS)]
        self._returns = [QShortcut(key, self, session.predict.reveal) for key in ("Return", "Enter")]
        qt().focusChanged.connect(self._on_focus)
        listen(self, session.predict.changed, self.refresh)
        listen(self, session.preferences.themed, self._on_themed)
        self._on_themed()
        self.refresh()

    def takes_place_of(self, widget: QWidget) -> None:
        """Hide a widget while people guess: it would show the answer."""
        self._hidden_meanwhile = widget
        self.refresh()

    def set_size(self, pixels: float) -> None:
        """Choose the height of the question's type, in pixels."""
        self._pixels = pixels
        self._on_themed()
        self.refresh()

    def _button(self, index: int) -> QPushButton:
        button = QPushButton(self)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        # As wide as its column: how many there are follows from the width, and not the width from them.
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda *_: self.session.predict.answer(index))
        return button

    def _on_focus(self, _: QWidget | None = None, now: QWidget | None = None) -> None:
        for shortcut in self._digits:
            shortcut.setEnabled(self.session.predict.on and not isinstance(now, _TYPED_INTO))
        for shortcut in self._returns:
            shortcut.setEnabled(self.session.predict.on and not isinstance(now, _ENTERED))

    # Painting

    def refresh(self) -> None:
        """Show the question, the answers, and the right one where it is revealed."""
        predict = self.session.predict
        if predict.on and not self._presented:
            # On the stage it is measured when it is shown: its texts come first.
            self._tell()
        show_inside(self, predict.on)
        if self._hidden_meanwhile is not None:
            self._hidden_meanwhile.setVisible(not predict.on)
        self._on_focus(None, QApplication.focusWidget())
        if predict.on and self._presented:
            self._tell()

    def _tell(self) -> None:
        asked = self.session.predict.question
        self.score.setText(score(self.session))
        self.score.setVisible(not self._presented)
        self.text.setText(self._question())
        self.code.setVisible(bool(self._code()))
        for index, button in enumerate(self.answers):
            button.setVisible(asked is not None)
            self._show_answer(index, button)
        self.why.setText(self._below())
        self._arrange()

    def _question(self) -> str:
        asked = self.session.predict.question
        if asked is not None:
            return f"{asked.lead} {asked.text}" if asked.lead else asked.text
        if self.session.cursor.playable is None:
            return no_source(self.session.choice.kernel) or tr("Record a kernel: then there is something to predict.")
        if self.session.playback.playing:
            return tr("Pause (Space) to be asked about the next step.")
        return tr("There is no question about a later step. Go back: Home.")

    def _below(self) -> str:
        predict = self.session.predict
        if predict.question is None:
            return ""
        why = predict.question.why
        if not predict.revealed:
            text = tr("1 to 4: your answer.  Enter or click here: reveal it.")
        elif self._modelled():
            text = tr("{why}  Addresses recorded, wavefronts modelled.  Enter or click here: next question.", why=why)
        else:
            text = tr("{why}  Recorded.  Enter or click here: next question.", why=why)
        # In front of an audience the foot has the keys.
        return text if self._presented else f"{text}  {tr('Esc: end.')}"

    def _modelled(self) -> bool:
        """Return whether the answer counts wavefronts, which follow from the recorded addresses by a model."""
        asked, playable = self.session.predict.question, self.session.cursor.playable
        if asked is None or playable is None or asked.kind != "cost":
            return False
        return playable.recording.arrays[int(playable.timeline.array[asked.step])].space == "shared"

    def _show_answer(self, index: int, button: QPushButton) -> None:
        predict = self.session.predict
        asked = predict.question
        if asked is None:
            return
        answer = asked.answers[index]
        state, mark = "", ""
        if predict.revealed and index == asked.right:
            state, mark = "right", "✓ "
        elif predict.revealed and index == predict.chosen:
            state, mark = "wrong", "✗ "
        elif index == predict.chosen:
            state, mark = "chosen", "● "
        button.setText(f"{mark}{index + 1})  {answer}")
        button.setAccessibleName(tr("Answer {number}: {answer}", number=index + 1, answer=answer))
        descriptions = {"right": tr("right answer"), "wrong": tr("wrong answer"), "chosen": tr("chosen")}
        button.setAccessibleDescription(descriptions.get(state, ""))
        if button.property("state") != state:
            button.setProperty("state", state)
            button.style().unpolish(button)
            button.style().polish(button)

    def _arrange(self) -> None:
        """Put the answers side by side as far as it is wide enough."""
        # With room for a mark, so that the answers keep their places when the right one is revealed.
        mark = self.answers[0].fontMetrics().horizontalAdvance(_MARK)
        widest = mark + max(
            button.sizeHint().width() - mark * (not button.text()[:1].isdigit()) for button in self.answers
        )
        widest += self._grid.spacing()
        margins = self._column.contentsMargins()
        room = self.width() - margins.left() - margins.right() + self._grid.spacing()
        columns = next((count for count in (4, 2) if widest * count <= room), 1)
        if columns != self._columns:
            self._columns = columns
            for index, button in enumerate(self.answers):
                self._grid.addWidget(button, *divmod(index, columns))
        # In the window the source stands beside it in full; in front of an audience it has two lines.
        lines = _CODE_LINES if self._presented else 1
        width = int((room - self._grid.spacing()) * lines)
        code = self.code.fontMetrics().elidedText(self._code(), Qt.TextElideMode.ElideRight, width)
        self.code.setText(_BREAKABLE.sub("\\g<0>\u200b", code) if self._presented else code)

    def _code(self) -> str:
        """Return the line that the question is about, for people who reason from the source."""
        asked, playable = self.session.predict.question, self.session.cursor.playable
        if asked is None or playable is None or not asked.line:
            return ""
        source = playable.recording.text.splitlines()[asked.line - 1].strip()
        return tr("line {line}:  {source}", line=asked.line, source=source)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out again."""
        super().resizeEvent(event)
        if self.session.predict.on:
            self._arrange()

    # How it looks

    def _on_themed(self) -> None:
        theme = THEMES[self.session.preferences.theme]
        pixels = self._pixels or self._interface_pixels()
        self.setStyleSheet(_style(for_presenting(theme) if self._presented else theme, pixels))
        # The stage above must not jump when the reason is longer than the hint that stood there.
        font = QFont(self.font())
        font.setPixelSize(round(pixels * _SMALLER))
        self.why.setMinimumHeight(int(QFontMetricsF(font).height() * 2 + 2))
        gap = round(pixels * 0.35)
        self._grid.setSpacing(gap)
        self._column.setSpacing(gap)
        self._column.setContentsMargins(gap * 2, gap, gap * 2, gap)

    def _interface_pixels(self) -> float:
        return _QUESTION * _INTERFACE_POINTS * self.session.preferences.type_scale * self.logicalDpiY() / 72


def score(session: Session) -> str:
    """Say how many answers were right; nothing before the first."""
    predict = session.predict
    if not predict.on or not predict.answered:
        return ""
    return tr("{right} of {count} right", right=predict.right, count=predict.answered)


class _Label(QLabel):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)


class _Hint(_Label):
    """A text about a key that also does, when it is clicked, what the key does."""

    def __init__(self, name: str, act: Callable[[], None]) -> None:
        super().__init__(name)
        self._act = act
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Do it."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._act()
        else:
            super().mousePressEvent(event)


def _style(theme: Theme, pixels: float) -> str:
    """Return the style sheet of the panel; right and wrong answers have a mark besides their colour."""
    question, small = round(pixels), round(pixels * _SMALLER)
    return f"""
    QWidget#predict {{ background: {theme.panel}; border-top: 2px solid {theme.accent}; }}
    QLabel {{ color: {theme.text}; font-size: {small}px; background: transparent; }}
    QLabel#question {{ font-size: {question}px; font-weight: bold; }}
    QLabel#score {{ font-size: {question}px; color: {theme.accent}; }}
    QLabel#code {{ {mono_style()} color: {theme.muted}; }}
    QPushButton {{ background: {theme.raised}; color: {theme.text}; border: 3px solid {theme.outline};
        border-radius: 4px; padding: {small // 5}px {small // 3}px; font-size: {small}px; text-align: left; }}
    QPushButton:hover {{ border-color: {theme.accent}; }}
    QPushButton:focus {{ border-color: {theme.text}; }}
    QPushButton[state="chosen"] {{ border-color: {theme.accent}; }}
    QPushButton[state="right"] {{ border-color: {theme.good}; color: {theme.good}; }}
    QPushButton[state="wrong"] {{ border: 3px dashed {theme.bad}; color: {theme.bad}; }}
    """
