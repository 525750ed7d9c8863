"""The score as a picture: a lane per kind of step, tiles by number, barriers. It is drawn once, not at every step."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QPixmap

from gemmviz.language import tr
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.story import COPY, DIRECT, KINDS, OTHER, RELOAD, STORE, USE, Story
from gemmviz.ui.look.theme import Rgb, Theme, ink, rgb
from gemmviz.ui.stage.score_text import LANES

_LEAST_LANES = 3  # lanes that there is room for at least: fewer are higher
_GAP = 1
_PAD = 5
_LEAST_SHARE = 0.2
_PATTERN = 0.45  # how much a lane's pattern fades
_ODD = 0.3  # how much every other tile fades, so that neighbours part
_CLEAR = 3  # px between marks that are drawn one by one
_WIDE_STEP, _AT_STEP = 6.0, 1.5  # px of a step that is dragged through, and around its middle where it is exact


@dataclass(frozen=True)
class Layout:
    """Where things stand in a score, in px.

    Attributes
    ----------
    lanes
        The kinds of steps that occur, from above.
    left, width
        The part that the steps share.
    head, lane
        Height of the row of flags and of a lane.
    steps
        How many there are.
    """

    lanes: tuple[int, ...]
    left: float
    width: float
    head: float
    lane: float
    steps: int

    def x(self, step: float) -> float:
        """Return where a step begins."""
        return self.left + step * self.width / max(self.steps, 1)

    def step_at(self, x: float) -> int:
        """Return the step at a place; the nearest end outside."""
        return int(min(max((x - self.left) * self.steps / max(self.width, 1), 0), max(self.steps - 1, 0)))

    def position_at(self, x: float) -> float:
        """Return the position of playback at a place: a step is in the middle of its part, a gesture up to the next.

        Where steps are narrow, and near the middle of a step, it is a whole step.
        """
        wide, last = self.width / max(self.steps, 1), float(max(self.steps - 1, 0))
        if wide < _WIDE_STEP:
            return float(self.step_at(x))
        position = min(max((x - self.left) / wide - 0.5, 0.0), last)
        return float(round(position)) if abs(position - round(position)) * wide <= _AT_STEP else position

    def top(self, kind: int) -> float:
        """Return where a kind's lane begins."""
        return self.head + self.lanes.index(kind) * self.lane


def small(font: QFont) -> QFont:
    """Return the font of a score's labels."""
    smaller = QFont(font)
    smaller.setPointSizeF(max(font.pointSizeF(), 6.0) * 0.9)
    return smaller


def height(story: Story | None, font: QFont) -> int:
    """Return how high a score is."""
    line, count = QFontMetricsF(small(font)).height(), len(lanes(story))
    # Many lanes are lower, so that the matrices keep their room.
    lane = line + 1 if count <= _LEAST_LANES else line - 2
    return int(np.ceil(line + max(count, _LEAST_LANES) * lane + 4))


def lanes(story: Story | None) -> tuple[int, ...]:
    """Return the kinds of steps that a recording has, from above."""
    return tuple(kind for kind in range(len(KINDS)) if story is not None and story.occurs[kind])


def layout(story: Story | None, font: QFont, width: float, whole: float) -> Layout:
    """Share the room out.

    Parameters
    ----------
    story
        The steps to show; None for nothing.
    font
        The widget's.
    width, whole
        Its size in px.
    """
    metrics = QFontMetricsF(small(font))
    shown = lanes(story)
    names = [tr("barrier") + "  ", *(tr(name) for name in LANES.values())]
    left = max(metrics.horizontalAdvance(name) for name in names) + 2 * _PAD
    head = metrics.height() + 2
    lane = (whole - head - 2) / max(len(shown), 1)
    return Layout(shown, left, max(width - left - _PAD, 1), head, lane, len(story.kinds) if story is not None else 0)


def colour(theme: Theme, kind: int) -> Rgb:
    """Return a lane's colour: reads are blue and writes amber as on the stage, copies are both and have their own."""
    names = {COPY: theme.curves[6], STORE: theme.amber, OTHER: theme.faint}
    return rgb(names.get(kind, theme.read))


def draw(story: Story, place: Layout, theme: Theme, font: QFont, size: tuple[int, int], ratio: float) -> QPixmap:
    """Draw a score.

    Parameters
    ----------
    story, place
        The steps to draw, and their places.
    theme, font
        Colours and the font.
    size
        Width and height in px.
    ratio
        Device pixels per px.
    """
    pixmap = QPixmap(round(size[0] * ratio), round(size[1] * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(QColor(theme.panel))
    painter = QPainter(pixmap)
    try:
        painter.setFont(small(font))
        _draw_lanes(painter, story, place, theme, ratio)
        _draw_barriers(painter, story, place, theme)
        for kind in place.lanes:
            _draw_numbers(painter, story, place, theme, kind)
    finally:
        painter.end()
    return pixmap


def _draw_lanes(painter: QPainter, story: Story, place: Layout, theme: Theme, ratio: float) -> None:
    columns = max(round(place.width * ratio), 1)
    shares = story.shares(columns)
    odd = _odd_tiles(story, columns)
    metrics = painter.fontMetrics()
    for kind in place.lanes:
        top, high = place.top(kind), place.lane - _GAP
        painter.fillRect(QRectF(place.left, top, place.width, high), QColor(theme.background))
        if kind == COPY:
            _draw_on_the_way(painter, story, place, theme)
        image = _lane(shares[:, kind], odd, round(high * ratio), colour(theme, kind), rgb(theme.background), kind)
        painter.drawImage(QRectF(place.left, top, place.width, high), image)
        painter.setPen(QColor(theme.text))
        base = top + (high + metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(_PAD, base), tr(LANES[kind]))


def _odd_tiles(story: Story, columns: int) -> npt.NDArray[np.bool_]:
    """Return, per column of pixels, whether its tile's number is odd."""
    step = np.arange(columns) * len(story.kinds) // columns
    odd: npt.NDArray[np.bool_] = (story.tiles[step] >= 0) & (story.tiles[step] % 2 == 1)
    return odd


def _lane(share: np.ndarray, odd: np.ndarray, high: int, on: Rgb, off: Rgb, kind: int) -> QImage:
    """Return a lane's picture: as high as the share of the steps that are of its kind, in its own pattern."""
    wide = len(share)
    y, x = np.arange(high, dtype=np.int32)[:, None], np.arange(wide, dtype=np.int32)[None, :]
    tall = np.where(share > 0, np.maximum(share, _LEAST_SHARE), 0.0) * high
    unit = max(high // 12, 1)
    pattern = {
        COPY: (x + y) // unit % 6 < 2,
        USE: np.zeros((1, 1), bool),
        DIRECT: y // unit % 4 < 1,
        RELOAD: (x - y) // unit % 4 < 1,
        STORE: x // unit % 4 < 1,
        OTHER: (x // unit + y // unit) % 2 < 1,
    }[kind]
    fades = (0.0, _PATTERN, _ODD, _PATTERN + _ODD)
    shades = [(*(round(a + (b - a) * fade) for a, b in zip(on, off, strict=True)), 255) for fade in fades]
    which = np.where(y >= np.ceil(high - tall)[None, :], pattern + 2 * odd[None, :], len(shades))
    pixels = np.array([*shades, (0, 0, 0, 0)], np.uint8).view(np.uint32)[:, 0][which]
    return QImage(pixels.data, wide, high, 4 * wide, QImage.Format.Format_RGBA8888).copy()


def _draw_on_the_way(painter: QPainter, story: Story, place: Layout, theme: Theme) -> None:
    """Draw a line over the steps at which a tile is on its way, while others are made: a copy in the background."""
    middle = place.top(COPY) + place.lane / 2
    painter.setPen(QPen(QColor(*colour(theme, COPY)), 2, Qt.PenStyle.DotLine))
    for _, first, last, count in story.spans[COPY].tolist():
        if count < last - first + 1 and place.x(last) - place.x(first) > 1:
            painter.drawLine(QPointF(place.x(first), middle), QPointF(place.x(last + 1), middle))


def _draw_barriers(painter: QPainter, story: Story, place: Layout, theme: Theme) -> None:
    if not len(story.barriers):
        return
    line = QColor(theme.text)
    bottom = place.head + len(place.lanes) * place.lane
    columns = distinct(np.round(place.left + story.barriers * place.width / place.steps))
    # So many that they would hide the lanes: they stand above these only.
    crowded = len(columns) * _CLEAR * 2 > place.width
    for x in columns.tolist():
        painter.fillRect(QRectF(x - 1, place.head - 4, 2, 4), line)
        if not crowded:
            painter.fillRect(QRectF(x - 0.5, place.head, 1, bottom - place.head), line)
    metrics = painter.fontMetrics()
    painter.setPen(line)
    painter.drawText(QPointF(_PAD, metrics.ascent() + 2), tr("barrier"))
    painter.fillRect(QRectF(place.left - _PAD - 2, 2, 2, place.head - 2), line)


def _draw_numbers(painter: QPainter, story: Story, place: Layout, theme: Theme, kind: int) -> None:
    """Write the numbers of tiles where there is room: in the tile's bar, or behind it."""
    spans, bold, shown = story.spans[kind], QFont(painter.font()), colour(theme, kind)
    bold.setBold(True)
    painter.setFont(bold)
    metrics = QFontMetricsF(bold)
    if not len(spans) or len(spans) * _CLEAR > place.width:
        return
    top, high = place.top(kind), place.lane - _GAP
    base = top + (high + metrics.ascent() - metrics.descent()) / 2
    next_first = np.append(spans[1:, 1], place.steps)
    for (tile, first, last, count), following in zip(spans.tolist(), next_first.tolist(), strict=True):
        text = str(tile + 1)
        wide = metrics.horizontalAdvance(text) + 4
        solid = 2 * count > last - first + 1 and following > last
        end = place.x(last + 1) if solid else place.x(_end_of_run(story, first))
        begin = place.x(first)
        inside = end - begin >= wide
        if not inside and place.x(following) - end < wide:
            continue
        x = (begin + end - wide) / 2 if inside else end + 1
        painter.fillRect(QRectF(x, top + 1, wide, high - 2), QColor(*shown) if inside else QColor(theme.background))
        painter.setPen(QColor(ink(theme, shown) if inside else theme.text))
        painter.drawText(QPointF(x + 2, base), text)


def _end_of_run(story: Story, step: int) -> int:
    """Return the step after the segment that a step lies in."""
    return story.segment_at(step).last + 1
