"""Finds the load of each store from many threads that run the same program, whatever the order of its accesses.

Threads with equal numbers of stores and loads executed the same path of the kernel. Then the nth store has the same
load, by its number, in all these threads; and as the values differ between threads, only that load has the right value
in all.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints

_ENOUGH, _SAMPLE = 8, 64  # threads needed to distinguish two loads; threads that are tried
_SURE = 0.9
_MOST_WORK = 4_000_000_000  # comparisons, about a second
_AT_ONCE = 1 << 22  # pairs of a store and a load at once


def matched(
    stores: tuple[Ints, npt.NDArray[np.float32]], loads: tuple[Ints, npt.NDArray[np.float32], Ints], bits: int
) -> Ints:
    """Return, per store, the load of its value (an index into `loads`), or -1 if it is unknown.

    Parameters
    ----------
    stores
        Key (the thread, and the row in the low `bits`) and value of each, sorted by key.
    loads
        Key, value and cell of each, sorted by key; a cell is a number that identifies an element of memory.
    bits
        The number of bits for the row in a key.
    """
    found = np.full(len(stores[0]), -1, np.int64)
    threads, first, stored = np.unique(stores[0] >> bits, return_index=True, return_counts=True)
    begin, end = (np.searchsorted(loads[0], t << bits) for t in (threads, threads + 1))
    ways, way = np.unique(np.stack([stored, end - begin], axis=1), axis=0, return_inverse=True)
    for number, (of_stores, of_loads) in enumerate(ways):
        alike = np.flatnonzero(way.ravel() == number)
        sample = alike[distinct(np.linspace(0, len(alike) - 1, _SAMPLE).astype(np.int64))]
        if len(sample) < _ENOUGH or not of_loads or int(of_stores) * int(of_loads) * len(sample) > _MOST_WORK:
            continue
        store = first[sample, None] + np.arange(of_stores)
        load = begin[sample, None] + np.arange(of_loads)
        taken = _numbers(
            (stores[0][store], stores[1][store]), (loads[0][load], loads[1][load], loads[2][load]), len(sample)
        )
        known = np.flatnonzero(taken >= 0)
        found[first[alike, None] + known] = begin[alike, None] + taken[known]
    at = np.flatnonzero(found >= 0)
    wrong = (loads[1][found[at]] != stores[1][at]) | (loads[0][found[at]] > stores[0][at])
    found[at[wrong]] = -1
    return found


def _numbers(
    stores: tuple[Ints, npt.NDArray[np.float32]], loads: tuple[Ints, npt.NDArray[np.float32], Ints], threads: int
) -> Ints:
    """Return, for each store of a thread, the number of the load that has its value in nearly all threads, or -1."""
    (store_key, stored), (load_key, loaded, cell) = stores, loads
    taken = np.full(stored.shape[1], -1, np.int64)
    step = max(1, _AT_ONCE // loaded.shape[1])
    for begin in range(0, stored.shape[1], step):
        some = stored[:, begin : begin + step]
        fits = np.zeros((some.shape[1], loaded.shape[1]), np.float32)
        for value in distinct(some):
            fits += (some == value).T.astype(np.float32) @ (loaded == value).astype(np.float32)
        fits[load_key[0] > store_key[0, begin : begin + step, None]] = 0  # the load comes after the store
        # The last load that fits: if a value was read again, it comes from the last read.
        best = loaded.shape[1] - 1 - fits[:, ::-1].argmax(axis=1)
        top = fits.max(axis=1)
        # If another cell fits as well, the load is unknown. (The first and the last thread have different cells.)
        other = (cell[0, best, None] != cell[0]) | (cell[-1, best, None] != cell[-1])
        sure = (top >= _SURE * threads) & ~((fits == top[:, None]) & other).any(axis=1)
        taken[begin : begin + step][sure] = best[sure]
    return taken
