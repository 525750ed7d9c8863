"""The distinct values of an array: many times faster than `numpy.unique`, which hashes whole numbers."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_T = TypeVar("_T", bound=np.generic)
# For each value, so many numbers that whole numbers may lie apart: then a table is faster than a sort.
_APART = 8


def distinct(values: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """Return the distinct values of an array, in ascending order, as `numpy.unique` does.

    Parameters
    ----------
    values
        Of any shape and of a type that can be sorted. All NaN count as one value.

    Returns
    -------
    numpy.ndarray
        Of one dimension and of the same dtype.
    """
    if values.dtype.kind in "iu" and values.size:
        low, high = values.min(), values.max()
        if int(high) - int(low) < _APART * values.size:
            seen = np.zeros(int(high) - int(low) + 1, bool)
            seen[np.subtract(values, low, dtype=np.intp).ravel()] = True
            near: npt.NDArray[_T] = np.add(np.flatnonzero(seen), low, dtype=values.dtype, casting="unsafe")
            return near
    ordered: npt.NDArray[Any] = np.sort(values, axis=None)
    is_new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    if len(ordered) and ordered[-1] != ordered[-1]:  # NaN, which is last
        is_new[np.flatnonzero(ordered != ordered)[1:]] = False
    return ordered[is_new]
