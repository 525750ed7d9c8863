"""Distinct values, compared with `numpy.unique`."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from gemmviz.trace.distinct import distinct


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int32, np.int64, np.uint16, np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (7, 9)])
def test_the_values_are_those_of_unique(dtype, shape):
    values = np.random.default_rng(3).integers(0, 20, shape).astype(dtype)
    found, expected = distinct(values), np.unique(values)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("apart", [1, 1000])
def test_the_smallest_and_the_largest_number_of_a_type_are_found(dtype, apart):
    limits = np.iinfo(dtype)
    step = np.arange(3, dtype=dtype) * min(apart, limits.max // 4)
    for values in (limits.min + step, limits.max - step, np.concatenate([limits.min + step, limits.max - step])):
        assert distinct(values.astype(dtype)).tolist() == sorted(set(values.tolist()))


def test_all_nan_are_one_value():
    assert distinct(np.array([np.nan, 2, np.nan, 1, 2], np.float32)).tolist()[:2] == [1, 2]
    assert len(distinct(np.array([np.nan, 2, np.nan, 1, 2], np.float32))) == 3


def test_masked_arrays_are_not_imported():
    code = "import sys, numpy; from gemmviz.trace.distinct import distinct; distinct(numpy.arange(9) % 4)"
    done = subprocess.run([sys.executable, "-c", f"{code}; sys.exit('numpy.ma' in sys.modules)"], check=False)
    assert done.returncode == 0
