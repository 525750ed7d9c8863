"""Turns what the recorder wrote down into the columns of a recording."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.simt.recorder import RawTrace
from gemmviz.trace.recording import Accesses, Array

Bits = npt.NDArray[np.uint32]


def accesses(raw: RawTrace, arrays: Sequence[Array]) -> Accesses:
    """Return the accesses of a run: block after block, phase after phase, thread after thread.

    The lanes of a warp that wait for each other take turns within a phase: there the recorder's own order is another.

    Parameters
    ----------
    raw
        From `gemmviz.simt.recorder.run`.
    arrays
        What column ``which`` numbers.
    """
    column = raw.columns
    which = column["which"]
    itemsize = np.array([a.itemsize for a in arrays], np.uint8)
    further = np.maximum(column["bytes"] // itemsize[which], 1).astype(np.int64) - 1 if len(raw.more) else None
    more = raw.more if further is None else _values(raw.more, np.repeat(which, further), arrays)
    turn = _turn(column)
    if (turn[1:] < turn[:-1]).any():
        order = np.argsort(turn, kind="stable")
        column = {name: values[order] for name, values in column.items()}
        if further is not None:
            start = (np.cumsum(further) - further)[order]
            further = further[order]
            begin = np.cumsum(further) - further
            more = more[np.repeat(start - begin, further) + np.arange(len(more))]
    return Accesses(
        site=column["site"],
        array=column["which"],
        write=column["write"],
        bytes=column["bytes"],
        element=column["element"],
        value=_values(column["value"], column["which"], arrays),
        block=column["block_of"],
        thread=column["thread_of"],
        phase=column["phase_of"],
        turn=column["turn_of"],
        more=more.view(np.float32),
    )


def _turn(column: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint64]:
    """Return block, phase and thread of each row as one number that sorts in this order."""
    turn: npt.NDArray[np.uint64] = column["block_of"].astype(np.uint64)
    for name in ("phase_of", "thread_of"):
        turn = turn << np.uint64(16) | column[name]
    return turn


def _values(bits: Bits, which: npt.NDArray[np.uint8], arrays: Sequence[Array]) -> npt.NDArray[np.float32]:
    """Turn recorded bits into numbers, by the element type of each row's array."""
    values = bits.view(np.float32).copy()
    for index, array in enumerate(arrays):
        kind = np.dtype(array.dtype)
        if kind in (np.float32, np.float64):  # the recorder keeps a double's value as a float
            continue
        rows = which == index
        if kind.itemsize <= 4 and kind.kind in "iuf":
            unsigned = bits[rows].astype(f"u{kind.itemsize}")
            values[rows] = unsigned.view(kind).astype(np.float32)
        else:
            values[rows] = np.nan
    return values
