"""The colours and hatching of stages by the state of their tiles."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPainterPath, QPen

from gemmviz.trace.lenses.fillings import State
from gemmviz.ui.lenses.sheet import Sheet

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
    style = Qt.PenStyle.SolidLine if state in ("ready", "multiplied") else Qt.PenStyle.DashLine
    sheet.painter.setPen(QPen(colour, 1.6 if style == Qt.PenStyle.SolidLine else 1, style))
    sheet.painter.setBrush(fill)
    sheet.painter.drawPath(path)
    if state == "arriving":
        sheet.painter.setPen(Qt.PenStyle.NoPen)
        sheet.painter.setBrush(QBrush(sheet.mixed(colour, 0.75), Qt.BrushStyle.BDiagPattern))
        sheet.painter.drawPath(path)
    return fill
