"""The position along K of steps that read neither A nor B: that of the nearest step of their phase."""

from types import SimpleNamespace

import numpy as np
import pytest

from gemmviz.trace.order.position_along_k import UNKNOWN, fill, ranges, usual


@pytest.mark.parametrize(
    ("place", "phase", "filled"),
    [
        ([4, UNKNOWN, UNKNOWN, 8, UNKNOWN], [0] * 5, [4, 4, 4, 8, 8]),
        ([UNKNOWN, UNKNOWN, 2, UNKNOWN], [0] * 4, [2, 2, 2, 2]),
        ([4, UNKNOWN, UNKNOWN, 8], [0, 0, 1, 1], [4, 4, 8, 8]),
        ([4, UNKNOWN, 8], [0, 1, 2], [4, UNKNOWN, 8]),
        ([UNKNOWN, UNKNOWN], [0, 0], [UNKNOWN, UNKNOWN]),
    ],
    ids=["the earlier one first", "else a later one", "of the same phase only", "a phase without one", "none at all"],
)
def test_an_unknown_position_is_that_of_the_nearest_step_of_the_phase(place, phase, filled):
    found = np.array(place, np.int64)
    fill(SimpleNamespace(phase=np.array(phase)), np.arange(len(found)), found)
    assert found.tolist() == filled


def test_only_the_given_steps_are_filled():
    found = np.array([4, UNKNOWN, UNKNOWN], np.int64)
    fill(SimpleNamespace(phase=np.zeros(3, int)), np.array([0, 2]), found)
    assert found.tolist() == [4, UNKNOWN, 4]


def test_the_depth_of_a_tile_is_the_most_frequent_extent_of_its_reads():
    group = np.array([0, 0, 1, 1, 2, 2, 3])
    k = np.array([0, 7, 8, 15, 16, 18, UNKNOWN])
    lengths = ranges(group, k)
    assert lengths.tolist() == [8, 8, 3] and usual(lengths) == 8
    assert usual(np.array([3, 8])) == 8  # the last tile may be shorter
    assert usual(ranges(group, np.full(7, UNKNOWN))) == 0
