"""Narrower types than those of Qt and the session, where the program's structure guarantees them."""

from typing import TypeVar

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

_Thing = TypeVar("_Thing")


def known(thing: _Thing | None) -> _Thing:
    """Return a value that the program's structure guarantees; None is a mistake in the program, and fails here."""
    assert thing is not None
    return thing


def qt() -> QApplication:
    """Return the running application: there is one before any widget."""
    running = QApplication.instance()
    assert isinstance(running, QApplication)
    return running


def shortcut(event: QEvent) -> QKeyEvent | None:
    """Return the key that becomes a shortcut unless the event is accepted; None for an event of another kind."""
    return event if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride else None
