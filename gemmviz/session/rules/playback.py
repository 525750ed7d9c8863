"""Playback of a recording: its speed, its range, its units."""

import numpy as np
from psygnal import Signal

from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.values.film import loop_trail
from gemmviz.session.values.pace import motion_at, steps_per_second
from gemmviz.trace.motion.gestures import Motion

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_LONGEST_TICK_S = 0.25
# With reduced motion the picture changes at most twice a second: more than three flashes per second can be harmful.
_CALM_S = 0.5
_TRAIL = 4


class Playback:
    """Moves a cursor with time.

    Parameters
    ----------
    cursor
        The cursor to move.
    preferences
        Whether motion is reduced.
    """

    changed = Signal()
    """Playing, speed, loop, or the range to play."""

    def __init__(self, cursor: Cursor, preferences: Preferences) -> None:
        self._cursor, self._preferences = cursor, preferences
        self.playing = False
        self.speed = 1.0
        self.loop = True
        self.loop_range: tuple[int, int] | None = None
        """The first and the last step to play; None: all. The user may leave this range by steps; playing stays in
        it."""
        self._still_s = 0.0
        cursor.recorded.connect(self._on_recorded)

    def _on_recorded(self) -> None:
        """Play all of a new recording: a range belonged to the previous one."""
        self.loop_range = None

    @property
    def rate(self) -> float:
        """Steps per second at the chosen speed."""
        return self.speed * steps_per_second(self._cursor.playable)

    @property
    def motion(self) -> Motion:
        """The detail of gestures: the faster the playback, the less; with reduced motion only a line."""
        if self._preferences.calm:
            return "line"
        if not self.playing:
            return "full"
        return motion_at(self.rate)

    @property
    def trail(self) -> int:
        """The number of steps for which an access glows: at least those since the last picture."""
        if self._preferences.calm:
            return 1
        along_k = loop_trail(self._cursor.playable) if self._cursor.playable else 0
        return max(_TRAIL, along_k, int(np.ceil(self.rate / 30)))

    @property
    def played(self) -> tuple[int, int]:
        """The first and the last step to play."""
        return self.loop_range or (0, max(self._cursor.steps - 1, 0))

    def step_by(self, count: int) -> None:
        """Stop, and go some steps forward or back."""
        self.pause()
        self._cursor.seek(self._cursor.step + count)

    def step_unit(self, direction: int) -> None:
        """Stop, and go to the start of the next (1) or the previous (-1) of the chosen units."""
        self.pause()
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
        self.pause()
        cursor.seek(step)
        return True

    def play(self) -> None:
        """Play; at the end of the range, from its start."""
        if not self._cursor.steps or self.playing:
            return
        first, last = self.played
        if not first <= self._cursor.step < last:
            self._cursor.seek(first)
        self.playing = True
        self.changed.emit()

    def pause(self) -> None:
        """Stop playing."""
        if self.playing:
            self.playing = False
            self.changed.emit()

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def set_speed(self, speed: float) -> None:
        """Choose the speed: one of `SPEEDS`."""
        self.speed = speed
        self.changed.emit()

    def faster(self, direction: int) -> None:
        """Choose the next higher (1) or lower (-1) speed."""
        at = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        self.set_speed(SPEEDS[int(np.clip(at + direction, 0, len(SPEEDS) - 1))])

    # Loop

    def set_loop(self, loop: bool) -> None:
        """Start again at the end, or stop there."""
        self.loop = loop
        self.changed.emit()

    def set_loop_range(self, first: int, last: int) -> None:
        """Repeat the steps from one to another (inclusive, in either order)."""
        first, last = sorted(int(np.clip(step, 0, max(self._cursor.steps - 1, 0))) for step in (first, last))
        self.loop_range = (first, last) if self._cursor.steps else None
        self.loop = True
        self.changed.emit()

    def loop_from_here(self) -> None:
        """Set the first step of the range; its end stays if it is later."""
        last = self.played[1]
        self.set_loop_range(self._cursor.step, last if last > self._cursor.step else self._cursor.steps - 1)

    def loop_to_here(self) -> None:
        """Set the last step of the range; its start stays if it is earlier."""
        first = self.played[0]
        self.set_loop_range(first if first < self._cursor.step else 0, self._cursor.step)

    def loop_all(self) -> None:
        """Play the whole recording again."""
        self.loop_range = None
        self.changed.emit()

    def advance(self, seconds: float) -> None:
        """Advance the time: while playing, move by the steps for that time."""
        cursor = self._cursor
        if not self.playing or not cursor.steps:
            return
        first, last = self.played
        # After a stall the picture continues at its position instead of jumping.
        seconds = min(seconds, _LONGEST_TICK_S)
        position = cursor.position + seconds * self.rate
        if not first <= cursor.position < last + 1:
            position = float(first)  # the user stepped out of the range
        if position >= last + 1:
            if not self.loop:
                cursor.seek(last)
                self.pause()
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
