"""The common part of all launches on a GPU, through a CuPy that the caller passes: matrices, events, errors."""

import sys
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from statistics import median
from typing import Any

from gemmviz.backends.base import (
    GUARD_BYTES,
    Build,
    DeviceFault,
    Guarded,
    GuardedPrepared,
    LaunchError,
    all_entries,
    from_entries,
)
from gemmviz.backends.compared import Compared
from gemmviz.backends.device_compare import compare
from gemmviz.backends.driver import driver
from gemmviz.backends.nvrtc import first_line
from gemmviz.catalogue.dtypes import stored_as
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Matrix

_QUEUED, _QUEUE_LIMIT_S = 100, 0.05


class DevicePrepared(GuardedPrepared):
    """Matrices in the GPU's memory; a subclass launches the kernel."""

    def __init__(self, cp: Any, launch: Launch, build: Build) -> None:
        self._cp = cp
        self.build = build
        self.launch = launch
        self.a = with_room(cp, launch.elements("A"), launch.kernel.dtype)
        self.b = with_room(cp, launch.elements("B"), launch.kernel.dtype)
        self.c = Guarded(cp, launch)
        self._scratch = cp.empty(2 * l2_bytes(), "uint8")
        self._begin, self._end = cp.cuda.Event(), cp.cuda.Event()

    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy A and B to the device in the kernel's layout."""
        self.a.set(all_entries(self.launch, "A", a).view(self.a.dtype))
        self.b.set(all_entries(self.launch, "B", b).view(self.b.dtype))

    def run(self) -> None:
        """Launch once and wait."""
        with faults(self._cp, self.launch):
            self.start()
            self._cp.cuda.get_current_stream().synchronize()

    def sample(self, launches: int, cold: bool) -> float:
        """Time with a pair of CUDA events."""
        with faults(self._cp, self.launch):
            if cold:
                # Twice: the host queues the launch while the second pass runs, so that there is no gap between the
                # events.
                for _ in range(2):
                    self._cp.cuda.runtime.memsetAsync(
                        self._scratch.data.ptr, 0, self._scratch.nbytes, self._cp.cuda.get_current_stream().ptr
                    )
            self._begin.record()
            for _ in range(launches):
                self.start()
            self._end.record()
            self._end.synchronize()
            return float(self._cp.cuda.get_elapsed_time(self._begin, self._end)) / 1e3 / launches

    def queue_s(self) -> float:
        """Return the host's time to queue a launch, each into an empty queue."""
        with faults(self._cp, self.launch):
            return queue_seconds(self.start, self._cp.cuda.get_current_stream().synchronize)

    def fetch(self) -> Matrix:
        """Copy C to the host."""
        return from_entries(self.launch, self._cp.asnumpy(self.c.view).view(self.launch.kernel.dtype_out))

    def compare(
        self, expected: Matrix, magnitude: Matrix | None, tolerance: float, underflow: float
    ) -> Compared | None:
        """Compare a C that is stored by rows on the device; see `Prepared.compare`."""
        kernel = self.launch.kernel
        if self.launch.batch is not None or "C" in kernel.column_major:
            return None
        with faults(self._cp, self.launch):
            return compare(self._cp, self.c.view, kernel.dtype_out, expected, magnitude, tolerance, underflow)

    def close(self) -> None:
        """Give the device memory back."""
        del self.a, self.b, self.c, self._scratch
        release(self._cp)

    @abstractmethod
    def start(self) -> None:
        """Queue one launch."""


def queue_seconds(start: Callable[[], None], wait: Callable[[], None]) -> float:
    """Return the median of the host's times to queue a launch.

    Parameters
    ----------
    start, wait
        Queues a launch; waits until the queue is empty.
    """
    seconds: list[float] = []
    wait()
    begun = time.perf_counter()
    while len(seconds) < _QUEUED and (not seconds or time.perf_counter() - begun < _QUEUE_LIMIT_S):
        started = time.perf_counter()
        start()
        seconds.append(time.perf_counter() - started)
        wait()
    return median(seconds)


class faults:  # noqa: N801 (reads as a statement: `with faults(launch)`)
    """Converts CuPy's exceptions to `LaunchError`, or to `DeviceFault` if the context is broken."""

    def __init__(self, cp: Any, launch: Launch) -> None:
        self._cp = cp
        self._launch = launch

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        cp = self._cp
        if not isinstance(error, cp.cuda.runtime.CUDARuntimeError | cp.cuda.driver.CUDADriverError):
            return
        text = first_line(error)
        try:
            for device in range(self._launch.devices):
                with cp.cuda.Device(device):
                    cp.cuda.runtime.deviceSynchronize()
        except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError):
            watchdog = "LAUNCHTIMEOUT" in text.upper().replace("_", "")
            advice = ": the display's watchdog stopped it, choose a smaller size" if watchdog else ""
            _no_more_complaints()
            raise DeviceFault(f"{self._launch.label} at {self._launch.problem}: {text}{advice}") from None
        raise LaunchError(f"{self._launch.label} at {self._launch.problem} does not launch: {text}") from None


def _no_more_complaints() -> None:
    """Suppress errors about freeing buffers: in a broken context it is impossible, and the process ends soon."""
    sys.excepthook = lambda *_: None
    sys.unraisablehook = lambda _: None


def l2_bytes() -> int:
    """Return the size of the L2 cache, in bytes; if it is unknown, a guess above 0."""
    device = driver().device
    return max(device.l2_bytes if device else 0, 1 << 20)


def release(cp: Any) -> None:
    """Free unused memory on the device."""
    # In a broken context nothing can be freed, but the process ends soon.
    with suppress(cp.cuda.runtime.CUDARuntimeError):
        cp.get_default_memory_pool().free_all_blocks()


def with_room(cp: Any, size: int, dtype: str) -> Any:
    """Allocate with some room after the array: reading a little too far gives a wrong C and not a broken device."""
    stored_type = cp.dtype(stored_as(dtype))
    return cp.empty(size + GUARD_BYTES // stored_type.itemsize, stored_type)[:size]
