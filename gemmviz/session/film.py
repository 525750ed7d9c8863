"""Films of a recording: their steps, their duration, and checks of both."""

from dataclasses import dataclass
from math import ceil

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr
from gemmviz.trace.playable import Playable

FPS = 8.0
"""Frames per second by default: each step can be seen."""
LEAST_FPS, MOST_FPS = 1.0, 50.0
"""Limits of the frames per second; browsers slow down a GIF of more than 50."""
HOLD_SECONDS = 1.5
"""The time of the last frame, in seconds: the result is visible before the film starts again."""
MOST_FRAMES = 3000
_SENSIBLE_SECONDS = 12.0
_TRAIL = 4
# One trip of a CPU's inner loop reads A and B and touches C, which as written is a read and a write.
_ACCESSES_PER_TRIP, _AS_WRITTEN = 3, 4


@dataclass(frozen=True)
class Film:
    """Some steps of a recording, one frame each.

    Attributes
    ----------
    first, last
        The first and the last step that is shown, from 0.
    every
        Steps from one frame to the next.
    fps
        Frames per second.
    """

    first: int
    last: int
    every: int = 1
    fps: float = FPS

    @property
    def steps(self) -> list[int]:
        """The steps that are shown, from 0; the last one always is."""
        steps = list(range(self.first, self.last + 1, self.every))
        return steps if steps[-1] == self.last else [*steps, self.last]

    @property
    def frames(self) -> int:
        """The number of frames."""
        return -(-(self.last - self.first) // self.every) + 1

    @property
    def seconds(self) -> float:
        """Its duration in seconds, the last frame held."""
        return (self.frames - 1) / self.fps + HOLD_SECONDS

    def durations(self) -> list[float]:
        """Return the time of each frame, in seconds."""
        return [1 / self.fps] * (self.frames - 1) + [HOLD_SECONDS]


def film(steps: int, first: int = 0, end: int | None = None, every: int | None = None, fps: float = FPS) -> Film:
    """Return a film of a part of a recording.

    Parameters
    ----------
    steps
        The number of steps of the recording.
    first, end
        The first step that is shown, from 0, and the one after the last (None, or beyond the recording: its end).
    every
        Steps from one frame to the next; None: as many as let the film last twelve seconds at most.
    fps
        Frames per second.

    Raises
    ------
    ConstraintError
        When no step lies in that part, or the film would have more than `MOST_FRAMES` frames.
    """
    stop = steps if end is None else min(end, steps)
    if not 0 <= first < stop:
        said = f"{first}:{'' if end is None else end}"
        raise ConstraintError(tr("{range} holds no step: this recording has {steps}", range=said, steps=steps))
    made = Film(first, stop - 1, every or sensible_every(stop - first, fps), fps)
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


def sensible_every(count: int, fps: float) -> int:
    """Return the steps per frame at which a film of some steps lasts twelve seconds at most."""
    return max(1, ceil(count / (_SENSIBLE_SECONDS * fps)))


def trail(playable: Playable, every: int) -> int:
    """Return the number of steps that an access glows in a film: always those between two frames."""
    return max(_TRAIL, loop_trail(playable), every)


def loop_trail(playable: Playable) -> int:
    """Return the steps of a CPU's loop along K, so that a trail shows the row and the column that it walks."""
    recording = playable.recording
    if recording.backend == "cuda":
        return 0
    return (_AS_WRITTEN if recording.as_written else _ACCESSES_PER_TRIP) * recording.k
