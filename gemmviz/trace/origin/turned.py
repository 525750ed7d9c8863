"""Finds stores whose values come from loads of vectors that change places in registers: rows become columns.

A kernel that packs a matrix reads some rows as vectors, turns them in registers, and writes them column by column. So
neither the load before a store nor a certain part of a load is its source. But the elements that the stores of a line
write, in their order, are those that the loads of a line read, with each block of `high` x `wide` of them transposed.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints

_WIDE = (4, 8, 16)  # elements that one row has of a block
_HIGH = range(2, 17)  # its rows
_LEAST = 24  # elements that have to fit: fewer could fit by chance, as the matrices have six different values
_FIRST = 256  # elements that are tried first: most blocks do not fit, and these show it


def turned(
    stores: tuple[Ints, npt.NDArray[np.float32]], loads: tuple[Ints, npt.NDArray[np.float32]], bits: int
) -> Ints | None:
    """Return, for each element that is stored, the index of the element that was loaded; or None if they do not fit.

    Parameters
    ----------
    stores, loads
        Keys and values of the elements that the stores, or the loads, of one line access, in the order of threads and
        accesses. A key has the thread, and below it the row in `bits` bits.
    bits
        The number of bits of a row.
    """
    (key, value), (load_key, load_value) = stores, loads
    if len(value) != len(load_value) or len(value) < _LEAST:
        return None
    for wide in _WIDE:
        for high in _HIGH:
            source = _source(key, key[:_FIRST], wide, high, bits)
            if source.max() >= len(key) or (load_value[source] != value[:_FIRST]).any():
                continue
            if not np.array_equal(key >> bits, load_key >> bits):
                return None
            source = _source(key, key, wide, high, bits)
            if source.max() < len(key) and (load_value[source] == value).all() and (load_key[source] < key).all():
                return source
    return None


def _source(key: Ints, some: Ints, wide: int, high: int, bits: int) -> Ints:
    """Return the loaded elements behind the first stored ones, `some` of `key`."""
    first = np.searchsorted(key, some >> bits << bits)
    block, within = np.divmod(np.arange(len(some)) - first, wide * high)
    source: Ints = first + block * wide * high + within % high * wide + within // high
    return source
