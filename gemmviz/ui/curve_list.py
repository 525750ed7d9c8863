"""The legend of a chart with many curves: each with its line and symbol, to be switched off and on."""

from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from gemmviz.ui.theme import Theme

SYMBOLS = ("o", "s", "t", "d", "+", "x", "star")
Look = tuple[str, str, bool, bool]
"""Colour, symbol, dashed, hollow."""
Key = tuple[str, str]
_ICON = QSize(30, 14)
_KEY = Qt.ItemDataRole.UserRole
_WIDTH = 210


class CurveList(QListWidget):
    """Names of curves with check boxes; `hidden` holds the keys of those that are switched off."""

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.hidden: set[Key] = set()
        self._shown: list[tuple[Key, Look]] = []
        self.setAccessibleName("Curves")
        self.setToolTip("Switch curves off and on")
        self.setIconSize(_ICON)
        self.setFixedWidth(_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(self._on_changed)

    def show_curves(self, curves: list[tuple[Key, Look]], theme: Theme) -> None:
        """List these curves, each (key, look); nothing happens when they are listed already."""
        if curves == self._shown:
            return
        self._shown = curves
        self.blockSignals(True)
        at = self.currentRow()
        self.clear()
        for key, look in curves:
            name, origin = key
            item = QListWidgetItem(_icon(look), f"{name} ○" if origin else name)
            item.setData(_KEY, key)
            item.setToolTip(origin or "measured here")
            item.setForeground(QColor(theme.text))
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked if key in self.hidden else Qt.CheckState.Checked)
            self.addItem(item)
        self.setCurrentRow(at)
        self.blockSignals(False)

    def _on_changed(self, item: QListWidgetItem) -> None:
        key = tuple(item.data(_KEY))
        if item.checkState() == Qt.CheckState.Checked:
            self.hidden.discard(key)
        else:
            self.hidden.add(key)
        self.toggled.emit()


def _icon(look: Look) -> QIcon:
    colour, symbol, dashed, hollow = look
    pixmap = QPixmap(_ICON)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = QPointF(_ICON.width() / 2, _ICON.height() / 2)
    painter.setPen(QPen(QColor(colour), 1.5, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine))
    painter.drawLine(QPointF(0, middle.y()), QPointF(_ICON.width(), middle.y()))
    painter.translate(middle)
    drawSymbol(painter, symbol, 9, QPen(QColor(colour), 0.15), Qt.BrushStyle.NoBrush if hollow else QColor(colour))
    painter.end()
    return QIcon(pixmap)
