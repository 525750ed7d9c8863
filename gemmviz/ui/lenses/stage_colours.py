"""The words, colours and hatching of stages by the state of their tiles."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen

from gemmviz.language import mark
from gemmviz.trace.lenses.fillings import State
from gemmviz.ui.lenses.sheet import Sheet

STATES: dict[State, str] = {
    "arriving": mark("on its way"),
    "ready": mark("ready"),
    "multiplied": mark("being multiplied"),
    "done": mark("used"),
}
"""The words for a tile in a state."""
_FILL = 0.42


def state_colour(sheet: Sheet, state: State | None) -> QColor:
    """Return the colour of text about a state."""
    theme = sheet.theme
    named = {"arriving": theme.write, "ready": theme.good, "multiplied": theme.read, "done": theme.muted}
    return QColor(named[state] if state is not None else theme.faint)


def filled(sheet: Sheet, path: QPainterPath, state: State | None) -> QColor:
    """Fill and outline a shape by the state of its tile: hatched in flight, dashed once used; return its fill."""
    colour, fill = _colours(sheet, state)
    sheet.painter.setPen(_edge(colour, state))
    sheet.painter.setBrush(fill)
    sheet.painter.drawPath(path)
    if state == "arriving":
        sheet.painter.setPen(Qt.PenStyle.NoPen)
        sheet.painter.setBrush(_hatching(sheet, colour))
        sheet.painter.drawPath(path)
    return fill


def filled_box(sheet: Sheet, box: QRectF, state: State, with_area: bool = True) -> QColor:
    """Do the same with a rectangle, or outline it only; with sharp corners, as large shapes take far less time so."""
    colour, fill = _colours(sheet, state)
    sheet.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if with_area:
        sheet.painter.fillRect(box, fill)
        if state == "arriving":
            sheet.painter.fillRect(box, _hatching(sheet, colour))
    pen = _edge(colour, state)
    pen.setWidth(1 if with_area and state in ("arriving", "done") else 2)
    sheet.painter.setPen(pen)
    sheet.painter.setBrush(Qt.BrushStyle.NoBrush)
    sheet.painter.drawRect(box.adjusted(1, 1, -2, -2))
    sheet.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return fill


def _colours(sheet: Sheet, state: State | None) -> tuple[QColor, QColor]:
    """Return the colours of the outline and of the area of a tile's shape."""
    colour = sheet.amber if state == "arriving" else state_colour(sheet, state)
    return colour, sheet.mixed(colour, _FILL if state in ("arriving", "ready", "multiplied") else 0.08)


def _hatching(sheet: Sheet, colour: QColor) -> QBrush:
    return QBrush(sheet.mixed(colour, 0.75), Qt.BrushStyle.BDiagPattern)


def _edge(colour: QColor, state: State | None) -> QPen:
    if state in ("ready", "multiplied"):
        return QPen(colour, 1.6)
    return QPen(colour, 1, Qt.PenStyle.DashLine)
