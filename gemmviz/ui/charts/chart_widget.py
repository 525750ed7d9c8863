"""The base class of all charts of the Measure page, for charts of pyqtgraph and painted charts."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from gemmviz.session import Session
from gemmviz.ui.charts.figures.figure_table import FigureTable
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES, Theme

ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
"""The direction (right, down) of each arrow key."""
TIP_MS = 600_000
"""The time for which the facts of a mark are shown, in milliseconds."""
_PICTURE = QSize(960, 600)
_LEAST_WIDTH = 200  # pixels, at a scale of type of 1


class ChartWidget(QWidget):
    """A chart with a sentence and controls above it.

    Parameters
    ----------
    session
        The session with the figures.
    name
        The title of the chart, for its tab and for the names of exported files.
    """

    def __init__(self, session: Session, name: str) -> None:
        super().__init__()
        self.session = session
        self.name = name
        self.hint = QLabel()
        self.hint.setWordWrap(True)
        # A sentence may be cut. Otherwise it would make the window too wide for an old projector.
        self.hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.controls, self.body = QHBoxLayout(), QHBoxLayout()
        self.controls.setSpacing(6)
        self.body.setSpacing(0)

    @property
    def theme(self) -> Theme:
        """The colours to draw with."""
        return THEMES[self.session.preferences.theme]

    def minimumSizeHint(self) -> QSize:
        """Return a least size with a small width, so that the chart can become narrow."""
        least = super().minimumSizeHint()
        return QSize(min(least.width(), round(scaled(_LEAST_WIDTH))), least.height())

    def picture_size(self) -> QSize:
        """Return the least size of a picture that shows all of the chart."""
        return _PICTURE

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Draw the figures as they are now."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Take the theme's colours and the size of type."""
        raise NotImplementedError
