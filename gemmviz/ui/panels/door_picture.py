"""What the pictures of doors have in common: their size, theme and type."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.session.models.preferences import Preferences
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES, Theme

_MARGIN, _TYPE, _USUAL = 12, 11, 220  # pixels, at a scale of type of 1: the last one is a usual height


class DoorPicture(QWidget):
    """The picture of a door, which the mouse does not reach. Derived classes draw it.

    Parameters
    ----------
    preferences
        Have the theme and the size of type.
    """

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        listen(self, preferences.themed, self._on_theme)

    def _on_theme(self) -> None:
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for no width: the door decides."""
        return QSize(1, round(scaled(10 * _TYPE)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the background, and draw the picture within its margins."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), QColor(self._theme.background))
            margin = scaled(_MARGIN)
            self._draw(painter, QRectF(self.rect()).adjusted(margin, margin, -margin, -margin), margin)

    @property
    def _theme(self) -> Theme:
        return THEMES[self._preferences.theme]

    def _type(self, scale: float = 1.0, *, bold: bool = False) -> QFont:
        """Return type that grows with a picture that is higher than usual."""
        font = QFont(self.font())
        font.setBold(bold)
        font.setPixelSize(round(scaled(_TYPE) * max(1.0, self.height() / scaled(_USUAL)) * scale))
        return font

    def _draw(self, painter: QPainter, inside: QRectF, margin: float) -> None:
        """Draw the picture in a rectangle, whose parts are `margin` pixels apart."""
        raise NotImplementedError
