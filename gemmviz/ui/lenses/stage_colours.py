"""The words, colours and hatching of stages by the state of their tiles."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPainterPath, QPen

from gemmviz.language import mark
from gemmviz.trace.lenses.fillings import State
from gemmviz.ui.lenses.sheet import Sheet

STATES: dict[State, str] = {
    "arriving": mark("on its way"),
    "ready": mark("ready"),
    "multiplied": mark("being multiplied"),
    "done": mark("used"),
}
"""What is said of a tile in a state."""
_FILL = 0.42


def state_colour(sheet: Sheet, state: State | None) -> QColor:
    """Return the colour of text about a state."""
    theme = sheet.theme
    named = {"arriving": theme.write, "ready": theme.good, "multiplied": theme.read, "done": theme.muted}
    return QColor(named[state] if state is not None else theme.faint)


def filled(sheet: Sheet, path: QPainterPath, state: State | None) -> QColor:
    """Fill and outline a shape by the state of its tile: hatched in flight, dashed once used; return its fill."""
    colour = sheet.amber if state == "arriving" else state_colour(sheet, state)
    here = state in ("arriving", "ready", "multiplied")
    fill = sheet.mixed(colour, _FILL if here else 0.08)
    sheet.painter.setPen(_edge(colour, state))
    sheet.painter.setBrush(fill)
    sheet.painter.drawPath(path)
    if state == "arriving":
        sheet.painter.setPen(Qt.PenStyle.NoPen)
        sheet.painter.setBrush(QBrush(sheet.mixed(colour, 0.75), Qt.BrushStyle.BDiagPattern))
        sheet.painter.drawPath(path)
    return fill


def framed(sheet: Sheet, path: QPainterPath, state: State) -> None:
    """Outline a shape by the state of its tile, and leave what it holds as it is."""
    pen = _edge(sheet.amber if state == "arriving" else state_colour(sheet, state), state)
    pen.setWidthF(2 * pen.widthF())
    sheet.painter.setPen(pen)
    sheet.painter.setBrush(Qt.BrushStyle.NoBrush)
    sheet.painter.drawPath(path)


def _edge(colour: QColor, state: State | None) -> QPen:
    if state in ("ready", "multiplied"):
        return QPen(colour, 1.6)
    return QPen(colour, 1, Qt.PenStyle.DashLine)
