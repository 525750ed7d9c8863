"""The rows of each asynchronous copy in a recording: the read at its issue, the write at its thread's wait."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.simt.layout import NO_ROW

Ints = npt.NDArray[np.int64]


def pairs(copies: npt.NDArray[Any], column: Mapping[str, npt.NDArray[Any]]) -> Ints:
    """Return a row per copy that arrived in shared memory: its write, its read (-1: none), the phase of its issue.

    Parameters
    ----------
    copies
        From the recorder: `layout.COPY`, sorted by block.
    column
        The columns of the recording, sorted by block.
    """
    found = np.empty((len(copies), 3), np.int64)
    if not len(copies):
        return found
    block = np.ascontiguousarray(copies["block"])
    new = np.flatnonzero(block[1:] != block[:-1]) + 1
    begins = np.append(0, new).tolist()
    first_rows = np.searchsorted(column["block_of"], block[begins]).tolist()
    for begin, end, first in zip(begins, [*new.tolist(), len(copies)], first_rows, strict=True):
        of, to = copies[begin:end], found[begin:end]
        np.add(of["write"], first, out=to[:, 0])
        np.add(of["read"], first, out=to[:, 1])
        to[of["read"] == NO_ROW, 1] = -1
        to[:, 2] = of["phase"]
    return found
