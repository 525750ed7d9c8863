"""Where everything stands on the stage: the arrays, the title, the words, and the picture that replaces them."""

from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from gemmviz.trace.lenses.block_tiles import block_tiles
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import Lens
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage import regions, scene
from gemmviz.ui.stage.barrier_strip import BarrierStrip
from gemmviz.ui.stage.block_plan import block_plan
from gemmviz.ui.stage.lens_marks import LensMarks
from gemmviz.ui.stage.lines import Lines
from gemmviz.ui.stage.movers import Covered
from gemmviz.ui.stage.plan import Plan, Texts, column_width, placed
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.view import View
from gemmviz.ui.stage.words import CAPTION_LINES, CAPTION_OVER_LENS, TITLE_LINES, VERDICT_LINE

# Width and height, whether there is a caption, height of the words, whether a column's, the lens, also of marks, and
# the block that is large.
PlanKey = tuple[float, float, bool, float, bool, tuple[str, str], int | None]


class StagePlaces:
    """The places of one recording's stage.

    Parameters
    ----------
    playable, theme, font
        The recording, the colours, and the base font; its pixel size sets all labels.
    vector
        Whether the target is a vector file.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont, vector: bool = False) -> None:
        self.playable, self.font = playable, QFont(font)
        self.metrics = QFontMetricsF(self.font)
        self.captioned = True
        """Whether the step is described; where a larger caption does that, there is the legend alone."""
        self.words = 0.0
        """Height that something else takes in the place of the caption, in pixels; 0: the caption stands there."""
        self.narrow = False
        """Whether that is its height at `column_width`."""
        self.block: int | None = None
        """The block whose tiles are as large as possible, where they can be; None: A, B and C are."""
        self.lens: Lens | None = None
        """Drawn over the shared tiles; None: none."""
        self.lens_marks = LensMarks(playable, theme, self.font, vector)
        self._barriers = BarrierStrip(playable, theme, vector)
        self._lines = Lines(playable, theme, self.font)
        self._labelled: tuple[Any, QFont, float, bool] | None = None
        self._placed: tuple[PlanKey, Plan] | None = None
        self._seen: tuple[Plan, View, Plan] | None = None

    def panels(self, rect: QRectF, view: View) -> list[Panel]:
        """Return where every array stands when painted into `rect`."""
        return self.plan(rect, view).panels

    def plan(self, rect: QRectF, view: View) -> Plan:
        """Return where everything stands when painted into `rect`."""
        key = self._plan_key(rect)
        if self._placed is None or self._placed[0] != key:
            usual = self._with_words(rect, self.words, self.narrow) or self._between_lines(rect)
            self._placed = key, self._of_block(rect, usual) or usual
        placed = self._placed[1]
        if self._seen is None or self._seen[0] is not placed or self._seen[1] != view:
            self._seen = placed, view, placed.seen(view.zoom, view.dx, view.dy)
        return self._seen[2]

    def _plan_key(self, rect: QRectF) -> PlanKey:
        """Return all that a plan depends on."""
        names = self.lens.name if self.lens is not None else "", self.lens_marks.name(self.lens)
        return rect.width(), rect.height(), self.captioned, self.words, self.narrow, names, self.block

    def _of_block(self, rect: QRectF, usual: Plan) -> Plan | None:
        """Place the large tiles of a block; None where there is none, or where they would not be larger."""
        tiles = block_tiles(self.playable, self.block) if self.block is not None and self.lens is None else None
        if tiles is None:
            return None
        high = self.metrics.height()
        words, size = (TITLE_LINES + VERDICT_LINE + 0.3) * high, (rect.width(), rect.height())
        return block_plan(self.playable.recording, tiles, size, high, words, usual.panels[0].cell)

    def _with_words(self, rect: QRectF, words: float, narrow: bool) -> Plan | None:
        """Place everything with the words in the free quadrant, or with a lens and words beside the arrays."""
        high = self.metrics.height()
        lines = CAPTION_LINES if self.lens is None else CAPTION_OVER_LENS
        texts = Texts((TITLE_LINES + 0.3) * high, lines * high * self.captioned, words, narrow)
        asides = self._barriers.sizes(self.font) if self.lens is None else ()  # a lens covers the strip
        size = rect.width(), rect.height(), high
        return placed(self.playable.recording, *size, texts, asides, self.lens is not None)

    def column_width(self, rect: QRectF) -> float:
        """Return the width of the picture in place of the caption left of A; 0: no room, or no lens above it."""
        if self.lens is None:
            return 0.0
        return column_width(self.playable.recording, rect.width(), rect.height(), self.metrics.height())

    def holds(self, rect: QRectF, height: float, narrow: bool) -> bool:
        """Say whether something of a height has room in the caption's place and makes no array smaller."""
        plain, found = self._with_words(rect, 0.0, False), self._with_words(rect, height, narrow)
        return plain is not None and found is not None and found.as_large_as(plain)

    def _between_lines(self, rect: QRectF) -> Plan:
        """Place everything between a line above and lines below, with the words."""
        font, height, bare = self._labelling(rect)
        room = scene.WITH_NAMES if bare else scene.WITH_LABELS
        size = rect.width(), rect.height() - self.head - self._lines.foot(self.captioned)
        asides = self._barriers.sizes(font)
        placed, aside = scene.arranged(self.playable.recording, *size, height, room, asides)
        return Plan(placed, aside, form="names" if bare else "all").seen(1, 0, self.head)

    def _labelling(self, rect: QRectF) -> tuple[QFont, float, bool]:
        """Return the labels' font in `rect`, its height in pixels, and whether there is room for names alone."""
        key = rect.width(), rect.height(), self.captioned
        if self._labelled is None or self._labelled[0] != key:
            height = rect.height() - self.head - self._lines.foot(self.captioned)
            size, bare = scene.label_room(rect.width(), height, self.metrics.height())
            font = larger(self.font, size)
            self._labelled = key, font, QFontMetricsF(font).height(), bare
        return self._labelled[1:]

    def _labels_font(self, rect: QRectF, plan: Plan) -> QFont:
        return self._labelling(rect)[0] if plan.words is None else self.font

    def in_lines(self, plan: Plan, view: View) -> bool:
        """Say whether the words stand in lines above and below the arrays: a zoomed picture needs the quadrant."""
        return plan.words is None or view != View()

    def title_place(self, rect: QRectF, view: View) -> QRectF:
        """Return the place of the title, with the lines below it."""
        plan = self.plan(rect, view)
        if plan.words is None or self.in_lines(plan, view):
            return QRectF(rect.left(), rect.top(), rect.width(), self._lines.head)
        return QRectF(plan.words.left, plan.words.top, plan.words.width, TITLE_LINES * self.metrics.height())

    def words_place(self, rect: QRectF, view: View) -> QRectF:
        """Return the place of the caption, or of its replacement: see `words`."""
        plan, title = self.plan(rect, view), self.title_place(rect, view)
        if plan.words is None or self.in_lines(plan, view):
            return QRectF(title.left(), title.bottom(), title.width(), self.words)
        if plan.column is not None:
            return QRectF(plan.column.left, plan.column.top, plan.column.width, plan.column.height)
        top = title.bottom() + 0.3 * self.metrics.height()
        return QRectF(plan.words.left, top, plan.words.width, plan.words.bottom - top)

    def late_place(self, rect: QRectF, view: View, name: str) -> QRectF:
        """Return the place of a part that may be late: ``"lens"`` or ``"words"``; empty if it has none."""
        plan = self.plan(rect, view)
        if name == "words":
            return regions.box(plan.words)
        return regions.box(plan.free if self.lens is not None else None)

    def _covered(self, plan: Plan) -> QRectF | None:
        """Return the place that a lens covers; None: there is none."""
        return regions.box(plan.free) if self.lens is not None and plan.free is not None else None

    def _below_lens(self, plan: Plan) -> Covered:
        return Covered(self._covered(plan), len(plan.uncovered(self.lens is not None)) < len(plan.panels))

    def seen(self, rect: QRectF, in_lines: bool = True) -> QRectF:
        """Return the part of `rect` that shows the arrays: all but the lines with words, if there are any."""
        if not in_lines:
            return rect
        # On whole pixels: with a clip between two pixels, Qt draws everything several times slower.
        return QRectF(rect.adjusted(0, self.head, 0, -self._lines.foot(self.captioned)).toAlignedRect())

    @property
    def head(self) -> float:
        """Height of the line above the arrays, and of the panel below it that replaces the caption, in pixels."""
        return self._lines.head + self.words
