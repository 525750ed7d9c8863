"""The bar above the stage that leads through a lesson: the place in it, and the stop's sentence, in large type."""

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.tour.lessons import lesson_path
from gemmviz.ui.connections import listen
from gemmviz.ui.known import known
from gemmviz.ui.look.style import TYPE_PT
from gemmviz.ui.look.theme import THEMES

# The sentence is read from the last row; where the bar is narrow, the stage needs the room of a third line more.
_LARGER, _LARGER_NARROW, _NARROW = 1.55, 1.3, 900
_LARGEST_NARROW = 1.625  # times the usual type, unless all type is as large
_ANY_HEIGHT = 10_000


class TourBar(QFrame):
    """Shows the session's tour; hidden while there is none.

    Two buttons stand elsewhere in the window: `lesson_button` begins the lesson of the chosen rung, and leaves it;
    `demo_button` goes to the rung's demo.

    Parameters
    ----------
    session
        The session with the tour.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._covered: QWidget | None = None
        tour = session.tour
        self.setObjectName("tour")
        self.setAccessibleName(tr("Lesson"))
        self.lesson_button = _button(tr("Lesson"), tr("The lesson of this rung (Ctrl+L)"), self._toggle)
        self.lesson_button.setCheckable(True)
        self.lesson_button.setObjectName("")  # as large as the buttons of the pages beside it
        tip = tr("The picture that shows this rung's idea: its size, its parameters, one thread (Ctrl+Shift+L)")
        self.demo_button = _button(tr("Demo"), tip, session.demonstration.show)
        self.demo_button.setObjectName("")
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.where = QLabel()
        self.back = _button("◀", tr("Previous stop (Ctrl+Page Up)"), lambda: tour.next(-1))
        self.on = _button("▶", tr("Next stop (Ctrl+Page Down)"), lambda: tour.next(1))
        self.onward = _button("", tr("To the next rung and its lesson (Ctrl+Page Down)"), lambda: tour.next(1))
        self.close_button = _button("×", tr("Leave: size and parameters as they were before (Ctrl+L)"), tour.leave)
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.title, 1)
        for widget in (self.where, self.back, self.on, self.onward, self.close_button):
            row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 4, 10, 5)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self.sentence)
        listen(self, tour.changed, self._show)
        listen(self, tour.moved, self._show)
        listen(self, session.choice.chosen, self._show_button)
        listen(self, session.cursor.recorded, self._show)
        listen(self, session.preferences.themed, self._on_theme)
        self._on_theme()

    def takes_place_of(self, widget: QWidget) -> None:
        """Hide a widget while a lesson runs: the lesson makes its choices, and the stage needs the room."""
        self._covered = widget
        self._show()

    def _on_theme(self) -> None:
        theme = THEMES[self.session.preferences.theme]
        self.setStyleSheet(
            f"QFrame#tour {{ background: {theme.raised}; border: none; border-left: 4px solid {theme.accent}; }}"
        )
        self.title.setStyleSheet(f"color: {theme.muted}; font-weight: bold;")
        self._show()

    def _width(self) -> int:
        """Return the width that the bar has or will have: its column's. A bar never shown is 100 pixels wide."""
        column = self.parentWidget()
        return column.width() if column is not None else self.width()

    def _set_type(self) -> None:
        larger, scale = _LARGER, self.session.preferences.type_scale
        if self._width() < _NARROW:
            larger = max(min(_LARGER_NARROW, _LARGEST_NARROW / scale), 1.0)
        size = TYPE_PT * larger * scale
        sheet = f"color: {THEMES[self.session.preferences.theme].text}; font-size: {size:.1f}pt;"
        if sheet != self.sentence.styleSheet():
            self.sentence.setStyleSheet(sheet)

    def _show(self) -> None:
        tour = self.session.tour
        self._show_button()
        self.setVisible(tour.active)
        if self._covered is not None:
            self._covered.setVisible(tour.lesson is None)
        if not tour.active:
            return
        count = len(tour.stops)
        self.title.setText(tour.title)
        self.title.setToolTip(tour.title)
        self.where.setText(tr("{at} of {count}", at=tour.at + 1, count=count) if tour.at is not None and count else "")
        self.sentence.setText(self._text())
        self.back.setEnabled(bool(tour.at))
        self.on.setEnabled(count > 0 and (tour.at is None or tour.at < count - 1))
        following = (
            next((k for k in self.session.choice.kernels if k.name == tour.onward), None) if tour.onward else None
        )
        self.onward.setVisible(following is not None)
        if following is not None:
            self.onward.setText(tr("Next rung: {rung}", rung=following.alias))
            self.onward.setAccessibleName(self.onward.text())
        self._keep_height()

    def _text(self) -> str:
        """Return the visible text: the stop's sentence, or the awaited recording."""
        tour = self.session.tour
        stop = tour.stop
        if tour.waiting or (stop is None and tour.lesson is not None):
            return tr("Recording what the lesson shows…")
        if stop is None:
            return tr("Press Ctrl+Page Down to go to the first stop.")
        return stop.say

    def _toggle(self) -> None:
        self.session.tour.toggle_lesson()
        self._show_button()  # a lesson that cannot begin leaves the button unchanged

    def _show_button(self) -> None:
        session, button = self.session, self.lesson_button
        button.setChecked(session.tour.lesson is not None)
        button.setEnabled(session.tour.lesson is not None or lesson_path(session.choice.base) is not None)
        self.demo_button.setEnabled(session.choice.kernel.demo is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the sentence anew."""
        super().resizeEvent(event)
        self._keep_height()

    def _keep_height(self) -> None:
        """Give each sentence the room of the longest, so that the stage does not jump from stop to stop."""
        self._set_type()
        texts = [self.sentence.text(), *(stop.say for stop in self.session.tour.stops)]
        self.sentence.ensurePolished()
        metrics = QFontMetrics(self.sentence.font())
        layout = known(self.layout())
        margins = layout.contentsMargins()
        room = QRect(0, 0, max(self._width() - margins.left() - margins.right() - 6, 50), _ANY_HEIGHT)
        wrap = int(Qt.TextFlag.TextWordWrap)
        height = max(metrics.boundingRect(room, wrap, text).height() for text in texts)
        self.sentence.setFixedHeight(height + 2)
        # The bar's own height, too: a column that has cached the old one would cut the sentence.
        layout.activate()
        self.setFixedHeight(layout.totalMinimumSize().height())


def _button(text: str, tip: str, act: Callable[[], object]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setObjectName("slim")
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.clicked.connect(lambda *_: act())
    return button
