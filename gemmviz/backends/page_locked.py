"""Memory of the host that the device copies from and to at the full speed of the bus, through a CuPy of the caller."""

from typing import Any

import numpy as np

from gemmviz.backends.host import available_memory
from gemmviz.catalogue.problem import Matrix

# No more than this share of the memory that is free: it can be taken from no program that wants it.
_SHARE = 4


def page_locked(cp: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Matrix:
    """Return an array whose content is undefined; in ordinary memory if there is little, or if the system refuses.

    Its memory is freed with the last reference.
    """
    size = int(np.prod(shape)) * dtype.itemsize
    if 0 < size * _SHARE <= (available_memory() or 0):
        try:
            memory = cp.cuda.PinnedMemoryPointer(cp.cuda.PinnedMemory(size), 0)
        except cp.cuda.runtime.CUDARuntimeError:
            return np.empty(shape, dtype)
        return np.frombuffer(memory, np.uint8, size).view(dtype).reshape(shape)
    return np.empty(shape, dtype)
