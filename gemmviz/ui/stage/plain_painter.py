"""Draws the stage with the names of the arrays alone: a small picture has no room for other words."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter

from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage import legend
from gemmviz.ui.stage.lines import Lines
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.plan import Plan


class PlainPainter(StagePainter):
    """Paints one recording without title, legend and indices; see `StagePainter`."""

    def __init__(self, playable: Playable, theme: Theme, font: QFont, vector: bool = False) -> None:
        super().__init__(playable, theme, font, vector)
        self._lines = _NoLines(playable, theme, font)

    def _with_words(self, rect: QRectF, words: float, narrow: bool) -> Plan | None:
        return None

    def _labelling(self, rect: QRectF) -> tuple[QFont, float, bool]:
        return self.font, self.metrics.height(), True


class _NoLines(Lines):
    @property
    def head(self) -> float:
        return 0.0

    def foot(self, captioned: bool) -> float:
        return 0.0

    def draw_title(self, painter: QPainter, rect: QRectF, moment: Moment, taken: float = 0.0) -> None:
        pass

    def draw_foot(
        self,
        painter: QPainter,
        rect: QRectF,
        sentence: str | None,
        about: str | None,
        entries: list[legend.LegendEntry],
    ) -> None:
        pass
