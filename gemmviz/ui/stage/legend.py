"""The line that explains colours and marks: those that can be seen in this recording."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.language import tr
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.colours import WRONG_TINT
from gemmviz.ui.stage.hues import group_colour, loop_colour
from gemmviz.ui.stage.in_flight import hatching
from gemmviz.ui.stage.scene import Bounds
from gemmviz.ui.stage.wrong_marks import corner

_CLEAR = "#00000000"
_SMALL = 0.86  # of the base font, in a column
_WRAPPED = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True)
class LegendEntry:
    """One entry: the colour of its box, the pen of its frame, the mark in it (corner, lamp, ...), its meaning."""

    text: str
    fill: QColor
    frame: QPen | None = None
    pattern: str = ""


def entries(
    playable: Playable,
    theme: Theme,
    warp: int,
    block: int = 0,
    ordered: bool = False,
    barriers: bool = False,
    ringed: bool = False,
) -> list[LegendEntry]:
    """Return the entries of the legend, most important first.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    warp, block
        The chosen ones.
    ordered
        Whether the order of the blocks is drawn on C.
    barriers
        Whether the strip of mbarriers is drawn.
    ringed
        Whether written cells have rings.
    """
    recording = playable.recording
    edge, ring = QColor(theme.text), QPen(QColor(theme.write), 2.6)
    found = [
        LegendEntry(tr("read"), QColor(theme.read), QPen(edge, 1.2)),
        LegendEntry(tr("written"), *((QColor(_CLEAR), ring) if ringed else (QColor(theme.amber), QPen(edge, 2.6)))),
    ]
    if ordered:
        found.append(LegendEntry(tr("C: order of the blocks"), QColor(_CLEAR), QPen(edge, 1.5), "line"))
    if recording.wrong:
        wrong = QColor(theme.bad)
        wrong.setAlphaF(WRONG_TINT)
        found.append(LegendEntry(tr("wrong value"), wrong, QPen(wrong, 1), "corner"))
    if playable.fills_shared:
        pad = QPen(QColor(theme.write), 1.3, Qt.PenStyle.DashLine)
        found.append(LegendEntry(tr("lands here"), QColor(_CLEAR), pad))
    if playable.live_sums is not None and playable.live_sums.known.any():
        found.append(LegendEntry(tr("italic: sum so far"), QColor(_CLEAR), QPen(edge, 1)))
    if recording.backend != "cuda":
        several = recording.threads > 1
        text = tr("C already written, by thread") if several else tr("C already written")
        found.append(LegendEntry(text, QColor(*(theme.owner(1, 0) if several else loop_colour(theme)))))
        return found
    if barriers:
        lamp = QPen(edge, 1.2)
        found.append(
            LegendEntry(tr("barrier: its phase; dots: arrivals; −: bytes missing"), QColor(_CLEAR), lamp, "lamp")
        )
    if playable.warpgroups.count:
        found += _of_groups(playable, theme, block)
    else:
        several = recording.threads > WARP
        by = tr("owner: block, warp; faint: not written") if several else tr("owner; faint: not written")
        found.append(LegendEntry(by, QColor(*theme.owner(0, 0))))
    if len(recording.accesses.copies):
        found.append(LegendEntry(tr("copy in flight"), QColor(_CLEAR), QPen(QColor(theme.write), 1), "hatched"))
    chosen = QPen(QColor(theme.selection), 2, Qt.PenStyle.DashLine)
    found.append(LegendEntry(tr("chosen block, its tiles"), QColor(_CLEAR), chosen))
    sectors = QPen(QColor(theme.read), 1.5)
    found.append(LegendEntry(tr("warp {warp}: its sectors; L: its lanes", warp=warp), QColor(_CLEAR), sectors))
    return found


def _of_groups(playable: Playable, theme: Theme, block: int) -> list[LegendEntry]:
    """Explain which warpgroups own sums of C, and which own none."""
    found: list[LegendEntry] = []
    known = playable.warpgroups
    for group in np.flatnonzero(known.owning).tolist():
        text = tr("of warpgroup {number}", number=group) if found else tr("sums of warpgroup {number}", number=group)
        found.append(LegendEntry(text, QColor(*group_colour(playable.recording, theme, block, group))))
    frame = QPen(QColor(theme.muted), 1, Qt.PenStyle.DotLine)
    others = np.flatnonzero(np.logical_not(known.owning)).tolist()
    return found + [LegendEntry(tr("warpgroup {number}: none", number=g), QColor(_CLEAR), frame) for g in others]


def draw(painter: QPainter, line: QRectF, shown: list[LegendEntry], theme: Theme, metrics: QFontMetricsF) -> None:
    """Draw the entries into a line, as many as there is room for.

    Parameters
    ----------
    painter, line
        Where to.
    shown
        The entries.
    theme, metrics
        Colours, and the font that the painter has.
    """
    height = metrics.height()
    x, size = line.left(), height * 0.8
    for entry in shown:
        width = metrics.horizontalAdvance(entry.text)
        if x + size + 6 + width > line.right():
            break  # half a legend entry says nothing
        _draw_box(painter, QRectF(x, line.center().y() - size / 2, size, size), entry, theme)
        x += size + 6
        painter.setPen(QColor(theme.muted))
        room = QRectF(x, line.top(), line.right() - x, line.height())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, entry.text)
        x += width + height * 0.75


class LegendColumn:
    """The legend as entries below each other. Their places are worked out again only when something changed.

    Parameters
    ----------
    theme, font
        The colours, and the base font.
    """

    def __init__(self, theme: Theme, font: QFont) -> None:
        self._theme, self._font, self._small = theme, QFont(font), larger(font, _SMALL)
        self._placed: tuple[Bounds, list[LegendEntry], list[tuple[LegendEntry, QRectF, QRectF]]] | None = None

    def draw(self, painter: QPainter, place: Bounds, shown: list[LegendEntry], taken: QRectF) -> None:
        """Draw as many entries as there is room for; long texts take several lines. None is drawn at `taken`."""
        if self._placed is None or self._placed[0] != place or self._placed[1] is not shown:
            self._placed = place, shown, list(self._places(place, shown))
        painter.setFont(self._small)
        for entry, box, room in self._placed[2]:
            if taken.intersects(box.united(room)):
                continue
            _draw_box(painter, box, entry, self._theme)
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(room, _WRAPPED, entry.text)
        painter.setFont(self._font)

    def _places(self, place: Bounds, shown: list[LegendEntry]) -> Iterator[tuple[LegendEntry, QRectF, QRectF]]:
        """Yield each entry that has room, with the places of its box and of its text."""
        metrics = QFontMetricsF(self._small)
        size, y = metrics.height() * 0.85, place.top
        for entry in shown:
            room = QRectF(place.left + size + 5, y, place.width - size - 5, place.bottom - y)
            needed = metrics.boundingRect(room, _WRAPPED, entry.text)
            if needed.height() > room.height() or needed.width() > room.width() + 1:
                continue
            room.setHeight(needed.height())
            yield entry, QRectF(place.left, y + (metrics.height() - size) / 2, size, size), room
            y += needed.height() + metrics.height() * 0.4


def _draw_box(painter: QPainter, box: QRectF, entry: LegendEntry, theme: Theme) -> None:
    painter.fillRect(box, entry.fill)
    if entry.pattern == "corner":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.bad))
        painter.drawPolygon(corner(box))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    elif entry.pattern == "hatched" and entry.frame is not None:
        painter.setPen(entry.frame)
        painter.drawLines(hatching(box))
    elif entry.pattern == "lamp" and entry.frame is not None:
        painter.setPen(entry.frame)
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))
        return
    elif entry.pattern == "line" and entry.frame is not None:
        painter.setPen(entry.frame)
        painter.drawLine(box.bottomLeft(), box.topRight())
        return
    if entry.frame is not None:
        painter.setPen(entry.frame)
        painter.drawRect(box.adjusted(1, 1, -1, -1))
