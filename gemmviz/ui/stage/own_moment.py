"""The moment that a stage shows, by the state of its session."""

from gemmviz.session.models.frozen_warp import FrozenWarp
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.rules.staged import Staged
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.view import View


def own_moment(
    staged: Staged,
    view: View,
    hovered: int | None,
    frozen_warp: FrozenWarp | None,
    inspection: Inspection | None,
    ahead: int = 0,
) -> Moment:
    """Return the moment that is shown now, or some steps later.

    Parameters
    ----------
    staged
        The state to show.
    view, hovered
        Zoom and shift, and the element of C under the pointer, counted by rows; None: none.
    frozen_warp, inspection
        The frozen warp and the inspection on it; None: there are none.
    ahead
        The number of steps.
    """
    cursor = staged.cursor
    return Moment(
        step=cursor.step + ahead,
        block=cursor.block_at(cursor.step + ahead),
        cell=cursor.cell,
        trail=staged.trail(),
        view=view,
        warp=cursor.warp,
        outdated=staged.outdated,
        in_doubt=cursor.in_doubt,
        frozen=frozen_warp is not None and frozen_warp.on,
        hop=inspection.hop if inspection is not None else None,
        fraction=0.0 if ahead else cursor.fraction,
        motion=staged.motion(),
        lane=inspection.lane if inspection is not None else 0,
        hovered=hovered,
        idea="" if ahead else staged.idea(),
    )
