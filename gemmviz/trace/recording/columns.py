"""Turns the recorder's rows into the columns of a recording."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.dtypes import NAMES
from gemmviz.simt.recorder import RawTrace
from gemmviz.trace.recording.accesses import Accesses, Array
from gemmviz.trace.recording.async_copy_rows import pairs
from gemmviz.trace.recording.tma_boxes import boxes_of_run

Bits = npt.NDArray[np.uint32]
Columns = dict[str, npt.NDArray[Any]]
# Rows that are processed at a time: few enough to stay in the processor's cache, and to need little memory.
_WINDOW = 100_000


def accesses(raw: RawTrace, arrays: Sequence[Array]) -> Accesses:
    """Return the accesses of a run, sorted by block, phase and thread.

    If the lanes of a warp wait for each other, they alternate within a phase, and the recorder's order differs.

    Parameters
    ----------
    raw
        From `gemmviz.simt.recorder.run`. Its columns become those of the accesses: they are changed in place.
    arrays
        The arrays that column ``which`` numbers.
    """
    column, more = raw.columns, raw.more
    if raw.unordered:
        _gather_blocks(raw, arrays)
    itemsize = np.array([a.itemsize for a in arrays], np.uint8)
    begin = 0
    for rows in _windows(column, raw.unordered):
        part = {name: values[rows] for name, values in column.items()}
        further = np.zeros(0, np.int64)
        if len(more):
            further = np.maximum(part["bytes"] // itemsize[part["which"]], 1).astype(np.int64) - 1
        mine = more[begin : begin + int(further.sum())]
        begin += len(mine)
        _to_values(part["value"], part["which"], arrays)
        if len(mine):
            _to_values(mine, np.repeat(part["which"], further), arrays)
        if raw.unordered:
            _put_in_order(part, further, mine)
    found = boxes_of_run(raw.tma, column, raw.shared, raw.barriers)
    return Accesses(
        site=column["site"],
        array=column["which"],
        write=column["write"],
        bytes=column["bytes"],
        element=column["element"],
        value=column["value"].view(np.float32),
        block=column["block_of"],
        thread=column["thread_of"],
        phase=column["phase_of"],
        turn=column["turn_of"],
        more=more.view(np.float32),
        copies=np.concatenate([pairs(raw.async_copies, column), found.copies]),
        boxes=found.boxes,
        events=found.events,
    )


def _gather_blocks(raw: RawTrace, arrays: Sequence[Array]) -> None:
    """Sort the rows by block, in place: the blocks of a cluster alternate, phase by phase."""
    block = raw.columns["block_of"]
    if (block[1:] >= block[:-1]).all():
        return
    itemsize = np.array([a.itemsize for a in arrays], np.uint8)
    further = np.maximum(raw.columns["bytes"] // itemsize[raw.columns["which"]], 1).astype(np.int64) - 1
    order = np.argsort(block, kind="stable")
    if len(raw.more):
        start, length = (np.cumsum(further) - further)[order], further[order]
        begin = np.cumsum(length) - length
        raw.more[:] = raw.more[np.repeat(start - begin, length) + np.arange(len(raw.more))]
    for values in raw.columns.values():
        values[:] = values[order]


def _windows(column: Columns, at_phases: bool) -> Iterator[slice]:
    """Divide the rows into windows; with `at_phases` each phase of a block is in one window."""
    block, phase = column["block_of"], column["phase_of"]
    start, length, count = 0, _WINDOW, len(block)
    while start < count:
        end = min(start + length, count)
        if at_phases and end < count:
            last = (block[start:end] == block[end]) & (phase[start:end] == phase[end])
            other = np.flatnonzero(~last)
            if not len(other):
                length *= 2
                continue
            end = start + int(other[-1]) + 1
        yield slice(start, end)
        start, length = end, _WINDOW


def _put_in_order(column: Columns, further: npt.NDArray[np.int64], more: Bits) -> None:
    """Sort rows by block, phase and thread, in place, together with the further values of each row."""
    block, phase, thread = column["block_of"], column["phase_of"], column["thread_of"]
    change = (block[1:] != block[:-1]) | (phase[1:] != phase[:-1])
    if not ((thread[1:] < thread[:-1]) & ~change).any():
        return
    # Blocks and phases are sorted already. Sorting 16 bits, even twice, is much faster than sorting 64 bits once.
    number = np.concatenate(([0], np.cumsum(change)))
    threads = int(thread.max()) + 1
    if (int(number[-1]) + 1) * threads <= 1 << 16:
        order = np.argsort((number * threads + thread).astype(np.uint16), kind="stable")
    else:
        order = np.argsort(thread, kind="stable")
        order = order[np.argsort(number.astype(np.uint16 if number[-1] < 1 << 16 else np.uint32)[order], kind="stable")]
    for values in column.values():
        values[:] = values[order]
    each = int(further[0]) if len(further) else 0
    if each and (further == each).all():
        more[:] = more.reshape(-1, each)[order].ravel()
    elif len(more):
        start = (np.cumsum(further) - further)[order]
        further = further[order]
        begin = np.cumsum(further) - further
        more[:] = more[np.repeat(start - begin, further) + np.arange(len(more))]


def _to_values(bits: Bits, which: npt.NDArray[np.uint8], arrays: Sequence[Array]) -> None:
    """Convert recorded bits to those of float32, in place, by the element type of each row's array."""
    dtypes = {array.dtype for array in arrays}
    for name in dtypes:
        kind = np.dtype(name)
        if kind in (np.float32, np.float64):  # the recorder keeps a double's value as a float
            continue
        mine = np.array([array.dtype == name for array in arrays])
        rows = slice(None) if len(dtypes) == 1 else mine[which]
        if kind.itemsize <= 4 and (kind.kind in "iuf" or name in NAMES):
            unsigned = bits[rows].astype(f"u{kind.itemsize}")
            bits[rows] = unsigned.view(kind).astype(np.float32).view(np.uint32)
        else:
            bits.view(np.float32)[rows] = np.nan
