"""Which positions a film shows, and for how long."""

import pytest

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session.values.film import HOLD_SECONDS, MOST_FRAMES, Film, film
from gemmviz.session.values.pace import steps_per_second
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record


def played(name, **params):
    kernel = find(name, ladder())
    recording = record(launch(kernel, Problem.cube(8), kernel.defaults | params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@pytest.fixture(scope="module")
def tiled():
    return played("gputiled", TS=4)


def test_whole_steps_are_shown_from_the_first_to_the_last(tiled):
    assert film(tiled, 0, 200, 1).positions == list(range(25))
    assert film(tiled, 3, 12, 4).positions == [3, 7, 11]
    assert film(tiled, 3, 12, 5).positions == [3, 8, 11]
    assert film(tiled, 4, 5).positions == [4]
    assert film(tiled, every=1).motion == "none"


def test_a_film_plays_as_the_window_does_with_its_gestures(tiled):
    made = film(tiled, fps=12.5)
    rate = steps_per_second(tiled)
    assert made.motion == "full"
    assert made.positions[:3] == pytest.approx([0, rate / 12.5, 2 * rate / 12.5])
    assert made.positions[-1] == 24
    assert all(0 < b - a <= made.pace + 1e-9 for a, b in zip(made.positions, made.positions[1:], strict=False))
    assert (made.frames - 1) / 12.5 == pytest.approx(24 / rate, abs=1 / 12.5)


@pytest.mark.parametrize("fps", [12.5, 20, 30, 60])
def test_a_film_lasts_as_long_at_any_frame_rate(tiled, fps):
    made = film(tiled, fps=fps)
    assert made.frames == len(made.positions) == len(made.durations())
    assert made.seconds == pytest.approx(sum(made.durations()))
    assert made.seconds - HOLD_SECONDS == pytest.approx(24 / steps_per_second(tiled), abs=1 / fps)
    assert made.durations()[-1] == HOLD_SECONDS


def test_a_fast_recording_has_no_gestures_in_its_film():
    looped = played("hostmult0")
    assert film(looped).motion == "none" and film(looped).pace > 1


def test_a_part_of_a_loop_is_filmed_at_the_window_s_pace_with_its_gestures():
    """At the pace of a film of the whole loop, 24 steps of it took half a second."""
    looped = played("hostmult0")
    part = film(looped, 0, 24)
    assert part.motion == "bare" and part.pace == pytest.approx(steps_per_second(looped) / part.fps)


@pytest.mark.parametrize(("first", "end"), [(25, None), (30, 40), (5, 5)])
def test_a_range_without_a_step_is_refused(tiled, first, end):
    with pytest.raises(ConstraintError, match="this recording has 25"):
        film(tiled, first, end)


def test_too_many_frames_are_refused_with_a_remedy(tiled):
    with pytest.raises(ConstraintError, match=r"show every .*th step") as error:
        film(tiled, fps=MOST_FRAMES)
    assert str(MOST_FRAMES) in str(error.value)


def test_the_number_of_frames_is_that_of_the_positions_for_any_pace():
    for pace in (0.1, 1 / 3, 0.7, 1, 1.5, 4):
        for last in range(6):
            made = Film(0, last, pace)
            assert made.frames == len(made.positions) and made.positions[-1] == last
            assert len(set(made.positions)) == len(made.positions)
