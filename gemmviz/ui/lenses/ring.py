"""The ring of stages, as a ring: a segment per stage, in the order in which they are filled."""

from math import cos, pi, sin

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen, QPolygonF

from gemmviz.language import tr, trn
from gemmviz.trace.lenses.fillings import Filling
from gemmviz.ui.lenses.sheet import MIDDLE, Sheet
from gemmviz.ui.lenses.stage_colours import filled

_HOLE, _GAP = 0.56, 2.5  # of the radius; degrees


def draw_ring(sheet: Sheet, room: QRectF, held: list[Filling | None], step: int) -> None:
    """Draw the stages clockwise, the first at the top.

    Parameters
    ----------
    sheet, room
        Where to.
    held
        The content of each stage.
    step
        When.
    """
    radius = min(room.width(), room.height()) / 2 - 2
    centre = room.center()
    outer = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
    hole = _HOLE * radius
    inner = QRectF(centre.x() - hole, centre.y() - hole, 2 * hole, 2 * hole)
    each = 360 / len(held)
    for stage, filling in enumerate(held):
        begin, sweep = 90 - stage * each - _GAP, -(each - 2 * _GAP)
        path = QPainterPath()
        path.arcMoveTo(outer, begin)
        path.arcTo(outer, begin, sweep)
        path.arcTo(inner, begin + sweep, -sweep)
        path.closeSubpath()
        state = filling.state(step) if filling is not None else None
        fill = filled(sheet, path, state)
        turn = (begin + sweep / 2) * pi / 180
        at = (radius + hole) / 2
        middle = QPointF(centre.x() + at * cos(turn), centre.y() - at * sin(turn))
        _write(sheet, middle, stage, filling, fill, min(2 * pi * at / len(held), 1.15 * (radius - hole)) - 4)
    _draw_middle(sheet, centre, hole, len(held))


def _write(sheet: Sheet, middle: QPointF, stage: int, filling: Filling | None, fill: QColor, wide: float) -> None:
    """Name a segment's tile and its stage, in full where there is room."""
    number = str(filling.number + 1) if filling is not None else "–"
    name, text = tr("tile {number}", number=number), tr("stage {number}", number=stage)
    if max(sheet.wide(name, "small", True), sheet.wide(text, "small")) > wide:
        name, text = number, f"s{stage}"
    ground = max(sheet.wide(name, "small", True), sheet.wide(text, "small")) + 4
    plate = QRectF(middle.x() - ground / 2, middle.y() - sheet.small, ground, 2 * sheet.small)
    sheet.painter.setPen(Qt.PenStyle.NoPen)
    sheet.painter.setBrush(fill)
    sheet.painter.drawRoundedRect(plate, 3, 3)  # the hatching stays off the text
    above = QRectF(plate.left(), plate.top(), ground, sheet.small)
    sheet.text(above, name, sheet.ink(fill), "small", bold=True, align=MIDDLE)
    sheet.text(above.translated(0, sheet.small), text, sheet.ink(fill), "small", align=MIDDLE)


def _draw_middle(sheet: Sheet, centre: QPointF, hole: float, count: int) -> None:
    """Say how many stages there are, and draw which way round they are filled."""
    box = QRectF(centre.x() - 0.9 * hole, centre.y() - sheet.small * 0.5, 1.8 * hole, sheet.small)
    sheet.text(box, trn("one stage", "ring of {count}", count), sheet.theme.muted, "small", align=MIDDLE)
    if count < 2:
        return
    radius = 0.78 * hole
    arc = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
    colour = QColor(sheet.theme.faint)
    sheet.painter.setBrush(Qt.BrushStyle.NoBrush)
    sheet.painter.setPen(QPen(colour, 1.5))
    sheet.painter.drawArc(arc, 140 * 16, -100 * 16)
    turn = 38 * pi / 180
    end = QPointF(centre.x() + radius * cos(turn), centre.y() - radius * sin(turn))
    along, across = QPointF(sin(turn), cos(turn)) * 5, QPointF(cos(turn), -sin(turn)) * 3.5
    sheet.painter.setPen(Qt.PenStyle.NoPen)
    sheet.painter.setBrush(colour)
    sheet.painter.drawPolygon(QPolygonF([end + along, end + across, end - across]))
