"""A widget that floats over the lower edge of another widget without reducing its size."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from gemmviz.ui.look.style import scaled

_MARGIN, _WIDEST = 6, 1240  # pixels, the second at a scale of type of 1


class Floating(QObject):
    """Keeps a widget centred over the lower edge of another widget, if possible over the part that may be covered.

    Parameters
    ----------
    widget
        The floating widget. It becomes a child of `below`.
    below
        The widget under it.
    foot
        Returns the height at the lower edge that the widget may cover, in pixels. It takes all of that.
    """

    def __init__(self, widget: QWidget, below: QWidget, foot: Callable[[], int]) -> None:
        super().__init__(below)
        self._widget, self._below, self._foot = widget, below, foot
        hidden = widget.isHidden()
        widget.setParent(below)
        widget.setVisible(not hidden)
        for one in (widget, below):
            one.installEventFilter(self)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the widget when the size, the content or the page changes."""
        changed = event.type() in (QEvent.Type.Resize, QEvent.Type.ChildAdded)
        own = event.type() in (QEvent.Type.ShowToParent, QEvent.Type.LayoutRequest)
        if changed if watched is self._below else own:
            self._arrange()
        return False

    def _arrange(self) -> None:
        widget, below = self._widget, self._below
        if widget.isHidden():
            return
        width = min(below.width() - 2 * _MARGIN, round(scaled(_WIDEST)))
        height = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
        height = max(height, self._foot() - 2 * _MARGIN)
        top = max(below.height() - _MARGIN - height, 0)
        widget.setGeometry((below.width() - width) // 2, top, width, height)
        widget.raise_()
