"""The pace at speed 1: recordings that people can watch step by step have gestures, longer ones last half a minute."""

from types import SimpleNamespace

import pytest

from gemmviz.session.values.pace import motion_at, steps_per_second


def pace(steps, backend="cuda"):
    playable = SimpleNamespace(timeline=SimpleNamespace(steps=steps), recording=SimpleNamespace(backend=backend))
    return steps_per_second(playable)


SHORT = [(25, "full", 15), (90, "plain", 30), (201, "bare", 30.15), (800, "bare", 120)]


@pytest.mark.parametrize(
    ("backend", "steps", "motion", "seconds"),
    [
        *(("c", *case) for case in [*SHORT, (1728, "bare", 259.2), (1801, "none", 30)]),
        *(("cuda", *case) for case in [*SHORT, (801, "none", 30)]),
    ],
)
def test_up_to_some_minutes_a_recording_plays_with_gestures(backend, steps, motion, seconds):
    rate = pace(steps, backend)
    assert motion_at(rate) == motion
    assert steps / rate == pytest.approx(seconds)


def test_a_long_recording_of_a_gpu_has_a_largest_rate():
    assert pace(10**6) == 120 and pace(10**6, "c") == pytest.approx(10**6 / 30)
