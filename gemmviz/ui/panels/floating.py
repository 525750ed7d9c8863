"""A widget that floats over the lower edge of another widget without reducing its size."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from gemmviz.ui.look.style import scaled

# Named here, because a look-up of an enumeration of Qt takes longer than the rest of an event filter.
_CHANGES = frozenset((QEvent.Type.Resize, QEvent.Type.ChildAdded))
_OWN_CHANGES = frozenset((QEvent.Type.ShowToParent, QEvent.Type.LayoutRequest))
_MARGIN, _WIDEST = 6, 1240  # pixels, the second at a scale of type of 1
_LEAST_SIDE = 100  # pixels: where less is left at its sides, parts of letters below it would be seen there


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
    fit
        Called with the width that the widget will have, and the height that it may cover, in pixels, before it is
        asked for its height.
    """

    def __init__(
        self, widget: QWidget, below: QWidget, foot: Callable[[], int], fit: Callable[[int, int], None]
    ) -> None:
        super().__init__(below)
        self._widget, self._below, self._foot, self._fit = widget, below, foot, fit
        hidden = widget.isHidden()
        widget.setParent(below)
        widget.setVisible(not hidden)
        for one in (widget, below):
            one.installEventFilter(self)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the widget when the size, the content or the page changes."""
        if event.type() in (_CHANGES if watched is self._below else _OWN_CHANGES):
            self._arrange()
        return False

    def _arrange(self) -> None:
        widget, below = self._widget, self._below
        if widget.isHidden():
            return
        width = min(below.width() - 2 * _MARGIN, round(scaled(_WIDEST)))
        if below.width() - width < 2 * _LEAST_SIDE:
            width = below.width() - 2 * _MARGIN
        least = self._foot() - 2 * _MARGIN
        self._fit(width, least)
        height = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
        height = max(height, least)
        top = max(below.height() - _MARGIN - height, 0)
        widget.setGeometry((below.width() - width) // 2, top, width, height)
        widget.raise_()
