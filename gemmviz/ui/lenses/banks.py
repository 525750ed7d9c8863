"""The lens on banks: each word stands above its bank, in the row of the wavefront that serves it."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.wavefronts import BANKS
from gemmviz.trace.lenses.bank_use import BankUse, bank_use
from gemmviz.trace.lenses.warp_requests import warp_requests
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.page import SMALL, Page
from gemmviz.ui.lenses.request_text import request_heading, shown_request
from gemmviz.ui.lenses.sheet import LEFT, MIDDLE, RIGHT, Sheet
from gemmviz.ui.look.theme import Theme

_LEGIBLE = 12.0  # pixels of a column from which figures stand in it
_LOWEST_ROW, _USUAL_ROW, _HIGHEST_ROW = 3.0, 6.0, 26.0  # of words in shared memory
_SIZES = (1.0, SMALL, 0.75, 0.66)  # of the lanes in a wavefront's box, whichever fits
_FEWEST_BOXES = 8  # wavefronts: so wide are their boxes where there are fewer, too


class BanksLens(GradualLens):
    """Shows one request of the chosen warp to shared memory."""

    name: LensName = "banks"
    title = mark("Banks")

    def suits(self, playable: Playable) -> bool:
        """Say whether a warp accesses shared memory."""
        return warp_requests(playable).any("shared")

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw the request of the step, or the last one before it, or the next one."""
        asked = shown_request(moment, "shared")
        with Page(painter, rect, theme, font) as page:
            if asked is None:
                page.nothing(tr(self.title), tr("This warp makes no request to shared memory."))
                return
            use = bank_use(asked, moment.playable.recording.arrays[asked.array].itemsize)
            heading = request_heading(
                moment,
                asked,
                title=tr(self.title),
                tags=(tr("addresses recorded, wavefronts modelled"), tr("wavefronts modelled"), tr("modelled")),
                modelled=True,
                figure=trn("{count} wavefront", "{count} wavefronts", asked.units),
                under=_conflict(use),
            )
            room = page.headed(heading)
            if page.has_room(room):
                yield page
                yield from _Picture(page, room, moment, use).pieces()


LENS = BanksLens()


def _conflict(use: BankUse) -> str:
    asked = use.request
    if asked.units == asked.least:
        return tr("no conflict")
    if asked.least == 1:
        return tr("{ways}-way conflict", ways=use.ways)
    return tr("{count} would do", count=asked.least)


class _Picture:
    """Draws the banks of one request, from the stacks of words down to the wavefronts."""

    def __init__(self, page: Page, room: QRectF, moment: LensMoment, use: BankUse) -> None:
        self.page, self.moment, self.use = page, moment, use
        self.info = moment.playable.recording.arrays[use.request.array]
        left = max(page.width(text, SMALL) for text in (tr("bank"), thousands(self._words - BANKS))) + page.em * 0.35
        self.room = room.adjusted(left, 0, 0, 0)
        self.edge = room.left()
        self.column = self.room.width() / BANKS
        self.wavefronts = use.request.units
        self.hit = set(use.bank.tolist())
        self.lanes = [", ".join(_ranges(use.lanes_of(wavefront))) for wavefront in range(self.wavefronts)]

    @property
    def _words(self) -> int:
        """Words of the array, in whole rows of banks."""
        rows = -(-self.info.size * self.info.itemsize // 4 // BANKS)
        return max(rows, 1) * BANKS

    def pieces(self) -> Iterator[Sheet]:
        """Draw the stacks, the banks' numbers, the words in memory where there is room, and the wavefronts.

        In pieces, as `GradualLens.pieces`.
        """
        page, room = self.page, self.room
        small = page.row(SMALL)
        served = small + page.row() * 1.25
        spare = room.height() - served - 2.2 * small
        wanted = self.wavefronts * min(self.column * 0.95, page.em * 1.4)
        if spare < min(page.em, wanted):  # in a low room the stacks say it all
            served, spare = 0.0, spare + served
        # The stacks come first; the array follows if its rows are high enough.
        stack = min(max(spare * (0.5 if self.wavefronts > 2 else 0.34), page.em * 1.2), wanted)
        shown, each = self._rows_of_words(spare - stack - 1.3 * small)
        table = each * len(shown)
        if not table:
            stack = min(max(spare, page.em), wanted)
        left_over = spare - stack - (table + 1.3 * small if table else 0.0)
        y = room.top() + small * 0.3 + max(left_over, 0.0) * 0.4
        self._stacks(QRectF(room.left(), y, room.width(), stack))
        y += stack
        yield page
        self._numbers(QRectF(room.left(), y + 1, room.width(), small))
        yield page
        y += small + 3
        if table:
            y = self._words_in_memory(QRectF(room.left(), y, room.width(), table), shown, each)
            yield page
        y = min(y + page.em * 0.4 + max(left_over, 0.0) * 0.3, room.bottom() - served)
        if served:
            self._wavefronts(QRectF(room.left(), y, room.width(), served))

    @cached_property
    def _colours(self) -> list[QColor]:
        """Per wavefront, its colour."""
        both = self.page.accent(False), self.page.accent(True)
        return [both[late] for late in self.use.late.tolist()]

    @cached_property
    def _inks(self) -> list[str]:
        """Per wavefront, the colour of text on its colour."""
        both = self.page.ink(self.page.accent(False)), self.page.ink(self.page.accent(True))
        return [both[late] for late in self.use.late.tolist()]

    def _x(self, bank: int) -> float:
        return self.room.left() + bank * self.column

    def _stacks(self, area: QRectF) -> None:
        """Draw a dot for each word, above its bank, the first wavefront at the bottom."""
        page, theme, use = self.page, self.page.theme, self.use
        row = area.height() / self.wavefronts
        radius = min(row, self.column) * 0.46
        pale = QColor(theme.raised)
        for bank in self.hit:
            page.painter.fillRect(QRectF(self._x(bank) + 0.5, area.top(), self.column - 1, area.height()), pale)
        page.pen(theme.outline, 1.0)
        page.painter.drawLine(area.bottomLeft(), area.bottomRight())
        figures: list[tuple[QPointF, str, str]] = []
        page.painter.setPen(Qt.PenStyle.NoPen)
        colour, drawn_for = self._colours[0], -1
        for bank, served, text in zip(use.bank.tolist(), use.served.tolist(), self._figures, strict=True):
            if served != drawn_for:
                colour, drawn_for = self._colours[served], served
                page.painter.setBrush(colour)
            middle = QPointF(self._x(bank) + self.column / 2, area.bottom() - (served + 0.5) * row)
            if radius < 2.0:
                bar = QRectF(self._x(bank) + 1, middle.y() - row * 0.4, self.column - 2, max(row * 0.8, 0.8))
                page.painter.fillRect(bar, colour)
                continue
            page.painter.drawEllipse(middle, radius, radius)
            if text and radius * 2 >= _LEGIBLE:
                figures.append((middle, text, self._inks[served]))
        for middle, text, ink in figures:
            page.figure_in(QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius), text, ink)
        self._brackets(area)

    @cached_property
    def _figures(self) -> list[str]:
        """Per word, the lane to write on it: of neighbouring words of one lane the first has its number."""
        use = self.use
        repeated = np.zeros(len(use.word), bool)
        repeated[1:] = (np.diff(use.word) == 1) & (np.diff(use.served) == 0) & (np.diff(use.first_lane) == 0)
        return ["" if again else str(lane) for lane, again in zip(use.first_lane.tolist(), repeated, strict=True)]

    def _brackets(self, area: QRectF) -> None:
        """Beside the fullest banks, say how many words they are asked for, where the banks beside them are free."""
        page, use = self.page, self.use
        if use.request.units == use.request.least:
            return
        banks = use.bank.tolist()
        count = {bank: banks.count(bank) for bank in self.hit}
        most = max(count.values())
        texts = (
            trn("{count} word, one bank", "{count} words, one bank", most),
            trn("{count} word", "{count} words", most),
        )
        for bank in sorted(bank for bank, words in count.items() if words == most):
            free = next((b for b in range(bank + 1, BANKS) if b in self.hit), BANKS) - bank - 1
            width = free * self.column - page.em
            text = page.fitting((*texts, ""), width, bold=True)
            if not text or area.height() < page.row():
                continue
            x = self._x(bank + 1) + page.em * 0.25
            page.pen(page.theme.write, 1.4)
            ends = area.adjusted(0, 1, 0, -2)
            page.painter.drawPolyline(
                [
                    QPointF(x, ends.top()),
                    QPointF(x + page.em * 0.3, ends.top()),
                    QPointF(x + page.em * 0.3, ends.bottom()),
                    QPointF(x, ends.bottom()),
                ]
            )
            box = QRectF(x + page.em * 0.6, area.center().y() - page.row() / 2, width, page.row())
            page.write(box, text, colour=page.theme.write, bold=True)

    def _numbers(self, row: QRectF) -> None:
        """Write the numbers of the banks; those that are asked stand out."""
        page, theme = self.page, self.page.theme
        page.write(
            QRectF(self.edge, row.top(), row.left() - self.edge - 3, row.height()), tr("bank"), SMALL, theme.muted
        )
        size = min(SMALL, self.column * 0.95 / max(page.width("28"), 1.0))
        least = page.width("28", SMALL * 0.85) * 1.15
        every = next(e for e in (1, 2, 4, 8, 16) if e == 16 or e * self.column >= least)
        size = max(size, SMALL * 0.85) if every > 1 else max(size, 0.5)
        for bank in range(0, BANKS, every):
            wide = self.column * every
            box = QRectF(self._x(bank) + self.column / 2 - wide / 2, row.top(), wide, row.height())
            colour = theme.text if bank in self.hit else theme.faint
            page.write(box, str(bank), round(size, 2), colour, MIDDLE, bold=bank in self.hit)

    def _rows_of_words(self, room: float) -> tuple[range, float]:
        """Return the rows of the array to draw in a height, those that are asked for among them, and their height."""
        rows = self._words // BANKS
        first, last = int(self.use.word.min()) // BANKS, int(self.use.word.max()) // BANKS
        least = last - first + 1
        if room < least * _LOWEST_ROW:
            return range(0), 0.0
        count = min(max(least, int(room / _USUAL_ROW)), rows)
        begin = min(max(first - (count - least) // 2, 0), rows - count)
        return range(begin, begin + count), float(int(min(room / count, self.column * 0.8, _HIGHEST_ROW)))

    def _words_in_memory(self, area: QRectF, shown: range, each: float) -> float:
        """Draw rows of the array, 32 words in each, and on those that are asked for the lowest lane; return the end."""
        page, theme, use, painter = self.page, self.page.theme, self.use, self.page.painter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        gap = 1.0 if each >= 5 else 0.5
        words = -(-self.info.size * self.info.itemsize // 4)
        for row in shown:
            count = min(words - row * BANKS, BANKS)
            y = area.top() + (row - shown.start) * each
            painter.fillRect(QRectF(area.left(), y, count * self.column - gap, each - gap), QColor(*theme.cell))
        page.pen(theme.background, gap)
        for bank in range(1, BANKS):
            x = self._x(bank) - gap / 2
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        figures = min(each, self.column) >= _LEGIBLE
        for word, served, text in zip(use.word.tolist(), use.served.tolist(), self._figures, strict=True):
            row, bank = divmod(word, BANKS)
            colour = self._colours[served]
            box = QRectF(self._x(bank), area.top() + (row - shown.start) * each, self.column - gap, each - gap)
            painter.fillRect(box, colour)
            if figures and text:
                page.figure_in(box, text, self._inks[served])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        small = page.row(SMALL)
        every = max(int(-(-small // each)), 1)
        for row in shown[::every]:
            y = area.top() + (row - shown.start + 0.5) * each
            box = QRectF(self.edge, y - small / 2, area.left() - self.edge - 4, small)
            page.write(box, thousands(row * BANKS), SMALL * 0.9, theme.muted, RIGHT)
        under = QRectF(area.left(), area.bottom() + 1, area.width(), small)
        page.write_first(under, self._about_words(len(shown), figures), SMALL, theme.muted)
        return under.bottom()

    def _about_words(self, rows: int, figures: bool) -> list[str]:
        """Say which words are drawn, from the longest wording to the shortest."""
        words = -(-self.info.size * self.info.itemsize // 4)
        values = {"array": self.info.name, "count": thousands(words)}
        if rows * BANKS < words:
            text = tr("{array} in memory: some of its {count} words, 32 in a row", **values)
        else:
            text = tr("{array} in memory: {count} words, 32 in a row", **values)
        return [f"{text}; {tr('figures are lanes')}", text] if figures else [text]

    def _wavefronts(self, area: QRectF) -> None:
        """Draw a box for each wavefront, with the lanes that it serves, in the order in which they follow."""
        page, theme = self.page, self.page.theme
        small = page.row(SMALL)
        head = QRectF(area.left(), area.top(), area.width(), small)
        late = bool(self.use.late.any())
        note = tr("one after another") if self.wavefronts > 1 else tr("all at once")
        page.write(head, note, SMALL, theme.write if late else theme.muted, RIGHT, bold=late)
        head.setRight(head.right() - page.width(note, SMALL, late) - page.em)
        wide = area.width() / max(self.wavefronts, _FEWEST_BOXES if self.wavefronts > 1 else 4)
        gap = min(2.0, wide * 0.15)
        texts = (tr("wavefronts, and the lanes that each serves"), tr("lanes served"))
        size = self._fitting_size(self.lanes, wide - gap - 4)
        served = self.lanes
        if size is None:
            texts = (tr("wavefronts, and how many lanes each serves"), tr("number of lanes served"))
            served = [str(len(self.use.lanes_of(wavefront))) for wavefront in range(self.wavefronts)]
            size = self._fitting_size(served, wide - gap - 2) or _SIZES[-1]
        page.write_first(head, texts, SMALL, theme.muted, LEFT)
        for wavefront, lanes in enumerate(served):
            box = QRectF(
                area.left() + wavefront * wide, head.bottom() + 1, wide - gap, area.bottom() - head.bottom() - 2
            )
            colour = self._colours[wavefront]
            page.painter.setPen(Qt.PenStyle.NoPen)
            page.painter.setBrush(colour)
            page.painter.drawRoundedRect(box, 2, 2)
            page.write(box, lanes, size, page.ink(colour), MIDDLE)

    def _fitting_size(self, texts: list[str], width: float) -> float | None:
        """Return the largest size of type at which none of some texts is wider than so many pixels; None: none is."""
        return next((one for one in _SIZES if all(self.page.width(text, one) <= width for text in texts)), None)


def _ranges(numbers: list[int]) -> list[str]:
    """Write ascending numbers, three neighbours and more as a range: 0–3, 16, 17."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [text for run in runs for text in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run))]
