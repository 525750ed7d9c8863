"""The interface of every backend: prepare a launch, run it, time it, and return C."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gemmviz.backends.compared import Compared
from gemmviz.backends.environment import Environment
from gemmviz.backends.watch import Observed, watch_cpu
from gemmviz.catalogue.batch_entries import entries, turned
from gemmviz.catalogue.dtypes import stored_as
from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import HUGE_BYTE, Matrix, Problem, poison_byte, stored, unstored

GUARD_BYTES = 65_536
_ALIGNMENT = 4096


class LaunchError(GemmvizError):
    """The device refuses the launch (too many threads, registers, shared memory), but can still be used."""


class DeviceFault(GemmvizError):
    """The kernel broke the device's context (illegal address, assert): this process can no longer use the device."""


class OutOfMemory(GemmvizError):
    """The problem does not fit in memory; the message names the largest that does."""


@dataclass(frozen=True)
class Build:
    """The facts about a compiled kernel.

    Attributes
    ----------
    compile_ms
        The time of the compilation; None if there is nothing to compile, or the result came from the cache.
    flags
        The compiler's flags.
    registers, shared_bytes, local_bytes
        Registers per thread, shared memory per block (static and dynamic), local memory per thread; None if unknown.
    barriers
        Named barriers per block; None if unknown.
    notes
        Notes for people, for example that the cache folder cannot be written.
    variant
        The code path that a library chose, in a few words; it becomes part of the row's label.
    """

    compile_ms: float | None = None
    flags: tuple[str, ...] = ()
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    barriers: int | None = None
    notes: tuple[str, ...] = ()
    variant: str = ""


class Prepared(ABC):
    """A compiled launch with its matrices in the backend's memory."""

    build: Build = Build()

    @abstractmethod
    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy A (M x K) and B (K x N) to the kernel's memory."""

    @abstractmethod
    def poison(self) -> None:
        """Fill C, and the guard zones around it, with a pattern that cannot be a result."""

    @abstractmethod
    def set_scalars(self, alpha: float, beta: float) -> None:
        """Set alpha and beta for the next launches, if the kernel takes them; initially they are 1 and 0."""

    @abstractmethod
    def fill(self, c: Matrix | None, bias: Matrix | None) -> None:
        """Copy C (M x N) and a bias (N) to the kernel's memory, if they are given; `poison` undoes that."""

    @abstractmethod
    def run(self) -> None:
        """Launch once and wait for the end.

        Raises
        ------
        LaunchError, DeviceFault
            When the launch is refused or breaks the device.
        """

    @abstractmethod
    def sample(self, launches: int, cold: bool) -> float:
        """Time some launches.

        Parameters
        ----------
        launches
            The number of launches, back to back.
        cold
            Whether to clear the GPU's L2 cache before (a CPU's caches are not changed).

        Returns
        -------
        float
            Seconds per launch.
        """

    def queue_s(self) -> float | None:
        """Return the host's time to queue one launch, in seconds; None if a call waits for its end."""
        return None

    @abstractmethod
    def fetch(self) -> Matrix:
        """Return C as a matrix (M x N) of the kernel's result type, in the host's memory.

        For a batch, all entries one below the other, each turned back to the rows and columns of entry 0
        (`gemmviz.catalogue.batch_entries.turned`).
        """

    def compare(
        self, expected: Matrix, magnitude: Matrix | None, tolerance: float, underflow: float
    ) -> Compared | None:
        """Compare C with its reference where C is; None: C has to be fetched and compared on the host.

        Parameters
        ----------
        expected, magnitude
            float64 (M x N); see `gemmviz.bench.verify.Reference`.
        tolerance, underflow
            The allowed error; see `gemmviz.bench.error_bound.ErrorBound`.
        """
        return None

    @abstractmethod
    def intact(self) -> bool:
        """Return whether the guard zones around C are unchanged since `poison`."""

    @abstractmethod
    def close(self) -> None:
        """Free the memory; the launch can no longer be used."""


class HasRival(ABC):
    """A reference that should be at least as fast as the same product by another library."""

    @abstractmethod
    def rival(self) -> tuple[float, float]:
        """Return the seconds of its launch and of the other library's product, the fastest of some turns."""


class Trip(ABC):
    """Matrices on both sides of the bus: those of the host are in pageable memory, as from ``malloc`` and NumPy."""

    @abstractmethod
    def go(self) -> tuple[float, float]:
        """Copy A and B to the device, then C back; return the seconds of each direction."""

    @abstractmethod
    def close(self) -> None:
        """Give the memory back."""


class Backend(ABC):
    """A device, or a library, that runs kernels."""

    name: str
    clears_l2 = False
    """Whether a cold sample clears a cache."""

    @abstractmethod
    def prepare(self, launch: Launch) -> Prepared:
        """Compile a launch and allocate its matrices.

        Raises
        ------
        BuildError
            When the compiler refuses the source.
        LaunchError
            When the device cannot run it with this block or this much shared memory.
        Unavailable
            When a compiler or a library is missing.
        """

    @abstractmethod
    def product(self, a: Matrix, b: Matrix) -> Matrix:
        """Return A B in float64, computed by a library: the reference for a result."""

    def staged(self, matrix: Matrix) -> Matrix:
        """Return a matrix that `Prepared.load` will get many times, in memory from which it is loaded fast."""
        return matrix

    @abstractmethod
    def free_bytes(self) -> int | None:
        """Return the memory that can still be allocated, in bytes, or None when unknown."""

    @abstractmethod
    def needed_bytes(self, problem: Problem, itemsize: int) -> int:
        """Return the memory that verifying and timing a problem takes, in bytes."""

    def trip(self, problem: Problem, dtype: str, dtype_out: str) -> Trip:
        """Return the object that measures the copies to the device and back.

        Parameters
        ----------
        problem
            The size of A, B and C.
        dtype, dtype_out
            NumPy names of the element types of A and B, and of C.

        Raises
        ------
        Unavailable
            If kernels read the host's memory directly.
        """
        raise Unavailable(f"{self.name}: nothing is copied, kernels read the host's memory")

    def watch(self) -> AbstractContextManager[Observed]:
        """Return a context that observes the machine while kernels of this backend are timed."""
        return watch_cpu()

    def environment(self) -> Environment:
        """Return the versions that matter to figures of this backend."""
        return {}


class Guarded:
    """The result between two guard zones, in memory of NumPy or CuPy, and the C that the kernel reads.

    Attributes
    ----------
    view, address
        The result, flat, and its address.
    read
        C as the kernel reads it, flat: the memory of the result, or separate memory if the kernel has D.
    bias
        The bias, N elements; empty if the kernel takes none.

    Parameters
    ----------
    xp
        The array module: ``numpy`` or ``cupy``.
    launch
        The launch.
    """

    def __init__(self, xp: Any, launch: Launch) -> None:
        self._xp = xp
        dtype = xp.dtype(stored_as(launch.kernel.dtype_out))
        problem = launch.problem
        self._bytes = launch.elements("C") * dtype.itemsize
        self._gaps = _gaps(launch)
        self.raw = xp.empty(self._bytes + 2 * GUARD_BYTES + _ALIGNMENT, "uint8")
        address = int(self.raw.ctypes.data) if hasattr(self.raw, "ctypes") else int(self.raw.data.ptr)
        self._start = GUARD_BYTES + -(address + GUARD_BYTES) % _ALIGNMENT
        self.address = address + self._start
        self.view = self.raw[self._start : self._start + self._bytes].view(dtype)
        self._pattern = poison_byte(launch.kernel)
        self._separate = launch.kernel.has_d
        self.read = xp.empty(self.view.shape, dtype) if self._separate else self.view
        # A kernel without beta adds C unchanged.
        self._read_pattern = HUGE_BYTE if "beta" in launch.kernel.args else 0
        self.bias = xp.zeros(problem.n if launch.kernel.has_bias else 0, dtype)

    def poison(self) -> None:
        """Fill the result, both guard zones, and a separate C with their patterns; set the bias to zero."""
        self.raw.fill(self._pattern)
        if self._separate:
            self.read.view("uint8").fill(self._read_pattern)
        self.bias.fill(0)

    def fill(self, c: Matrix | None, bias: Matrix | None) -> None:
        """Copy C, flat, and a bias to the kernel's memory, if they are given."""
        for memory, values in ((self.read, c), (self.bias, bias)):
            if values is not None:
                memory[...] = self._xp.asarray(values.view(memory.dtype))
        self._fill_gaps()

    def clear(self) -> None:
        """Set the result to zero."""
        self.view.fill(0)
        self._fill_gaps()

    def _fill_gaps(self) -> None:
        """Fill the memory between the entries of a batch."""
        for gap in self._gaps:
            self.view[gap].view("uint8").fill(self._pattern)

    def intact(self) -> bool:
        """Return whether both guard zones, and the memory between the entries of a batch, still have the pattern."""
        gaps = (self.view[gap].view("uint8") for gap in self._gaps)
        zones = (self.raw[: self._start], self.raw[self._start + self._bytes :], *gaps)
        return all(bool((zone == self._pattern).all()) for zone in zones)


def _gaps(launch: Launch) -> list[slice]:
    """Return the ranges between the entries of a batch's C, in elements."""
    places = [place for _, place in entries(launch.batch, "C", launch.problem.m * launch.problem.n)]
    return [slice(one.stop, other.start) for one, other in pairwise(places) if one.stop < other.start]


def all_entries(launch: Launch, matrix: str, values: Matrix) -> Matrix:
    """Return a matrix as in the kernel's memory, flat; for a batch, with all of its entries.

    Parameters
    ----------
    launch
        The launch.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    values
        The matrix of entry 0, two-dimensional; see `gemmviz.catalogue.batch_entries.turned` for the others.
    """
    kernel = launch.kernel
    if launch.batch is None:
        return stored(kernel, matrix, values)
    memory = np.zeros(launch.elements(matrix), values.dtype)
    for entry, place in entries(launch.batch, matrix, values.size):
        of_entry = turned(launch.batch, matrix, values, entry, keep_columns=kernel.has_bias)
        memory[place] = stored(kernel, matrix, of_entry)
    return memory


def from_entries(launch: Launch, flat: Matrix) -> Matrix:
    """Return C (M x N) from memory; for a batch all entries, one below the other, as for `Prepared.fetch`."""
    kernel, problem = launch.kernel, launch.problem
    if launch.batch is None:
        return unstored(kernel, "C", flat, problem)
    return np.concatenate(
        [
            turned(launch.batch, "C", unstored(kernel, "C", flat[place], problem), -entry, keep_columns=kernel.has_bias)
            for entry, place in entries(launch.batch, "C", problem.m * problem.n)
        ]
    )


class GuardedPrepared(Prepared):
    """A launch whose result is between guard zones in memory of this process, on the host or on the device.

    Attributes
    ----------
    launch
        The launch; its scalars may change.
    c
        The result.
    """

    launch: Launch
    c: Guarded

    def poison(self) -> None:
        """Fill C and its guard zones."""
        self.c.poison()

    def set_scalars(self, alpha: float, beta: float) -> None:
        """Set alpha and beta for the next launches."""
        self.launch = replace(self.launch, alpha=alpha, beta=beta)
        self.bind()

    def bind(self) -> None:
        """Pass the scalars of the launch; a library is always called with alpha = 1 and beta = 0."""

    def fill(self, c: Matrix | None, bias: Matrix | None) -> None:
        """Copy C, in the kernel's layout, and a bias to the kernel's memory."""
        self.c.fill(None if c is None else all_entries(self.launch, "C", c), bias)

    def intact(self) -> bool:
        """Return whether nothing was written around C."""
        return self.c.intact()
