"""Charts that pyqtgraph draws: a plot that reacts to mouse and keys, a line of text, and controls beside it."""

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QToolTip, QVBoxLayout

from gemmviz.session import Session
from gemmviz.ui.charts.chart_widget import ARROWS, TIP_MS, ChartWidget
from gemmviz.ui.known import shortcut
from gemmviz.ui.look.style import TYPE_PT, scaled

_AXIS_HEIGHT = 40


class _BottomAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis that keeps its title inside: pyqtgraph moves the title down by 5 pixels, more than the margin."""

    def resizeEvent(self, event: object = None) -> None:
        """Put the title at the lower end."""
        super().resizeEvent(event)
        if self.label is not None:
            margin = self.label.document().documentMargin()
            self.label.setY(int(self.size().height() - self.label.boundingRect().height() + margin - 1))


class Plot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot without pyqtgraph's own menu, dragging and buttons."""

    pointed = Signal(QPointF)
    """The mouse is at this place, in the plot's coordinates."""
    left = Signal()
    clicked = Signal(QPointF)
    moved = Signal(int, int)
    """An arrow key: (right, down) as -1, 0 or 1."""

    def __init__(self, name: str) -> None:
        super().__init__(axisItems={"bottom": _BottomAxis("bottom")}, enableMenu=False)
        self.hideButtons()
        self.setMouseEnabled(x=False, y=False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setMinimumSize(60, 40)
        # By default the axis reserves room for a second row of ticks.
        self.getAxis("bottom").setHeight(_AXIS_HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw for the area inside the frame. By default pyqtgraph uses all of it, and right and bottom are cut."""
        super().resizeEvent(event)
        pg.GraphicsView.setRange(self, QRectF(self.viewport().rect()), padding=0, disableAutoPixel=False)

    def place(self, event: QMouseEvent) -> QPointF:
        """Return the position of an event of the mouse, in the plot's coordinates."""
        return QPointF(self.plotItem.vb.mapSceneToView(self.mapToScene(event.position().toPoint())))

    def pixel(self, x: float, y: float) -> QPoint:
        """Return the position of a point of the plot in this widget."""
        return QPoint(self.mapFromScene(self.plotItem.vb.mapViewToScene(QPointF(x, y))))

    def tell(self, text: str, at: QPoint) -> None:
        """Show a text beside a point of this widget while the mouse is there; an empty text shows nothing."""
        if text:
            QToolTip.showText(self.mapToGlobal(at), text, self, self.rect(), TIP_MS)
        else:
            QToolTip.hideText()
        self.setAccessibleDescription(text)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Emit the position of the mouse."""
        self.pointed.emit(self.place(event))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Emit a click."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self.place(event))

    def leaveEvent(self, event: QEvent) -> None:
        """Clear the position of the mouse."""
        self.left.emit()

    def event(self, event: QEvent) -> bool:
        """Take the arrow keys before the shortcuts, and suppress tooltips that would hide the point under the mouse."""
        key = shortcut(event)
        if key is not None and key.key() in ARROWS and not key.modifiers():
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next bar or point."""
        if event.key() in ARROWS:
            self.moved.emit(*ARROWS[Qt.Key(event.key())])
        else:
            event.ignore()


class Chart(ChartWidget):
    """A plot of pyqtgraph with a line of text and controls above it.

    Parameters
    ----------
    session
        The session with the figures.
    name
        The title of the chart, for its tab and for the names of exported files.
    """

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.plot = Plot(name)
        self.controls.addWidget(self.hint, 1)
        self.body.addWidget(self.plot, 1)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(4, 2, 4, 0)
        self.column.setSpacing(1)
        self.column.addLayout(self.controls)
        self.column.addLayout(self.body, 1)

    def restyle(self) -> None:
        """Take the theme's colours."""
        self.plot.setBackground(self.theme.background)
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(self.theme.outline)
            axis.setTextPen(self.theme.text)
            axis.setTickPen(self.theme.outline)
            axis.setStyle(tickFont=small_font())
            axis.enableAutoSIPrefix(False)
        self.plot.getAxis("bottom").setHeight(round(scaled(_AXIS_HEIGHT)))
        self.refresh()


def small_font(points: float | None = None) -> QFont:
    """Return the font of ticks and labels; by default its size is that of the page."""
    font = QFont()
    font.setPointSizeF(points or scaled(TYPE_PT))
    return font
