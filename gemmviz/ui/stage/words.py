"""The words in the free quadrant: title, size and parameters, the recording's verdict, and the step's sentence."""

import re
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.trace.playable import Playable
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.caption import BETWEEN
from gemmviz.ui.stage.scene import Bounds

TITLE_LINES, VERDICT_LINE, CAPTION_LINES, CAPTION_OVER_LENS = 3.3, 1.6, 4.3, 3.4
"""Heights of the title with its chips, of the verdict in a line of its own, and of the caption, alone and above a lens,
in heights of the font."""
_TITLES = (1.25, 100), (1.12, 100), (1.0, 100), (1.0, 88)  # times the base font, and the letters' width in percent
_TWO_LINES = 0.84, 88  # of a title that is too long for each of these
_SMALL = 0.88
_LINE = 1.3
_BAR = 3.0  # pixels
_MORE = "…"  # in the place of parameters that have no room


@dataclass(frozen=True)
class _Title:
    """The places of the title and of the parts below it: texts, and the verdict with its colour."""

    font: QFont
    shown: str
    line: QRectF
    chips: list[tuple[str, QRectF]]
    verdict: tuple[str, QRectF] | None
    colour: QColor


@dataclass(frozen=True)
class _Placed:
    """Where a sentence stands: the font of each part, its place, and its text as far as there is room for it."""

    lead: tuple[QFont, str]
    remark: str
    font: QFont
    text: tuple[QRectF, str]
    top: QRectF
    bar: QRectF
    complete: bool


@dataclass(frozen=True)
class Sentence:
    """The sentence about a moment: a short line in colour, a remark at its right, and the text below.

    If the text is a kernel's idea (`idea`) and has no room below the line, it takes the place of the line, too.
    """

    lead: str
    remark: str
    text: str
    chosen: bool = False
    idea: bool = False


def step_sentence(caption: str, tile: str) -> Sentence:
    """Return a step's caption for the quadrant: the tile of the step first, then the rest.

    Parameters
    ----------
    caption
        The caption in one line: see `gemmviz.ui.stage.caption.caption`.
    tile
        The part of it that names the tile; empty: none.
    """
    step, *rest = caption.split(BETWEEN)
    if tile in rest:
        rest.remove(tile)
        text = BETWEEN.join(rest)
        return Sentence(tile[:1].upper() + tile[1:], step, text[:1].upper() + text[1:])
    text = BETWEEN.join(rest)
    return Sentence(step, "", text[:1].upper() + text[1:])


class Words:
    """Writes the words of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    font
        The base font.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable, self._theme, self._font = playable, theme, QFont(font)
        self._small = larger(font, _SMALL)
        self._titles = []
        for size, stretch in (*_TITLES, _TWO_LINES):
            title = larger(font, size)
            title.setBold(True)
            title.setStretch(stretch)
            self._titles.append(title)
        self._bold = QFont(font)
        self._bold.setBold(True)
        self._small_bold = larger(self._bold, _SMALL)
        self._height = QFontMetricsF(self._font).height()
        # They are placed again only when something in them changed, and drawn in each frame.
        self._title: tuple[Any, _Title] | None = None
        self._sentence: tuple[Any, _Placed] | None = None

    def chips(self, place: Bounds, verdict: str = "") -> list[tuple[str, QRectF]]:
        """Return the texts below the title, and their boxes: the size, then each parameter.

        Parameters
        ----------
        place
            Of title and chips.
        verdict
            The shortest text that stands behind them: it goes before the last parameters.
        """
        recording = self._playable.recording
        texts = [f"{recording.m} × {recording.n} × {recording.k}"]
        texts += [f"{name} {value}" for name, value in recording.params.items()]
        metrics, high = QFontMetricsF(self._small), self._height
        right = place.right - (metrics.horizontalAdvance(verdict) + high if verdict else 0)
        widths = [metrics.horizontalAdvance(text) + high for text in texts]
        if sum(widths) + 0.4 * high * len(widths) > right - place.left:
            right -= metrics.horizontalAdvance(_MORE) + 0.5 * high
        x, top = place.left, place.top + 1.75 * high
        found: list[tuple[str, QRectF]] = []
        for text, wide in zip(texts, widths, strict=True):
            if found and x + wide > right:
                found.append((_MORE, QRectF(x, top, metrics.horizontalAdvance(_MORE), 1.35 * high)))
                break
            found.append((text, QRectF(x, top, wide, 1.35 * high)))
            x += wide + 0.4 * high
        return found

    def draw_title(
        self,
        painter: QPainter,
        place: Bounds,
        title: str,
        verdict: list[str],
        judged: bool,
        taken: float = 0.0,
        below: bool = False,
    ) -> None:
        """Write the title, the chips, and where the picture comes from.

        Parameters
        ----------
        painter, place
            Where to.
        title
            The kernel's.
        verdict
            The recording's origin and whether C is right, from the longest wording on.
        judged
            Whether the recorded C says something about the chosen kernel.
        taken
            Width of something else at the right of the title, in pixels.
        below
            Whether the verdict has a line of its own below the chips.
        """
        key = place, title, verdict, judged, taken, below
        if self._title is None or self._title[0] != key:
            self._title = key, self._placed_title(place, title, verdict, judged, taken, below)
        placed, text = self._title[1], QColor(self._theme.text)
        painter.setPen(text)
        painter.setFont(placed.font)
        painter.drawText(placed.line, _MIDDLE, placed.shown)
        painter.setFont(self._small)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(self._theme.raised))
        for label, box in placed.chips:
            if label != _MORE:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
            painter.setPen(text)
            painter.drawText(box, _CENTRE, label)
        if placed.verdict is not None:
            label, box = placed.verdict
            painter.setPen(QPen(placed.colour, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
            painter.drawText(box, _CENTRE, label)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(self._font)

    def _placed_title(
        self, place: Bounds, title: str, verdict: list[str], judged: bool, taken: float, below: bool
    ) -> _Title:
        """Return the places of the title and of the parts below it: see `draw_title`."""
        theme, high = self._theme, self._height
        line = QRectF(place.left, place.top, place.width - taken, 1.65 * high)
        wrong = self._playable.recording.wrong
        mark = "" if not judged else "✗ " if wrong else "✓ "
        chips = self.chips(place, "" if below else mark + verdict[-1])
        x = place.left if below else chips[-1][1].right() + 0.5 * high
        top = place.top + (1.75 + VERDICT_LINE * below) * high
        metrics = QFontMetricsF(self._small)
        found = None
        for text in (mark + one for one in verdict):
            wide = metrics.horizontalAdvance(text) + 0.9 * high
            if x + wide <= place.right:
                found = text, QRectF(x, top, wide, 1.35 * high)
                break
        colour = QColor(theme.muted if not judged else theme.bad if wrong else theme.good)
        return _Title(*self.fitted_title(title, line.width()), line, chips, found, colour)

    def fitted_title(self, title: str, width: float) -> tuple[QFont, str]:
        """Return the largest font in which a title fits into a line, or two small lines, and it as it is written."""
        for font in self._titles[:-1]:
            if QFontMetricsF(font).horizontalAdvance(title) <= width:
                return font, title
        font = self._titles[-1]
        metrics, words = QFontMetricsF(font), title.split(" ")
        ways = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
        first, last = min(ways, key=lambda way: max(map(metrics.horizontalAdvance, way)), default=(title, ""))
        lines = [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in (first, last) if line]
        return font, "\n".join(lines)

    def draw_sentence(self, painter: QPainter, place: Bounds, sentence: Sentence) -> None:
        """Write the sentence, as many lines of it as fit, beside a bar in colour."""
        if self._sentence is None or self._sentence[0] != (place, sentence):
            self._sentence = (place, sentence), self._placed_sentence(place, sentence)
        theme, placed = self._theme, self._sentence[1]
        painter.fillRect(placed.bar, QColor(theme.accent))
        painter.setFont(self._small)
        painter.setPen(QColor(theme.muted))
        painter.drawText(placed.top, _AT_RIGHT, placed.remark)
        font, lead = placed.lead
        painter.setFont(font)
        painter.setPen(QColor(theme.accent))
        painter.drawText(placed.top, _MIDDLE, lead)
        painter.setFont(placed.font)
        painter.setPen(QColor(theme.text))
        painter.drawText(placed.text[0], _WRAPPED, placed.text[1])

    def _placed_sentence(self, place: Bounds, sentence: Sentence) -> _Placed:
        """Return the places of a sentence's parts: see `draw_sentence`."""
        found = self._set(place, sentence)
        if sentence.idea and not found.complete:
            whole = replace(sentence, lead="", remark="")
            found = self._set(place, whole)
            if not found.complete:
                found = self._set(place, replace(whole, chosen=True))
        return found

    def _set(self, place: Bounds, sentence: Sentence) -> _Placed:
        high = self._height
        inside = QRectF(place.left + _BAR + 0.7 * high, place.top, place.width - _BAR - 0.7 * high, place.height)
        remark = QFontMetricsF(self._small).horizontalAdvance(sentence.remark) + high if sentence.remark else 0.0
        top = QRectF(inside.left(), inside.top(), inside.width(), _LINE * high if sentence.lead else 0.0)
        room = inside.width() - remark
        bold = self._bold if QFontMetricsF(self._bold).horizontalAdvance(sentence.lead) <= room else self._small_bold
        lead = QFontMetricsF(bold).elidedText(sentence.lead, Qt.TextElideMode.ElideRight, room)
        below = inside.adjusted(0, top.height(), 0, 0)
        font, whole = self._font, _unbroken(sentence.text)
        if sentence.chosen and _height_of(whole, QFontMetricsF(font), below.width()) > below.height() + 1:
            font = self._small  # the formulas beside the axes leave less room
        metrics = QFontMetricsF(font)
        room_for_text = below.height() >= 0.8 * metrics.height()
        text = fitting(whole, metrics, below.size().toTuple()) if room_for_text else ""
        complete = room_for_text and _height_of(text, metrics, below.width()) <= below.height() + 1
        if room_for_text and not complete:
            text = _shortened(text, metrics, below.width(), below.height())
        bar = QRectF(place.left, place.top, _BAR, place.height)
        return _Placed((bold, lead), sentence.remark, font, (below, text), top, bar, complete)


_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignCenter
_WRAPPED = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


def _unbroken(text: str) -> str:
    """Keep each number on one line with the noun that it counts."""
    return re.sub(r"(?<=\d) (?=\w)", "\u00a0", text)


def fitting(text: str, metrics: QFontMetricsF, room: tuple[float, float]) -> str:
    """Leave out the last parts of a text that needs more room than (width, height): the most important is first."""
    parts = text.split(BETWEEN)
    width, height = room
    while True:
        shown = in_lines(parts, metrics, width)
        if len(parts) == 1 or _height_of(shown, metrics, width) <= height + 1:
            return shown
        parts.pop()


def _shortened(text: str, metrics: QFontMetricsF, width: float, height: float) -> str:
    """Return as many words of a text as fit in whole lines; at least the first one."""
    words = text.split(" ")

    def shown(count: int) -> str:
        return " ".join(words[:count]).rstrip(",;:") + "…"

    least, most = 1, len(words) - 1
    while least < most:
        middle = (least + most + 1) // 2
        if _height_of(shown(middle), metrics, width) <= height + 1:
            least = middle
        else:
            most = middle - 1
    return shown(least)


def in_lines(parts: list[str], metrics: QFontMetricsF, width: float) -> str:
    """Join parts of a text for lines of a width in pixels: no line ends with the point between two parts.

    A part begins a new line if its first word has no room behind the part before.
    """
    text = parts[0]
    for part in parts[1:]:
        first = BETWEEN + part.partition(" ")[0]
        fits = _height_of(text + first, metrics, width) <= _height_of(text, metrics, width)
        text += BETWEEN + part if fits else f"\n{part}"
    return text


def _height_of(text: str, metrics: QFontMetricsF, width: float) -> float:
    return metrics.boundingRect(QRectF(0, 0, width, 1e5), _WRAPPED, text).height()
