"""Deletes widgets so that nothing of them stays in memory.

Qt's style keeps the rules of each widget until the widget is destroyed. It does not do so for the parts that draw no
style of their own, such as the line in a spin box and the list of a combo box: their rules stay for ever, about 1 KiB
for each part (Qt 6.10). Each change of the language left 18 KiB, and each box with a parameter of a kernel 2 KiB.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

# A part with a style sheet of its own is one that the style forgets. This sheet changes nothing.
_SHEET = "*{}"


def discard(widget: QWidget) -> None:
    """Hide a widget, and delete it as soon as no event is being handled."""
    forget_style(widget)
    widget.hide()
    widget.deleteLater()


def forget_style(widget: QWidget) -> None:
    """Let Qt's style forget a widget and its parts when they are destroyed. To be called when it is not shown again."""
    for part in (widget, *widget.findChildren(QWidget)):
        if not part.testAttribute(Qt.WidgetAttribute.WA_StyleSheet):
            part.setStyleSheet(_SHEET)
            part.ensurePolished()
