"""Times the copies of a problem's matrices to the GPU and back, through a CuPy that the caller passes."""

import time
from typing import Any

import numpy as np

from gemmviz.backends.base import Trip
from gemmviz.catalogue.dtypes import stored_as
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Problem


class DeviceTrip(Trip):
    """A, B and C on both sides; on the host in pageable memory.

    Parameters
    ----------
    cp
        The module ``cupy``.
    problem
        The size of the matrices.
    dtype, dtype_out
        NumPy names of the element types of A and B, and of C.
    """

    def __init__(self, cp: Any, problem: Problem, dtype: str, dtype_out: str) -> None:
        self._cp = cp
        sizes = {name: problem.shape(name)[0] * problem.shape(name)[1] for name in MATRICES}
        # Ones, because new pages of zeros are not allocated yet.
        types = {name: stored_as(dtype_out if name == "C" else dtype) for name in sizes}
        self._host = {name: np.ones(size, types[name]) for name, size in sizes.items()}
        self._device = {name: cp.empty(size, types[name]) for name, size in sizes.items()}

    def go(self) -> tuple[float, float]:
        """Copy A and B to the device and C back; each direction is timed until the device has finished."""
        stream = self._cp.cuda.get_current_stream()
        stream.synchronize()
        started = time.perf_counter()
        for name in "AB":
            self._device[name].set(self._host[name])
        stream.synchronize()
        there = time.perf_counter()
        self._device["C"].get(out=self._host["C"])
        stream.synchronize()
        return there - started, time.perf_counter() - there

    def close(self) -> None:
        """Free the memory on both sides."""
        self._host.clear()
        self._device.clear()
        self._cp.get_default_memory_pool().free_all_blocks()
