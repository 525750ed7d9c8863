"""The common part of the backends on the CPU: matrices in host memory, a monotonic clock, NumPy's products."""

import time
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz.backends.base import Backend, Build, Guarded, GuardedPrepared
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Matrix, Problem, stored, unstored

_LINE_BYTES = 64  # of the CPU's cache


class HostPrepared(GuardedPrepared):
    """Matrices in host memory; a subclass calls the kernel.

    Each matrix begins with a line of the cache, so that vectors of aligned rows never lie in two lines. NumPy alone
    would place a large array 16 bytes behind a page, and a small one anywhere.
    """

    def __init__(self, launch: Launch, build: Build) -> None:
        self.build = build
        self.launch = launch
        dtype = np.dtype(launch.kernel.dtype)
        self.a = _empty(launch.problem.m * launch.problem.k, dtype)
        self.b = _empty(launch.problem.k * launch.problem.n, dtype)
        self.c = Guarded(np, launch)

    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy A and B in the kernel's layout."""
        self.a[:] = stored(self.launch.kernel, "A", a)
        self.b[:] = stored(self.launch.kernel, "B", b)

    def run(self) -> None:
        """Launch once."""
        self.call(1)

    def sample(self, launches: int, cold: bool) -> float:
        """Time some launches with the monotonic clock; `cold` changes nothing here."""
        start = time.perf_counter()
        self.call(launches)
        return (time.perf_counter() - start) / launches

    def fetch(self) -> Matrix:
        """Return a copy of C."""
        kernel = self.launch.kernel
        return unstored(kernel, "C", self.c.view.view(kernel.dtype_out), self.launch.problem).copy()

    def close(self) -> None:
        """Drop the matrices."""
        del self.a, self.b, self.c

    @abstractmethod
    def call(self, launches: int) -> None:
        """Run the kernel `launches` times, without Python in between if possible."""


def _empty(count: int, dtype: "np.dtype[Any]") -> Matrix:
    """Return a flat array that begins with a line of the cache."""
    memory = np.empty(count * dtype.itemsize + _LINE_BYTES, np.uint8)
    start = -memory.ctypes.data % _LINE_BYTES
    return memory[start : start + count * dtype.itemsize].view(dtype)


class HostBackend(Backend):
    """The CPU."""

    def product(self, a: Matrix, b: Matrix) -> Matrix:
        """Multiply with NumPy in float64."""
        return np.asarray(a.astype(np.float64) @ b.astype(np.float64))

    def free_bytes(self) -> int | None:
        """Return the available memory, as reported by Linux."""
        return available_memory()

    def needed_bytes(self, problem: Problem, itemsize: int) -> int:
        """See `host_bytes`."""
        return host_bytes(problem, itemsize)


def host_bytes(problem: Problem, itemsize: int) -> int:
    """Return the peak host memory of a measurement, in bytes, for any backend.

    Counted are the inputs of both trials and the kernel's, their float64 copies while a reference is computed, C, C
    before the launch, and four float64 matrices of its size (three references and the magnitudes).
    """
    m, n, k = problem.m, problem.n, problem.k
    return (3 * itemsize + 2 * 8) * (m * k + k * n) + (3 * itemsize + 4 * 8) * m * n


def available_memory() -> int | None:
    """Return the host memory that can be had without swapping, in bytes, or None if it is unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None
