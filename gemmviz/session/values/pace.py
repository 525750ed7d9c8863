"""The pace of playback: steps per second, and the detail of gestures at that pace."""

from gemmviz.trace.motion.gestures import Motion
from gemmviz.trace.playable import Playable

# At speed 1 a recording should last about this long, within limits for a rate that people can follow.
_PLAY_SECONDS = 30.0
_SLOWEST, _FASTEST = 1 / 0.6, 120.0
# A gesture lasts one step: the longer the step (in milliseconds), the more detail is drawn.
_MOTIONS: tuple[tuple[int, Motion], ...] = ((600, "full"), (300, "plain"), (150, "bare"))
_ROUNDED = 0.99
# The fastest rate with gestures. A recording that lasts no longer than this at that rate is not played faster.
_MOVING = 1000 / _MOTIONS[-1][0]
_LONGEST_SECONDS = 120.0
# A CPU's loop has one access per step, so that few elements take many steps. The idea is seen after the first of them.
_LONGEST_LOOP_SECONDS = 270.0


def steps_per_second(playable: Playable | None, filmed: int = 0) -> float:
    """Return the pace at speed 1.

    Parameters
    ----------
    playable
        The recording; None counts as an empty one.
    filmed
        The number of steps that a film shows; 0: there is no film. A film is seen to its end, so one of many steps of
        a CPU's loop is faster than the window.
    """
    if playable is None:
        return _SLOWEST
    # A CPU makes one access per step: hundreds of thousands are too many to watch one by one.
    steps, is_loop = playable.timeline.steps, playable.recording.backend != "cuda"
    rate = max(steps / _PLAY_SECONDS, _SLOWEST)
    short_film = filmed <= _LONGEST_SECONDS * _MOVING
    if steps <= (_LONGEST_LOOP_SECONDS if is_loop and short_film else _LONGEST_SECONDS) * _MOVING:
        return min(rate, _MOVING)
    return rate if is_loop else min(rate, _FASTEST)


def motion_at(rate: float) -> Motion:
    """Return the detail of gestures at some steps per second: the faster, the less."""
    milliseconds = 1000 / rate
    return next((motion for least, motion in _MOTIONS if milliseconds >= least * _ROUNDED), "none")
