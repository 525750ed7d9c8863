"""Texts for a screen reader: names of the parts of boxes, and the content of the stage at rest."""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLineEdit, QWidget

from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.playback import Playback
from gemmviz.ui.connections import listen
from gemmviz.ui.stage.caption import about_cell, caption

# A user who holds an arrow key hears the last step, not each one.
_SETTLED_MS = 400


def name_parts(parent: QWidget) -> None:
    """Give the line edits and lists inside of boxes the names of their boxes.

    A combo box gives its text as its name: its own name is its description, too.
    """
    for kind in (QComboBox, QAbstractSpinBox):
        for box in parent.findChildren(kind):
            name = box.accessibleName()
            for edit in box.findChildren(QLineEdit):
                edit.setAccessibleName(name)
            if isinstance(box, QComboBox):
                box.setAccessibleDescription(name)
                box.view().setAccessibleName(name)


class Announcer(QObject):
    """Announces the content of the stage, each time that it rests at a step or a cell.

    Parameters
    ----------
    cursor, playback
        The step and the choice, and whether they play.
    stage
        The widget with the description.
    """

    def __init__(self, cursor: Cursor, playback: Playback, stage: QWidget) -> None:
        super().__init__(stage)
        self._cursor, self._playback = cursor, playback
        self._stage = stage
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLED_MS)
        self._settled.timeout.connect(self._announce)
        for signal in (
            cursor.recorded,
            cursor.stepped,
            cursor.picked,
            playback.changed,
        ):
            listen(self, signal, self._on_change)

    def _on_change(self) -> None:
        if self._playback.playing:
            self._settled.stop()
        else:
            self._settled.start()

    def _announce(self) -> None:
        cursor, playable = self._cursor, self._cursor.playable
        if playable is None:
            sentence = ""
        elif cursor.cell is not None:
            sentence = about_cell(playable, *cursor.cell, cursor.step, cursor.shown_block)
        else:
            sentence = caption(playable, cursor.step, cursor.shown_block)
        if sentence != self._stage.accessibleDescription():
            from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # late: many names, not needed at once

            self._stage.setAccessibleDescription(sentence)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._stage, sentence))
