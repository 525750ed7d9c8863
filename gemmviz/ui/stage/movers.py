"""All that moves between two steps, and where: while it plays, only these places are painted again."""

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter, QRegion

from gemmviz.ui.stage import regions
from gemmviz.ui.stage.gestures import Gestures
from gemmviz.ui.stage.ghosts import Ghosts
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_MOST_BOXES = 60  # of more places, the bounds are painted


@dataclass(frozen=True)
class Covered:
    """The part of the stage that a lens covers.

    Attributes
    ----------
    place
        Its place; None: there is no lens.
    tiles
        Whether shared tiles are below it.
    """

    place: QRectF | None
    tiles: bool


class Movers:
    """The ghosts and gestures of one stage.

    Parameters
    ----------
    ghosts, gestures
        Draw them.
    """

    def __init__(self, ghosts: Ghosts, gestures: Gestures) -> None:
        self._ghosts, self._gestures = ghosts, gestures
        self._painted = QRegion()
        self._found: tuple[list[Panel], Moment, QRegion] | None = None

    def draw(
        self,
        painter: QPainter,
        panels: list[Panel],
        moment: Moment,
        ratio: float,
        covered: Covered,
        part: QRegion | None,
        plays: bool,
    ) -> None:
        """Draw them over the stage.

        Parameters
        ----------
        painter, panels, ratio
            The painter, the places of the arrays, and device pixels per pixel.
        moment
            The moment.
        covered
            The part that a lens covers.
        part
            The part of the stage that is painted; None: all of it.
        plays
            Whether the next frame follows at once.
        """
        self._gestures.draw(painter, panels, moment, ratio, covered.place, plays)
        self._ghosts.draw(painter, panels, moment, ratio, covered.tiles)
        before = self._painted - part if part is not None else QRegion()
        self._painted = before + self._region(panels, moment, covered)

    def places(self, panels: list[Panel], moment: Moment, covered: Covered) -> list[QRect]:
        """Return the places that have to be painted where nothing but the position between two steps has changed."""
        region = self._painted + self._region(panels, moment, covered)
        if region.rectCount() > _MOST_BOXES:
            return [region.boundingRect()]
        return regions.boxes(region)

    def _region(self, panels: list[Panel], moment: Moment, covered: Covered) -> QRegion:
        """Return where they stand at a moment."""
        if self._found is None or self._found[0] is not panels or self._found[1] != moment:
            areas = self._gestures.areas(panels, moment, covered.place)
            areas += self._ghosts.areas(panels, moment, covered.tiles)
            self._found = panels, moment, regions.joined([area.toAlignedRect() for area in areas])
        return self._found[2]
