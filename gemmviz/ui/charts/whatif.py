"""One adjustable quantity: a curve over its values with the chosen value, a slider and a box."""

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QSlider, QSpinBox, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.ui.charts.chart import Plot, small_font
from gemmviz.ui.look.theme import Theme

_KIB = 1024
_WIDE_PX = 190
_ROOM_PX = 4
# The last round number is left out if it is closer to the end of the axis than this share of a step.
_LEAST_APART = 0.75
_LOW_LABELS = 4
# The room above 100 %.
_TOP = 112


class WhatIf(QWidget):
    """A slider, a box and a curve for one quantity.

    Parameters
    ----------
    title, short, unit
        Its name for screen readers and the axis, a short name for the axis of a narrow plot, and its unit.
    most
        The largest value; the smallest is `least`.
    step
        The slider and the curve use multiples of this; the box accepts any value.
    """

    changed = Signal()

    def __init__(self, title: str, short: str, unit: str, most: int, step: int, least: int) -> None:
        super().__init__()
        self.title = title
        self._short = short
        self._font = small_font()
        # The axis shows bytes as KiB, so that its numbers are shorter.
        self._axis_unit = _KIB if unit == "bytes" else 1
        self.step = step
        self.least = least
        self.plot = Plot(tr("Occupancy over {quantity}", quantity=title))
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setToolTip(tr("Occupancy over {quantity}; click to choose a value", quantity=title))
        self.curve = self.plot.plot([], [])
        self.dot = self.plot.plot([], [], symbol="o", symbolSize=11, pen=None)
        self.line = pg.InfiniteLine(0, angle=90)
        self.plot.addItem(self.line, ignoreBounds=True)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("{quantity} (slider)", quantity=title))
        self.slider.setToolTip(title)
        self.box = QSpinBox()
        self.box.setAccessibleName(title)
        self.box.setToolTip(title)
        self.box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.box.setKeyboardTracking(False)
        self.box.setSuffix(" B" if unit == "bytes" else "")
        self.set_most(most)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.slider, 1)
        row.addWidget(self.box)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(self.plot, 1)
        column.addLayout(row)
        self.box.valueChanged.connect(self._on_box)
        self.slider.valueChanged.connect(self._on_slider)
        self.plot.clicked.connect(self._on_clicked)
        self.plot.plotItem.vb.sigResized.connect(self._fit)

    @property
    def value(self) -> int:
        """The chosen value."""
        return self.box.value()

    def set_most(self, most: int) -> None:
        """Change the largest value, without a signal."""
        for widget in (self.box, self.slider):
            widget.blockSignals(True)
        self.box.setRange(self.least, most)
        self.box.setSingleStep(self.step)
        self.slider.setRange(0, most // self.step)
        for widget in (self.box, self.slider):
            widget.blockSignals(False)

    def choose(self, value: int) -> None:
        """Choose a value, without a signal."""
        for widget, shown in ((self.box, value), (self.slider, round(value / self.step))):
            widget.blockSignals(True)
            widget.setValue(shown)
            widget.blockSignals(False)

    def _on_box(self, value: int) -> None:
        self.choose(value)
        self.changed.emit()

    def _on_slider(self, steps: int) -> None:
        self.choose(max(steps * self.step, self.least))
        self.changed.emit()

    def _on_clicked(self, place: QPointF) -> None:
        self._on_slider(round(place.x() / self.step))

    def draw(self, percent: Callable[[int], float]) -> None:
        """Draw the curve of a function (from a value to the occupancy in per cent) and the chosen value on it."""
        values = [*range(self.step, self.box.maximum() + 1, self.step)]
        if self.least == 0:
            values = [0, *values]
        self.curve.setData(np.array(values, float), np.array([percent(v) for v in values]))
        self.dot.setData([self.value], [percent(self.value)])
        self.line.setPos(self.value)
        self._fit()

    def _fit(self, *_: object) -> None:
        """Show the whole curve, with room for half a label at its ends, because the axes omit labels that are cut."""
        metrics, box, most = QFontMetrics(self._font), self.plot.plotItem.vb, self.box.maximum()
        label = metrics.horizontalAdvance(str(most // self._axis_unit)) + 2 * _ROOM_PX
        room = max(box.width() - label, label)
        self.plot.setXRange(-most * label / 2 / room, most + most * label / 2 / room, padding=0)
        # In a very low plot there is no room for the label at 0 %.
        low = metrics.height() / 2 + _ROOM_PX if box.height() >= _LOW_LABELS * metrics.height() else 1
        self.plot.setYRange(-_TOP * low / max(box.height() - low, low), _TOP, padding=0)
        self._set_ticks(most, max(int(room / label), 1))

    def _set_ticks(self, most: int, room: int) -> None:
        """Put ticks at 0, at the end of the axis and at round numbers of its unit, as many as fit."""
        unit = self._axis_unit
        apart = next(a for a in (16, 32, 64, 128, 256, 512, 1024) if most / unit / a <= room)
        end = most // unit
        values = [*(v for v in range(0, end, apart) if end - v >= _LEAST_APART * apart), end]
        ticks = [(v * unit, str(v)) for v in values]
        self.plot.getAxis("bottom").setTicks([ticks])

    def restyle(self, theme: Theme, points: float) -> None:
        """Apply the theme's colours and a size of text in points."""
        self._font = small_font(points)
        self.plot.setBackground(theme.background)
        self.curve.setPen(pg.mkPen(theme.text, width=2))
        self.dot.setSymbolSize(points * 1.4)
        self.dot.setSymbolBrush(theme.accent)
        self.dot.setSymbolPen(theme.background)
        self.line.setPen(pg.mkPen(theme.accent, style=Qt.PenStyle.DashLine))
        left, bottom = self.plot.getAxis("left"), self.plot.getAxis("bottom")
        for axis in (left, bottom):
            axis.setPen(theme.border)
            axis.setTextPen(theme.text)
            axis.setStyle(tickFont=self._font, hideOverlappingLabels=True)
            axis.enableAutoSIPrefix(False)
        left.setTicks([[(v, f"{v} %") for v in (0, 50, 100)]])
        title = self.title if self.width() >= _WIDE_PX else self._short
        bottom.setLabel(title, **{"font-size": f"{points}pt", "color": theme.text})
        bottom.setHeight(round(points * 4.2))
        self.box.setFixedWidth(round(points * 8))
