"""The size at which two kernels are compared where nobody names one."""

import pytest
from small_kernel import kernel

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.problem import Problem
from gemmviz.versions.common_size import common_size, own_params

TILED = {"requires": '["M % TS == 0", "N % TS == 0"]'}


def test_it_is_the_smallest_with_four_blocks_of_both():
    small, large = kernel(**TILED), kernel(**TILED, params="{ TS = [32] }")
    assert common_size((small, small), {}) == Problem.cube(32)
    assert common_size((small, large), {}) == common_size((large, small), {}) == Problem.cube(64)
    assert common_size((small, small), {"TS": 32}) == Problem.cube(64)


def test_a_kernel_of_one_block_is_shown_with_it():
    alone = kernel(grid="[1]")
    assert common_size((alone, alone), {}) == Problem.cube(32)


def test_odd_conditions_lead_to_a_size_that_both_take():
    odd, even = kernel(requires='["K % 5 == 0"]'), kernel(requires='["K % 4 == 0", "M % 16 == 0"]')
    size = common_size((odd, even), {})
    assert size.k % 20 == 0 and size.m % 16 == 0


def test_kernels_without_a_common_size_are_refused_with_a_reason():
    with pytest.raises(ConstraintError, match=r"no size was found that both kernels take.*K % 2"):
        common_size((kernel(requires='["K % 2 == 0"]'), kernel(requires='["K % 2 == 1"]')), {})


def test_each_kernel_takes_its_own_settings():
    assert own_params(kernel(), {"TS": 4, "BX": 8}) == {"TS": 4}
