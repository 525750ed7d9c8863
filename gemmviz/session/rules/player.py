"""Moves the cursor: with time while a recording plays, and by steps."""

import numpy as np

from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.values.film import loop_trail
from gemmviz.session.values.pace import motion_at, steps_per_second
from gemmviz.trace.motion.gestures import Motion

_LONGEST_TICK_S = 0.25
# With reduced motion the picture changes at most twice a second: more than three flashes per second can be harmful.
_CALM_S = 0.5
_TRAIL = 4


class Player:
    """Plays the recording of a cursor.

    Parameters
    ----------
    cursor
        The cursor to move.
    playback
        Whether it plays, and its speed and range.
    preferences
        Whether motion is reduced.
    """

    def __init__(self, cursor: Cursor, playback: Playback, preferences: Preferences) -> None:
        self._cursor, self._playback, self._preferences = cursor, playback, preferences
        self._still_s = 0.0
        cursor.recorded.connect(self._on_recorded)
        playback.starting.connect(self._on_starting)

    def _on_recorded(self) -> None:
        self._playback.take(self._cursor.steps, steps_per_second(self._cursor.playable))

    def _on_starting(self) -> None:
        """Go to the start of the range, from its end or from outside of it."""
        first, last = self._playback.played
        if not first <= self._cursor.step < last:
            self._cursor.seek(first)

    @property
    def motion(self) -> Motion:
        """The detail of gestures: the faster the playback, the less; with reduced motion only a line."""
        if self._preferences.calm:
            return "line"
        if not self._playback.playing:
            return "full"
        return motion_at(self._playback.rate)

    @property
    def trail(self) -> int:
        """The number of steps for which an access glows: at least those since the last picture."""
        if self._preferences.calm:
            return 1
        along_k = loop_trail(self._cursor.playable) if self._cursor.playable else 0
        return max(_TRAIL, along_k, int(np.ceil(self._playback.rate / 30)))

    def step_by(self, count: int) -> None:
        """Stop, and go some steps forward or back."""
        self._playback.pause()
        self._cursor.seek(self._cursor.step + count)

    def step_unit(self, direction: int) -> None:
        """Stop, and go to the start of the next (1) or the previous (-1) of the chosen units."""
        self._playback.pause()
        self._cursor.jump(self._cursor.unit, direction)

    def seek_line(self, line: int) -> bool:
        """Stop, and go to the next step that executes a line of the source; return False if there is none."""
        cursor = self._cursor
        if cursor.playable is None:
            return False
        sites = np.flatnonzero([s.line == line for s in cursor.playable.recording.sites])
        step = cursor.playable.timeline.next_on_line(cursor.step, sites)
        if step is None:
            return False
        self._playback.pause()
        cursor.seek(step)
        return True

    def loop_from_here(self) -> None:
        """Set the first step of the range; its end stays if it is later."""
        last = self._playback.played[1]
        self._playback.set_loop_range(self._cursor.step, last if last > self._cursor.step else self._cursor.steps - 1)

    def loop_to_here(self) -> None:
        """Set the last step of the range; its start stays if it is earlier."""
        first = self._playback.played[0]
        self._playback.set_loop_range(first if first < self._cursor.step else 0, self._cursor.step)

    def advance(self, seconds: float) -> None:
        """Advance the time: while playing, move by the steps for that time."""
        cursor = self._cursor
        if not self._playback.playing or not cursor.steps:
            return
        first, last = self._playback.played
        # After a stall the picture continues at its position instead of jumping.
        seconds = min(seconds, _LONGEST_TICK_S)
        position = cursor.position + seconds * self._playback.rate
        if not first <= cursor.position < last + 1:
            position = float(first)  # the user stepped out of the range
        if position >= last + 1:
            if not self._playback.loop:
                cursor.seek(last)
                self._playback.pause()
                return
            position = first + (position - first) % (last + 1 - first)
        self._still_s += seconds
        now = min(int(position), last)  # a sum of floats may be rounded up to the step after the last one
        step = self._calmly(now, first) if self._preferences.calm else now
        if step != cursor.step:
            self._still_s = 0.0
        cursor.seek(step, position)

    def _calmly(self, step: int, first: int) -> int:
        """Return the step to show with reduced motion: the start of the step's unit, or the step itself."""
        if self._still_s < _CALM_S:
            return self._cursor.step
        begins = self._cursor.stations(self._cursor.unit)
        if begins is None:
            return step
        at = int(np.searchsorted(begins, step, side="right")) - 1
        return max(int(begins[at]), first) if at >= 0 else first
