"""The mbarriers of the chosen block, beside the ring of stages: a lamp per barrier, its missing arrivals, its waits.

A lamp shows the parity of the phase under way. Beside it, the missing arrivals: a dot per arrival, filled when it
is there, and the bytes of the copy engine as a bar that fills. An hourglass marks waiting threads. Stages stand
below each other, as their tiles do; in little room side by side, as lamps alone.
"""

from math import ceil
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QPolygonF

from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.hopper.mbarrier_state import BarrierState
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.barrier_text import barrier_name, families, wait_text, waits, who
from gemmviz.ui.stage.scene import StageRect

_LINE = 1.25  # height of a line, in heights of the font
_LAMP, _DOT, _BAR, _GLASS, _GAP = 1.0, 0.6, 2.0, 0.7, 0.35  # widths, in heights of the font
_COLUMN_GAP = 0.9
_MOST_DOTS = 4
_WAITS = 2, 1  # lines for the waiting warps: in much room, in little
_LARGEST = "888 KiB"


class BarrierStrip:
    """The strip of one recording in one theme; without mbarriers it has no size and draws nothing.

    Parameters
    ----------
    playable, theme
        The recording, and its colours.
    vector
        Draw texts as texts, and not from a kept picture.
    """

    def __init__(self, playable: Playable, theme: Theme, vector: bool = False) -> None:
        self._playable, self._theme, self._vector = playable, theme, vector
        self._families = families(playable)
        self._most = max((len(members) for _, members in self._families), default=0)
        known = playable.mbarrier_states
        of = known.key // (known.steps + 1) % max(known.barriers, 1)
        self._needed = [int(known.values[np.isin(of, m), 1].max(initial=0)) for _, m in self._families]
        self._kept: tuple[Any, QPixmap] | None = None

    def sizes(self, font: QFont) -> list[tuple[float, float]]:
        """Return the best and the least room for the strip, in pixels; empty without barriers."""
        if not self._families:
            return []
        places = [_Places(self._families, font, size, self._widths(font)) for size in (0, 1)]
        # The waiting warps are written below, and need room, too.
        longest = barrier_name(self._playable, self._families[-1][1][-1])
        least = QFontMetricsF(font).horizontalAdvance(wait_text(tr("producer"), 1, longest)) + 2
        return [(max(p.width, least), p.height) for p in places]

    def _widths(self, font: QFont) -> list[float]:
        """Return the width of a barrier of each family with all of its text."""
        metrics = QFontMetricsF(font)
        em, widths = metrics.height(), []
        for (_, members), needed in zip(self._families, self._needed, strict=True):
            wide = em * (_LAMP + 3 * _GAP + _GLASS) + _dots(metrics, needed)
            if self._counts(members[0]):
                wide += em * (_BAR + 2 * _GAP) + metrics.horizontalAdvance(_LARGEST)
            widths.append(wide)
        return widths

    def _counts(self, barrier: int) -> bool:
        return barrier in self._playable.mbarrier_states.counts_bytes

    def draw(self, painter: QPainter, place: StageRect, font: QFont, step: int, block: int, ratio: float) -> None:
        """Draw the barriers of a block as they are after a step."""
        states = self._playable.mbarrier_states.at(step, block)
        if self._vector:
            painter.save()
            painter.translate(place.x, place.y)
            self._draw(painter, place, font, states)
            painter.restore()
            return
        shown = tuple((s.ready, s.ended, s.arrivals, s.bytes, s.announced, s.waiting.tobytes()) for s in states)
        key = shown, place.width, place.height, place.size, ratio, font.toString()
        if self._kept is None or self._kept[0] != key:
            pixmap = QPixmap(ceil(place.width * ratio), ceil(place.height * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(QColor(self._theme.background))
            with QPainter(pixmap) as into:
                self._draw(into, place, font, states)
            self._kept = key, pixmap
        painter.drawPixmap(QPointF(place.x, place.y), self._kept[1])

    def at(self, place: StageRect, font: QFont, x: float, y: float, step: int, block: int) -> str:
        """Return the text for a point of the strip; empty if nothing is."""
        places = _Places(self._families, font, place.size, self._widths(font))
        for family, (_, members) in enumerate(self._families):
            for index, barrier in enumerate(members):
                if places.box(family, index).contains(x - place.x, y - place.y):
                    return about_barrier(self._playable, self._playable.mbarrier_states.at(step, block), barrier)
        return ""

    def _draw(self, painter: QPainter, place: StageRect, font: QFont, states: list[BarrierState]) -> None:
        metrics = QFontMetricsF(font)
        places = _Places(self._families, font, place.size, self._widths(font))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.muted))
        for index in range(self._most if self._most > 1 else 0):
            painter.drawText(places.number(index), middle | Qt.AlignmentFlag.AlignLeft, str(index))
        painter.setFont(_bold(font))
        painter.setPen(QColor(self._theme.text))
        for family, (name, _) in enumerate(self._families):
            painter.drawText(places.name(family), middle, name)
        painter.setFont(font)
        for family, (_, members) in enumerate(self._families):
            for index, barrier in enumerate(members):
                if states[barrier].ready:
                    box = places.box(family, index)
                    needed = self._needed[family] if place.size == 0 else 0
                    self._draw_barrier(painter, box, metrics, states[barrier], needed, self._counts(barrier))
        self._draw_waits(painter, place, places, metrics, states)

    def _draw_waits(
        self, painter: QPainter, place: StageRect, places: "_Places", metrics: QFontMetricsF, states: list[BarrierState]
    ) -> None:
        sentences, lines = waits(self._playable, states), _WAITS[place.size]
        painter.setPen(QColor(self._theme.text))
        for row, text in enumerate(sentences[:lines]):
            more = " …" if row == lines - 1 and len(sentences) > lines else ""
            text = metrics.elidedText(text + more, Qt.TextElideMode.ElideRight, place.width)
            painter.drawText(places.wait(row, place.width), Qt.AlignmentFlag.AlignVCenter, text)

    def _draw_barrier(
        self,
        painter: QPainter,
        box: QRectF,
        metrics: QFontMetricsF,
        state: BarrierState,
        needed: int,
        counts: bool,
    ) -> None:
        """Draw a lamp, and where at most `needed` arrivals are to be shown, those that the barrier lacks."""
        theme, em, x, y = self._theme, metrics.height(), box.left(), box.center().y()
        ink = QColor(theme.text)
        lamp = QRectF(x, y - em * _LAMP / 2, em * _LAMP, em * _LAMP).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(ink, 1.2))
        painter.setBrush(ink if state.parity else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(lamp)
        painter.setPen(QColor(theme.background) if state.parity else ink)
        painter.drawText(lamp, Qt.AlignmentFlag.AlignCenter, str(state.parity))
        x += em * (_LAMP + (_GAP if needed else _GAP / 3))
        if needed:
            self._draw_arrivals(painter, x, y, metrics, state, needed)
            x += _dots(metrics, needed) + em * _GAP
        if len(state.waiting):
            _draw_glass(painter, QRectF(x, y - em * 0.42, em * _GLASS, em * 0.84), theme)
        if needed and counts:
            self._draw_bytes(painter, x + em * (_GLASS + _GAP), y, metrics, state)

    def _draw_arrivals(
        self, painter: QPainter, x: float, y: float, metrics: QFontMetricsF, state: BarrierState, most: int
    ) -> None:
        """Draw a dot per arrival of the phase, filled where it is there; of many their numbers."""
        em, ink = metrics.height(), QColor(self._theme.text)
        there = state.needed - state.arrivals
        painter.setPen(QPen(ink, 1))
        if most > _MOST_DOTS:
            box = QRectF(x, y - em / 2, _dots(metrics, most), em)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, f"{there}/{state.needed}")
            return
        for number in range(state.needed):
            painter.setBrush(ink if number < there else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(x + em * _DOT * (number + 0.5), y), em * 0.2, em * 0.2)

    def _draw_bytes(self, painter: QPainter, x: float, y: float, metrics: QFontMetricsF, state: BarrierState) -> None:
        """Draw the bytes that have come as a bar, and beside it how many are missing; nothing if none are due."""
        theme, em = self._theme, metrics.height()
        if not state.announced:
            return
        bar = QRectF(x, y - em * 0.25, em * _BAR, em * 0.5)
        share = 1 - min(state.bytes / state.announced, 1)
        painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * share, bar.height()), QColor(theme.amber))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.write), 1))
        painter.drawRect(bar)
        painter.setPen(QColor(theme.text))
        box = QRectF(bar.right() + em * _GAP, y - em / 2, metrics.horizontalAdvance(_LARGEST) + em * _GAP, em)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, f"−{_size(state.bytes)}")


class _Places:
    """Where things stand in a strip of a size, in pixels from its corner: stages below each other (0) or beside (1)."""

    def __init__(self, families: list[tuple[str, list[int]]], font: QFont, size: int, widths: list[float]) -> None:
        metrics, bold = QFontMetricsF(font), QFontMetricsF(_bold(font))
        em = metrics.height()
        self._size, self._line = size, em * _LINE
        names = [bold.horizontalAdvance(name) for name, _ in families]
        self._most = max(len(members) for _, members in families)
        numbered = self._most > 1
        if size == 0:
            wide = [max(name, width) + em * _COLUMN_GAP for name, width in zip(names, widths, strict=True)]
            self._first = metrics.horizontalAdvance("00") if numbered else 0.0
            self._lines = 1 + self._most
        else:
            wide = [em * (_LAMP + _GAP + _GLASS)] * self._most
            self._first = max(names) + em * _COLUMN_GAP
            self._lines = numbered + len(families)
        self._left = self._first + np.concatenate([[0.0], np.cumsum(wide)])
        self.width = float(self._left[-1])
        self.height = self._line * (self._lines + _WAITS[size])

    def _cell(self, column: int, row: int) -> QRectF:
        left, right = self._left[column : column + 2].tolist()
        return QRectF(left, row * self._line, right - left, self._line)

    def box(self, family: int, index: int) -> QRectF:
        return self._cell(family, index + 1) if self._size == 0 else self._cell(index, family + (self._most > 1))

    def name(self, family: int) -> QRectF:
        if self._size == 0:
            return self._cell(family, 0)
        return QRectF(0, (family + (self._most > 1)) * self._line, self._first, self._line)

    def number(self, index: int) -> QRectF:
        if self._size == 0:
            return QRectF(0, (index + 1) * self._line, self._first, self._line)
        return self._cell(index, 0).translated(self._line * 0.25, 0)

    def wait(self, row: int, width: float) -> QRectF:
        return QRectF(0, (self._lines + row) * self._line, width, self._line)


def _dots(metrics: QFontMetricsF, needed: int) -> float:
    """Return how wide the dots of so many arrivals are, or their numbers."""
    if needed <= _MOST_DOTS:
        return needed * metrics.height() * _DOT
    return metrics.horizontalAdvance(f"{needed}/{needed}")


def _bold(font: QFont) -> QFont:
    made = QFont(font)
    made.setBold(True)
    return made


def _size(count: int) -> str:
    """Write a number of bytes: 32 KiB."""
    return f"{np.format_float_positional(count / 1024, 1, trim='-')} KiB" if count >= 1024 else f"{count} B"


def _draw_glass(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw an hourglass."""
    painter.setPen(QPen(QColor(theme.accent), 1.4))
    painter.setBrush(QColor(theme.accent))
    middle = box.center()
    for edge in (box.top(), box.bottom()):
        corners = QPointF(box.left(), edge), QPointF(box.right(), edge), middle
        painter.drawPolygon(QPolygonF(corners))


def about_barrier(playable: Playable, states: list[BarrierState], barrier: int) -> str:
    """Describe the state of a barrier after a step in full."""
    state, name = states[barrier], barrier_name(playable, barrier)
    if not state.ready:
        return tr("{barrier}: not initialised yet", barrier=name)
    texts = [
        trn(
            "{barrier}: {count} phase has ended, the next one has parity {parity}",
            "{barrier}: {count} phases have ended, the next one has parity {parity}",
            state.ended,
            barrier=name,
            parity=state.parity,
        ),
        trn(
            "{missing} of {count} arrival missing",
            "{missing} of {count} arrivals missing",
            state.needed,
            missing=state.arrivals,
        ),
    ]
    if barrier in playable.mbarrier_states.counts_bytes:
        bytes_missing, announced = thousands(state.bytes), thousands(state.announced)
        texts.append(tr("{missing} of {announced} announced bytes missing", missing=bytes_missing, announced=announced))
    if len(state.waiting):
        texts.append(wait_text(*who(playable, state.waiting), name))
    return "\n".join(texts)
