"""Shows a widget inside another one, and never as a window of its own."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def show_inside(widget: QWidget, visible: bool) -> None:
    """Show or hide a widget. Without a parent it would be a window for a moment: then it appears with its parent.

    Parameters
    ----------
    widget
        A widget that a layout takes later, or has taken.
    visible
        Whether to show it.
    """
    if visible and widget.parentWidget() is None:
        widget.setAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide, False)
    else:
        widget.setVisible(visible)
