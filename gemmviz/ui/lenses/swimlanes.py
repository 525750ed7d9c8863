"""Swimlanes: requests, arrivals and products of tiles, by warp; a column per event, in order and never in time."""

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen, QPolygonF

from gemmviz.language import mark, tr
from gemmviz.trace.lenses.fillings import Stages
from gemmviz.trace.lenses.pipeline_events import COPIES, Event, Kind, PipelineEvents, Wait
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.sheet import MIDDLE, Sheet
from gemmviz.ui.stage.barrier_text import barrier_name

_VERBS: dict[Kind, str] = {
    "ask": mark("ask {number}"),
    "arrive": mark("{number} in"),
    "multiply": mark("mul {number}"),
    "free": mark("free {number}"),
}
_BEFORE_NOW = 0.62  # the share of shown columns before the moment, if there are more
_AHEAD = 0.16  # the strength of future events
_LARGEST = 4.6  # a column's width in lines of small text

Lane = tuple[bool, int]
"""Whether it asks; its agent."""


class Swimlanes:
    """The lanes of a block.

    Parameters
    ----------
    playable, found, events
        The recording, and the stages and events of the block.
    """

    def __init__(self, playable: Playable, found: Stages, events: PipelineEvents) -> None:
        self._playable, self._found, self._events = playable, found, events
        asks: list[Lane] = [(True, found.asking[0])]
        self._lanes: list[Lane] = [*asks, (False, COPIES), *((False, agent) for agent in found.using)]

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return len(self._lanes)

    def pieces(self, sheet: Sheet, room: QRectF, step: int) -> Iterator[Sheet]:
        """Draw the lanes with a heading, in their state after a step; in pieces, as `GradualLens.pieces`."""
        theme, events = sheet.theme, self._events.events
        head = QRectF(room.left(), room.top(), room.width(), 1.3 * sheet.em)
        passed = self._events.passed(step)
        names = [sheet.wide(self._name(lane), "small", True) for lane in self._lanes]
        left = min(
            max(*names, *(sheet.wide(self._about(lane), "small") for lane in self._lanes)) + 8, 0.3 * room.width()
        )
        wide = self._column(sheet, room.width() - left, len(events))
        seen = max(int((room.width() - left) / wide), 1)
        first = max(min(passed - round(_BEFORE_NOW * seen), len(events) - seen), 0)
        top = head.bottom()
        high = (room.bottom() - top) / self.count
        gap = 1.5 if high < 2.6 * sheet.small else 4.0
        now = room.left() + left + (passed - first) * wide
        title_width = sheet.text(head, tr("Who waits for whom"), bold=True)
        self._draw_heading(sheet, head.adjusted(title_width + 8, 0, 0, 0), now)
        boxes: dict[int, QRectF] = {}
        for row, lane in enumerate(self._lanes):
            line = QRectF(room.left() + left, top + row * high + gap, room.width() - left, high - 2 * gap)
            sheet.painter.fillRect(line, sheet.mixed(theme.cell, 0.45))
            self._draw_name(sheet, QRectF(room.left(), line.top(), left - 4, line.height()), lane)
            mine = [at for at in range(first, min(first + seen, len(events))) if self._lane(events[at]) == lane]
            for at in mine:
                box = QRectF(line.left() + (at - first) * wide + 1, line.top() + 1, wide - 2, line.height() - 2)
                boxes[at] = box
            for wait in self._events.waits:
                if (wait.asking, wait.agent) == lane:
                    self._draw_wait(sheet, line, wait, first, wide)
        yield sheet
        for begin, end in self._events.arrows:
            if begin in boxes and end in boxes:
                self._draw_arrow(sheet, boxes[begin], boxes[end], end < passed)
        for at, box in boxes.items():
            self._draw_event(sheet, box, events[at], at < passed)
        self._draw_now(sheet, now, head, room, head.left() + title_width)

    def _draw_heading(self, sheet: Sheet, rest: QRectF, now: float) -> None:
        """Explain the order of the columns and the arrows, beside the word that marks the moment."""
        half = 0.5 * sheet.wide(tr("now"), "small", True) + 8
        parts = [QRectF(rest), QRectF(rest)]
        parts[0].setRight(min(max(now - half, rest.left()), rest.right()))
        parts[1].setLeft(min(max(now + half, rest.left()), rest.right()))
        muted = sheet.theme.muted
        for order in (tr("order of events, never time"), tr("order, never time")):
            part = next((part for part in parts if part.width() >= sheet.wide(order, "small")), None)
            if part is not None:
                part.setLeft(part.left() + sheet.text(part, order, muted, "small") + 14)
                break
        opens = tr("a barrier opens") if self._playable.recording.barriers else tr("copied: may be used")
        wide = sheet.wide(opens, "small") + 18
        for part in parts:
            if part.width() >= wide:
                y, colour = part.center().y(), QColor(sheet.theme.good)
                sheet.pointer(QPointF(part.left(), y), QPointF(part.left() + 14, y), colour)
                sheet.text(part.adjusted(18, 0, 0, 0), opens, muted, "small")
                break

    def _lane(self, event: Event) -> Lane:
        return event.kind == "ask", event.agent

    def _column(self, sheet: Sheet, room: float, count: int) -> float:
        """Return the width of a column: all events where they fit, else as narrow as their texts allow."""
        last = len(self._found.fillings)
        least = max(sheet.wide(tr(verb, number=last), "small", True) for verb in _VERBS.values()) + 6
        return min(max(room / max(count, 1), least), _LARGEST * sheet.small)

    def _name(self, lane: Lane) -> str:
        asking, agent = lane
        if agent == COPIES:
            return tr("copy engine") if self._by_engine() else tr("copies")
        alone = self._found.asking == self._found.using
        if asking:
            return tr("asks") if alone else tr("producer")
        if alone:
            return tr("multiplies")
        using = self._found.using
        return tr("consumer") if len(using) == 1 else tr("consumer {number}", number=using.index(agent) + 1)

    def _by_engine(self) -> bool:
        """Say whether all tiles come as boxes of the copy engine."""
        recording = self._playable.recording
        boxes = recording.boxes
        return bool(len(boxes)) and int(boxes.writes[boxes.store == 0].sum()) == len(recording.accesses.copies)

    def _about(self, lane: Lane) -> str:
        """Name the agent of a lane."""
        _, agent = lane
        if agent == COPIES:
            return tr("TMA") if self._by_engine() else tr("in flight")
        if not self._playable.recording.barriers:
            return tr("all threads")
        return tr("warpgroup {number}", number=agent)

    def _draw_name(self, sheet: Sheet, box: QRectF, lane: Lane) -> None:
        colour = self._colour(sheet, "ask" if lane[0] else "arrive" if lane[1] == COPIES else "multiply", True)
        if box.height() < 2 * sheet.small:
            sheet.text(box, self._name(lane), colour, "small", bold=True)
            return
        line = QRectF(box.left(), box.center().y() - sheet.small, box.width(), sheet.small)
        sheet.text(line, self._name(lane), colour, "small", bold=True)
        sheet.text(line.translated(0, sheet.small), self._about(lane), sheet.theme.muted, "small")

    def _colour(self, sheet: Sheet, kind: Kind, text: bool = False) -> QColor:
        theme = sheet.theme
        if kind == "ask":
            return QColor(theme.write) if text else sheet.amber
        return QColor({"arrive": theme.curves[6], "multiply": theme.read, "free": theme.good}[kind])

    def _draw_event(self, sheet: Sheet, box: QRectF, event: Event, past: bool) -> None:
        colour = self._colour(sheet, event.kind)
        fill = sheet.mixed(colour, 0.42 if past else _AHEAD)
        edge = colour if past else sheet.mixed(colour, 0.6)
        sheet.box(box, edge, fill, dashed=not past)
        text = tr(_VERBS[event.kind], number=event.filling + 1)
        ink = sheet.theme.text if past else sheet.theme.muted
        if box.height() < 2 * sheet.small:
            sheet.text(box, text, ink, "small", bold=past, align=MIDDLE)
            return
        line = QRectF(box.left(), box.center().y() - sheet.small, box.width(), sheet.small)
        sheet.text(line, text, ink, "small", bold=past, align=MIDDLE)
        stage = self._found.fillings[event.filling].stage
        sheet.text(line.translated(0, sheet.small), f"s{stage}", sheet.theme.muted, "small", align=MIDDLE)

    def _draw_wait(self, sheet: Sheet, line: QRectF, wait: Wait, first: int, wide: float) -> None:
        """Draw a wait over the columns in which its agent does nothing."""
        begin, end = max(wait.after + 1 - first, 0), wait.until - first
        box = QRectF(
            line.left() + begin * wide, line.center().y() - sheet.small * 0.6, (end - begin) * wide, 1.2 * sheet.small
        )
        box = box.intersected(line).adjusted(2, 0, -2, 0)
        if end <= begin or box.width() < 4:
            return
        sheet.box(box, QColor(sheet.theme.outline), None, dashed=True)
        name = barrier_name(self._playable, wait.barrier)
        texts = (tr("waits for {barrier}", barrier=name), name, "…")
        fitted = next((text for text in texts if sheet.wide(text, "small") <= box.width() - 4), "")
        sheet.text(box, fitted, sheet.theme.muted, "small", align=MIDDLE)

    def _draw_arrow(self, sheet: Sheet, begin: QRectF, end: QRectF, past: bool) -> None:
        colour = sheet.mixed(sheet.theme.good, 1.0 if past else 0.5)
        down = end.top() > begin.top()
        leaves = QPointF(begin.center().x(), begin.bottom() if down else begin.top())
        meets = QPointF(end.center().x() - min(end.width() / 4, 8), end.top() if down else end.bottom())
        sheet.arrow(leaves, meets, colour, dashed=not past)

    def _draw_now(self, sheet: Sheet, x: float, head: QRectF, room: QRectF, titled: float) -> None:
        """Draw the line of the moment, and its word where the title, which ends at `titled`, leaves room for it."""
        colour = QColor(sheet.theme.selection)
        x = min(max(x, room.left() + 1), room.right() - 1)
        sheet.painter.setPen(QPen(colour, 1.6))
        sheet.painter.drawLine(QPointF(x, head.bottom() - 3), QPointF(x, room.bottom()))
        sheet.painter.setPen(Qt.PenStyle.NoPen)
        sheet.painter.setBrush(colour)
        tip = QPointF(x, head.bottom() + 1)
        sheet.painter.drawPolygon(QPolygonF([tip, tip + QPointF(-4, -6), tip + QPointF(4, -6)]))
        text = tr("now")
        wide = sheet.wide(text, "small", True)
        box = QRectF(min(x - wide / 2, room.right() - wide), head.top(), wide + 1, head.height() - 7)
        if box.left() > titled + 4:
            sheet.text(box, text, size="small", bold=True, align=MIDDLE)
