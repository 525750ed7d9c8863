"""Buttons whose mark shows what the session says: another window is told by the session, and not by pressing them."""

from PySide6.QtWidgets import QAbstractButton

_MIRRORS = "mirrors the session"


def mirror(button: QAbstractButton) -> None:
    """Let a button be marked or not marked by the session alone."""
    button.setCheckable(True)
    button.setProperty(_MIRRORS, True)


def is_mirror(button: QAbstractButton) -> bool:
    """Say whether a button's mark is the session's."""
    return bool(button.property(_MIRRORS))
