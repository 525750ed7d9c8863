"""The width of the window: shared by the kernels, the page, and the column on the right."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from gemmviz.ui.look.style import scaled
from gemmviz.ui.panels.rail import Rail
from gemmviz.ui.window.pages import Pages

# Widths in pixels, at a scale of type of 1: of the kernels and of the right column in a narrow and in a wide window.
_NARROW_WINDOW, _WIDE_WINDOW = 1280, 1920
_RAIL, _RIGHT = (176, 204), (376, 480)
_BESIDE_CHARTS = 300
_MOST_RIGHT = 0.4  # of the window


class Columns(QSplitter):
    """The kernels, the page and the column on the right, side by side.

    Their widths follow the width of the window until the user moves a handle.

    Parameters
    ----------
    rail
        The kernels.
    pages
        The pages: they get the rest.
    right
        The column on the right.
    """

    def __init__(self, rail: Rail, pages: Pages, right: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._rail, self._pages = rail, pages
        self._chosen = False
        for part, stretch in ((rail, 0), (pages, 1), (right, 0)):
            self.addWidget(part)
            self.setStretchFactor(self.count() - 1, stretch)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(self._on_moved)
        rail.folded_or_shown.connect(self._on_rail)

    def _on_moved(self) -> None:
        self._chosen = True

    def _on_rail(self) -> None:
        """Give the width of the kernels to the page, or take it back."""
        right = self.sizes()[2]
        whole, rail = sum(self.sizes()), self._rail.sizeHint().width()
        self.setSizes([rail, whole - right - rail, right])
        self.share()

    def share(self) -> None:
        """Give the kernels and the right column their width, unless the user has chosen it."""
        whole = self.window().width()
        if self._chosen or whole <= 0:
            return
        share = min(max((whole - _NARROW_WINDOW) / (_WIDE_WINDOW - _NARROW_WINDOW), 0.0), 1.0)
        rail = self._rail.sizeHint().width() if self._rail.folded else round(scaled(_between(_RAIL, share)))
        wanted = _BESIDE_CHARTS if self._pages.name() == "charts" else _between(_RIGHT, share)
        right = round(min(scaled(wanted), whole * _MOST_RIGHT))
        self.setSizes([rail, max(whole - rail - right, 1), right])


def _between(ends: tuple[int, int], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share
