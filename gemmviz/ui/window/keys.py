"""Lets the widget with the focus use its own keys, although shortcuts of the window have the same keys."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QComboBox, QTabBar, QWidget

from gemmviz.ui.known import qt, shortcut
from gemmviz.ui.look.accessible import name_parts

_GUARDED = "gemmviz_keeps_its_keys"
_RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PRESSES = (Qt.Key.Key_Space,)
_CHOOSES = (Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)


class KeyGuard(QObject):
    """Keeps Space, Return, arrows, Home and End for buttons, boxes and tabs that have the focus through the Tab key.

    The mouse does not give them the focus, so that Space still plays after a click.

    Parameters
    ----------
    window
        The window with the widgets to guard. Call `guard` for widgets that are made later.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        # A filter sees every event of its widget, which costs time: only the widget with the focus has one.
        qt().focusChanged.connect(self._on_focus)
        self.guard(window)

    def guard(self, parent: QWidget) -> None:
        """Guard the children of a widget, and give names to their parts."""
        name_parts(parent)
        for kind in (QAbstractButton, QComboBox, QTabBar):
            for widget in parent.findChildren(kind):
                if isinstance(widget.parent(), QTabBar):  # it scrolls the tabs, like the arrow keys
                    widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
                typed_into = isinstance(widget, QComboBox) and widget.isEditable()
                if typed_into or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
                    continue
                widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)
                widget.setProperty(_GUARDED, True)

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        if now is not None and now.property(_GUARDED):
            now.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim a key before it becomes a shortcut; Return presses a button, as in a dialog."""
        if isinstance(watched, QAbstractButton) and _is_return(event):
            watched.click()
            return True
        key = shortcut(event)
        if key is not None:
            keys = _PRESSES if isinstance(watched, QAbstractButton) else _CHOOSES
            if key.key() in keys and not key.modifiers():
                event.accept()
                return True
        return False


def _is_return(event: QEvent) -> bool:
    if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
        return False
    return event.key() in _RETURNS and not event.isAutoRepeat()
