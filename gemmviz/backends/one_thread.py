"""Products that nobody measures, on one thread: after a product, OpenBLAS's other threads spin for 20 to 30 ms.

That time is taken from what runs then: the order of a recording, or the window.
"""

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.backends.loaded_library import loaded_library, symbols

_lock = threading.Lock()


def product(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return A B (M x N) on the calling thread alone; with another BLAS than OpenBLAS on as many as that takes."""
    found = _thread_count()
    if found is None:
        return np.asarray(a @ b)
    threads, set_threads = found
    with _lock:  # the number of threads is one for the whole process
        before = threads()
        set_threads(1)
        try:
            return np.asarray(a @ b)
        finally:
            set_threads(before)


@cache
def _thread_count() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """Return the functions of NumPy's OpenBLAS that return and set its number of threads; None without OpenBLAS."""
    library = loaded_library("openblas")
    code = ctypes.CDLL(library) if library else None
    spelling = symbols(code) if code is not None else None
    if spelling is None:
        return None
    prefix, suffix = spelling
    return tuple(getattr(code, f"{prefix}openblas_{verb}_num_threads{suffix}") for verb in ("get", "set"))
