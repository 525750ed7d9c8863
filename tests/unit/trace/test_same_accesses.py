"""Kernels that are said to make the same accesses as another one do so: each access of both is compared."""

import numpy as np
import pytest
from recordings import played

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.same_accesses import different_lines, likeness, pairs

ODD = Problem(9, 7, 10)  # in no direction a multiple of a tile


def _places(playable):
    """Return the accesses, one per row: shared memory is one array, from its first tile on."""
    recording = playable.recording
    log, arrays = recording.accesses, recording.arrays
    sizes = [array.size if array.space == "shared" else 0 for array in arrays]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    shared = np.array([array.space == "shared" for array in arrays])
    names = np.array([array.name if array.space == "global" else "shared" for array in arrays])
    element = log.element + np.where(shared, first, 0)[log.array]
    steps = playable.timeline.step_of_row
    return np.rec.fromarrays([names[log.array], element, log.write, log.block, log.thread, log.phase, steps])


def _sizes(name):
    kernel = find(name, ladder())
    small = {key: min(values, key=lambda v: abs(v - 4)) for key, values in kernel.params.items() if key != "ROUND"}
    return [(Problem(*kernel.demo.size), dict(kernel.demo.params)), (ODD, small)]


@pytest.mark.sweep("gputiled1", "CC_V_STATIC_BLOCK", "CC_V_FINAL")
@pytest.mark.parametrize("name", pairs())
def test_both_kernels_make_the_same_accesses_in_the_same_order(name):
    other = find(pairs()[name], ladder())
    for problem, params in _sizes(name):
        mine = played(name, problem, params)
        theirs = played(other.name, problem, {key: value for key, value in params.items() if key in other.params})
        assert len(mine.recording.accesses) > 0
        assert (_places(mine) == _places(theirs)).all()


@pytest.mark.parametrize("name", pairs())
def test_some_lines_differ_and_a_changed_text_is_not_alike(name):
    kernel = find(name, ladder())
    found = likeness(name, kernel.text)
    assert found.kernel == pairs()[name] and found.lines
    assert likeness(name, kernel.text + " ") is None
    assert likeness(found.kernel, find(found.kernel, ladder()).text) is None


def test_a_kernel_with_other_accesses_would_be_noticed():
    """Without `restrict` the compiler reads more often: the comparison sees that."""
    one, other = (_places(played(name, Problem.cube(8))) for name in ("gpumult0", "gpumult0_restrict"))
    assert len(one) != len(other)


def test_comments_spaces_and_the_kernels_name_make_no_difference():
    one = "// ---gemmviz\n// version = 2\n// ---\n__global__ void f(int a)\n{\n    g();\n    f2();\n}\n"
    other = "// ---gemmviz\n// ---\n__global__ void other(int a)\n{\n    g( ); // as before\n    //\n    f3();\n}\n"
    assert different_lines(one, other) == [7]
    assert different_lines(other, one) == [7]
    assert different_lines(one, one) == []
