"""The lens of shared work: the k-steps of each multiprocessor, beside those of a grid with a tile to a block."""

from collections.abc import Hashable, Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPolygonF

from gemmviz.catalogue.lens_names import LensName
from gemmviz.language import mark, tr, trn
from gemmviz.trace.lenses.work_shares import Piece, WorkShares, follows_shape, shares_work, work_shares
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import MIDDLE, RIGHT, Sheet, Tag
from gemmviz.ui.look.theme import Theme

_ROW = 0.45, 4.2  # least and largest height of a multiprocessor's bar, in lines of body text
_NAMED = 0.95  # from this height on a bar has a name, in lines of small text
_DONE, _TO_COME, _MODELLED = 0.72, 0.24, 0.42  # strengths of a tile's colour
_CORNER = 0.42  # of a bar's height


class StreamKLens(GradualLens):
    """Draws the work of all blocks."""

    name: LensName = "stream-K"
    title = mark("Stream-K")

    def suits(self, playable: Playable) -> bool:
        """Say whether blocks work on several tiles of C, or on parts of them."""
        return bool(len(playable.recording.accesses.copies)) and shares_work(playable)

    def state(self, moment: LensMoment) -> Hashable:
        """Return the k-steps of each piece that have begun: see `gemmviz.ui.lenses.lens.Lasting`."""
        known = work_shares(moment.playable)
        pieces = [piece for block in known.blocks for piece in block] if known is not None else []
        return moment.block, tuple(piece.done(moment.step) for piece in pieces)

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a moment: see `gemmviz.ui.lenses.lens.Lens`."""
        known = work_shares(moment.playable)
        with Sheet(painter, rect, theme, font) as sheet:
            title = tr(self.title) if known is None or known.cut else tr("Several tiles to a block")
            beside = _beside(follows_shape(moment.playable))
            room = sheet.heading(title, beside, None)
            if known is None:
                sheet.lines(room, tr("No tiles of A or B come into shared memory."))
                return
            foot = _draw_legend(sheet, room, known)
            room.setBottom(foot)
            half = (room.height() - 0.4 * sheet.em) / 2
            upper = QRectF(room.left(), room.top(), room.width(), half)
            yield sheet
            _draw_tile_each(sheet, upper, known)
            yield sheet
            lower = upper.translated(0, half + 0.4 * sheet.em)
            _draw_recorded(sheet, lower, known, moment)


LENS = StreamKLens()


def _beside(by_shape: bool) -> tuple[str, ...]:
    """Return the texts beside the title, the longest first: the meaning of the bars, and who decides on them."""
    if by_shape:
        return (
            tr("tiles and their parts follow from the shape unless you set them: work, not time"),
            tr("tiles and parts follow from the shape unless you set them"),
            tr("by shape, unless you set them"),
        )
    return tr("k-steps of each multiprocessor: amount of work, not time"), tr("amount of work, not time")


def _draw_legend(sheet: Sheet, room: QRectF, known: WorkShares) -> float:
    """Explain the marks of the bars, and name modelled parts, below them; return the top of this text."""
    theme = sheet.theme
    line = QRectF(room.left(), room.bottom() - sheet.small, room.width(), sheet.small)
    mark_texts = (
        tr("begins inside a tile that another block has begun: their sums are added"),
        tr("begins inside a tile"),
    )
    corner, gap = 1.3 * sheet.small, 1.5 * sheet.em
    least = corner + sheet.wide(mark_texts[1], "small") + gap if known.cut else 0
    texts = (
        tr("Modelled: block n runs on multiprocessor n. Pale: still to come."),
        tr("Modelled: block n runs on multiprocessor n."),
        tr("block n on SM n: modelled"),
    )
    wide = sheet.text(line, sheet.suiting(room.width() - least, *texts), theme.muted, "small") + gap
    if not known.cut:
        return line.top() - 3
    both = wide + corner + sheet.wide(mark_texts[0], "small") > room.width()
    if both and room.height() >= 16 * sheet.em:
        line.translate(0, -1.2 * sheet.small)
    else:
        line.setLeft(line.left() + wide)
    _draw_corner(sheet, QRectF(line.left(), line.top(), sheet.small, sheet.small), 0.9)
    line.setLeft(line.left() + corner)
    sheet.text(line, sheet.suiting(line.width(), *mark_texts), theme.muted, "small")
    return line.top() - 3


def _draw_tile_each(sheet: Sheet, room: QRectF, known: WorkShares) -> None:
    """Draw the work of a grid with one block per tile, on as many multiprocessors as there are blocks now."""
    count = len(known.blocks)
    bars = [[Piece(tile, 0, known.steps, ()) for tile in range(at, known.tiles, count)] for at in range(count)]
    tiles = trn("{count} tile", "{count} tiles", known.tiles)
    on = trn("{count} multiprocessor", "{count} multiprocessors", count)
    text = tr("{tiles} of {steps} k-steps on {multiprocessors}", tiles=tiles, steps=known.steps, multiprocessors=on)
    chart = _Chart(sheet, room, known, bars, known.a_tile_each)
    chart.head(tr("A tile to a block"), text, "modelled", sheet.theme.write)
    chart.draw(None, -1)


def _draw_recorded(sheet: Sheet, room: QRectF, known: WorkShares, moment: LensMoment) -> None:
    """Draw the work of the blocks of the recording, and how far it is."""
    bars = [list(pieces) for pieces in known.blocks]
    if known.cut and known.longest - known.shortest <= 1:
        text = trn(
            "{total} k-steps in equal shares: {count} tile is cut",
            "{total} k-steps in equal shares: {count} tiles are cut",
            known.cut,
            total=known.total,
        )
    elif known.cut:
        text = trn(
            "{total} k-steps: {count} tile is cut",
            "{total} k-steps: {count} tiles are cut",
            known.cut,
            total=known.total,
        )
    else:
        text = tr("{total} k-steps, whole tiles one after the other", total=known.total)
    chart = _Chart(sheet, room, known, bars, known.longest)
    chart.head(moment.playable.recording.kernel, text, "recorded", sheet.theme.read)
    chart.draw(moment.step, moment.block)


class _Chart:
    """Bars of k-steps, one per multiprocessor, with a heading above and an axis below."""

    def __init__(self, sheet: Sheet, room: QRectF, known: WorkShares, bars: list[list[Piece]], longest: int) -> None:
        self._sheet, self._room, self._known, self._bars, self._longest = sheet, room, known, bars, longest
        self._most = max(known.longest, known.a_tile_each, 1)
        self._head = 1.2 * sheet.em + sheet.small if room.height() >= 8 * sheet.em else 1.25 * sheet.em

    def head(self, title: str, text: str, tag: Tag, colour: str) -> None:
        """Write the title, the sentence below or beside it, and the largest share in large figures."""
        sheet = self._sheet
        two = self._head > 1.5 * sheet.em
        line = QRectF(self._room.left(), self._room.top(), self._room.width(), 1.2 * sheet.em)
        line.setRight(line.right() - sheet.tag(line, tag) - 8)
        figure = trn("{count} k-step", "{count} k-steps", self._longest)
        line.setRight(line.right() - sheet.text(line, figure, colour, "head", bold=True, align=RIGHT) - 8)
        wide = sheet.text(line, title, bold=True)
        rest = line.adjusted(wide + 8, 0, 0, 0)
        if two:
            rest = QRectF(self._room.left(), line.bottom(), self._room.width(), sheet.small)
        if two or sheet.wide(text, "small") <= rest.width():
            sheet.text(rest, text, sheet.theme.muted, "small")

    def draw(self, step: int | None, chosen: int) -> None:
        """Draw the bars: as recorded after a step, or (None) as modelled; the chosen block is framed."""
        sheet, theme = self._sheet, self._sheet.theme
        axis = sheet.small + 3 if self._room.height() - self._head >= 4.5 * sheet.em else 0
        high = (self._room.height() - self._head - axis) / max(len(self._bars), 1)
        high = min(max(high, _ROW[0] * sheet.em), _ROW[1] * sheet.em)
        shown = min(int((self._room.height() - self._head - axis + 0.5) / high), len(self._bars))
        name = tr("SM {number}", number=len(self._bars) - 1)
        left = self._room.left() + (sheet.wide(name, "small", True) + 8 if high >= _NAMED * sheet.small else 0)
        unit = (self._room.right() - left) / self._most
        top = self._room.top() + self._head + 2
        for at, pieces in enumerate(self._bars[:shown]):
            line = QRectF(left, top + at * high, self._room.right() - left, high - min(3.0, 0.2 * high))
            if high >= _NAMED * sheet.small:
                box = QRectF(self._room.left(), line.top(), left - self._room.left() - 5, line.height())
                colour = theme.text if at == chosen else theme.muted
                sheet.text(box, tr("SM {number}", number=at), colour, "small", bold=at == chosen, align=RIGHT)
            self._draw_bar(line, pieces, unit, step, at == chosen)
        bottom = top + shown * high
        x = left + self._longest * unit - 1
        sheet.painter.setPen(QPen(QColor(theme.text), 1.4, Qt.PenStyle.DashLine))
        sheet.painter.drawLine(QPointF(x, top - 3), QPointF(x, bottom))
        if shown < len(self._bars):
            more = tr("… and {count} more", count=len(self._bars) - shown)
            sheet.text(QRectF(left, bottom, self._room.right() - left, sheet.small), more, theme.muted, "small")
        elif axis:
            self._draw_axis(left, bottom, unit)

    def _draw_axis(self, left: float, top: float, unit: float) -> None:
        sheet = self._sheet
        every = next(e for e in (1, 2, 4, 8, 16, 32, 64, 128, 1 << 30) if e * unit >= 2.4 * sheet.em)
        for at in range(0, self._most + 1, every):
            box = QRectF(left + at * unit - 20, top, 40, sheet.small)
            box.moveRight(min(box.right(), self._room.right() + 14))
            sheet.text(box, str(at), sheet.theme.muted, "small", align=MIDDLE)

    def _draw_bar(self, line: QRectF, pieces: list[Piece], unit: float, step: int | None, chosen: bool) -> None:
        sheet, x = self._sheet, line.left()
        for piece in pieces:
            box = QRectF(x, line.top(), piece.steps * unit, line.height())
            self._draw_piece(box.adjusted(0, 0, -1, 0), piece, unit, step)
            x = box.right()
        idle = QRectF(x + 1, line.top(), line.left() + self._longest * unit - x - 2, line.height())
        if idle.width() > 3:
            sheet.box(idle, QColor(sheet.theme.outline), None, dashed=True)
            if idle.height() >= 0.9 * sheet.small and sheet.wide(tr("nothing to do"), "small") <= idle.width() - 4:
                sheet.text(idle, tr("nothing to do"), sheet.theme.muted, "small", align=MIDDLE)
        if chosen:
            sheet.painter.setBrush(Qt.BrushStyle.NoBrush)
            sheet.painter.setPen(QPen(QColor(sheet.theme.selection), 1.6))
            sheet.painter.drawRect(QRectF(line.left(), line.top(), x - line.left() - 1, line.height()))

    def _draw_piece(self, box: QRectF, piece: Piece, unit: float, step: int | None) -> None:
        sheet = self._sheet
        hue = sheet.theme.owners[piece.tile % len(sheet.theme.owners)]
        strength = _MODELLED if step is None else _TO_COME
        done = piece.done(step) if step is not None else 0
        fill = sheet.mixed(hue, strength)
        sheet.box(box, sheet.mixed(hue, 0.9), fill, dashed=done < piece.steps)
        if done:
            part = QRectF(box.left(), box.top(), min(done * unit, box.width()), box.height())
            sheet.box(part, sheet.mixed(hue, 1.0), sheet.mixed(hue, _DONE))
        if piece.first:
            _draw_corner(sheet, box.adjusted(0.6, 0.6, 0, 0), _CORNER)
        # Text is written on the larger part of the bar.
        ground = sheet.mixed(hue, _DONE if 2 * done > piece.steps else strength)
        self._write(box, piece, sheet.ink(ground))

    def _write(self, box: QRectF, piece: Piece, ink: str) -> None:
        sheet = self._sheet
        depth = self._known.depth
        name = tr("tile {number}", number=piece.tile + 1)
        along = f"k {piece.first * depth}–{min(piece.end * depth, self._known.length) - 1}"
        if box.height() < 0.9 * sheet.small:
            return
        if sheet.wide(name, "small", True) > box.width() - 4:
            name = str(piece.tile + 1)
        if sheet.wide(name, "small", True) > box.width() - 2:
            return
        two = box.height() >= 2.05 * sheet.small and sheet.wide(along, "small") <= box.width() - 4
        line = QRectF(box.left(), box.center().y() - sheet.small / (1 if two else 2), box.width(), sheet.small)
        sheet.text(line, name, ink, "small", bold=True, align=MIDDLE)
        if two:
            sheet.text(line.translated(0, sheet.small), along, ink, "small", align=MIDDLE)


def _draw_corner(sheet: Sheet, box: QRectF, share: float) -> None:
    """Draw the mark of a piece that begins inside a tile."""
    side = min(share * box.height(), box.width(), 0.8 * sheet.em)
    sheet.painter.setPen(QPen(QColor(sheet.theme.background), 1))
    sheet.painter.setBrush(sheet.amber)
    corner = box.topLeft()
    sheet.painter.drawPolygon(QPolygonF([corner, corner + QPointF(side, 0), corner + QPointF(0, side)]))
