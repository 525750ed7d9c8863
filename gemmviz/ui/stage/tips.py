"""The tip for a cell under the pointer."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF

from gemmviz.catalogue.matrices import C
from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.caption import BETWEEN, about_cell, owner_text
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel


def cell_tip(
    playable: Playable, panels: Sequence[Panel], moment: Moment, at: tuple[float, float], covered: QRectF | None
) -> str | None:
    """Describe the cell at a point, in lines.

    Parameters
    ----------
    playable, panels, moment
        The recording, the places of its arrays, and the step and block that are shown.
    at
        The point, in pixels.
    covered
        The place of a lens, below which no tile is seen; None: there is none.

    Returns
    -------
    str or None
        None where there is no cell. Elements of C have a text only where a warpgroup holds them: of all others the
        stage shows the owner.
    """
    if covered is not None and covered.contains(*at):
        return None
    for panel in panels:
        cell = panel.at(*at)
        if cell is None:
            continue
        if panel.array == C:
            return owner_text(playable, *cell)
        element = playable.recording.arrays[panel.array].element(*cell)
        return "\n".join(about_cell(playable, panel.array, element, moment.step, moment.block).split(BETWEEN))
    return None
