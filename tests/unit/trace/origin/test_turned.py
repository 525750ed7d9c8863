"""Vectors that are turned in registers: the element behind each stored one is found, and only where all fit."""

import numpy as np
import pytest

from gemmviz.trace.origin.turned import turned

BITS = 20


def accesses(threads: int, rows: int, columns: int, blocks: int, before: int = 0) -> np.ndarray:
    """Return keys: each thread accesses `blocks` of rows x columns elements, `columns` at a time."""
    access = np.repeat(np.arange(blocks * rows) * 4 + before, columns)
    return (np.arange(threads)[:, None] << BITS | access).ravel()


@pytest.mark.parametrize(("wide", "high"), [(16, 14), (16, 6), (4, 4), (8, 3)])
def test_rows_that_become_columns_are_found_block_by_block(wide, high):
    random = np.random.default_rng(1)
    read = random.integers(-3, 4, (2, 3, high, wide)).astype(np.float32)
    written = read.transpose(0, 1, 3, 2)
    stores = accesses(2, wide, high, 3, before=3 * 4 * 16), written.ravel()
    source = turned(stores, (accesses(2, high, wide, 3), read.ravel()), BITS)
    assert source is not None
    number = np.arange(read.size).reshape(read.shape)
    assert np.array_equal(source, number.transpose(0, 1, 3, 2).ravel())


def test_nothing_is_taken_where_a_value_a_number_or_the_order_does_not_fit():
    random = np.random.default_rng(2)
    read = random.integers(-3, 4, (1, 2, 6, 16)).astype(np.float32)
    written = read.transpose(0, 1, 3, 2).ravel()
    loads = accesses(1, 6, 16, 2), read.ravel()
    late, early = accesses(1, 16, 6, 2, before=10_000), accesses(1, 16, 6, 2)
    assert turned((late, written), loads, BITS) is not None
    assert turned((early, written), loads, BITS) is None
    assert turned((late[:-6], written[:-6]), loads, BITS) is None
    written[-1] += 1
    assert turned((late, written), loads, BITS) is None


def test_a_few_elements_could_fit_by_chance_and_are_left_alone():
    read = np.ones((4, 4), np.float32)
    stores = accesses(1, 4, 4, 1, before=100), read.T.ravel()
    assert turned(stores, (accesses(1, 4, 4, 1), read.ravel()), BITS) is None
