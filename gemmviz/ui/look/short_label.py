"""A label that says less where there is less room."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

_ANY_HEIGHT = 10_000


class ShortLabel(QLabel):
    """Shows a text, or where that would be cut, a shorter one in one line; the tip has all of it.

    It takes the room that it is given, and needs none beyond a line.
    """

    def __init__(self) -> None:
        super().__init__()
        self._whole = self._short = ""
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def say(self, whole: str, short: str) -> None:
        """Show `whole`, or `short` where there is no room for it."""
        self._whole, self._short = whole, short
        self.setToolTip(whole)
        self.setAccessibleName(whole)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose anew."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Choose anew in type of another size."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def heightForWidth(self, width: int) -> int:
        """Return the height of one line at any width: widgets above it are not to be squeezed for more."""
        return self.minimumSizeHint().height()

    def minimumSizeHint(self) -> QSize:
        """Ask for one line."""
        return QSize(0, self.fontMetrics().height())

    def _fit(self) -> None:
        room, metrics = self.contentsRect(), self.fontMetrics()
        width = max(room.width(), 1)
        needed = metrics.boundingRect(0, 0, width, _ANY_HEIGHT, Qt.TextFlag.TextWordWrap, self._whole)
        fits = needed.height() <= room.height()
        text = self._whole if fits else metrics.elidedText(self._short, Qt.TextElideMode.ElideRight, width)
        if text != self.text():
            self.setText(text)
