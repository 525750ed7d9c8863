"""Films of a recording: their steps, their duration, and checks of both."""

from dataclasses import dataclass
from math import ceil

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr
from gemmviz.session.values.pace import motion_at, steps_per_second
from gemmviz.trace.motion.gestures import Motion
from gemmviz.trace.playable import Playable

FPS, VIDEO_FPS = 12.5, 30.0
"""Frames per second of a GIF and of an MP4 by default."""
LEAST_FPS, MOST_FPS = 1.0, 60.0
"""Limits of the frames per second."""
MOST_GIF_FPS = 50.0
"""Browsers play a GIF with more frames per second more slowly."""
HOLD_SECONDS = 1.5
"""The time of the last frame, in seconds: the result is visible before the film starts again."""
MOST_FRAMES = 7200
_TRAIL = 4
_ROUNDING = 1e-9
# One iteration of a CPU's inner loop reads A and B and accesses C; as written, C is read and written.
_ACCESSES_PER_TRIP, _AS_WRITTEN = 3, 4


@dataclass(frozen=True)
class Film:
    """The frames of a part of a recording.

    Attributes
    ----------
    first, last
        The first and the last step that is shown, from 0.
    pace
        Steps from one frame to the next: below 1 there are frames between two steps, with their gestures.
    fps
        Frames per second.
    motion
        The detail of the gestures.
    """

    first: int
    last: int
    pace: float = 1.0
    fps: float = FPS
    motion: Motion = "none"

    @property
    def positions(self) -> list[float]:
        """The positions that are shown, as step from 0 plus fraction; always including the last step."""
        return [self.first + at * self.pace for at in range(self.frames - 1)] + [float(self.last)]

    @property
    def frames(self) -> int:
        """The number of frames."""
        return ceil((self.last - self.first) / self.pace - _ROUNDING) + 1

    @property
    def seconds(self) -> float:
        """Its duration in seconds, including the pause on the last frame."""
        return (self.frames - 1) / self.fps + HOLD_SECONDS

    def durations(self) -> list[float]:
        """Return the time of each frame, in seconds."""
        return [1 / self.fps] * (self.frames - 1) + [HOLD_SECONDS]


def film(
    playable: Playable, first: int = 0, end: int | None = None, every: int | None = None, fps: float = FPS
) -> Film:
    """Return a film of a part of a recording.

    Parameters
    ----------
    playable
        The recording.
    first, end
        The first step that is shown, from 0, and the one after the last (None, or beyond the recording: its end).
    every
        Whole steps from one frame to the next; None: as the window plays at speed 1, with gestures.
    fps
        Frames per second.

    Raises
    ------
    ConstraintError
        When that part has no step, or the film would have more than `MOST_FRAMES` frames.
    """
    steps = playable.timeline.steps
    stop = steps if end is None else min(end, steps)
    if not 0 <= first < stop:
        range_text = f"{first}:{'' if end is None else end}"
        raise ConstraintError(tr("{range} holds no step: this recording has {steps}", range=range_text, steps=steps))
    rate = steps_per_second(playable, filmed=stop - first)
    pace, motion = (rate / fps, motion_at(rate)) if every is None else (float(every), "none")
    made = Film(first, stop - 1, pace, fps, motion)
    if made.frames > MOST_FRAMES:
        raise ConstraintError(
            tr(
                "{frames} frames are too many (the most are {most}): show every {every}th step, or fewer steps",
                frames=made.frames,
                most=MOST_FRAMES,
                every=ceil((stop - first) / MOST_FRAMES) + 1,
            )
        )
    return made


def trail(playable: Playable, pace: float) -> int:
    """Return the number of steps for which an access glows in a film: at least those between two frames."""
    return max(_TRAIL, loop_trail(playable), ceil(pace))


def loop_trail(playable: Playable) -> int:
    """Return the number of steps of a CPU's loop along K, so that a trail shows a whole row and column."""
    recording = playable.recording
    if recording.backend == "cuda":
        return 0
    return (_AS_WRITTEN if recording.as_written else _ACCESSES_PER_TRIP) * recording.k
