"""Plays the second recording to its end after the end of the first one."""

from gemmviz.session.models.comparison import Comparison
from gemmviz.session.models.playback import Playback
from gemmviz.session.rules.following import Follower
from gemmviz.session.rules.staged import Staged

# After the end of the chosen kernel's recording (in step by bytes), the second one continues at another speed.
_PLAY_SECONDS, _SLOWEST, _LONGEST_TICK_S, _CALM_S = 30.0, 3.0, 0.25, 0.5


class Overtime:
    """Continues the second recording: in step by bytes, the kernel that moves fewer bytes ends first.

    Parameters
    ----------
    comparison
        The comparison: which steps belong together.
    mine, second
        The stages of both rungs.
    playback
        The playback of the first stage.
    follower
        Moves the cursor of the second stage.
    """

    def __init__(
        self, comparison: Comparison, mine: Staged, second: Staged, playback: Playback, follower: Follower
    ) -> None:
        self._comparison, self._mine, self._second = comparison, mine, second
        self._playback, self._follower = playback, follower
        self._steps = self._still_s = 0.0
        comparison.matched.connect(self._on_matched)

    def advance(self, seconds: float) -> bool:
        """Continue the second recording after the end of the first one; return False if it does not continue."""
        match, mine, beside = self._comparison.match, self._mine, self._second.cursor
        waits = match is not None and self._playback.loop_range is None and mine.cursor.step >= match.mine.last
        if match is None or not waits or beside.step >= match.other.last:
            self._steps = self._still_s = 0.0
            return False
        seconds = min(seconds, _LONGEST_TICK_S)
        self._still_s += seconds
        self._steps += seconds * self._playback.speed * max(match.other.last / _PLAY_SECONDS, _SLOWEST)
        steps = int(self._steps)
        if steps and not (mine.preferences.calm and self._still_s < _CALM_S):
            self._steps, self._still_s = self._steps - steps, 0.0
            self._follower.go(beside.step + steps)
        return True

    def _on_matched(self) -> None:
        self._steps = 0.0
