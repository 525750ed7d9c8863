"""C is compared on the GPU as on the host: the same verdict, bit by bit."""

import numpy as np
import pytest

from gemmviz.backends import device_compare
from gemmviz.backends.cuda import cupy
from gemmviz.backends.page_locked import page_locked
from gemmviz.bench.error_bound import ErrorBound
from gemmviz.bench.verify import Reference, check, judged
from gemmviz.catalogue.dtypes import stored_as

pytestmark = pytest.mark.gpu
BOUND = ErrorBound("a priori", 1e-3, 1e-9)


def both(c, reference):
    """Return the verdicts of the host and of the device."""
    cp, bound = cupy(), reference.bound
    flat = cp.asarray(c.reshape(-1).view(stored_as(c.dtype.name)))
    found = device_compare.compare(
        cp, flat, c.dtype.name, reference.expected, reference.magnitude, bound.tolerance, bound.underflow
    )
    return check(c, reference), judged(found, reference)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize("shape", [(1, 1), (37, 1), (5, 700), (300, 257)], ids=str)
@pytest.mark.parametrize("most", [1 << 25, 1000])
def test_the_verdict_is_that_of_the_host(monkeypatch, dtype, shape, most):
    monkeypatch.setattr(device_compare, "MOST_ELEMENTS", most)
    generator = np.random.default_rng(3)
    expected = generator.uniform(-99, 99, shape)
    c = expected.astype(dtype)
    magnitude = np.abs(expected) * generator.integers(0, 3, shape)  # some are 0: there C must be exact
    for reference in (Reference(expected), Reference(expected, magnitude, BOUND), Reference(c.astype(np.float64))):
        here, there = both(c, reference)
        assert here == there
    assert here.ok


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e-41])
def test_what_is_no_number_or_below_the_normal_ones_is_seen(value):
    expected = np.zeros((9, 300))
    c = expected.astype(np.float32)
    c[4, 299] = c[7, 2] = value
    for reference in (
        Reference(expected),
        Reference(expected, expected, BOUND),
        Reference(expected, expected + 1, BOUND),
    ):
        here, there = both(c, reference)
        assert here == there or (np.isnan(here.got) and np.isnan(there.got) and repr(here) == repr(there))
    assert both(c, Reference(expected))[1].worst_index == (4, 299)


def test_page_locked_memory_is_an_ordinary_array_and_is_freed_with_it():
    cp = cupy()
    one = page_locked(cp, (300, 1000), np.dtype("bfloat16"))
    one[...] = 3
    assert one.flags.c_contiguous and (one.astype(int) == 3).all()
    assert cp.cuda.runtime.pointerGetAttributes(one.ctypes.data).type == cp.cuda.runtime.memoryTypeHost
