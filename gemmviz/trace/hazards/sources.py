"""Finds the read of A or B whose value a thread stores to shared memory through a register.

The recording shows only the read and the store; the link is inferred. All values of one store instruction are assumed
to come from the same place in the thread's reads of A and B. Three kinds of places are tried: a fixed number of reads
back among all reads (double buffering, also if shared memory is used in between); a fixed number of reads back among
those of one instruction (other reads may be missing at the edges); the read of one instruction with the same ordinal (a
loop that loads, then a loop that stores). The place whose values agree most often is taken. This is repeated for the
stores that disagree, for example for a first tile with a separate load. A value without a good place has no source.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.distinct import distinct
from gemmviz.trace.hazards.access_index import Flags, Ints
from gemmviz.trace.order.requests import earlier

_BACK = 64  # the largest number of reads back: two matrices with eight vectors each in flight
_BACK_IN_CHANNEL = 8
_SAMPLE = 2048  # stores of an instruction that are compared
_CERTAIN = 8  # so many equal values are not a coincidence
_PARTS = 16  # the largest number of elements of one access


@dataclass(frozen=True)
class Column:
    """The elements accessed by some threads, sorted by thread and then by the order of accesses.

    ``part`` is the index of an element within its access, ``line`` is per site.
    """

    thread: Ints
    site: Ints
    part: Ints
    value: npt.NDArray[np.float32]
    line: Ints


def sources(column: Column, stores: Ints, reads: Ints) -> Ints:
    """Return, for each store, the item that read its value, or -1.

    Parameters
    ----------
    column
        The accesses.
    stores, reads
        Items that write to shared memory, and items that read A or B, both ascending.
    """
    found = np.full(len(stores), -1, np.int64)
    if not len(stores) or not len(reads):
        return found
    channel = column.site.astype(np.int64) * _PARTS + column.part
    pools = {int(one): reads[channel[reads] == one] for one in distinct(channel[reads])}
    for one in distinct(channel[stores]):
        mine = np.flatnonzero(channel[stores] == one)
        ordinal = earlier(column.thread[stores[mine]], np.zeros(len(mine), np.int64))
        line = column.line[one // _PARTS]
        # Of places that agree equally often, the one in the same line is preferred: `tile[i] = A[j];`.
        near = sorted(pools, key=lambda load: (column.line[load // _PARTS] != line, load))
        ranked = [(pools[load], _BACK_IN_CHANNEL, True) for load in near]
        left = np.arange(len(mine))[column.value[stores[mine]] != 0]  # A and B have no zeros: zeros fill an edge
        least = 1
        while len(left):
            sample = left[distinct(np.linspace(0, len(left) - 1, _SAMPLE).astype(np.int64))]
            best, chosen = 0, None
            for pool, back, by_ordinal in [*ranked[:1], (reads, _BACK, False), *ranked[1:]]:
                fits = _agree(column, stores[mine], ordinal, sample, pool, back, by_ordinal)[1].sum(axis=1)
                if fits.max() > best:
                    best, chosen = int(fits.max()), (pool, back, by_ordinal, int(fits.argmax()))
                if best == len(sample):  # no other pool can agree more often
                    break
            if chosen is None or best < least or 2 * best < len(sample):
                break
            pool, back, by_ordinal, place = chosen
            tried, agrees = _agree(column, stores[mine], ordinal, left, pool, back, by_ordinal)
            taken = agrees[place]
            found[mine[left[taken]]] = tried[place][taken]
            left, least = left[~taken], _CERTAIN
    return found


def _agree(
    column: Column, stores: Ints, ordinal: Ints, which: Ints, pool: Ints, back: int, by_ordinal: bool
) -> tuple[Ints, Flags]:
    """Return, by place and store, the read there (an item), and whether it is before the store and has its value."""
    store = stores[which]
    after = np.searchsorted(pool, store)
    first = np.searchsorted(column.thread[pool], column.thread[store])
    at = after - 1 - np.arange(back)[:, None]
    if by_ordinal:
        at = np.concatenate([at, (first + ordinal[which])[None]])
    tried = pool[np.clip(at, 0, len(pool) - 1)]
    agrees: Flags = (at >= first) & (at < after) & (column.value[tried] == column.value[store])
    return tried, agrees
