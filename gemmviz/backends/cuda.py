"""CUDA kernels and cuBLAS through CuPy. The only module that imports CuPy; only the engine's process imports it."""

import os
from abc import abstractmethod
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from gemmviz import data
from gemmviz.backends.base import GUARD_BYTES, Backend, Build, DeviceFault, Guarded, LaunchError, Prepared
from gemmviz.backends.cupy_check import cuda_verdict, install_line
from gemmviz.backends.driver import driver
from gemmviz.backends.nvrtc import compile_launch, first_line
from gemmviz.backends.signature import DESCRIBE, MOST, scalar_types
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.kernel import MATRICES
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Matrix, Problem, stored, unstored

_DEFAULT_SHARED_BYTES = 48 * 1024


@cache
def cupy() -> Any:
    """Import CuPy.

    Raises
    ------
    Unavailable
        When CUDA kernels cannot run here; the message says why and what to do.
    """
    verdict = cuda_verdict()
    if not verdict.usable:
        raise Unavailable(str(verdict))
    # A figure called FP32 must be FP32, whatever the user's shell says.
    os.environ["CUPY_TF32"] = "0"
    os.environ.setdefault("CUPY_CACHE_DIR", str(data.cache_folder("cupy")[0]))
    try:
        import cupy as module

        module.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise Unavailable(f"CuPy does not load: {first_line(error)}") from None
    except Exception as error:
        raise Unavailable(f"CuPy finds no CUDA device: {first_line(error)}") from None
    return module


def nvrtc_version() -> str | None:
    """Return the version of NVRTC, or None when its library cannot be found."""
    try:
        major, minor = cupy().cuda.nvrtc.getVersion()
    except (RuntimeError, ImportError):
        return None
    return f"{major}.{minor}"


class _DeviceBackend(Backend):
    clears_l2 = True

    def product(self, a: Matrix, b: Matrix) -> Matrix:
        """Multiply with cuBLAS in float64."""
        cp = cupy()
        product = cp.asnumpy(cp.asarray(a, "float64") @ cp.asarray(b, "float64"))
        _release()
        return np.asarray(product)

    def free_bytes(self) -> int | None:
        """Return the device memory that is free."""
        free, _ = cupy().cuda.runtime.memGetInfo()
        return int(free)

    def needed_bytes(self, problem: Problem, itemsize: int) -> int:
        """Count the larger of the reference (float64) and the kernel's own matrices with the buffer that clears L2."""
        m, n, k = problem.m, problem.n, problem.k
        reference = (8 + itemsize) * (m * k + k * n) + 8 * m * n
        own = itemsize * (m * k + k * n + m * n) + 2 * GUARD_BYTES + 2 * _l2_bytes()
        return max(reference, own)

    def environment(self) -> dict[str, Any]:
        """Return the versions of CuPy, the CUDA runtime and NVRTC."""
        cp = cupy()
        runtime = cp.cuda.runtime.runtimeGetVersion()
        return {
            "cupy": cp.__version__,
            "cuda_runtime": f"{runtime // 1000}.{runtime % 1000 // 10}",
            "nvrtc": nvrtc_version(),
        }


class CudaBackend(_DeviceBackend):
    """CUDA kernels, compiled by NVRTC."""

    name = "cuda"

    def prepare(self, launch: Launch) -> Prepared:
        """Compile and allocate."""
        cp = cupy()
        if nvrtc_version() is None:
            raise Unavailable(f"NVRTC, CUDA's compiler, is not installed ({install_line(driver())})")
        kernel, module, build = compile_launch(cp, launch)
        if launch.threads > kernel.max_threads_per_block:
            raise LaunchError(
                f"{launch.label} needs {kernel.num_regs} registers per thread, so that a block can have at most "
                f"{kernel.max_threads_per_block} threads; this launch has {launch.threads}"
            )
        if launch.shared_bytes + kernel.shared_size_bytes > _DEFAULT_SHARED_BYTES:
            try:
                kernel.max_dynamic_shared_size_bytes = launch.shared_bytes
            except cp.cuda.driver.CUDADriverError:
                limit = cp.cuda.Device().attributes.get("MaxSharedMemoryPerBlockOptin", 0)
                raise LaunchError(
                    f"{launch.label} asks for {launch.shared_bytes + kernel.shared_size_bytes:,} bytes of shared "
                    f"memory per block; this GPU allows {limit:,}"
                ) from None
        return _CudaPrepared(launch, build, kernel, _scalar_types(cp, module, launch))


class CublasBackend(_DeviceBackend):
    """``cupy.dot``, which calls cuBLAS and writes C in place."""

    name = "cublas"

    def prepare(self, launch: Launch) -> Prepared:
        """Allocate; there is nothing to compile."""
        return _CublasPrepared(launch, Build())


class _DevicePrepared(Prepared):
    """Matrices in the GPU's memory; a subclass says how to launch."""

    def __init__(self, launch: Launch, build: Build) -> None:
        self._cp = cp = cupy()
        self.build = build
        self.launch = launch
        self.a = cp.empty(launch.problem.m * launch.problem.k, launch.kernel.dtype)
        self.b = cp.empty(launch.problem.k * launch.problem.n, launch.kernel.dtype)
        self.c = Guarded(cp, launch)
        self._scratch = cp.empty(2 * _l2_bytes(), "uint8")
        self._begin, self._end = cp.cuda.Event(), cp.cuda.Event()

    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy A and B to the device in the kernel's layout."""
        self.a.set(stored(self.launch.kernel, "A", a))
        self.b.set(stored(self.launch.kernel, "B", b))

    def poison(self) -> None:
        """Fill C and its guard zones."""
        self.c.poison()

    def run(self) -> None:
        """Launch once and wait."""
        with _faults(self.launch):
            self.start()
            self._cp.cuda.get_current_stream().synchronize()

    def sample(self, launches: int, cold: bool) -> float:
        """Time with a pair of CUDA events."""
        with _faults(self.launch):
            if cold:
                # Twice: while the second pass runs, the host queues the launch, so that the events see no gap.
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

    def fetch(self) -> Matrix:
        """Copy C to the host."""
        return unstored(self.launch.kernel, "C", self._cp.asnumpy(self.c.view), self.launch.problem)

    def intact(self) -> bool:
        """Whether nothing was written around C."""
        return self.c.intact()

    def close(self) -> None:
        """Give the device memory back."""
        del self.a, self.b, self.c, self._scratch
        _release()

    @abstractmethod
    def start(self) -> None:
        """Queue one launch."""


class _CudaPrepared(_DevicePrepared):
    def __init__(self, launch: Launch, build: Build, kernel: Any, types: dict[str, type[np.generic]]) -> None:
        super().__init__(launch, build)
        self._kernel = kernel
        matrices = {"A": self.a, "B": self.b, "C": self.c.view}
        self._arguments = tuple(
            matrices[name] if name in MATRICES else np.dtype(types[name]).type(launch.scalar(name))
            for name in launch.kernel.args
        )

    def start(self) -> None:
        """Queue one launch."""
        launch = self.launch
        self._kernel(launch.grid, launch.block, self._arguments, shared_mem=launch.shared_bytes)

    def close(self) -> None:
        """Give the device memory back."""
        self._arguments = ()
        super().close()


class _CublasPrepared(_DevicePrepared):
    def __init__(self, launch: Launch, build: Build) -> None:
        super().__init__(launch, build)
        kernel, problem = launch.kernel, launch.problem
        self._views = [
            unstored(kernel, name, flat, problem) for name, flat in (("A", self.a), ("B", self.b), ("C", self.c.view))
        ]

    def start(self) -> None:
        """Queue one product."""
        a, b, c = self._views
        self._cp.dot(a, b, out=c)

    def close(self) -> None:
        """Give the device memory back."""
        self._views = []
        super().close()


class _faults:  # noqa: N801 (reads as a statement: `with _faults(launch)`)
    """Turns what CuPy raises into `LaunchError`, or `DeviceFault` when the context did not survive."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        cp = cupy()
        if not isinstance(error, cp.cuda.runtime.CUDARuntimeError | cp.cuda.driver.CUDADriverError):
            return
        text = first_line(error)
        try:
            cp.cuda.runtime.deviceSynchronize()
        except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError):
            watchdog = "LAUNCHTIMEOUT" in text.upper().replace("_", "")
            advice = ": the display's watchdog stopped it, choose a smaller size" if watchdog else ""
            raise DeviceFault(f"{self._launch.label} at {self._launch.problem}: {text}{advice}") from None
        raise LaunchError(f"{self._launch.label} at {self._launch.problem} does not launch: {text}") from None


def _scalar_types(cp: Any, module: Any, launch: Launch) -> dict[str, type[np.generic]]:
    """Ask the compiled module what types the kernel's scalar parameters have."""
    answer = cp.zeros(1 + MOST, "int32")
    module.get_function(DESCRIBE)((1,), (1,), (answer,))
    return scalar_types(cp.asnumpy(answer).tolist(), launch.kernel.args, launch.entry)


def _l2_bytes() -> int:
    device = driver().device
    return max(device.l2_bytes if device else 0, 1 << 20)


def _release() -> None:
    cp = cupy()
    # In a broken context nothing can be freed; the process is about to end anyway.
    with suppress(cp.cuda.runtime.CUDARuntimeError):
        cp.get_default_memory_pool().free_all_blocks()
