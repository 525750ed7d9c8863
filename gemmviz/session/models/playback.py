"""Playback of a recording: whether it plays, its speed, and its range."""

import numpy as np
from psygnal import Signal

from gemmviz.session.values.pace import steps_per_second

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class Playback:
    """The playback of one recording at a time; `gemmviz.session.rules.player.Player` moves the cursor."""

    changed = Signal()
    """Playing, speed, loop, or the range to play."""
    starting = Signal()
    """Playing begins: emitted before `changed`, so that a listener can go to the start of the range."""

    def __init__(self) -> None:
        self.playing = False
        self.speed = 1.0
        self.loop = True
        self.loop_range: tuple[int, int] | None = None
        """The first and the last step to play; None: all. The user may leave this range by steps; playing stays in
        it."""
        self.steps = 0
        """The steps of the recording; 0 without one."""
        self._pace = steps_per_second(None)

    def take(self, steps: int, pace: float) -> None:
        """Play all of a new recording.

        Parameters
        ----------
        steps
            The number of its steps; 0: there is no recording.
        pace
            Steps per second at speed 1.
        """
        # A range belonged to the previous recording.
        self.steps, self._pace, self.loop_range = steps, pace, None

    @property
    def rate(self) -> float:
        """Steps per second at the chosen speed."""
        return self.speed * self._pace

    @property
    def played(self) -> tuple[int, int]:
        """The first and the last step to play."""
        return self.loop_range or (0, max(self.steps - 1, 0))

    def play(self) -> None:
        """Play; at the end of the range, from its start."""
        if not self.steps or self.playing:
            return
        self.starting.emit()
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
        first, last = sorted(int(np.clip(step, 0, max(self.steps - 1, 0))) for step in (first, last))
        self.loop_range = (first, last) if self.steps else None
        self.loop = True
        self.changed.emit()

    def loop_all(self) -> None:
        """Play the whole recording again."""
        self.loop_range = None
        self.changed.emit()
