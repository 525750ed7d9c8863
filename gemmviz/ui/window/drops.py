"""Files that are dragged onto a window: it is marked while they are over it, and opens them when they are dropped."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QRect, Qt
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QMainWindow, QWidget

from gemmviz.language import trn
from gemmviz.ui.look.style import larger, scaled
from gemmviz.ui.look.theme import Theme

_MARGIN, _ROUND, _LINE = 8, 10, 3  # pixels, at a scale of type of 1
_TYPE = 1.5
_SHADE = 150  # of 255: how much of the window below is covered


class DropWindow(QMainWindow):
    """A window that takes files of this machine.

    Parameters
    ----------
    take
        Opens the dropped files.
    theme
        Returns the colours of the mark.
    """

    def __init__(self, take: Callable[[Sequence[Path]], None], theme: Callable[[], Theme]) -> None:
        super().__init__()
        self._take, self._theme = take, theme
        self.drop_mark: DropMark | None = None
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files on this machine, and show that they can be dropped."""
        files = _files(event.mimeData())
        if files:
            event.acceptProposedAction()
            self._unmark()
            self.drop_mark = DropMark(self, self._theme(), len(files))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Remove the mark."""
        self._unmark()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the dropped files."""
        self._unmark()
        self._take(_files(event.mimeData()))

    def _unmark(self) -> None:
        if self.drop_mark is not None:
            self.drop_mark.hide()
            self.drop_mark.deleteLater()
            self.drop_mark = None


class DropMark(QWidget):
    """A frame over a window that says what a drop would do. It takes no events.

    Parameters
    ----------
    window, theme
        The window, and the colours.
    count
        The number of files.
    """

    def __init__(self, window: QWidget, theme: Theme, count: int) -> None:
        super().__init__(window)
        self._theme = theme
        self.text = trn("Drop it to open it", "Drop them to open {count} files", count)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(self.text)
        self.setGeometry(window.rect())
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame and the text over the dimmed window."""
        with QPainter(self) as painter:
            self._paint(painter, self._theme)

    def _paint(self, painter: QPainter, theme: Theme) -> None:
        shade = QColor(theme.background)
        shade.setAlpha(_SHADE)
        painter.fillRect(self.rect(), shade)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.accent), scaled(_LINE), Qt.PenStyle.DashLine))
        margin = round(scaled(_MARGIN))
        painter.drawRoundedRect(self.rect().adjusted(margin, margin, -margin, -margin), scaled(_ROUND), scaled(_ROUND))
        font = larger(self.font(), _TYPE)
        font.setBold(True)
        painter.setFont(font)
        line = QFontMetrics(font).height()
        box = QRect(0, 0, QFontMetrics(font).horizontalAdvance(self.text) + 2 * line, 2 * line)
        box.moveCenter(self.rect().center())
        painter.setPen(QPen(QColor(theme.accent), 1))
        painter.setBrush(QColor(theme.raised))
        painter.drawRoundedRect(box, scaled(_ROUND), scaled(_ROUND))
        painter.setPen(QColor(theme.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.text)


def _files(data: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
