"""The rows of each asynchronous copy in a recording: the read at its issue, the write at its thread's wait."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.simt.async_copies import Copies

Ints = npt.NDArray[np.int64]


def pairs(copies: Copies, column: Mapping[str, npt.NDArray[Any]]) -> Ints:
    """Return a row per copy that arrived in shared memory: its write, its read (-1: none), the phase of its issue.

    A thread's copies arrive in the order in which they were issued. So its first copy made its first rows, and so on;
    the remaining reads at the end belong to copies without a wait.

    Parameters
    ----------
    copies
        From the recorder.
    column
        The columns of the recording, each thread's rows in their order.
    """
    if not len(copies.arrived):
        return np.zeros((0, 3), np.int64)
    arrived = copies.arrived[_by_owner(copies.arrived["block"], copies.arrived["thread"])]
    owner = arrived["block"].astype(np.int64) << 16 | arrived["thread"]
    if ((arrived["order"][1:] <= arrived["order"][:-1]) & (owner[1:] == owner[:-1])).any():
        order = np.lexsort([arrived["order"], owner])
        arrived, owner = arrived[order], owner[order]
    # A block that was started again reports the same copies again; the last report counts.
    again = (owner[1:] == owner[:-1]) & (arrived["order"][1:] == arrived["order"][:-1])
    if again.any():
        arrived, owner = (values[np.append(~again, True)] for values in (arrived, owner))
    written = _found(owner, arrived["writes"], *_rows(copies.writing, column))
    read = _found(owner, arrived["reads"], *_rows(copies.reading, column))
    found = np.stack([written, read, arrived["phase"].astype(np.int64)], axis=1)
    return found if (written >= 0).all() else found[written >= 0]


def _rows(sites: npt.NDArray[np.bool_], column: Mapping[str, npt.NDArray[Any]]) -> tuple[Ints, Ints]:
    """Return the rows of some sites, sorted by thread, and their threads."""
    rows = np.flatnonzero(sites[column["site"]])
    block, thread = column["block_of"][rows], column["thread_of"][rows]
    order = _by_owner(block, thread)
    return rows[order], (block.astype(np.int64) << 16 | thread)[order]


def _by_owner(block: npt.NDArray[np.uint32], thread: npt.NDArray[np.uint16]) -> Ints:
    """Return the stable order by block and thread: sorting 16 bits is much faster than sorting 64 bits."""
    if len(block) and (block[1:] < block[:-1]).any():
        order = np.argsort(thread, kind="stable")
        small = block.max() < 1 << 16
        return order[np.argsort(block[order].astype(np.uint16 if small else np.uint32), kind="stable")]
    # As many successive blocks at once as have different numbers of 16 bits for all of their threads.
    threads = int(thread.max(initial=0)) + 1
    blocks = max(1, (1 << 16) // threads)
    order = np.empty(len(block), np.int64)
    begin = 0
    while begin < len(block):
        end = int(np.searchsorted(block, block.dtype.type(int(block[begin]) + blocks)))
        key = ((block[begin:end] - block[begin]) * threads + thread[begin:end]).astype(np.uint16)
        order[begin:end] = begin + np.argsort(key, kind="stable")
        begin = end
    return order


def _found(owner: Ints, made: npt.NDArray[Any], rows: Ints, row_owner: Ints) -> Ints:
    """Return the first row of each copy, -1 if it made none.

    Parameters
    ----------
    owner, made
        For each copy, sorted by owner and then by order: its owner, and the number of its rows.
    rows, row_owner
        The rows, sorted in the same way.
    """
    made = made.astype(np.int64)
    before = np.cumsum(made) - made
    # Owners have many copies each: the place of each owner is searched for once.
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    copies = np.diff(np.append(first, len(owner)))
    place = before + np.repeat(np.searchsorted(row_owner, owner[first]) - before[first], copies)
    if made.all():
        found: Ints = rows[place]
        return found
    found = np.full(len(owner), -1, np.int64)
    found[made > 0] = rows[place[made > 0]]
    return found
