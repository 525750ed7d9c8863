"""The first view: three doors. Watch a tile move, ask why a kernel is slow, or open a kernel of one's own."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr, trn
from gemmviz.session import Session
from gemmviz.session.rules.staged import Staged
from gemmviz.session.tour.lessons import find_lesson
from gemmviz.trace.playable import Playable
from gemmviz.ui import connections
from gemmviz.ui.connections import listen
from gemmviz.ui.discard import discard
from gemmviz.ui.look.figure_text import size_text
from gemmviz.ui.look.style import TYPE_PT, scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.panels.door_card import GAP, PICTURE, add_card
from gemmviz.ui.panels.door_demo import kept_demo
from gemmviz.ui.panels.door_file import FilePicture
from gemmviz.ui.panels.door_sectors import SectorsPicture
from gemmviz.ui.stage.stage import Stage

if TYPE_CHECKING:
    from gemmviz.ui.stage.painter import StagePainter

_WATCHED, _SIZE, _PARAMS = "gputiled", 8, {"TS": 4}
ASKED = "matmul_kernel_naive"
"""The kernel of the second door."""
_WIDEST, _BUTTON = 1240, 28  # pixels, at a scale of type of 1
_SMALL_TYPE = 11
# On a large screen all grows with the room, from this size of the covered part on, and up to this factor.
_ROOMY, _LARGEST = (1280, 680), 1.25
# The title, the text and the button's text of each door.
_DOORS = (
    (
        mark("Watch a tile move"),
        mark("Tiles of A and B fly into shared memory, threads multiply them, and C fills. You can read every number."),
        mark("Play it"),
    ),
    (
        mark("Why is the naive kernel slow?"),
        mark("One warp asks for 32 values and gets 32 sectors of memory, where 4 would do. See why."),
        mark("Start the lesson"),
    ),
    (
        mark("Open my own kernel"),
        mark(
            "Choose a .cu or .c file, or paste its text. gemmviz guesses how to launch it, and asks you before it "
            "runs anything."
        ),
        mark("Choose a file…"),
    ),
)


class Doors(QWidget):
    """Covers a part of a window until a door is taken, or something else in the window is opened.

    Parameters
    ----------
    session
        The session that the doors lead into.
    within
        The widget to stand in.
    below
        The part of it to cover.
    ask_file
        Opens the dialog to choose a file.
    open_file
        Opens a file.
    """

    left = Signal()
    """A door was chosen or the doors were skipped."""

    def __init__(
        self,
        session: Session,
        within: QWidget,
        below: QWidget,
        ask_file: Callable[[], object],
        open_file: Callable[[Path], object],
    ) -> None:
        super().__init__(within)
        self._session, self._below, self._open_file = session, below, open_file
        self.setObjectName("doors")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Where to begin"))
        self._factor = 1.0
        acts = (self._watch, self._ask, ask_file)
        self.buttons = [QPushButton(tr(button)) for _, _, button in _DOORS]
        self.skip, self.go_on = QPushButton(tr("Skip to the stage")), QPushButton()
        for link in (self.skip, self.go_on):
            link.setObjectName("link")
        self.again = QCheckBox(tr("Show this when it starts"))
        self.again.setChecked(session.preferences.doors)
        self._arrange()
        for number, (button, act) in enumerate(zip(self.buttons, acts, strict=True), 1):
            button.clicked.connect(lambda *_, act=act: self.leave(act))
            QShortcut(str(number), self, lambda act=act: self.leave(act))
        for key in ("Return", "Enter"):
            QShortcut(key, self, self._take_focused)
        self.skip.clicked.connect(lambda *_: self.leave(None))
        self.go_on.clicked.connect(lambda *_: self.leave(self._go_on))
        self.again.toggled.connect(session.preferences.show_doors)
        last = self._last()
        self.go_on.setVisible(last is not None)
        if last is not None:
            name = last.name if isinstance(last, Path) else tr(last.title)
            text, stop = tr("Go on where I stopped: {kernel}", kernel=name), session.preferences.last_stop
            if stop and not isinstance(last, Path):
                text = tr("Go on where I stopped: {kernel}, stop {stop} of its lesson", kernel=name, stop=stop)
            self.go_on.setText(text)
        listen(self, session.preferences.themed, self._on_theme)
        for opened in (session.choice.opened, session.tour.changed, session.comparison.changed):
            listen(self, opened, self.leave)
        self._on_theme()
        below.installEventFilter(self)
        self.setGeometry(below.geometry())
        self.raise_()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take the door whose card was clicked, wherever that was."""
        for card, button in zip(self.cards, self.buttons, strict=True):
            inside = card.rect().contains(card.mapFrom(self, event.position().toPoint()))
            if inside and event.button() == Qt.MouseButton.LeftButton:
                button.click()
                return

    def showEvent(self, event: QEvent) -> None:
        """Give the keyboard to the first door, and none to what is covered: its focus could not be seen."""
        self._below.setEnabled(False)
        self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QEvent) -> None:
        """Give the keyboard back to what was covered."""
        self._below.setEnabled(True)

    def event(self, event: QEvent) -> bool:
        """Take the key Esc from the window's shortcuts while the doors are visible."""
        overrides = event.type() == QEvent.Type.ShortcutOverride
        if overrides and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the doors with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave(None)
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cover the window at any size."""
        if event.type() == QEvent.Type.Resize and watched is self._below:
            self.setGeometry(self._below.geometry())
            self.raise_()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Grow with a large screen; leave out pictures, and the least important texts, where they have no room."""
        self._grow()
        optional = self._optional
        for part in optional:
            part.show()
        for part in optional:
            if not self._is_too_low():
                break
            part.hide()
        super().resizeEvent(event)

    def _grow(self) -> None:
        share = min(self.width() / scaled(_ROOMY[0]), self.height() / scaled(_ROOMY[1]))
        factor = round(min(max(share, 1.0), _LARGEST), 2)
        if factor == self._factor:
            return
        self._factor = factor
        self._middle.setMaximumWidth(round(scaled(_WIDEST) * factor))
        for picture in self._pictures:
            picture.setMaximumHeight(round(scaled(PICTURE) * factor))
        self._on_theme()

    def _is_too_low(self) -> bool:
        """Return whether the texts need more height than there is."""
        self._column.invalidate()
        margins = self._whole.contentsMargins()
        width = min(self.width() - margins.left() - margins.right(), self._middle.maximumWidth())
        return self._column.totalMinimumHeightForWidth(width) > self.height() - margins.top() - margins.bottom()

    def _arrange(self) -> None:
        title, under = QLabel(tr("See how a matrix multiplication really runs")), QLabel()
        title.setObjectName("title")
        under.setObjectName("muted")
        under.setText(tr("Real CUDA source, recorded access by access. No GPU is needed."))
        doors = QGridLayout()
        doors.setHorizontalSpacing(GAP)
        doors.setVerticalSpacing(GAP // 2)
        self._pictures = pictures = self._moving(), SectorsPicture(self._session.preferences), self._file()
        self.cards = [
            add_card(doors, number, picture, (tr(heading), tr(text), info), button)
            for number, ((heading, text, _), picture, info, button) in enumerate(
                zip(_DOORS, pictures, self._infos(), self.buttons, strict=True), 1
            )
        ]
        links = QHBoxLayout()
        for widget in (self.skip, self.go_on):
            links.addWidget(widget)
        links.addStretch(1)
        links.addWidget(self.again)
        self._middle = middle = QWidget()
        middle.setMaximumWidth(round(scaled(_WIDEST)))
        self._column = column = QVBoxLayout(middle)
        column.setSpacing(GAP // 2)
        for label in (title, under):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addSpacing(GAP)
        column.addLayout(doors)
        column.addSpacing(GAP // 2)
        column.addLayout(links)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(middle, 100)
        row.addStretch(1)
        infos = [label for label in self.findChildren(QLabel) if label.objectName() == "info"]
        self._optional: tuple[QWidget, ...] = (*pictures, under, *infos, title)
        self._whole = whole = QVBoxLayout(self)
        whole.setContentsMargins(GAP, GAP, GAP, GAP)
        whole.addStretch(2)
        whole.addLayout(row)
        whole.addStretch(3)

    def _infos(self) -> tuple[str, str, str]:
        """Return the text about the page behind each door; empty if this ladder lacks the kernel."""
        watched, asked = self._kernel(_WATCHED), self._kernel(ASKED)
        try:
            lesson = find_lesson(asked) if asked is not None else None
        except GemmvizError:
            lesson = None  # a user's own lesson may have errors: they are reported where it is started
        play = f"{tr(watched.title)} · {size_text((_SIZE,) * 3)}" if watched is not None else ""
        learn = ""
        if asked is not None and lesson is not None:
            learn = f"{tr(asked.title)} · {trn('{count} stop', '{count} stops', len(lesson.stops))}"
        return play, learn, tr(".cu, .c, or drop it on this window")

    # The pictures of the doors

    def _moving(self) -> QWidget:
        """Return a small picture of the first door's recording: the one that the window plays, or the kept one."""
        session, kernel = self._session, self._kernel(_WATCHED)
        choice = session.choice
        here = choice.kernel.name, choice.problem, choice.params
        staged: Staged | None = session.staged
        if kernel is not None and here != (_WATCHED, Problem.cube(_SIZE), _PARAMS):
            staged = kept_demo(kernel, session)
        if staged is None:
            return QWidget()  # better no picture than one of another kernel
        stage = _Small(staged)
        stage.captioned = False
        stage.setMinimumWidth(1)  # the doors are equally wide
        stage.base_font = QFont(self.font())
        stage.base_font.setPixelSize(_SMALL_TYPE)
        stage.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        stage.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        return stage

    def _file(self) -> QWidget:
        """Return a picture of a file that is opened."""
        return FilePicture(self._session.preferences)

    def _on_theme(self) -> None:
        theme, scale = THEMES[self._session.preferences.theme], self._session.preferences.type_scale * self._factor
        self.setStyleSheet(
            f"""
            QWidget#doors {{ background: {theme.background}; }}
            QLabel {{ color: {theme.text}; }}
            QLabel#title {{ font-size: {TYPE_PT * 2.3 * scale:.1f}pt; font-weight: bold; }}
            QLabel#muted {{ color: {theme.muted}; font-size: {TYPE_PT * 1.15 * scale:.1f}pt; }}
            QLabel#heading {{ color: {theme.text}; font-size: {TYPE_PT * 1.5 * scale:.1f}pt; padding: 0px; }}
            QLabel#body {{ font-size: {TYPE_PT * 1.15 * scale:.1f}pt; }}
            QLabel#info {{ color: {theme.muted}; border-top: 1px solid {theme.outline}; padding-top: 8px; }}
            QFrame#door {{ background: {theme.panel}; border: 1px solid {theme.outline}; border-radius: 10px; }}
            QFrame#door[first="true"] {{ border: 2px solid {theme.accent}; }}
            QLabel#info, QLabel#key, QPushButton, QCheckBox {{ font-size: {TYPE_PT * scale:.1f}pt; }}
            QPushButton {{ min-height: {_BUTTON * scale:.0f}px; }}
            QLabel#key {{ color: {theme.text}; border: 1px solid {theme.outline}; border-radius: 4px;
                min-height: {_BUTTON * scale:.0f}px; min-width: {_BUTTON * scale:.0f}px; }}
            QPushButton#link {{ background: transparent; border: 1px solid transparent; color: {theme.accent};
                text-align: left; }}
            QPushButton#link:focus {{ border: 1px solid {theme.text}; }}
            """
        )

    # The doors

    def _take_focused(self) -> None:
        focused = self.focusWidget()
        button = focused if isinstance(focused, QPushButton) else self.buttons[0]
        button.click()

    def leave(self, act: Callable[[], object] | None = None) -> None:
        """Close the doors for good, and run the chosen one's action; None: nothing."""
        if self.isHidden():
            return
        self.hide()
        self.left.emit()
        QTimer.singleShot(0, self, self._end)
        if act is not None:
            act()

    def _end(self) -> None:
        """Delete the doors, which are not shown again.

        They may have been left while one of their signals is emitted: to disconnect then would leave out the next
        listener. A listener of a deleted widget would raise an error, and no later listener would be called.
        """
        connections.close(self)
        discard(self)

    def turned_from(self, page: str) -> None:
        """Close the doors, as another page was opened."""
        self.leave()

    def _kernel(self, name: str) -> Kernel | None:
        try:
            return find(name, self._session.choice.kernels)
        except GemmvizError:
            return None  # a user's own ladder may lack it

    def _watch(self) -> None:
        session, kernel = self._session, self._kernel(_WATCHED)
        if kernel is not None:
            session.choice.choose_kernel(kernel, kernel.defaults | _PARAMS, Problem.cube(_SIZE))
            session.cursor.seek(0)
            session.playback.play()

    def _ask(self) -> None:
        self._session.guide.start_rung(ASKED)

    def _last(self) -> Kernel | Path | None:
        """Return what was chosen last: a kernel of the list, or the user's own file if it is still there."""
        last = self._session.preferences
        if last.last_file:
            return Path(last.last_file) if Path(last.last_file).is_file() else None
        # The first door leads to the same stage.
        is_first = last.last_kernel == _WATCHED and not last.last_stop
        return self._kernel(last.last_kernel) if last.last_kernel and not is_first else None

    def _go_on(self) -> None:
        last, stop = self._last(), self._session.preferences.last_stop
        if isinstance(last, Path):
            self._open_file(last)
        elif last is not None and stop:
            self._session.guide.start_rung(last.name, stop - 1)
        elif last is not None:
            self._session.choice.choose_kernel(last)
            self._session.demonstration.first_look()


class _Small(Stage):
    def make_painter(self, playable: Playable) -> "StagePainter":
        from gemmviz.ui.stage.plain_painter import PlainPainter  # late: see `Stage.make_painter`

        return PlainPainter(playable, self.theme, self.font())
