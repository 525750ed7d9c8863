"""A widget that floats over the lower edge of another widget without reducing its size."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QWidget

from gemmviz.ui.known import known
from gemmviz.ui.look.style import scaled

# Named here, because a look-up of an enumeration of Qt takes longer than the rest of an event filter.
_CHANGES = frozenset((QEvent.Type.Resize, QEvent.Type.ChildAdded))
_OWN_CHANGES = frozenset((QEvent.Type.ShowToParent, QEvent.Type.LayoutRequest))
_MARGIN, _LEAST = 6, 960  # pixels, the second at a scale of type of 1


class Floating(QObject):
    """Keeps a widget over the lower edge of another widget: over the part that may be covered, if that is wide enough.

    Else it is as wide as the other widget, so that no text below it is covered in part.

    Parameters
    ----------
    widget
        The floating widget. It becomes a child of `below`.
    below
        The widget under it.
    over
        May be covered, if it is visible: a part of a row at the lower edge of `below`. The floating widget takes the
        height of the row.
    fit
        Called with the width that the widget will have, and the height that it may cover, in pixels, before it is
        asked for its height.
    """

    def __init__(self, widget: QWidget, below: QWidget, over: QWidget, fit: Callable[[int, int], None]) -> None:
        super().__init__(below)
        self._widget, self._below, self._over, self._fit = widget, below, over, fit
        hidden = widget.isHidden()
        widget.setParent(below)
        widget.setVisible(not hidden)
        for one in (widget, below, over):
            one.installEventFilter(self)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the widget when the size, the content or the page changes."""
        if event.type() in (_OWN_CHANGES if watched is self._widget else _CHANGES):
            self._arrange()
        return False

    def _arrange(self) -> None:
        widget, below = self._widget, self._below
        if widget.isHidden():
            return
        span, least = QRect(_MARGIN, 0, below.width() - 2 * _MARGIN, 0), 0
        if self._over.isVisible():
            least = known(self._over.parentWidget()).height() - 2 * _MARGIN
            if self._over.width() >= scaled(_LEAST):
                span = QRect(self._over.mapTo(below, QPoint()), self._over.size())
        width = span.width()
        self._fit(width, least)
        height = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
        height = max(height, least)
        top = max(below.height() - _MARGIN - height, 0)
        widget.setGeometry(span.left(), top, width, height)
        widget.raise_()
