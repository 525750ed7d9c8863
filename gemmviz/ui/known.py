"""What Qt and the session say less about by their types than is known where it is used."""

from typing import TypeVar

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

_Thing = TypeVar("_Thing")


def known(thing: _Thing | None) -> _Thing:
    """Return what is there at this place by how the program is built; None is a mistake in it, and fails here."""
    assert thing is not None
    return thing


def qt() -> QApplication:
    """Return the application that runs: there is one before any widget."""
    running = QApplication.instance()
    assert isinstance(running, QApplication)
    return running


def shortcut(event: QEvent) -> QKeyEvent | None:
    """Return the key that becomes a shortcut unless the event is accepted; None where the event is about none."""
    return event if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride else None
