"""Finds the element of A or B that each read loads, directly or through shared memory.

An asynchronous copy names its source. For a copy through a register the source is inferred, see `sources`; if that
fails, the operand is unknown and not used. All this is used only to explain a C that is known to be wrong.
"""

from dataclasses import dataclass

import numpy as np

from gemmviz.trace.hazards.access_index import Flags, Ints
from gemmviz.trace.hazards.sources import Column, sources
from gemmviz.trace.recording.recording import WARP, Recording

_INPUTS = 2  # A and B come first


@dataclass(frozen=True)
class Items:
    """Every element of every access, sorted by thread and then by the order of accesses.

    ``owner`` numbers the threads, or the warps if lanes work together. ``matrix`` is 0 for A, 1 for B and -1 if the
    access has no value of either; ``origin`` is its element. ``fill`` is the row that wrote the shared copy that is
    read, else -1, and ``load`` the row that had read its value from A or B. ``copied`` marks the reads that are only
    copied to shared memory, ``unknown`` the reads of a shared copy of unknown origin, which may be of A or B.
    """

    row: Ints
    owner: Ints
    array: Ints
    element: Ints
    write: Flags
    matrix: Ints
    origin: Ints
    fill: Ints
    load: Ints
    copied: Flags
    unknown: Flags


def origins(recording: Recording, rows: Ints, *, together: int) -> Items:
    """Find for some accesses the element of A or B that their value comes from.

    Parameters
    ----------
    recording
        Any.
    rows
        All accesses of some blocks, in their order.
    together
        The number of neighbouring threads that cooperate, so that one uses a value that another one has read.
    """
    log = recording.accesses
    position, element, value = recording.covered(rows)
    row = rows[position]
    threads = -(-recording.threads // max(WARP, together)) * max(WARP, together)
    thread = log.block[row].astype(np.int64) * threads + log.thread[row]
    order = np.argsort(thread, kind="stable")
    row, element, value, thread = (column[order].astype(column.dtype) for column in (row, element, value, thread))
    array, write = log.array[row].astype(np.int64), log.write[row]
    shared = np.array([a.space == "shared" for a in recording.arrays])[array]
    is_input = ~write & (array < _INPUTS)

    source = np.full(len(row), -1, np.int64)  # for a write to shared memory: the item that read its value
    stores = np.flatnonzero(write & shared)
    _take_copies(recording, row, element, stores, source)
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    column = Column(thread, log.site[row].astype(np.int64), element - log.element[row], value, line)
    is_copy = np.isin(row, recording.accesses.copies[:, 0])
    by_register = stores[~is_copy[stores]]
    source[by_register] = sources(column, by_register, np.flatnonzero(is_input))

    slot = _slots(recording, array, element, log.block[row])
    fill_item = _last_write(slot, row, write & shared)
    origin_item = np.where(is_input, np.arange(len(row)), -1)
    through = ~write & shared & (fill_item >= 0)
    origin_item[through] = source[fill_item[through]]
    origin_item[write] = source[write]
    known = origin_item >= 0
    unknown = through & ~known & (value != 0) & ~is_copy[fill_item]
    return Items(
        row,
        thread // together,
        array,
        element.astype(np.int64),
        write,
        np.where(known, array[origin_item], -1),
        np.where(known, element[origin_item], -1),
        np.where(through, row[fill_item], -1),
        np.where(through & known, row[origin_item], -1),
        _copied(column.site, is_input, source),
        unknown,
    )


def _copied(site: Ints, is_input: Flags, source: Ints) -> Flags:
    """Mark the reads that are copied to shared memory, and all reads of an instruction if most of them are."""
    copied = np.zeros(len(site), bool)
    copied[source[source >= 0]] = True
    feeds, reads = (np.bincount(site[which], minlength=int(site.max(initial=0)) + 1) for which in (copied, is_input))
    return copied | (is_input & (2 * feeds >= reads)[site])


def _take_copies(recording: Recording, row: Ints, element: Ints, stores: Ints, source: Ints) -> None:
    """Link the writes of asynchronous copies to their recorded reads."""
    copies = recording.accesses.copies
    copies = copies[copies[:, 1] >= 0]
    if not len(copies):
        return
    first_item = np.full(len(recording.accesses), -1, np.int64)
    first_item[row[::-1]] = np.arange(len(row))[::-1]
    read_of = np.full(len(recording.accesses), -1, np.int64)
    read_of[copies[:, 0]] = copies[:, 1]
    mine = stores[read_of[row[stores]] >= 0]
    source[mine] = first_item[read_of[row[mine]]] + mine - first_item[row[mine]]


def _slots(recording: Recording, array: Ints, element: Ints, block: Ints) -> Ints:
    """Return a number for each element; a shared array has a copy per block."""
    base, each = [0], []
    for info in recording.arrays:
        each.append(info.size if info.space == "shared" else 0)
        base.append(base[-1] + info.size * (recording.blocks if info.space == "shared" else 1))
    slot: Ints = np.array(base, np.int64)[array] + np.array(each, np.int64)[array] * block + element
    return slot


def _last_write(slot: Ints, row: Ints, writes: Flags) -> Ints:
    """Return for each item the last write before it to the same element, -1 if there is none."""
    order = np.lexsort((row, slot))
    at = np.where(writes[order], np.arange(len(order)), -1)
    latest = np.maximum.accumulate(at) if len(at) else at
    fits = (latest >= 0) & (slot[order[np.maximum(latest, 0)]] == slot[order])
    found = np.full(len(order), -1, np.int64)
    found[order[fits]] = order[latest[fits]]
    return found
