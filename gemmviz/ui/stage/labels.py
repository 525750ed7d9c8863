"""Labels beside the arrays, which stay while a recording plays: titles, indices, dimension lines.

Nothing is written over something else: where there is no room, the less important label is shorter or left out.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.language import tr
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage import regions, scene
from gemmviz.ui.stage.block_heading import ABOVE, APART, HIGH, block_texts, name_font
from gemmviz.ui.stage.block_plan import whole_c
from gemmviz.ui.stage.cell_text import BANK_LABEL
from gemmviz.ui.stage.scene import Form, Panel, stages

_INDICES = (A, "left"), (A, "bottom"), (B, "top"), (B, "right")
_INDICES_AROUND_WORDS = (A, "left"), (A, "top"), (B, "top"), (B, "left"), (C, "top")
_CENTRE = Qt.AlignmentFlag.AlignCenter
_WHOLE = Qt.TextFlag.TextDontClip
# The ink of a line of figures and letters, in heights of the line: its box may touch where its ink does not.
_INK = 0.7


def draw(
    painter: QPainter,
    placed: list[Panel],
    block: int,
    recording: Recording,
    theme: Theme,
    font: QFont,
    form: Form = "all",
    taken: Sequence[QRectF] = (),
) -> list[tuple[str, QRectF]]:
    """Draw all labels that there is room for.

    Parameters
    ----------
    painter
        Where to.
    placed
        The panels: A, B, C, then shared arrays.
    block
        The block whose shared memory is shown.
    recording, theme, font
        The recording, its colours, and the base font.
    form
        Which labels the panels were placed for.
    taken
        Where something else stands, in pixels.

    Returns
    -------
    list
        Each label that was written, and the place that its ink takes, in pixels.
    """
    painter.setFont(font)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    labels = _Labels(painter, placed, recording, theme, font, taken)
    if form == "around words":
        labels.names_above()
        labels.indices(_INDICES_AROUND_WORDS)
        labels.shared(block, bare=False)
        return labels.written
    if form == "of a block":
        labels.tiles_of(block)
        return labels.written
    labels.names(bare=form == "names")
    if form == "all":
        labels.dimensions()
    labels.shared(block, bare=form == "names")
    if form == "all":
        labels.indices(_INDICES)
    return labels.written


def beside_name(panel: Panel, font: QFont) -> QRectF:
    """Return where the size of A or C begins, right of its name above it, in pixels; without a width.

    Parameters
    ----------
    panel, font
        Where the matrix stands, and the labels' font.
    """
    height = QFontMetricsF(font).height()
    width = QFontMetricsF(name_font(font)).horizontalAdvance(panel.name)
    return QRectF(panel.x + width + height * 0.6, panel.y - height * 2.15, 0, height)


class _Labels:
    """Writes labels in the order of their weight; one that would touch an earlier one is not written."""

    def __init__(
        self,
        painter: QPainter,
        placed: list[Panel],
        recording: Recording,
        theme: Theme,
        font: QFont,
        taken: Sequence[QRectF],
    ) -> None:
        self.painter, self.placed, self.recording, self.theme = painter, placed, recording, theme
        self.font, self.metrics = font, QFontMetricsF(font)
        self.height = self.metrics.height()
        self.bold = QFont(font)
        self.bold.setBold(True)
        self.written: list[tuple[str, QRectF]] = []
        self._taken = list(taken)
        self._cells = [*(regions.box(p.place) for p in placed), *taken]

    def names(self, bare: bool) -> None:
        """Write the letters A, B and C."""
        height = self.height
        big = QFont(self.bold)
        big.setPixelSize(int(height * (1.1 if bare else 1.5)))
        metrics = QFontMetricsF(big)
        self.painter.setFont(big)
        self.painter.setPen(QColor(self.theme.text))
        a, b, c = self.placed[:3]
        for panel, x, base in (
            (a, a.x - height * 2.3, a.y - height * 0.35),
            (b, b.x - height * 1.45, b.y - height * 1.1),
            (c, c.x - height * 1.45, c.y - height * 0.4),
        ):
            width, ink = metrics.horizontalAdvance(panel.name), metrics.capHeight()
            if bare:
                x, base = panel.x - width - height * 0.3, panel.y + ink
            if self._take(panel.name, QRectF(x, base - ink, width, ink)):
                self.painter.drawText(QPointF(x, base), panel.name)
        self.painter.setFont(self.font)

    def names_above(self) -> None:
        """Write the names of A and C with their sizes above them, and that of B left of its indices."""
        height = self.height
        big = name_font(self.font)
        metrics = QFontMetricsF(big)
        recording = self.recording
        a, b, c = self.placed[:3]
        for panel, x, base, size in (
            (a, a.x, a.y - height * 1.35, ("M × K", recording.m, recording.k)),
            (b, b.x - height * 1.3, b.y - height * 0.35, None),
            (c, c.x, c.y - height * 1.35, ("M × N", recording.m, recording.n)),
        ):
            width, ink = metrics.horizontalAdvance(panel.name), metrics.capHeight()
            if not self._take(panel.name, QRectF(x, base - ink, width, ink)):
                continue
            self.painter.setFont(big)
            self.painter.setPen(QColor(self.theme.text))
            self.painter.drawText(QPointF(x, base), panel.name)
            self.painter.setFont(self.font)
            if size is not None:
                self.painter.setPen(QColor(self.theme.muted))
                text = f"{size[0]} = {size[1]} × {size[2]}"
                room = beside_name(panel, self.font)
                room.setWidth(self.metrics.horizontalAdvance(text))
                if room.right() <= panel.x + panel.width:
                    self._write(room, text)

    def tiles_of(self, block: int) -> None:
        """Name the large tiles of a block, with the indices of its part of C; and the small matrices beside them."""
        height, c = self.height, self.placed[C]
        big = name_font(self.font)
        texts = block_texts(self.recording, c, block)
        tiles = [(tile, [f"{tile.rows} × {tile.columns}"]) for tile in self.placed[C + 1 :]]
        metrics = QFontMetricsF(big)
        end = max(c.place.right, self.painter.clipBoundingRect().right())
        for panel, remarks in ((c, texts), *tiles):
            place = panel.place
            line = QRectF(place.left, place.top - height * (ABOVE if panel is c else 1.5), 0, height * HIGH)
            line.setWidth(metrics.horizontalAdvance(panel.name))
            self.painter.setFont(big)
            self.painter.setPen(QColor(self.theme.text))
            self._write(line, panel.name)
            self.painter.setFont(self.font)
            self.painter.setPen(QColor(self.theme.muted))
            for remark in remarks:
                rest = QRectF(line.right() + height * APART, line.top(), 0, line.height())
                rest.setWidth(self.metrics.horizontalAdvance(remark))
                if rest.right() <= end and self._write(rest, remark):
                    break
        self._indices(c, "top")
        self._indices(c, "left")
        self._small_matrices(c, block)

    def _small_matrices(self, c: Panel, block: int) -> None:
        """Write the letters of the small A and B, and draw C as a whole beside them, with the block's part of it."""
        whole = whole_c(self.placed)
        painter, theme, height = self.painter, self.theme, self.height
        painter.fillRect(QRectF(whole.left, whole.top, whole.width, whole.height), QColor(theme.raised))
        (top, bottom), (left, right) = c.seen_cells
        wide, high = whole.width / c.columns, whole.height / c.rows
        part = QRectF(whole.left + left * wide, whole.top + top * high, (right - left) * wide, (bottom - top) * high)
        painter.fillRect(part, QColor(*theme.owner(*self.recording.block_index(block)[:2])))
        painter.setPen(QPen(QColor(theme.selection), 2, Qt.PenStyle.DashLine))
        painter.drawRect(part)
        painter.setFont(self.font)
        painter.setPen(QColor(theme.text))
        a, b = self.placed[:2]
        for name, x, y in (
            (a.name, a.x - height * 1.0, a.y),
            (b.name, b.x - height * 1.0, b.y),
            (c.name, whole.right + height * 0.3, whole.top),
        ):
            painter.drawText(QRectF(x, y, height, height), _CENTRE | _WHOLE, name)

    def dimensions(self) -> None:
        """Draw the dimension lines of A and B."""
        a, b = self.placed[:2]
        self._dimension(a, "top", "K", a.columns)
        self._dimension(a, "far left", "M", a.rows)
        self._dimension(b, "far top", "N", b.columns)
        self._dimension(b, "left", "K", b.rows)

    def indices(self, sides: Sequence[tuple[int, str]]) -> None:
        """Write the indices of rows and columns: each side of an array."""
        for array, side in sides:
            self._indices(self.placed[array], side)

    def shared(self, block: int, bare: bool) -> None:
        """Write the titles of the shared tiles, and above the topmost one the block that they belong to."""
        tiles = self.placed[3:]
        if not tiles:
            return
        self._titles(tiles, bare)
        if bare:
            return
        for tile in tiles:
            self._stages(tile)
        x, y, _ = self.recording.block_index(block)
        texts = [tr("shared memory of block ({x}, {y})", x=x, y=y), tr("shared, block ({x}, {y})", x=x, y=y)]
        if self.recording.backend == "c":
            texts = [tr("panels that the kernel packs"), tr("panels")]
        elif tiles[0].cell >= BANK_LABEL:
            with_banks = tr("shared memory of block ({x}, {y}); small figures: bank", x=x, y=y)
            texts = [with_banks, tr("block ({x}, {y}); small figures: bank", x=x, y=y), *texts]
        left, right = min(t.x for t in tiles), max(t.x + t.width for t in tiles)
        top = min(t.y for t in tiles) - self.height * 2.6
        # Between the window's edge and the labels left of B.
        first, last = self.height * 0.3, self.placed[1].x - self.height * 1.7
        self.painter.setPen(QColor(self.theme.muted))
        for text in texts:
            width = self.metrics.horizontalAdvance(text) + 4
            at = max(min((left + right - width) / 2, last - width), first)
            if at + width <= last and self._write(QRectF(at, top, width, self.height * 1.2), text):
                break

    def _stages(self, tile: Panel) -> None:
        """Write the numbers of the tiles that stand one below the other: of the stages of a ring."""
        count = stages(self.recording.arrays[tile.array])
        self.painter.setPen(QColor(self.theme.muted))
        covered = any(taken.intersects(regions.box(tile.place)) for taken in self._taken)  # by a lens
        if covered or tile.height / count < self.height:
            return
        for stage in range(count if count > 1 else 0):
            width = self.metrics.horizontalAdvance(str(stage))
            middle = tile.y + tile.height * (stage + 0.5) / count
            self._write(QRectF(tile.x - 4 - width, middle - self.height / 2, width, self.height), str(stage))

    def _titles(self, tiles: list[Panel], bare: bool) -> None:
        """Name all tiles with their shapes, or where one of these does not fit, with their names alone."""
        metrics, height = QFontMetricsF(self.bold), self.height
        whole = [scene.shared_title(self.recording, tile.array) for tile in tiles]
        for texts in ([whole] if not bare else []) + [[tile.name for tile in tiles]]:
            widths = [metrics.horizontalAdvance(text) + 4 for text in texts]
            boxes = [
                QRectF(self._beside_taken(tile, width), tile.y - height * 1.3, width, height * 1.2)
                for tile, width in zip(tiles, widths, strict=True)
            ]
            if self._fit(boxes) or texts is not whole:
                break
        self.painter.setFont(self.bold)
        self.painter.setPen(QColor(self.theme.text))
        for box, text in zip(boxes, texts, strict=True):
            self._write(box, text)
        self.painter.setFont(self.font)

    def _beside_taken(self, tile: Panel, width: float) -> float:
        """Return where a title above a tile begins: in its middle, but right of its left neighbour."""
        before = max((box.right() for box in self._taken if box.right() <= tile.x), default=0.0)
        return max(tile.x + (tile.width - width) / 2, before + 2)

    def _fit(self, boxes: list[QRectF]) -> bool:
        """Say whether there is room for several labels at once."""
        first = self.placed[1].x - self.height * 1.6
        apart = not any(a.intersects(b) for i, a in enumerate(boxes) for b in boxes[:i])
        return apart and all(self._is_free(self._ink(b)) and (b.right() <= first or b.left() > first) for b in boxes)

    def _indices(self, panel: Panel, side: str) -> None:
        first, count = panel.seen_cells[side in ("top", "bottom")]
        height = self.height
        widest = self.metrics.horizontalAdvance(str(count)) + 4
        room = widest if side in ("top", "bottom") else height
        every = next((e for e in (1, 2, 4, 8, 16, 32, 64, 128, 256) if e * panel.cell >= room), count)
        self.painter.setPen(QColor(self.theme.muted))
        # Indices of one side cannot touch each other.
        beside = self._strip(panel, side, widest)
        before = [p for p in (*self._cells, *(place for _, place in self.written)) if p.intersects(beside)]
        for i in range(-(-first // every) * every, count, every):
            at, text = (i + 0.5) * panel.cell, str(i)
            width = self.metrics.horizontalAdvance(text)
            if side in ("top", "bottom"):
                y = panel.place.top - height * 1.15 if side == "top" else panel.place.bottom + 2
                box = QRectF(panel.x + at - width / 2, y, width, height)
            else:
                x = panel.place.left - 4 - width if side == "left" else panel.place.right + 4
                box = QRectF(x, panel.y + at - height / 2, width, height)
            ink = self._ink(box)
            if not any(ink.intersects(other) for other in before):
                self.written.append((text, ink))
                self.painter.drawText(box, _CENTRE | _WHOLE, text)

    def _strip(self, panel: Panel, side: str, widest: float) -> QRectF:
        """Return a place that has all indices of a side."""
        high, place = 2 * self.height, panel.place
        if side in ("top", "bottom"):
            top = place.top - high if side == "top" else place.bottom - high / 2
            return QRectF(place.left - widest, top, place.width + 2 * widest, 2 * high)
        left = place.left - widest - high if side == "left" else place.right
        return QRectF(left, place.top - high, widest + high, place.height + 2 * high)

    def _dimension(self, panel: Panel, side: str, name: str, size: int) -> None:
        """Draw a dimension line as on an engineering drawing: ticks at both ends, the name and size in its middle."""
        painter, height = self.painter, self.height
        text = f"{name} = {size}"
        width = self.metrics.horizontalAdvance(text) + 8
        painter.setPen(QPen(QColor(self.theme.muted), 1))
        if side.endswith("top"):
            y = panel.y - height * (1.75 if side.startswith("far") else 0.75)
            middle = panel.x + panel.width / 2
            box = QRectF(middle - width / 2, y - height / 2, width, height)
            if not self._take(text, self._ink(box)):
                return
            for begin, end in ((panel.x, middle - width / 2), (middle + width / 2, panel.x + panel.width)):
                if end > begin:
                    painter.drawLine(QPointF(begin, y), QPointF(end, y))
            if width <= panel.width:
                for x in (panel.x, panel.x + panel.width):
                    painter.drawLine(QPointF(x, y - 4), QPointF(x, y + 4))
            painter.setPen(QColor(self.theme.text))
            painter.drawText(box, _CENTRE | _WHOLE, text)
            return
        x = panel.x - height * (2.7 if side.startswith("far") else 0.9)
        middle = panel.y + panel.height / 2
        if not self._take(text, QRectF(x - height * _INK / 2, middle - width / 2, height * _INK, width)):
            return
        for begin, end in ((panel.y, middle - width / 2), (middle + width / 2, panel.y + panel.height)):
            if end > begin:
                painter.drawLine(QPointF(x, begin), QPointF(x, end))
        if width <= panel.height:
            for y in (panel.y, panel.y + panel.height):
                painter.drawLine(QPointF(x - 4, y), QPointF(x + 4, y))
        painter.save()
        painter.translate(x, middle)
        painter.rotate(-90)
        painter.setPen(QColor(self.theme.text))
        painter.drawText(QRectF(-width / 2, -height / 2, width, height), _CENTRE | _WHOLE, text)
        painter.restore()

    # Room

    def _write(self, box: QRectF, text: str) -> bool:
        """Write a text in the middle of a box, if nothing stands there."""
        free = self._take(text, self._ink(box))
        if free:
            self.painter.drawText(box, _CENTRE | _WHOLE, text)
        return free

    def _take(self, text: str, ink: QRectF) -> bool:
        """Keep a place for a text; False if something stands already."""
        free = self._is_free(ink)
        if free:
            self.written.append((text, ink))
        return free

    def _is_free(self, ink: QRectF) -> bool:
        return not any(ink.intersects(other) for other in (*self._cells, *(place for _, place in self.written)))

    def _ink(self, box: QRectF) -> QRectF:
        height = self.height * _INK
        return QRectF(box.left(), box.center().y() - height / 2, box.width(), height)
