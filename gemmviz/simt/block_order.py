"""The recorder's reports, sorted by block: a NumPy index moves records field by field, and this moves them whole."""

from typing import Any

import numpy as np
import numpy.typing as npt


def reordered(records: npt.NDArray[Any], order: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Return records in another order.

    Parameters
    ----------
    records
        One dimension, without gaps; a record has a multiple of 4 bytes.
    order
        The index of each record of the result.
    """
    words = records.view(np.uint32).reshape(len(records), records.itemsize // 4)
    return words.take(order, axis=0).view(records.dtype).reshape(len(order))


def order_of(block: npt.NDArray[Any]) -> npt.NDArray[np.intp] | None:
    """Return the order that sorts blocks, and in which those of one block keep their order; None if they are sorted."""
    block = np.ascontiguousarray(block)
    if not (block[1:] < block[:-1]).any():
        return None
    small = block.max() < 1 << 16  # NumPy sorts 16 bits many times faster than 32
    return np.argsort(block.astype(np.uint16) if small else block, kind="stable")


def by_block(records: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of records, sorted by their field ``block``; those of one block keep their order.

    Parameters
    ----------
    records
        As in `reordered`.
    """
    order = order_of(records["block"])
    return records.copy() if order is None else reordered(records, order)
