"""The lesson on the stage: the place in it, and the stop's sentence."""

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.tour.lessons import lesson_path
from gemmviz.ui.connections import listen
from gemmviz.ui.look.short_label import ShortLabel
from gemmviz.ui.look.style import TYPE_PT, scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.shown import show_inside

_LARGER = 1.12, 1.04  # of the window's type, in a wide and in a narrow window
_NARROW_WINDOW = 1600  # pixels, at a scale of type of 1
_TITLE_LINES = 2  # of a title above the buttons
_ANY_HEIGHT = 10_000
_BUTTON_EDGES = 18  # pixels beside the text of a button


class TourBar(QFrame):
    """Shows the session's tour; hidden while there is none.

    Some buttons stand elsewhere in the window. `beside_title` has `lesson_button`, which begins the lesson of the
    chosen kernel, or the buttons to the next and previous stop: they keep their place from stop to stop, while the
    sentence has the place that suits the picture. `demo_button` goes to the kernel's demo.

    Parameters
    ----------
    session
        The session with the tour.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        tour = session.tour
        self.setObjectName("tour")
        self.setAccessibleName(tr("Lesson"))
        self.lesson_button = _button(tr("Start the lesson"), tr("The lesson of this kernel (Ctrl+L)"), self._toggle)
        self.lesson_button.setCheckable(True)
        tip = tr("The picture that shows this kernel's idea: its size, its parameters, one thread (Ctrl+Shift+L)")
        self.demo_button = _button(tr("Demo"), tip, session.demonstration.show)
        self.title = ShortLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.where = QLabel()
        self.back = _button("◀", tr("Previous stop (Ctrl+Page Up)"), lambda: session.guide.next(-1))
        onward = tr("To the next kernel and its lesson (Ctrl+Page Down)")
        self._tips = {True: tr("Next stop (Ctrl+Page Down)"), False: onward}
        self.on = _button("▶", self._tips[True], lambda: session.guide.next(1))
        self.onward = _button("", onward, lambda: session.guide.next(1))
        self.close_button = _button(
            "×", tr("Leave: size and parameters as they were before (Ctrl+L)"), session.guide.leave
        )
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._onward = ""  # the text of that button in one line
        row = self._row = QWidget()
        buttons = QHBoxLayout(row)
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(4)
        for widget in (self.where, self.back, self.on, self.close_button):
            buttons.addWidget(widget)
        self.beside_title = QWidget()
        self._beside = QHBoxLayout(self.beside_title)
        self._beside.setContentsMargins(0, 0, 0, 0)
        self._beside.addWidget(self.lesson_button)
        self._beside.addWidget(row)
        head = self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setSpacing(4)
        head.addWidget(self.title, 1)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(10, 1, 2, 2)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.sentence, 1)
        column.addWidget(self.onward, 0, Qt.AlignmentFlag.AlignLeft)
        listen(self, tour.changed, self._show)
        listen(self, tour.moved, self._show)
        listen(self, session.choice.chosen, self._show)
        listen(self, session.cursor.recorded, self._show)
        listen(self, session.preferences.themed, self._on_theme)
        self._on_theme()

    def _on_theme(self) -> None:
        theme = THEMES[self.session.preferences.theme]
        self.setStyleSheet(
            f"QFrame#tour {{ background: {theme.background}; border: none; border-left: 3px solid {theme.accent}; }}"
        )
        self.title.setStyleSheet(f"color: {theme.muted}; font-weight: bold;")
        self._show()

    def _set_type(self) -> None:
        narrow = self.window().width() < scaled(_NARROW_WINDOW)
        size = TYPE_PT * _LARGER[narrow] * self.session.preferences.type_scale
        sheet = f"color: {THEMES[self.session.preferences.theme].text}; font-size: {size:.1f}pt;"
        if sheet != self.sentence.styleSheet():
            self.sentence.setStyleSheet(sheet)

    def _show(self) -> None:
        tour = self.session.tour
        self._set_type()
        self._show_button()
        show_inside(self, tour.active)
        if not tour.active:
            return
        count = len(tour.stops)
        self.title.say(tour.title, tour.title)
        self.where.setText(tr("{at} of {count}", at=tour.at + 1, count=count) if tour.at is not None and count else "")
        self.sentence.setText(self._text())
        self.back.setEnabled(bool(tour.at))
        following = (
            next((k for k in self.session.choice.kernels if k.name == tour.onward), None) if tour.onward else None
        )
        more = tour.at is None or tour.at < count - 1
        self.on.setEnabled(count > 0 and (more or following is not None))
        self.on.setToolTip(self._tips[more])
        self.on.setAccessibleName(self._tips[more])
        self.onward.setVisible(following is not None)
        if following is not None:
            self._onward = tr("Next kernel: {rung}", rung=following.alias)
            self.onward.setAccessibleName(self._onward)
        self._arrange_title()
        self.updateGeometry()

    def _text(self) -> str:
        """Return the visible text: the stop's sentence, or the awaited recording."""
        tour = self.session.tour
        stop = tour.stop
        if tour.waiting or (stop is None and tour.lesson is not None):
            return tr("Recording for the lesson…")
        if stop is None:
            return tr("Press Ctrl+Page Down to go to the first stop.")
        return self.session.guide.sentence(stop)

    def _toggle(self) -> None:
        self.session.guide.toggle_lesson()
        self._show_button()  # a lesson that cannot begin leaves the button unchanged

    def has_buttons(self) -> bool:
        """Say whether there is a lesson to begin, or one that can be walked through."""
        return self.session.tour.active or self._can_start()

    def _can_start(self) -> bool:
        return self.session.tour.lesson is None and self.lesson_button.isEnabled()

    def put_buttons(self, beside_title: bool) -> None:
        """Put the buttons to the other stops beside the title of the stage, or above the sentence."""
        active = self.session.tour.active
        if beside_title != (self._row.parentWidget() is self.beside_title):
            focus = self._row.focusWidget() if self._row.isAncestorOf(self.window().focusWidget() or self) else None
            (self._beside if beside_title else self._head).addWidget(self._row)
            if focus is not None:
                focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._row.setVisible(active)
        self.lesson_button.setVisible(not active and self._can_start())
        self._arrange_title()

    def _show_button(self) -> None:
        session, button = self.session, self.lesson_button
        button.setChecked(session.tour.lesson is not None)
        button.setEnabled(session.tour.lesson is not None or lesson_path(session.choice.base) is not None)
        self.demo_button.setEnabled(session.choice.kernel.demo is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the title anew."""
        super().resizeEvent(event)
        self._arrange_title()

    def _arrange_title(self) -> None:
        """Put the title beside the buttons; where it would be cut there, above them."""
        narrow = self._is_narrow(self.width())
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._head.direction() != way:
            self._head.setDirection(way)
        self.title.setMinimumHeight(self._title_height(self.width()) if narrow else 0)
        text = self._onward_in(self.width())
        if text != self.onward.text():
            self.onward.setText(text)

    def _onward_in(self, width: int) -> str:
        """Return the text of the way to the next kernel, in several lines where a bar of a width has no room for it."""
        return in_lines(self._onward, self.onward.fontMetrics(), self._inside(width).width() - _BUTTON_EDGES)

    def _is_narrow(self, width: int) -> bool:
        self.title.ensurePolished()
        title = QFontMetrics(self.title.font()).horizontalAdvance(self.session.tour.title)
        buttons = self._head.spacing() + self._row.sizeHint().width() if self._has_row() else 0
        return title + buttons > self._inside(width).width()

    def _has_row(self) -> bool:
        """Say whether the buttons to the other stops are here, and not beside the title of the stage."""
        return self._row.parentWidget() is self

    def _inside(self, width: int) -> QRect:
        """Return the room for texts in a bar of a width, as high as need be."""
        margins = self._column.contentsMargins()
        return QRect(0, 0, max(width - margins.left() - margins.right() - 6, 50), _ANY_HEIGHT)

    def _title_height(self, width: int) -> int:
        """Return the height of the title above the buttons."""
        metrics = QFontMetrics(self.title.font())
        needed = metrics.boundingRect(self._inside(width), int(Qt.TextFlag.TextWordWrap), self.session.tour.title)
        return min(needed.height(), _TITLE_LINES * metrics.lineSpacing())

    def hasHeightForWidth(self) -> bool:
        """Return True: a sentence takes more lines where it is narrow."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height in which each sentence of the tour fits, so that the tiles do not jump at each stop.

        On the stage, sentences with a lens and those without one stand in different places, and need not fit into each
        other's.
        """
        tour = self.session.tour
        self.sentence.ensurePolished()
        metrics = QFontMetrics(self.sentence.font())
        margins, room = self._column.contentsMargins(), self._inside(width)

        def height(text: str) -> int:
            return metrics.boundingRect(room, int(Qt.TextFlag.TextWordWrap), text).height()

        with_lens = tour.stop is not None and tour.stop.lens is not None
        on_stage = self.parentWidget() is self.beside_title.parentWidget()
        alike = [stop for stop in tour.stops if not on_stage or (stop.lens is not None) == with_lens]
        heights = [height(text) for text in (self.sentence.text(), *(stop.say for stop in alike))]
        if tour.lesson is not None and alike and alike[-1] is tour.stops[-1]:
            # The way to the next kernel stands below the last one.
            more = self._onward_in(width).count("\n") - self.onward.text().count("\n")
            button = self.onward.sizeHint().height() + more * self.onward.fontMetrics().lineSpacing()
            heights.append(heights[-1] + button + self._column.spacing())
        title = self._title_height(width)
        others = max(title, self._row.sizeHint().height()) if self._has_row() else title
        if self._has_row() and self._is_narrow(width):
            others = self._row.sizeHint().height() + title + self._head.spacing()
        others += self._column.spacing()
        return max(heights) + 4 + others + margins.top() + margins.bottom()


def _button(text: str, tip: str, act: Callable[[], object]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setObjectName("slim")
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.clicked.connect(lambda *_: act())
    return button


def in_lines(text: str, metrics: QFontMetrics, width: int) -> str:
    """Break a text between words into lines of a width in pixels, for a button, which does not do so itself."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)
