"""Distinct values, compared with `numpy.unique`."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from gemmviz.trace.distinct import distinct, numbered


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


EXTREMES = np.array([np.iinfo(np.int64).min, -1, 0, 7, np.iinfo(np.int64).max])


@pytest.mark.parametrize("apart", [1, 10**6, 10**17])
@pytest.mark.parametrize("count", [0, 1, 400])
def test_rows_are_numbered_as_by_unique(apart, count):
    random = np.random.default_rng(5)
    columns = [random.integers(-3, 4, count) * apart for _ in range(3)]
    columns += [random.choice(EXTREMES, count), random.integers(0, 2, count).astype(bool)]
    first, number = numbered(*columns)
    whole = np.stack([column.astype(np.int64) for column in columns])
    _, wanted, numbers = np.unique(whole, axis=1, return_index=True, return_inverse=True)
    assert (first.tolist(), number.tolist()) == (wanted.tolist(), numbers.reshape(-1).tolist())
