"""The pace at speed 1: recordings that people can watch step by step have gestures, longer ones last half a minute."""

from types import SimpleNamespace

import pytest

from gemmviz.session.values.pace import motion_at, steps_per_second


def pace(steps, backend="cuda"):
    playable = SimpleNamespace(timeline=SimpleNamespace(steps=steps), recording=SimpleNamespace(backend=backend))
    return steps_per_second(playable)


@pytest.mark.parametrize("backend", ["c", "cuda"])
@pytest.mark.parametrize(
    ("steps", "motion", "seconds"),
    [(25, "full", 15), (90, "plain", 30), (201, "bare", 30.15), (800, "bare", 120), (801, "none", 30)],
)
def test_up_to_two_minutes_a_recording_plays_with_gestures(backend, steps, motion, seconds):
    rate = pace(steps, backend)
    assert motion_at(rate) == motion
    assert steps / rate == pytest.approx(seconds)


def test_a_long_recording_of_a_gpu_has_a_largest_rate():
    assert pace(10**6) == 120 and pace(10**6, "c") == pytest.approx(10**6 / 30)
