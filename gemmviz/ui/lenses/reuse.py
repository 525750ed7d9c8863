"""The lens on reuse: heat maps of how often each element has been read so far, and from which memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.catalogue.matrices import A, B
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.distinct import distinct
from gemmviz.trace.lenses.read_counts import ArrayReads, levels, read_counts
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.page import SMALL, Heading, Page, source_line
from gemmviz.ui.lenses.sheet import LEFT, MIDDLE, Sheet
from gemmviz.ui.look.theme import Rgb, Theme, rgb
from gemmviz.ui.stage.accessed_cells import covered

_LEGIBLE = 15.0  # pixels of a cell from which its figure stands in it
_FRAMED = 5.0  # and from which a cell that is read just now has a frame
_FIRST = 0.16  # of the way from no reads to the most: the colour of one read
_TURN = 0.72  # where on that way the blue of reads stands
_SMALLEST_MAP = 36.0
_LEAST_MAP = 2.0  # height of a map, in heights of body text, below which the scale of colours is left out
_MUCH_LARGER = 1.3  # so many times as large is a map beside its texts, or it stands below them


class ReuseLens(GradualLens):
    """Shows A, B and the shared arrays of the chosen block, coloured by the reads of each element."""

    name: LensName = "reuse"
    title = mark("Reuse")

    def suits(self, playable: Playable) -> bool:
        """Say whether anything is read."""
        return any(array.reads for array in playable.traffic.arrays)

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw the reads up to a step, that step included."""
        playable = moment.playable
        with Page(painter, rect, theme, font) as page:
            if not playable.timeline.steps:
                page.nothing(tr(self.title), tr("The kernel made no access to memory."))
                return
            found = [reads for reads in read_counts(playable).at(moment.step, moment.block) if _used(playable, reads)]
            if not found:
                page.nothing(tr(self.title), tr("The kernel reads no matrix, and nothing in shared memory."))
                return
            figure, under = _figure(found, playable)
            room = page.headed(
                Heading(
                    tr(self.title),
                    (tr("recorded"),),
                    False,
                    (tr("how often each element has been read so far"), tr("reads per element so far"), tr("reads")),
                    source_line(playable.recording, playable.line(moment.step)),
                    figure,
                    under,
                )
            )
            if not page.has_room(room):
                return
            bounds, colours = levels(playable), _colours(theme, len(levels(playable)))
            small = page.row(SMALL)
            scale = QRectF(room.left(), room.bottom() - 1.5 * small, room.width(), 1.5 * small)
            explained = scale.top() - page.em * 0.3 - room.top() >= page.row() + small + _LEAST_MAP * page.em
            if explained:
                room.setBottom(scale.top() - page.em * 0.3)
            maps = _places(room, found, playable.recording, page)
            for reads, place in maps:
                yield page
                _Map(page, place, moment, reads, bounds, colours).draw()
            if explained:
                yield page
                _scale(page, scale, bounds, colours)


LENS = ReuseLens()


def _used(playable: Playable, reads: ArrayReads) -> bool:
    """Say whether the recording reads an array at all."""
    return playable.traffic.arrays[reads.array].reads > 0


def _figure(found: list[ArrayReads], playable: Playable) -> tuple[str, str]:
    """Return the average number of reads per value, and its meaning.

    One read of a warp's or warpgroup's instruction serves many products: there it is the number of products.
    """
    recording = playable.recording
    shared = [reads for reads in found if recording.arrays[reads.array].space == "shared"]
    written = sum(reads.written for reads in shared)
    if shared and recording.together > 1 and not recording.wrong:
        loads = sum(playable.traffic.arrays[i].read_bytes // recording.arrays[i].itemsize for i in (A, B))
        text = _rounded(recording.m * recording.n * recording.k / max(loads, 1))
        figure = trn("{count} product", "{count} products", 1 if text == "1" else 2, count=text)
        return figure, tr("per value loaded from A and B")
    if written:
        mean = sum(reads.total for reads in shared) / written
        on_gpu = recording.backend == "cuda"
        under = tr("per value put in shared memory") if on_gpu else tr("per value put in a panel")
        return _reads_text(mean), under
    both = [reads for reads in found if reads.array in (A, B)]
    mean = sum(reads.total for reads in both) / max(sum(len(reads.reads) for reads in both), 1)
    return _reads_text(mean), tr("per element of A and B")


def _reads_text(mean: float) -> str:
    text = _rounded(mean)
    return trn("{count} read", "{count} reads", 1 if text == "1" else 2, count=text)


def _rounded(mean: float) -> str:
    """Write a mean with at most two decimals."""
    return f"{mean:.2f}".rstrip("0").rstrip(".") if mean < 100 else thousands(round(mean))


def _colours(theme: Theme, count: int) -> list[Rgb]:
    """Return a colour for each level: from that of a cell over the blue of reads towards the colour of text."""
    cell, read, end = theme.cell, rgb(theme.read), rgb(theme.text)
    found = [cell]
    for number in range(1, count):
        way = _FIRST + (1 - _FIRST) * (number - 1) / max(count - 2, 1)
        before, after, share = (
            (cell, read, way / _TURN) if way <= _TURN else (read, end, (way - _TURN) / (1 - _TURN) * 0.8)
        )
        r, g, b = (round(x + (y - x) * share) for x, y in zip(before, after, strict=True))
        found.append((r, g, b))
    return found


def _places(room: QRectF, found: list[ArrayReads], recording: Recording, page: Page) -> list[tuple[ArrayReads, QRectF]]:
    """Give each array a place: in the number of rows that leaves the maps largest; the last arrays may have none."""
    head = page.row() + page.row(SMALL)

    def smallest(rows: int, arrays: list[ArrayReads]) -> float:
        """Return the longer side of the map whose longer side is shortest."""
        across = -(-len(arrays) // rows)
        wide, high = room.width() / across - page.em, room.height() / rows - head
        sides = [recording.arrays[reads.array].grid for reads in arrays]
        return min(min(wide / columns, high / r) * max(r, columns) for r, columns in sides)

    arrays = found
    while True:
        rows = max(range(1, len(arrays) + 1), key=lambda count: smallest(count, arrays))
        if len(arrays) <= 2 or smallest(rows, arrays) >= _SMALLEST_MAP:
            break
        arrays = arrays[:-1]
    across = -(-len(arrays) // rows)
    wide, high = room.width() / across, room.height() / rows
    return [
        (reads, QRectF(room.left() + i % across * wide, room.top() + i // across * high, wide - page.em, high))
        for i, reads in enumerate(arrays)
    ]


@dataclass
class _Map:
    """Draws the heat map of one array, with its name and figures above it, or left of it where it is larger so."""

    page: Page
    place: QRectF
    moment: LensMoment
    reads: ArrayReads
    bounds: list[int]
    colours: list[Rgb]

    def draw(self) -> None:
        """Draw the name, the map, and the present reads."""
        page, place = self.page, self.place
        info = self.moment.playable.recording.arrays[self.reads.array]
        row, small = page.row(), page.row(SMALL)
        rows, columns = info.grid
        body, texts = place.adjusted(0, row + small, 0, -page.em * 0.35), place.width()
        cell = min(body.width() / columns, body.height() / rows)
        beside = min(self._texts_width(), place.width() / 2)
        low = place.adjusted(beside + page.em * 0.6, page.em * 0.2, 0, -page.em * 0.35)
        if (larger := min(low.width() / columns, low.height() / rows)) > cell * _MUCH_LARGER:
            body, cell, texts = low, larger, beside
        self._head(QRectF(place.left(), place.top(), texts, row))
        self._figures(QRectF(place.left(), place.top() + row * 0.92, texts, small))
        if cell <= 0:
            return  # Qt would draw the picture in its own size
        if cell >= 2:
            cell = float(int(cell))
        # On whole pixels: the colours of an edge between two pixels may differ by one from drawing to drawing.
        wide, high = (float(max(round(cell * count), 1)) for count in (columns, rows))
        box = QRectF(round(body.left()), round(body.top()), wide, high)
        drawn = info.drawn(self.reads.reads)
        top = self.bounds[-1]
        level = (np.searchsorted(self.bounds, np.arange(top + 1), side="right") - 1)[np.minimum(drawn, top)]
        image = _image(level, self.colours)
        page.painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, cell < 1)
        page.painter.drawImage(box, image)
        if cell >= _FRAMED:
            page.pen(page.theme.background, 1.0)
            page.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            for number in range(1, columns):
                x = int(box.left() + number * cell)
                page.painter.drawLine(x, int(box.top()), x, int(box.bottom()))
            for number in range(1, rows):
                y = int(box.top() + number * cell)
                page.painter.drawLine(int(box.left()), y, int(box.right()), y)
            page.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._now(box, cell, level)
        if cell >= _LEGIBLE:
            for r, c in np.argwhere(drawn > 0).tolist():
                at = QRectF(box.left() + c * cell, box.top() + r * cell, cell, cell)
                page.figure_in(at, str(drawn[r, c]), page.ink(QColor(*self.colours[level[r, c]])))

    def _texts_width(self) -> float:
        """Return the width of the name and the figures in their short forms."""
        page, name = self.page, self.moment.playable.recording.arrays[self.reads.array].name
        head = page.width(name, bold=True) + page.em * 0.5 + page.width(self._memory()[-1], SMALL)
        return max(head, page.width(self._means()[0], SMALL)) + 1

    def _head(self, row: QRectF) -> None:
        """Name the array and the memory that it is read from."""
        page, name = self.page, self.moment.playable.recording.arrays[self.reads.array].name
        page.write(row, name, bold=True)
        row.setLeft(row.left() + page.width(name, bold=True) + page.em * 0.5)
        page.write_first(row, self._memory(), SMALL, page.theme.muted, LEFT)

    def _memory(self) -> tuple[str, ...]:
        """Return names of the memory that the array is read from, the longest first."""
        recording = self.moment.playable.recording
        info = recording.arrays[self.reads.array]
        if recording.backend != "cuda":
            return (tr("panel"),) if info.space == "shared" else (tr("memory"),)
        if info.space == "shared":
            x, y, _ = recording.block_index(self.moment.block)
            return tr("shared memory of block ({x}, {y})", x=x, y=y), tr("shared memory"), tr("shared")
        return tr("global memory"), tr("global")

    def _figures(self, row: QRectF) -> None:
        self.page.write_first(row, self._means(), SMALL, None, LEFT)

    def _means(self) -> tuple[str, str]:
        """Return the mean and the maximum of the reads as text, the longer one first."""
        reads = self.reads
        values = {"mean": _rounded(reads.mean), "most": thousands(reads.most)}
        if reads.most and int(reads.reads.min()) == reads.most:
            each = trn("each element {count} time", "each element {count} times", reads.most)
            return each, tr("each {count}×", count=reads.most)
        return tr("mean {mean}, max {most}", **values), tr("max {most}", **values)

    def _now(self, box: QRectF, cell: float, level: npt.NDArray[np.int64]) -> None:
        """Frame the elements that the step reads."""
        page, moment, playable = self.page, self.moment, self.moment.playable
        array = self.reads.array
        if int(playable.timeline.array[moment.step]) != array or bool(playable.timeline.write[moment.step]):
            return
        is_shared = playable.recording.arrays[array].space == "shared"
        rows = playable.block_rows(moment.step, moment.block) if is_shared else playable.timeline.rows(moment.step)
        cells, _ = covered(playable, array, rows)
        for r, c in zip(*(side.tolist() for side in np.divmod(distinct(cells), level.shape[1])), strict=True):
            page.pen(page.ink(QColor(*self.colours[level[r, c]])), 1.4)
            page.painter.drawRect(QRectF(box.left() + c * cell + 1, box.top() + r * cell + 1, cell - 2, cell - 2))


def _image(level: npt.NDArray[np.int64], colours: list[Rgb]) -> QImage:
    """Return an image with a pixel per element."""
    rows, columns = level.shape
    palette = np.array([0xFF000000 | r << 16 | g << 8 | b for r, g, b in colours], np.uint32)
    pixels = np.ascontiguousarray(palette[level])  # an array by columns is a transposed view
    return QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32).copy()


def _scale(page: Page, row: QRectF, bounds: list[int], colours: list[Rgb]) -> None:
    """Draw the scale of colours with its figures."""
    small = page.row(SMALL)
    text = page.fitting((tr("reads so far"), tr("reads")), row.width() * 0.25, SMALL)
    page.write(row, text, SMALL, page.theme.muted)
    left = row.left() + page.width(text, SMALL) + page.em * 0.6
    names = [str(bound) for bound in bounds]
    for number in range(1, len(bounds)):
        if number + 1 == len(bounds):
            names[number] = tr("{count} and more", count=thousands(bounds[number]))
        elif bounds[number + 1] - bounds[number] > 1:
            names[number] = f"{bounds[number]}–{bounds[number + 1] - 1}"
    wide = (row.right() - left) / len(bounds)
    if max(page.width(name, SMALL) for name in names) > wide - 4:
        names = [str(bound) for bound in bounds]
        names[-1] = f"≥ {bounds[-1]}"
    wide = min(wide, max(page.width(name, SMALL) for name in names) + page.em)
    for number, (name, colour) in enumerate(zip(names, colours, strict=True)):
        box = QRectF(left + number * wide, row.top() + (row.height() - small) / 2, wide - 1, small)
        page.painter.fillRect(box, QColor(*colour))
        page.write(box, name, SMALL, page.ink(QColor(*colour)), MIDDLE)
