"""Which steps a film shows, and for how long."""

import pytest

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.session.film import HOLD_SECONDS, MOST_FRAMES, film


def test_a_film_shows_its_range_and_always_its_last_step():
    assert film(25, 0, 200, 1).steps == list(range(25))
    assert film(25, 3, 12, 4).steps == [3, 7, 11]
    assert film(25, 3, 12, 5).steps == [3, 8, 11]
    assert film(1).steps == [0]


@pytest.mark.parametrize(("steps", "every"), [(25, 1), (96, 1), (97, 2), (100_000, None)])
def test_a_film_of_all_lasts_twelve_seconds_at_most(steps, every):
    made = film(steps, fps=8)
    assert made.every == (every or made.every)
    assert made.frames == len(made.steps) == len(made.durations())
    assert (made.frames - 1) / 8 <= 12
    assert made.seconds == pytest.approx(sum(made.durations()))
    assert made.durations()[-1] == HOLD_SECONDS


@pytest.mark.parametrize(("first", "end"), [(25, None), (30, 40), (5, 5)])
def test_a_range_without_a_step_is_refused(first, end):
    with pytest.raises(ConstraintError, match="this recording has 25"):
        film(25, first, end)


def test_too_many_frames_are_refused_with_what_would_do():
    with pytest.raises(ConstraintError, match="every 5th step") as error:
        film(4 * MOST_FRAMES, every=1)
    assert str(MOST_FRAMES) in str(error.value)
    assert film(4 * MOST_FRAMES, every=5).frames <= MOST_FRAMES
