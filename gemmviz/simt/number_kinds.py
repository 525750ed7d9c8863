"""How the recorder's C side makes a float of an element of each type."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.dtypes import NAMES
from gemmviz.simt.layout import NumberKind

_WORDS = {
    "float32": NumberKind.FLOAT,
    "float64": NumberKind.DOUBLE,
    "int32": NumberKind.INT,
    "uint32": NumberKind.UNSIGNED,
    "int64": NumberKind.LONG,
    "uint64": NumberKind.LONG,
}


def number_kind(dtype: str) -> tuple[NumberKind, int | None]:
    """Return how elements of a type become floats, and the address of the table for it."""
    kind = np.dtype(dtype)
    if dtype in _WORDS:
        return _WORDS[dtype], None
    if kind.itemsize <= 2 and (kind.kind in "iuf" or dtype in NAMES):
        return NumberKind.SMALL, int(floats(dtype).ctypes.data)
    return NumberKind.UNKNOWN, None


@lru_cache(maxsize=16)
def floats(dtype: str) -> npt.NDArray[np.float32]:
    """Return the float32 for all bits of an element of 1 or 2 bytes."""
    kind = np.dtype(dtype)
    bits = np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}")
    return bits.view(kind).astype(np.float32)
