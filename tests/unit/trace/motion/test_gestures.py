"""Shares of a gesture: where a ghost stands at a fraction, forwards and backwards alike."""

import numpy as np
import pytest

from gemmviz.trace.motion import gestures
from gemmviz.trace.motion.gestures import copied


def steps(*numbers):
    return np.array(numbers, np.int64)


def test_a_copy_rises_flies_and_lands():
    at = np.linspace(0, 1, 201)
    place, lift = gestures.place(at), gestures.lift(at)
    assert (np.diff(place) >= 0).all() and place[0] == 0 and place[-1] == 1
    assert not place[at <= gestures.RISEN].any() and (place[at >= gestures.ARRIVED] == 1).all()
    middle = (gestures.RISEN + gestures.ARRIVED) / 2
    assert gestures.place(middle) == pytest.approx(0.5)
    assert lift[0] == lift[-1] == 0 and lift.max() == 1


@pytest.mark.parametrize("fraction", [0.0, 0.15, 0.42, 0.5, 0.97])
def test_a_copy_to_the_next_step_takes_that_step(fraction):
    assert copied(steps(15), steps(16), 15 + fraction) == pytest.approx([fraction])


def test_a_copy_that_takes_longer_leaves_waits_and_lands_with_its_write():
    begin, end = steps(3), steps(9)
    values = {position: float(copied(begin, end, position)[0]) for position in (3.0, 3.5, 4.0, 6.3, 8.0, 8.5, 9.0)}
    assert values == pytest.approx({3.0: 0, 3.5: 0.25, 4.0: 0.5, 6.3: 0.5, 8.0: 0.5, 8.5: 0.75, 9.0: 1})


def test_operands_meet_before_their_product_leaves():
    at = np.linspace(0, 0.999, 100)
    met, gone = (np.array([way(float(x)) for x in at]) for way in (gestures.met, gestures.product_place))
    assert not gone[met < 1].any()
    assert gone[at >= gestures.ADDED] == pytest.approx(1) and (np.diff(gone) >= 0).all()
