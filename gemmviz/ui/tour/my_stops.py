"""One's own stops: the box for a sentence, and the list to reorder, change and save them."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.user_file import write_text
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.session import Message, Session
from gemmviz.session.rules.setting_stops import as_lesson, stop_here
from gemmviz.session.tour.lesson_file import SUFFIX, write_lesson
from gemmviz.session.tour.lessons import own_folder
from gemmviz.session.tour.stop import OwnStop
from gemmviz.session.values.kernel_names import no_source
from gemmviz.ui.connections import listen
from gemmviz.ui.stage.caption import caption

_BOX_WIDTH, _LIST_WIDTH, _LIST_HEIGHT = 680, 680, 360


class SentenceBox(QDialog):
    """A line for the sentence of a stop, beside the window: Enter keeps it, Esc does not.

    Parameters
    ----------
    title
        The purpose of the box.
    sentence
        The initial text.
    parent
        The parent window.
    """

    def __init__(self, title: str, sentence: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        label = QLabel(tr("What should people look at here? Enter keeps the stop, Esc does not."))
        self.line = QLineEdit(sentence)
        self.line.setAccessibleName(tr("Sentence of the stop"))
        # Selected from its end to its beginning: typing replaces it, and its beginning is visible.
        self.line.end(False)
        self.line.home(True)
        label.setBuddy(self.line)
        self.line.returnPressed.connect(self.accept)
        column = QVBoxLayout(self)
        column.addWidget(label)
        column.addWidget(self.line)
        self.resize(_BOX_WIDTH, self.sizeHint().height())


class MyStops(QDialog):
    """The list of one's own stops on the chosen rung.

    Parameters
    ----------
    session
        The session with the stops.
    parent
        The parent window.
    """

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self.session = session
        self.setWindowTitle(tr("My stops"))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("My stops"))
        self.list.setWordWrap(True)
        self.list.itemActivated.connect(lambda *_: self.go())
        self.hint = QLabel(tr("No stop on this kernel yet: go to a step and press B."))
        self.hint.setWordWrap(True)
        self.buttons = {
            name: _push(title, act)
            for name, title, act in (
                ("go", tr("Go there"), self.go),
                ("edit", tr("Edit the sentence…"), self.edit),
                ("up", tr("Move up"), lambda: self.move_by(-1)),
                ("down", tr("Move down"), lambda: self.move_by(1)),
                ("delete", tr("Delete"), self.delete),
                ("undo", tr("Undo"), session.own_stops.undo),
                ("save", tr("Save as a lesson…"), self.save),
            )
        }
        for name, keys in (("delete", "Del"), ("undo", "Ctrl+Z"), ("up", "Ctrl+Up"), ("down", "Ctrl+Down")):
            self.buttons[name].setShortcut(keys)
            self.buttons[name].setToolTip(keys)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.close)
        side = QVBoxLayout()
        for button in self.buttons.values():
            side.addWidget(button)
        side.addStretch(1)
        side.addWidget(close)
        row = QHBoxLayout(self)
        left = QVBoxLayout()
        left.addWidget(self.hint)
        left.addWidget(self.list, 1)
        row.addLayout(left, 1)
        row.addLayout(side)
        sight = session.sight
        if sight.stops_place is None:
            self.resize(_LIST_WIDTH, _LIST_HEIGHT)
        else:
            self.setGeometry(*sight.stops_place)
        self.list.currentRowChanged.connect(self._enable)
        listen(self, session.tour.changed, self.refresh)
        listen(self, session.choice.chosen, self.refresh)
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Keep for the next window that the list is open."""
        super().showEvent(event)
        self.session.sight.stop = self.list.currentRow()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Keep the place on the screen for the next window."""
        super().moveEvent(event)
        self._keep_place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the size for the next window."""
        super().resizeEvent(event)
        self._keep_place()

    def _keep_place(self) -> None:
        if self.isVisible():
            place = self.geometry()
            self.session.sight.stops_place = place.x(), place.y(), place.width(), place.height()

    def refresh(self) -> None:
        """Show the stops as they are now; the same line stays chosen."""
        stops, row = self.session.own_stops.here, self.list.currentRow()
        self.list.clear()
        for number, stop in enumerate(stops, 1):
            text = tr(
                "{number}. Step {step}: {sentence}", number=number, step=thousands(stop.step + 1), sentence=stop.say
            )
            self.list.addItem(QListWidgetItem(text))
        self.list.setCurrentRow(min(max(row, 0), len(stops) - 1))
        self.hint.setVisible(not stops)
        self._enable()

    def _enable(self, *_: object) -> None:
        row, count = self.list.currentRow(), self.list.count()
        if self.isVisible():
            self.session.sight.stop = row
        usable = {
            "up": row > 0,
            "down": 0 <= row < count - 1,
            "undo": self.session.own_stops.undoable,
            "save": count > 0,
        }
        for name, button in self.buttons.items():
            button.setEnabled(usable.get(name, row >= 0))

    def go(self) -> None:
        """Go to the chosen stop."""
        if self.list.currentRow() >= 0:
            self.session.guide.show_own(self.list.currentRow())

    def edit(self) -> None:
        """Change the sentence of the chosen stop."""
        own, rung = self.session.own_stops, self.session.choice.base.name
        stop = own.here[self.list.currentRow()]
        box = SentenceBox(tr("Edit the sentence"), stop.say, self)

        def keep() -> None:
            # Another rung may be chosen in the meantime, and the stop be moved or gone.
            stops = own.mine.get(rung, ())
            if stop in stops:
                own.say(stops.index(stop), box.line.text().strip(), rung)

        box.accepted.connect(keep)
        box.show()

    def move_by(self, direction: int) -> None:
        """Move the chosen stop up (-1) or down (1)."""
        row = self.list.currentRow()
        self.session.own_stops.move(row, row + direction)
        self.list.setCurrentRow(row + direction)

    def delete(self) -> None:
        """Remove the chosen stop."""
        self.session.own_stops.remove(self.list.currentRow())

    def save(self) -> None:
        """Write the stops to a lesson's file; dialogs give its name and title."""
        session = self.session
        folder = own_folder()
        proposed = (folder if folder.is_dir() else Path.home()) / f"{session.choice.base.name}{SUFFIX}"
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Save as a lesson"), str(proposed), tr("Lessons (*.toml)"))
        if not chosen:
            return
        path = Path(chosen).with_suffix(SUFFIX)
        title, kept = QInputDialog.getText(self, tr("Save as a lesson"), tr("Title of the lesson:"))
        if not kept:
            return
        try:
            named = title.strip() or session.choice.base.title
            write_text(path, write_lesson(as_lesson(session.staged, session.own_stops, path, named)))
        except GemmvizError as error:
            session.messages.tell(Message(str(error), "warning", lasting=True))
        else:
            session.messages.tell(Message(tr("Saved {path}: open it with Ctrl+O.", path=path), "info", lasting=True))


class StopsList:
    """The actions of the keys for one's own stops.

    Parameters
    ----------
    session
        The session with the stops.
    window
        The parent window of the boxes.
    """

    def __init__(self, session: Session, window: QWidget) -> None:
        self.session, self.window = session, window
        self.list_box: MyStops | None = None

    def bookmark(self) -> SentenceBox | None:
        """Open the box for the sentence of a stop at the step on the stage, and set the stop when Enter keeps it."""
        session = self.session
        if session.cursor.playable is None or not session.choice.kernel.recordable:
            message = no_source(session.choice.kernel) or tr(
                "There is no recording to set a stop in: press Record (Ctrl+R)."
            )
            session.messages.tell(Message(message, "info"))
            return None
        session.playback.pause()
        # Of the rung that is on the stage now: another one may be chosen before the box is closed.
        stop, rung = stop_here(session.staged), session.choice.base.name
        box = SentenceBox(tr("New stop"), caption(session.cursor.playable, session.cursor.step), self.window)
        box.accepted.connect(lambda: session.own_stops.add(_saying(stop, box.line.text()), rung))
        box.show()
        return box

    def show_list(self) -> MyStops:
        """Show the list of one's own stops beside the window."""
        if self.list_box is None:
            self.list_box = MyStops(self.session, self.window)
            self.list_box.finished.connect(self._on_closed)
        self.list_box.show()
        self.list_box.raise_()
        self.list_box.list.setFocus()
        return self.list_box

    def _on_closed(self) -> None:
        self.session.sight.stop = None

    def retire(self) -> None:
        """Keep the list as open, although the window's dialogs are closed now."""
        if self.list_box is not None:
            self.list_box.finished.disconnect(self._on_closed)

    def resume(self) -> None:
        """Show the list if it was open in the previous window."""
        row = self.session.sight.stop
        if row is not None:
            self.show_list().list.setCurrentRow(row)


def _saying(stop: OwnStop, sentence: str) -> OwnStop:
    return OwnStop(stop.step, sentence.strip(), stop.cell, stop.block, stop.warp, stop.panel, stop.setting)


def _push(title: str, act: Callable[[], object]) -> QPushButton:
    button = QPushButton(title)
    button.setAutoDefault(False)
    button.clicked.connect(lambda *_: act())
    return button
