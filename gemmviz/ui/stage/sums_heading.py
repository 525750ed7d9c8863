"""Beside the name of C: its size or its block, or which products its running sums have so far."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.block_heading import beside_block_name, block_texts
from gemmviz.ui.stage.caption import BETWEEN
from gemmviz.ui.stage.cell_text import SUM_CELL
from gemmviz.ui.stage.colours import written
from gemmviz.ui.stage.labels import beside_name
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.plan import Plan
from gemmviz.ui.stage.view import View

_MOST_PRODUCTS = 1 << 15
"""In a larger recording the cells have no figures, and counting the products of a block takes long."""
_MOST_KEPT = 4  # headings: of the last step, this one and the next
_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class SumsHeading:
    """The heading of one recording in one theme; nothing where the cells show no running sums.

    Parameters
    ----------
    playable, theme, font
        The recording, its colours, and the labels' font.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable, self._theme, self._font = playable, theme, QFont(font)
        self._metrics = QFontMetricsF(self._font)
        live, recording = playable.live_sums, playable.recording
        self._size = f"M × N = {recording.m} × {recording.n}"
        self._any = live is not None and bool(live.known.any())
        self._place: tuple[Plan, QRectF] | None = None
        self._kept: dict[tuple[int, int], list[str]] = {}
        self._last: tuple[tuple[int, int, int], list[str]] | None = None
        self._fitting: tuple[list[str], float, str] | None = None

    def at(self, plan: Plan, moment: Moment, arrays: Sequence[int]) -> list[QRectF]:
        """Return the place of the heading, in pixels, if C is among the arrays and its cells show running sums."""
        panel = plan.panels[C]
        if not self._any or C not in arrays or panel.cell < SUM_CELL:
            return []
        if plan.form not in ("around words", "of a block") or moment.view != View():
            return []
        if self._place is None or self._place[0] is not plan:
            if plan.form == "of a block":
                place = beside_block_name(panel, self._font)
            else:
                place = beside_name(panel, self._font)
                place.setRight(panel.x + panel.width)
            self._place = plan, place
        return [self._place[1]]

    def changed(self, plan: Plan, last: Moment, moment: Moment, arrays: Sequence[int]) -> list[QRectF]:
        """Return the place of the heading if it differs between two moments; see `at`."""
        places = self.at(plan, moment, arrays)
        return places if places and self._at(plan, last) != self._at(plan, moment) else []

    def _at(self, plan: Plan, moment: Moment) -> list[str]:
        texts = self.texts(moment.step, moment.block)
        if plan.form != "of a block":
            return texts
        block = block_texts(self._playable.recording, plan.panels[C], moment.block)
        if texts[0] == self._size:
            return block
        return [*(f"{block[-1]}{BETWEEN}{one}" for one in texts[-2:]), texts[-2], texts[-1], block[-1]]

    def draw(self, painter: QPainter, plan: Plan, moment: Moment) -> None:
        """Write the longest heading that has room above C.

        Parameters
        ----------
        painter, plan, moment
            Where to, where the arrays stand, and the moment.
        """
        for place in self.at(plan, moment, [C]):
            texts, room, wide = self._at(plan, moment), place.width(), self._metrics.horizontalAdvance
            if self._fitting is None or self._fitting[0] != texts or self._fitting[1] != room:
                self._fitting = texts, room, next((one for one in texts if wide(one) <= room), "")
            painter.setFont(self._font)
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(place, _MIDDLE, self._fitting[2])

    def texts(self, step: int, block: int) -> list[str]:
        """Return the headings at a step, from the longest on: of a block's sums, and where it shows none the size."""
        at = step, block
        if at not in self._kept:
            if len(self._kept) == _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[at] = self._found(step, block)
        return self._kept[at]

    def _found(self, step: int, block: int) -> list[str]:
        live, recording = self._playable.live_sums, self._playable.recording
        if live is None:
            return [self._size]
        holds = written(self._playable, C, step, block)
        key = live.place(step), int(holds.sum()), block
        if self._last is None or self._last[0] != key:  # many steps change no sum
            shown = live.shown(step, holds) & (recording.owners[0] == block)
            self._last = key, self._of_sums(key[0], shown.ravel()) if shown.any() else [self._size]
        return self._last[1]

    def _of_sums(self, place: int, shown: npt.NDArray[np.bool_]) -> list[str]:
        """Name the products of some elements, if they are the same ones for all of them."""
        products = self._playable.products
        general = [tr("live sums, in registers, not stored yet"), tr("live sums")]
        if products is None or len(products) > _MOST_PRODUCTS:
            return general
        element, k = products.element[:place], products.k[:place]
        mine = shown[element]
        counts = np.bincount(element[mine], minlength=shown.size)[shown]
        ks = np.unique(k[mine])
        if not len(ks) or (counts != len(ks)).any():
            return general
        if len(ks) == ks[-1] - ks[0] + 1:
            which = str(ks[0]) if len(ks) == 1 else f"{ks[0]}…{ks[-1]}"
            return [
                tr("live sums after k = {k}, in registers, not stored yet", k=which),
                tr("live sums after k = {k}, in registers", k=which),
                tr("live sums after k = {k}", k=which),
                general[-1],
            ]
        return general
