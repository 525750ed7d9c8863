"""The menu bar by keys: F10 enters it, the arrows then move along it, and Escape leaves it."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QMenuBar

_MOVES = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Escape)


class MenuKeys(QObject):
    """Gives the arrows to a menu bar that has the focus: else they are the window's shortcuts, and move the step.

    Parameters
    ----------
    bar
        The menu bar.
    """

    def __init__(self, bar: QMenuBar) -> None:
        super().__init__(bar)
        bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep a key from being a shortcut."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in _MOVES:
            event.accept()
            return True
        return super().eventFilter(watched, event)


def enter(bar: QMenuBar) -> None:
    """Give the focus to a menu bar's first menu; Escape gives it back, as after Alt."""
    _Entered(bar)


class _Entered(QObject):
    """Gives the focus back where the menu bar is left by Escape; it ends when the focus goes anywhere else."""

    def __init__(self, bar: QMenuBar) -> None:
        super().__init__(bar)
        self._bar, self._before, self._leaves = bar, QApplication.focusWidget(), False
        bar.setFocus(Qt.FocusReason.MenuBarFocusReason)
        bar.setActiveAction(bar.actions()[0])
        bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the menu bar at Escape."""
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if escape and event.type() == QEvent.Type.KeyPress:
            self._leaves = True  # and Qt ends its own state
        elif escape and event.type() == QEvent.Type.KeyRelease and self._leaves:
            self._bar.clearFocus()
            if self._before is not None:
                self._before.setFocus(Qt.FocusReason.MenuBarFocusReason)
            return True
        if event.type() == QEvent.Type.FocusOut and QApplication.activePopupWidget() is None:
            self._bar.removeEventFilter(self)
            self._bar.setActiveAction(None)  # type: ignore[arg-type]
            self.deleteLater()
        return super().eventFilter(watched, event)
