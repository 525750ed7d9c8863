"""The second stage follows the first one: its steps, its trail, and the same cell."""

import numpy as np

from gemmviz.catalogue.matrices import MATRICES, C
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.rules.player import Player
from gemmviz.trace.playable import Playable

Cell = tuple[int, int]
# All accesses since the last picture glow, but at most so many: then the newest ones.
_MOST_GLOWING = 40_000
# If the first stage shows a CPU loop, each of its steps is a single access.
_LONGEST_TRAIL = 64


class Follower:
    """Moves the cursor of the second stage.

    Parameters
    ----------
    cursor
        The cursor of the second stage.
    playback, player
        The playback of the first stage.
    preferences
        The preferences: whether motion is reduced.
    """

    def __init__(self, cursor: Cursor, playback: Playback, player: Player, preferences: Preferences) -> None:
        self._cursor, self._playback, self._player, self._preferences = cursor, playback, player, preferences
        self._passed = 1
        cursor.recorded.connect(self._on_recorded)

    def go(self, position: float) -> None:
        """Go to a position, as step plus fraction; if it is outside the recording, go to the nearest end."""
        step = int(position)
        if step != self._cursor.step:
            self._passed = max(step - self._cursor.step, 1)
        self._cursor.seek(step, position)

    def trail(self) -> int:
        """Return the number of steps for which an access glows: those since the last picture, which may be many."""
        cursor, playable = self._cursor, self._cursor.playable
        if playable is None or self._preferences.calm:
            return 1
        start = playable.timeline.start
        first = int(np.searchsorted(start, start[min(cursor.step + 1, len(start) - 1)] - _MOST_GLOWING))
        passed = self._passed if self._playback.playing else 1  # after a jump one step is shown
        return max(min(passed, cursor.step - first + 1), min(self._player.trail, _LONGEST_TRAIL))

    def _on_recorded(self) -> None:
        self._passed = 1


def same_cell(cell: Cell | None, here: Playable | None, there: Playable | None) -> tuple[Cell | None, int | None]:
    """Return the cell of another recording for the same element of A, B or C, and the block that owns it there.

    (None, None) if there is none: shared arrays differ between kernels, and matrices may differ in size.
    """
    if cell is None or here is None or there is None or cell[0] >= len(MATRICES):
        return None, None
    mine, other = here.recording.arrays[cell[0]], there.recording.arrays[cell[0]]
    if mine.shape != other.shape:
        return None, None
    row, column = (int(v[0]) for v in mine.cells(np.array([cell[1]])))
    element = other.element(row, column)
    block = int(there.recording.owners[0][row, column]) if cell[0] == C else None
    return (cell[0], element), block
