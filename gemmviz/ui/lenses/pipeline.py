"""The lens of pipelines: a ring of stages with their content, their gates, and the waits between warps."""

from collections.abc import Hashable, Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen

from gemmviz.catalogue.lens_names import LensName
from gemmviz.language import mark, tr, trn
from gemmviz.trace.hopper.mbarrier_state import BarrierState
from gemmviz.trace.lenses.fillings import Filling, Stages
from gemmviz.trace.lenses.pipeline_events import pipeline_events
from gemmviz.trace.lenses.stages import is_pipeline, stages
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment, MarkedPlaces, Place
from gemmviz.ui.lenses.ring import draw_ring
from gemmviz.ui.lenses.sheet import MIDDLE, Sheet
from gemmviz.ui.lenses.stage_colours import STATES, filled, state_colour
from gemmviz.ui.lenses.swimlanes import Swimlanes
from gemmviz.ui.lenses.tile_marks import draw_tiles, tile_places
from gemmviz.ui.look.theme import Theme

_LANES_SHARE, _LANE = 0.46, (1.35, 3.4)  # of the height, at most; a lane's least and largest height in small lines
_ROW = 1.15, 4.2  # a row's least and largest height in lines of small text
# Lines of body text: from this width on there is room for a ring beside the table, and this much is left to the table.
_WITH_RING, _TABLE = 26.0, 19.0


class PipelineLens(GradualLens):
    """Draws the stages of the chosen block."""

    name: LensName = "pipeline"
    title = mark("Pipeline")

    def suits(self, playable: Playable) -> bool:
        """Say whether tiles come into shared memory while others are used."""
        return is_pipeline(playable)

    def state(self, moment: LensMoment) -> Hashable:
        """Return the events that have passed, and the state of each stage: see `gemmviz.ui.lenses.lens.Lasting`."""
        playable, step = moment.playable, moment.step
        found, events = stages(playable, moment.block), pipeline_events(playable, moment.block)
        if found is None or events is None:
            return moment.block
        barriers = playable.mbarrier_states.at(step, moment.block) if playable.recording.barriers else []
        held = [filling for filling in found.held(step) if filling is not None]
        rows = tuple((f.number, f.state(step), found.arrived_bytes(f, step)[0], f.freed <= step) for f in held)
        missing = tuple(state.arrivals for state in barriers)
        return moment.block, events.passed(step), rows, missing, tuple(state.needed for state in barriers)

    def places(self, playable: Playable, step: int, block: int) -> tuple[Place, ...]:
        """Return the tiles that the stages got: see `gemmviz.ui.lenses.lens.Marking`."""
        found = stages(playable, block)
        return tile_places(found, step) if found is not None else ()

    def mark(self, painter: QPainter, marked: MarkedPlaces) -> None:
        """Draw tiles on their matrices: see `gemmviz.ui.lenses.lens.Marking`."""
        draw_tiles(painter, marked)

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a moment: see `gemmviz.ui.lenses.lens.Lens`."""
        playable = moment.playable
        found = stages(playable, moment.block)
        events = pipeline_events(playable, moment.block)
        with Sheet(painter, rect, theme, font) as sheet:
            x, y, _ = playable.recording.block_index(moment.block)
            if found is None or events is None:
                room = sheet.heading(tr(self.title), (tr("block ({x}, {y})", x=x, y=y),), "recorded")
                sheet.lines(room, tr("No tile of A or B comes into the shared memory of this block."))
                return
            values = {"x": x, "y": y}
            beside = trn(
                "{count} stage in the shared memory of block ({x}, {y})",
                "ring of {count} stages in the shared memory of block ({x}, {y})",
                found.count,
                **values,
            )
            shorter = trn("{count} stage, block ({x}, {y})", "{count} stages, block ({x}, {y})", found.count, **values)
            room = sheet.heading(tr(self.title), (beside, shorter), "recorded")
            lanes = Swimlanes(playable, found, events)
            high = min(
                lanes.count * _LANE[1] * sheet.small + 1.6 * sheet.em,
                max(_LANES_SHARE * room.height(), lanes.count * _LANE[0] * sheet.small + 1.4 * sheet.em),
            )
            yield sheet
            yield from lanes.pieces(sheet, QRectF(room.left(), room.bottom() - high, room.width(), high), moment.step)
            yield sheet
            room.setBottom(room.bottom() - high - 4)
            held = found.held(moment.step)
            if room.width() >= _WITH_RING * sheet.em and room.height() >= 7 * sheet.em:
                side = min(room.height(), 0.4 * room.width(), room.width() - _TABLE * sheet.em)
                ring = QRectF(room.right() - side, room.top(), side, room.height())
                room.setRight(ring.left() - sheet.em)
                draw_ring(sheet, ring, held, moment.step)
                yield sheet
            _draw_table(sheet, room, moment, found, held)


LENS = PipelineLens()


def _draw_table(sheet: Sheet, room: QRectF, moment: LensMoment, found: Stages, held: list[Filling | None]) -> None:
    """Draw a row per stage: its content, and its gates."""
    gated = any(f.full >= 0 for f in found.fillings)
    given = any(f.empty >= 0 for f in found.fillings)
    heads = [tr("stage"), tr("tile"), tr("full") if gated else tr("copied"), tr("empty")]
    shares = (0.0, 0.15, 0.53, 0.79, 1.0) if given else (0.0, 0.17, 0.62, 1.0, 1.0)
    edges = [room.left() + share * room.width() for share in shares]
    edges[1] = max(edges[1], room.left() + sheet.wide(heads[0], "small") + 5)  # longer in Korean
    high = min((room.height() - sheet.small - 2) / len(held), _ROW[1] * sheet.small)
    for column, head in enumerate(heads[: 4 if given else 3]):
        box = QRectF(edges[column], room.top(), edges[column + 1] - edges[column] - 4, sheet.small)
        sheet.text(box, head, sheet.theme.muted, "small")
    states = moment.playable.mbarrier_states.at(moment.step, moment.block) if gated else []
    y = room.top() + sheet.small + 2
    for stage, filling in enumerate(held):
        if y + min(high, _ROW[0] * sheet.small) > room.bottom() + 1:
            break
        boxes = [QRectF(edges[c], y, edges[c + 1] - edges[c] - 4, high) for c in range(4)]
        _draw_number(sheet, boxes[0], stage, filling, moment.step)
        _draw_held(sheet, boxes[1], filling, moment.step)
        if filling is not None:
            _draw_full(sheet, boxes[2], found, filling, moment.step)
            if given:
                _draw_empty(sheet, boxes[3], filling, states, moment.step)
        sheet.line(room.left(), y, room.right(), y, sheet.mixed(sheet.theme.border, 0.7))
        y += high
    sheet.line(room.left(), y, room.right(), y, sheet.mixed(sheet.theme.border, 0.7))
    if gated and room.bottom() - y >= 1.4 * sheet.em:
        box = QRectF(room.left(), y + 0.2 * sheet.em, room.width() / 2 - 6, 1.2 * sheet.em)
        wordings = tr("open: waiting threads may continue"), tr("open: threads continue"), tr("gate open")
        _draw_gate(sheet, box, 1, True, wordings)
        box.translate(room.width() / 2, 0)
        _draw_gate(sheet, box, 0.4, False, (tr("closed: it counts bytes or arrivals"), tr("closed: it counts")))


def _draw_number(sheet: Sheet, box: QRectF, stage: int, filling: Filling | None, step: int) -> None:
    side = min(box.height() - 2, 1.6 * sheet.em, box.width())
    ring = QRectF(box.left() + 1, box.center().y() - side / 2, side, side)
    path = QPainterPath()
    path.addEllipse(ring.adjusted(1, 1, -1, -1))
    filled(sheet, path, filling.state(step) if filling is not None else None)
    sheet.text(ring, str(stage), size="small" if side < 1.3 * sheet.em else "body", bold=True, align=MIDDLE)


def _draw_held(sheet: Sheet, box: QRectF, filling: Filling | None, step: int) -> None:
    if filling is None:
        sheet.text(box, tr("nothing yet"), sheet.theme.faint, "small")
        return
    state = filling.state(step)
    name = tr("tile {number}", number=filling.number + 1)
    text, colour = tr(STATES[state]), state_colour(sheet, state)
    if box.height() < sheet.em + sheet.small:
        wide = sheet.text(box, name, size="small", bold=True)
        sheet.text(box.adjusted(wide + 5, 0, 0, 0), text, colour, "small")
        return
    top = box.center().y() - (sheet.em + sheet.small) / 2
    line = QRectF(box.left(), top, box.width(), sheet.em)
    wide = sheet.text(line, name, bold=True) + 6
    along = f"k {filling.k}–{filling.k + filling.deep - 1}"
    if wide + sheet.wide(along, "small") <= box.width():
        sheet.text(line.adjusted(wide, 0, 0, 0), along, sheet.theme.muted, "small")
    sheet.text(QRectF(box.left(), top + sheet.em, box.width(), sheet.small), text, colour, "small")


def _draw_full(sheet: Sheet, box: QRectF, found: Stages, filling: Filling, step: int) -> None:
    """Draw whether a filling is there, and the bytes of it that are."""
    there, whole = found.arrived_bytes(filling, step)
    is_open = filling.arrived <= step
    size, part = _size(whole), _part(there, whole)
    wordings = (tr("{size} came", size=size), size) if is_open else (tr("{part} of {size}", part=part, size=size), part)
    _draw_gate(sheet, box, there / max(whole, 1), is_open, wordings)


def _draw_empty(sheet: Sheet, box: QRectF, filling: Filling, states: list[BarrierState], step: int) -> None:
    """Draw whether a filling's stage is given back, and how many arrivals say so."""
    if filling.empty < 0:
        return
    state = states[filling.empty]
    is_open = filling.freed <= step
    came, needed = state.needed - state.arrivals, state.needed
    wordings = (tr("given back"), "") if is_open else (tr("{part} of {size}", part=came, size=needed),)
    _draw_gate(sheet, box, came / max(needed, 1), is_open, wordings)


def _draw_gate(sheet: Sheet, box: QRectF, share: float, is_open: bool, wordings: tuple[str, ...]) -> None:
    """Draw a gate: an arc that fills while it is closed, a tick where it is open; and the first text that fits."""
    painter, theme = sheet.painter, sheet.theme
    side = min(box.height() - 3, 1.15 * sheet.em)
    at = QRectF(box.left() + 1, box.center().y() - side / 2, side, side).adjusted(1, 1, -1, -1)
    if is_open:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.good))
        painter.drawEllipse(at)
        painter.setPen(QPen(QColor(sheet.ink(QColor(theme.good))), max(side / 8, 1.4)))
        c, r = at.center(), at.width() / 2
        corners = [QPointF(c.x() - 0.45 * r, c.y()), QPointF(c.x() - 0.1 * r, c.y() + 0.38 * r)]
        painter.drawPolyline([*corners, QPointF(c.x() + 0.5 * r, c.y() - 0.38 * r)])
    else:
        wide = max(side / 6, 2.0)
        inner = at.adjusted(wide / 2, wide / 2, -wide / 2, -wide / 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.border), wide))
        painter.drawEllipse(inner)
        painter.setPen(QPen(sheet.amber, wide, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.drawArc(inner, 90 * 16, -round(360 * 16 * share))
    room = box.adjusted(side + 5, 0, 0, 0)
    text = next((text for text in wordings if sheet.wide(text, "small") <= room.width()), wordings[-1])
    sheet.text(room, text, theme.text if is_open else theme.muted, "small")


def _size(count: int) -> str:
    """Write a number of bytes: 16 KiB."""
    return f"{count / 1024:.4g} KiB" if count >= 1024 else f"{count} B"


def _part(count: int, whole: int) -> str:
    """Write a part of a number of bytes in the unit of the whole."""
    return f"{count / 1024:.3g}" if whole >= 1024 else str(count)
