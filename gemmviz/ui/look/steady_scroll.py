"""A scrolled area for pictures whose height follows from their width."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class SteadyScroll(QScrollArea):
    """Scrolls up and down only, and gives its contents a width that the scroll bar does not change.

    A picture that takes its height from the visible width changes it when the bar appears, which can make the bar go
    again: that has no end, and Qt does each turn inside the last one until the stack overflows.

    Parameters
    ----------
    name
        For screen readers.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(name)

    @property
    def steady_width(self) -> int:
        """Pixels for the contents beside a scroll bar, whether it is there or not."""
        return max(self.width() - self.verticalScrollBar().sizeHint().width(), 1)


def steady_width(widget: QWidget) -> int:
    """Return the width in pixels from which a picture takes its height.

    Parameters
    ----------
    widget
        The picture; outside a `SteadyScroll` this is its own width.
    """
    above = widget.parentWidget()
    while above is not None and not isinstance(above, SteadyScroll):
        above = above.parentWidget()
    return widget.width() if above is None else above.steady_width
