"""CUDA kernels and cuBLAS through CuPy. The only module that imports CuPy; only the engine's process imports it."""

import importlib.util
import os
import re
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz import data
from gemmviz.backends.base import GUARD_BYTES, Backend, Build, DeviceFault, Guarded, LaunchError, Prepared
from gemmviz.backends.cupy_check import cuda_verdict
from gemmviz.backends.driver import driver
from gemmviz.catalogue.errors import BuildError, Unavailable
from gemmviz.catalogue.kernel import MATRICES
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Matrix, Problem, stored, unstored

_NVRTC_ERROR = re.compile(
    r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error:? ?(?P<text>.*)$", re.MULTILINE
)
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
    os.environ.setdefault("CUPY_CACHE_DIR", _cache_folder())
    try:
        import cupy as module

        module.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise Unavailable(f"CuPy does not load: {_first_line(error)}") from None
    except Exception as error:
        raise Unavailable(f"CuPy finds no CUDA device: {_first_line(error)}") from None
    return module


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
        major, minor = cp.cuda.nvrtc.getVersion()
        return {
            "cupy": cp.__version__,
            "cuda_runtime": f"{runtime // 1000}.{runtime % 1000 // 10}",
            "nvrtc": f"{major}.{minor}",
        }


class CudaBackend(_DeviceBackend):
    """CUDA kernels, compiled by NVRTC."""

    name = "cuda"

    def prepare(self, launch: Launch) -> Prepared:
        """Compile and allocate."""
        cp = cupy()
        kernel, build = _compile(launch)
        if launch.threads > kernel.max_threads_per_block:
            raise LaunchError(
                f"{launch.label} needs {kernel.num_regs} registers per thread, so that a block can have at most "
                f"{kernel.max_threads_per_block} threads; this launch has {launch.threads}"
            )
        if launch.shared_bytes + kernel.shared_size_bytes > _DEFAULT_SHARED_BYTES:
            try:
                kernel.max_dynamic_shared_size_bytes = launch.shared_bytes
            except cp.cuda.driver.CUDADriverError:
                limit = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
                raise LaunchError(
                    f"{launch.label} asks for {launch.shared_bytes + kernel.shared_size_bytes:,} bytes of shared "
                    f"memory per block; this GPU has {limit:,}"
                ) from None
        return _CudaPrepared(launch, build, kernel)


class CublasBackend(_DeviceBackend):
    """``cupy.matmul``, which calls cuBLAS."""

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

    def start(self) -> None:
        """Queue one launch."""
        raise NotImplementedError


class _CudaPrepared(_DevicePrepared):
    def __init__(self, launch: Launch, build: Build, kernel: Any) -> None:
        super().__init__(launch, build)
        self._kernel = kernel
        self._arguments = tuple(self._argument(name) for name in launch.kernel.args)

    def start(self) -> None:
        """Queue one launch."""
        launch = self.launch
        self._kernel(launch.grid, launch.block, self._arguments, shared_mem=launch.shared_bytes)

    def close(self) -> None:
        """Give the device memory back."""
        self._arguments = ()
        super().close()

    def _argument(self, name: str) -> Any:
        if name in MATRICES:
            return {"A": self.a, "B": self.b, "C": self.c.view}[name]
        value = self.launch.scalar(name)
        return np.dtype(self.launch.kernel.accumulate).type(value) if name in ("alpha", "beta") else np.int32(value)


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
        self._cp.matmul(a, b, out=c)

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
        text = _first_line(error)
        try:
            cp.cuda.runtime.deviceSynchronize()
        except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError):
            watchdog = "LAUNCH_TIMEOUT" in text.upper()
            advice = ": the display's watchdog stopped it, choose a smaller size" if watchdog else ""
            raise DeviceFault(f"{self._launch.label} at {self._launch.problem}: {text}{advice}") from None
        raise LaunchError(f"{self._launch.label} at {self._launch.problem} does not launch: {text}") from None


def _compile(launch: Launch) -> tuple[Any, Build]:
    cp = cupy()
    kernel = launch.kernel
    macros = (f"-D{name}={value}" for name, value in launch.macros.items())
    flags = ("--std=c++17", *macros, *_includes(kernel.path.parent))
    # The #line keeps the numbers of the user's file, whatever CuPy puts before it.
    code = f'#line 1 "{kernel.path.name}"\n{kernel.text}'
    started = time.perf_counter()
    module = cp.RawModule(code=code, options=flags, name_expressions=(launch.entry,))
    try:
        function = module.get_function(launch.entry)
        # Asking for an attribute makes CuPy load the function.
        registers = int(function.num_regs)
    except cp.cuda.compiler.CompileException as error:
        raise nvrtc_error(str(error), kernel.path) from None
    except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError) as error:
        text = _first_line(error)
        if "NOT_FOUND" in text.upper():
            raise BuildError(f"{kernel.path.name}: there is no kernel {launch.entry}") from None
        raise LaunchError(f"{launch.label} does not load: {text}") from None
    build = Build(
        compile_ms=(time.perf_counter() - started) * 1e3,
        flags=flags,
        registers=registers,
        shared_bytes=int(function.shared_size_bytes) + launch.shared_bytes,
        local_bytes=int(function.local_size_bytes),
    )
    return function, build


def nvrtc_error(log: str, path: Path) -> BuildError:
    """Return the first error of NVRTC's log, by preference the first one in the file `path`."""
    found = list(_NVRTC_ERROR.finditer(log))
    mine = [e for e in found if Path(e["file"].strip()).name == path.name]
    if mine:
        return BuildError(f"{path.name}:{mine[0]['line']}: {mine[0]['text']}", int(mine[0]["line"]))
    if found:
        return BuildError(f"{path.name}: {found[0]['text']}")
    return BuildError(f"{path.name} does not compile: {_first_line(log)}")


def _includes(beside: Path) -> tuple[str, ...]:
    """Return -I for the kernel's folder and for the folders that hold mma.h, which NVRTC does not bring itself."""
    return tuple(f"-I{folder}" for folder in (beside.resolve(), *_toolkit_includes()))


@cache
def _toolkit_includes() -> tuple[Path, ...]:
    named = (os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH"))
    candidates = [Path(folder) / "include" for folder in named if folder]
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        candidates += sorted(Path(place).glob("*/include"))
    candidates.append(Path("/usr/local/cuda/include"))
    heads = ("mma.h", "crt/mma.h")
    wheels = [folder for folder in candidates if any((folder / head).is_file() for head in heads)]
    # The first folder with each header is enough; a toolkit of another version behind it must not mix in.
    chosen: list[Path] = []
    for head in heads:
        first = next((folder for folder in wheels if (folder / head).is_file()), None)
        if first is not None and first not in chosen:
            chosen.append(first)
    return tuple(chosen)


def has_mma_header() -> bool:
    """Whether kernels can include mma.h, the tensor cores' header."""
    return any((folder / "crt" / "mma.h").is_file() for folder in _toolkit_includes())


def _l2_bytes() -> int:
    device = driver().device
    return max(device.l2_bytes if device else 0, 1 << 20)


def _release() -> None:
    cp = cupy()
    # In a broken context nothing can be freed; the process is about to end anyway.
    with suppress(cp.cuda.runtime.CUDARuntimeError):
        cp.get_default_memory_pool().free_all_blocks()


def _cache_folder() -> str:
    try:
        folder = data.cache_dir() / "cupy"
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return tempfile.mkdtemp(prefix="gemmviz-cupy-")


def _first_line(error: object) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
