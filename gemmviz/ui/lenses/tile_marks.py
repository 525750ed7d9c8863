"""The tiles of A and B that the stages of a pipeline hold, on the matrices: in the colour of their state, and named."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from gemmviz.catalogue.matrices import A, B
from gemmviz.language import tr
from gemmviz.trace.lenses.fillings import Filling, Stages, State
from gemmviz.ui.lenses.lens import MarkedPlaces, Place
from gemmviz.ui.lenses.sheet import MIDDLE, Sheet
from gemmviz.ui.lenses.stage_colours import STATES, filled_box


def tile_places(stages: Stages, step: int) -> tuple[Place, ...]:
    """Return the tiles requested up to a step: all for the same tile of C as the last one, and others in use.

    Parameters
    ----------
    stages
        The stages of a block.
    step
        When.
    """
    asked = [(filling, filling.state(step)) for filling in stages.fillings if filling.asked <= step]
    last = asked[-1][0] if asked else None
    shown = [
        (filling, state)
        for filling, state in asked
        if state != "done" or (last is not None and (filling.row, filling.column) == (last.row, last.column))
    ]
    return tuple(place for filling, state in shown for place in _places(filling, state))


def _places(filling: Filling, state: State) -> list[Place]:
    what = filling.number, state
    of_a = Place(A, filling.row, filling.k, filling.high, filling.deep, what)
    of_b = Place(B, filling.k, filling.column, filling.deep, filling.wide, what)
    return [place for place in (of_a, of_b) if place.rows and place.columns]


def draw_tiles(painter: QPainter, marked: MarkedPlaces) -> None:
    """Draw tiles, each with its number and its state; where the cells below show their values, only frames.

    Parameters
    ----------
    painter, marked
        As `gemmviz.ui.lenses.lens.Marking.mark` gets them.
    """
    whole, theme, font = marked.whole, marked.theme, marked.font
    size = Sheet(painter, whole, theme, font).small
    for place, box in marked.boxes:

        def paint(into: QPainter, box: QRectF = box, what: tuple[int, State] = place.what) -> None:
            number, state = what
            with Sheet(into, whole, theme, font) as sheet:
                fill = filled_box(sheet, box, state, not marked.with_values)
                if not marked.with_values:
                    _write(sheet, box, number, state, fill)

        marked.pictures.draw(painter, box, (place.what, marked.with_values, size), paint)


def _write(sheet: Sheet, box: QRectF, number: int, state: State, fill: QColor) -> None:
    """Name a tile, and its state below, as far as there is room."""
    name, words = tr("tile {number}", number=number + 1), tr(STATES[state])
    lines = [(name, True), (words, False)]
    if sheet.wide(name, "small", True) > box.width() - 8:
        lines = [(str(number + 1), True)]
    elif sheet.wide(words, "small") > box.width() - 8 or 2 * sheet.small > box.height():
        lines = [(name, True)]
    wide = max(sheet.wide(text, "small", bold) for text, bold in lines) + 6
    high = len(lines) * sheet.small
    if wide > box.width() or high > box.height():
        return
    plate = QRectF(box.center().x() - wide / 2, box.center().y() - high / 2, wide, high)
    sheet.painter.fillRect(plate, fill)  # the hatching stays off the text
    for index, (text, bold) in enumerate(lines):
        line = QRectF(plate.left(), plate.top() + index * sheet.small, wide, sheet.small)
        sheet.text(line, text, sheet.ink(fill), "small", bold=bold, align=MIDDLE)
