"""The legend of a chart with many curves: a line per rung with its other curves below it, to be switched off and on."""

from dataclasses import dataclass

from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QTreeWidgetItemIterator

from gemmviz.language import tr
from gemmviz.ui.look.figure_text import origin_name
from gemmviz.ui.look.theme import Theme

SYMBOLS = ("o", "s", "t", "d", "+", "x", "star")
Look = tuple[str, str, bool, bool]
"""Colour, symbol, dashed, hollow."""
Key = tuple[str, str]
_ICON = QSize(30, 14)
_KEY = Qt.ItemDataRole.UserRole
_WIDTH, _INDENT = 240, 14


@dataclass(frozen=True)
class CurveEntry:
    """One curve.

    Attributes
    ----------
    key
        Its name, and its origin: empty for this machine.
    text
        The text, without a mark for its origin.
    group
        The rung; the group's first entry stands for it.
    look
        Colour, symbol, and whether the line is dashed and the points are hollow.
    on
        Whether it is drawn until the user chooses.
    """

    key: Key
    text: str
    group: str
    look: Look
    on: bool


class CurveList(QTreeWidget):
    """Names of curves with check boxes; a rung's first curve switches all of them."""

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._chosen: dict[Key, bool] = {}
        self._entries: list[CurveEntry] = []
        self._theme: Theme | None = None
        self._open: set[str] = set()
        self.setAccessibleName(tr("Curves"))
        self.setToolTip(tr("Switch curves off and on; the arrow shows a rung's other parameters and origins"))
        self.setHeaderHidden(True)
        self.setIndentation(_INDENT)
        self.setIconSize(_ICON)
        self.setFixedWidth(_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(self._on_changed)
        self.itemExpanded.connect(lambda item: self._open.add(_group(item)))
        self.itemCollapsed.connect(lambda item: self._open.discard(_group(item)))

    def is_on(self, key: Key) -> bool:
        """Return whether a curve is drawn: it and the first of its rung are switched on."""
        entry = next(e for e in self._entries if e.key == key)
        first = next(e for e in self._entries if e.group == entry.group)
        return self._is_checked(entry) and self._is_checked(first)

    def _is_checked(self, entry: CurveEntry) -> bool:
        return self._chosen.get(entry.key, entry.on)

    def show_curves(self, entries: list[CurveEntry], theme: Theme) -> None:
        """List these curves; nothing happens when they are listed already."""
        if entries == self._entries and theme is self._theme:
            return
        self._entries, self._theme = entries, theme
        self.blockSignals(True)
        current = self.currentItem()
        kept = tuple(current.data(0, _KEY)[0]) if current is not None else None
        self.clear()
        rungs: dict[str, QTreeWidgetItem] = {}
        for entry in entries:
            item = QTreeWidgetItem(rungs.get(entry.group, self))
            rungs.setdefault(entry.group, item)
            self._describe(item, entry, theme)
            if entry.key == kept:
                self.setCurrentItem(item)
        for group, item in rungs.items():
            item.setExpanded(group in self._open)
        self.blockSignals(False)

    def _describe(self, item: QTreeWidgetItem, entry: CurveEntry, theme: Theme) -> None:
        name, origin = entry.key
        item.setText(0, f"{entry.text} ○" if origin else entry.text)
        item.setIcon(0, _icon(entry.look))
        item.setData(0, _KEY, (entry.key, entry.group))
        item.setToolTip(0, f"{name}, {origin_name(origin) if origin else tr('measured here')}")
        item.setForeground(0, QColor(theme.text))
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(0, Qt.CheckState.Checked if self._is_checked(entry) else Qt.CheckState.Unchecked)

    def whole_height(self) -> int:
        """Return the height at which every unfolded line is in sight, in pixels."""
        lines, walk = 0, QTreeWidgetItemIterator(self)
        while (item := walk.value()) is not None:
            lines += item.parent() is None or item.parent().isExpanded()
            walk += 1
        return self.sizeHintForRow(0) * (lines + 1)

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        key = tuple(item.data(0, _KEY)[0])
        self._chosen[key] = item.checkState(0) == Qt.CheckState.Checked
        self.toggled.emit()


def _group(item: QTreeWidgetItem) -> str:
    return str(item.data(0, _KEY)[1])


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
