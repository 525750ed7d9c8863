"""The lens of several GPUs, side by side: the rows of each, and the panels of A that cross between them."""

from collections.abc import Hashable

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.lenses.panel_use import PanelUse, SharedProduct, shared_product
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import MIDDLE, Sheet
from gemmviz.ui.look.theme import Theme

_MOST = 4  # GPUs that stand side by side
_OWN, _COPIED, _TO_COME = 0.6, 0.32, 0.1  # strengths of an owner's colour
_GAP = 1.6  # between GPUs, in lines of body text


class OwnersLens:
    """Draws the GPUs of a recording."""

    name: LensName = "owners"
    title = mark("Who owns, what travels")

    def suits(self, playable: Playable) -> bool:
        """Say whether several GPUs compute the product."""
        return playable.recording.sharing is not None

    def state(self, moment: LensMoment) -> Hashable:
        """Return the progress of each launch, in percent: see `gemmviz.ui.lenses.lens.Lasting`."""
        known = shared_product(moment.playable)
        if known is None:
            return ()
        crossing = tuple(known.crosses(panel, moment.step) for panel in known.panels)
        return moment.block, crossing, tuple(round(100 * known.done(one, moment.step)) for one in known.launches)

    def paint(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> None:
        """Draw a moment: see `gemmviz.ui.lenses.lens.Lens`."""
        known = shared_product(moment.playable)
        with Sheet(painter, rect, theme, font) as sheet:
            beside = tr("A by rows, B and C by columns; colours are owners"), tr("colours are owners")
            room = sheet.heading(tr(self.title), beside, "recorded")
            if known is None:
                return
            room.setBottom(_draw_sums(sheet, room, known) - 0.3 * sheet.em)
            _Picture(sheet, room, known, moment).draw()


LENS = OwnersLens()


def _draw_sums(sheet: Sheet, room: QRectF, known: SharedProduct) -> float:
    """Write the traffic of the links below the picture; return the top of this text."""
    once, read = (sum(getattr(one, name) for one in known.panels) for name in ("once_bytes", "read_bytes"))
    if not known.panels:
        lines = [tr("Nothing crosses: each GPU holds all of A.")]
    else:
        values = {"once": thousands(once), "read": thousands(read)}
        other = tr("If each read went to the owner's memory: {read} bytes.", **values)
        if known.crossing == "reads":
            said = tr("{read} bytes cross: each read goes to the owner's memory.", **values)
            other = tr("If the rows were copied: {once} bytes.", **values)
        elif known.crossing == "inside":
            said = tr("{once} bytes cross: the kernel copies them and multiplies meanwhile.", **values)
        elif known.crossing == "meanwhile":
            said = tr("{once} bytes cross, while other rows are multiplied.", **values)
        else:
            said = tr("{once} bytes cross, before the first product.", **values)
        lines = [said, *([other] if read > once else [])]
    line = QRectF(room.left(), room.bottom() - len(lines) * 1.15 * sheet.small, room.width(), 1.15 * sheet.small)
    top = line.top()
    for text in lines:
        sheet.text(line, text, sheet.theme.muted, "small")
        line.translate(0, line.height())
    return top


class _Picture:
    """GPUs side by side, each with its A, B and C."""

    def __init__(self, sheet: Sheet, room: QRectF, known: SharedProduct, moment: LensMoment) -> None:
        self._sheet, self._known, self._step = sheet, known, moment.step
        self._chosen = moment.block * len(known.launches) // moment.playable.recording.blocks
        self._count = min(known.devices, _MOST)
        gap = _GAP * sheet.em
        wide = (room.width() - gap * (self._count - 1)) / self._count
        self._columns = [
            QRectF(room.left() + at * (wide + gap), room.top(), wide, room.height()) for at in range(self._count)
        ]

    def draw(self) -> None:
        """Draw all GPUs that have room, and the panels that cross between them."""
        for device in range(self._count):
            self._draw_device(device)
        for panel in self._known.panels:
            if max(panel.device, panel.owner) < self._count and self._known.crosses(panel, self._step):
                self._draw_crossing(panel)

    def _places(self, device: int) -> tuple[QRectF, QRectF, QRectF]:
        """Return where A, B and C of a GPU are: C below B, and A at the left of C, as in a product."""
        sheet, column = self._sheet, self._columns[device]
        top, gap = column.top() + 1.4 * sheet.em, 0.5 * sheet.em
        wide, high = (column.width() - gap) / 2, (column.bottom() - top - gap) / 2
        b = QRectF(column.left() + wide + gap, top, wide, high)
        return b.translated(-wide - gap, high + gap), b, b.translated(0, high + gap)

    def _band(self, whole: QRectF, number: int, by_rows: bool) -> QRectF:
        wide, high = whole.width() / self._known.devices, whole.height() / self._known.devices
        if by_rows:
            return QRectF(whole.left(), whole.top() + number * high, whole.width(), high)
        return QRectF(whole.left() + number * wide, whole.top(), wide, whole.height())

    def _draw_device(self, device: int) -> None:
        sheet, known = self._sheet, self._known
        a, b, c = self._places(device)
        mine = known.launches[self._chosen].device == device
        line = QRectF(self._columns[device])
        line.setHeight(1.2 * sheet.em)
        sheet.text(line, tr("GPU {number}", number=device), sheet.theme.text if mine else sheet.theme.muted, bold=mine)
        for owner in range(known.devices):
            panel = next((p for p in known.panels if (p.device, p.owner) == (device, owner)), None)
            held = panel is None or known.held(panel, self._step)
            here = _OWN if panel is None else _COPIED
            self._draw_band(self._band(a, owner, True), owner, here if held else _TO_COME, not held)
            for matrix, strength in ((b, _OWN), (c, _TO_COME)):
                self._draw_band(self._band(matrix, owner, False), owner if owner == device else None, strength)
        for number, launch in enumerate(known.launches):
            if launch.device == device:
                part = self._band(c, device, False)
                if known.in_panels:
                    part = part.intersected(self._band(c, launch.owner, True))
                self._draw_progress(part, device, known.done(launch, self._step), number == self._chosen)
        for name, own in (("A", self._band(a, device, True)), ("B", self._band(b, device, False))):
            if own.height() > 1.3 * sheet.small and own.width() > 1.5 * sheet.em:
                ink = sheet.ink(sheet.mixed(sheet.theme.owners[device % len(sheet.theme.owners)], _OWN))
                sheet.text(own, name, ink, "body", bold=True, align=MIDDLE)

    def _draw_band(self, box: QRectF, owner: int | None, strength: float, dashed: bool = False) -> None:
        sheet = self._sheet
        if owner is None:
            sheet.box(box, QColor(sheet.theme.outline), None, dashed=True)
            return
        hue = sheet.theme.owners[owner % len(sheet.theme.owners)]
        sheet.box(box.adjusted(1, 1, -1, -1), sheet.mixed(hue, 0.9), sheet.mixed(hue, strength), dashed=dashed)

    def _draw_progress(self, part: QRectF, device: int, share: float, chosen: bool) -> None:
        """Fill a launch's part of C from above, as far as its steps have begun; the chosen one is framed."""
        sheet = self._sheet
        hue = sheet.theme.owners[device % len(sheet.theme.owners)]
        done = QRectF(part.left() + 1, part.top() + 1, part.width() - 2, share * (part.height() - 2))
        if done.height() >= 2:
            sheet.box(done, sheet.mixed(hue, 0.9), sheet.mixed(hue, _OWN))
        if chosen:
            sheet.box(part, QColor(sheet.theme.selection), None)

    def _draw_crossing(self, panel: PanelUse) -> None:
        """Draw an arrow from the owner's rows to their place in the A of the GPU that needs them."""
        sheet = self._sheet
        begin, end = (self._band(self._places(at)[0], panel.owner, True) for at in (panel.owner, panel.device))
        colour = sheet.mixed(sheet.theme.owners[panel.owner % len(sheet.theme.owners)], 1.0)
        right = panel.device > panel.owner
        tail, head = (begin.right(), end.left()) if right else (begin.left(), end.right())
        sheet.pointer(QPointF(tail, begin.center().y()), QPointF(head, end.center().y()), colour)
