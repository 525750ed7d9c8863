"""The rows of each asynchronous copy in a recording: the read at its issue, the write at its thread's wait."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.simt.async_copies import Copies
from gemmviz.simt.block_order import reordered

Ints = npt.NDArray[np.int64]
# New memory costs more than the work: so many rows use the same memory again and again.
_AT_ONCE = 1 << 15
_FEW_SITES = 8


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
    arrived = reordered(copies.arrived, _by_owner(copies.arrived["block"], copies.arrived["thread"]))
    owner = arrived["block"].astype(np.int64) << 16 | arrived["thread"]
    if ((arrived["order"][1:] <= arrived["order"][:-1]) & (owner[1:] == owner[:-1])).any():
        order = np.lexsort([arrived["order"], owner])
        arrived, owner = arrived[order], owner[order]
    # A block that was started again reports the same copies again; the last report counts.
    again = (owner[1:] == owner[:-1]) & (arrived["order"][1:] == arrived["order"][:-1])
    if again.any():
        arrived, owner = (values[np.append(~again, True)] for values in (arrived, owner))
    found = np.full((len(arrived), 3), -1, np.int64)
    for rows, of in _parts(column["block_of"], arrived["block"]):
        here = {name: column[name][rows] for name in ("site", "block_of", "thread_of")}
        for i, (made, sites) in enumerate((("writes", copies.writing), ("reads", copies.reading))):
            _found(found[of, i], owner[of], arrived[made][of], rows.start, *_rows(sites, here))
    found[:, 2] = arrived["phase"]
    kept = found[:, 0] >= 0
    return found if kept.all() else found[kept]


def _parts(rows: npt.NDArray[np.uint32], copies: npt.NDArray[np.uint32]) -> list[tuple[slice, slice]]:
    """Return the rows and the copies of whole blocks, at least `_AT_ONCE` rows each; both are sorted by block."""
    parts: list[tuple[slice, slice]] = []
    row = copy = 0
    while row < len(rows):
        block = rows[min(row + _AT_ONCE, len(rows)) - 1]
        end, last = (int(np.searchsorted(of, block, side="right")) for of in (rows, copies))
        parts.append((slice(row, end), slice(copy, last)))
        row, copy = end, last
    return parts


def _rows(sites: npt.NDArray[np.bool_], column: Mapping[str, npt.NDArray[Any]]) -> tuple[Ints, Ints]:
    """Return the rows of some sites, sorted by thread, and their threads."""
    rows = _at_sites(column["site"], sites)
    block, thread = column["block_of"][rows], column["thread_of"][rows]
    order = _by_owner(block, thread)
    return rows[order], (block.astype(np.int64) << 16 | thread)[order]


def _at_sites(site: npt.NDArray[np.uint16], sites: npt.NDArray[np.bool_]) -> Ints:
    """Return the rows of some sites. Mostly they are few, and a comparison takes much less time than a look-up."""
    wanted = np.flatnonzero(sites)
    if len(wanted) > _FEW_SITES:
        return np.flatnonzero(sites[site])
    found = np.zeros(len(site), bool)
    for number in wanted.tolist():
        found |= site == number
    return np.flatnonzero(found)


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


def _found(found: Ints, owner: Ints, made: npt.NDArray[Any], begin: int, rows: Ints, row_owner: Ints) -> None:
    """Set `found` to the first row of each copy; it stays as it is for one that made none.

    Parameters
    ----------
    found
        Changed: one number for each copy.
    owner, made
        For each copy, sorted by owner and then by order: its owner, and the number of its rows.
    begin
        The row from which `rows` are counted.
    rows, row_owner
        The rows, sorted in the same way.
    """
    if not len(owner):
        return
    made = made.astype(np.int64)
    before = np.cumsum(made) - made
    # Owners have many copies each: the place of each owner is searched for once.
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    copies = np.diff(np.append(first, len(owner)))
    place = before + np.repeat(np.searchsorted(row_owner, owner[first]) - before[first], copies)
    if made.all():
        np.add(rows[place], begin, out=found)
        return
    found[made > 0] = rows[place[made > 0]] + begin
