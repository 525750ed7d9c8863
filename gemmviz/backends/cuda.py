"""CUDA kernels and cuBLAS through CuPy. The only module that imports CuPy; only the engine's process imports it."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numpy as np

from gemmviz import data
from gemmviz.backends import cublaslt
from gemmviz.backends.arguments import Types, arguments, map_arguments, types_of
from gemmviz.backends.base import GUARD_BYTES, Backend, Build, LaunchError, Prepared, Trip
from gemmviz.backends.cublas import MIXED, CublasPrepared, MixedPrepared
from gemmviz.backends.cupy_check import cuda_verdict, install_line
from gemmviz.backends.device import DevicePrepared, l2_bytes, release
from gemmviz.backends.device_compare import MOST_ELEMENTS
from gemmviz.backends.driver import driver
from gemmviz.backends.environment import Environment
from gemmviz.backends.nvml import sensors, watch_gpu
from gemmviz.backends.nvrtc import compile_launch, first_line
from gemmviz.backends.padding import Padding
from gemmviz.backends.page_locked import page_locked
from gemmviz.backends.several import SeveralPrepared, check_peers
from gemmviz.backends.struct_arguments import struct_fillers
from gemmviz.backends.tensor_maps import encode
from gemmviz.backends.transfer import DeviceTrip
from gemmviz.backends.watch import Observed
from gemmviz.catalogue import capability
from gemmviz.catalogue.batch import POINTERS
from gemmviz.catalogue.batch import SUFFIX as ENTRIES
from gemmviz.catalogue.errors import BuildError, ConstraintError, Unavailable
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import BIAS, D
from gemmviz.catalogue.problem import Matrix, Problem
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import tr
from gemmviz.language.numbers import thousands

_DEFAULT_SHARED_BYTES = 48 * 1024
_CUPY_MULTIPLIES = ("float32", "float64", "int32", "int64")
# CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, _HEIGHT and _DEPTH, which are 0 without __cluster_dims__ (cuda.h).
_REQUIRED_CLUSTER = (11, 12, 13)
_CLUSTERS_FROM_CUDA = (12, 0)
Compiled = tuple[Build, Any, Types, Any]
"""The build, the kernel, the types of its scalar parameters, and its module."""


@cache
def cupy() -> Any:
    """Import CuPy.

    Raises
    ------
    Unavailable
        When CUDA kernels cannot run here; the message gives the reason and the remedy.
    """
    verdict = cuda_verdict()
    if not verdict.usable:
        raise Unavailable(str(verdict))
    # A figure labelled FP32 must be FP32, whatever the user's environment variables are.
    os.environ["CUPY_TF32"] = "0"
    os.environ.setdefault("CUPY_CACHE_DIR", str(data.cache_folder("cupy")[0]))
    try:
        import cupy as module  # late: it takes a second, and is an extra

        module.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise Unavailable(
            f"CuPy does not load: {first_line(error.__cause__ or error)} ({install_line(driver())})"
        ) from None
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


@contextmanager
def profiled() -> Iterator[None]:
    """Profile the launches in this context, if a profiler runs this process."""
    runtime = cupy().cuda.runtime
    runtime.profilerStart()
    try:
        yield
    finally:
        runtime.profilerStop()


class _DeviceBackend(Backend):
    clears_l2 = True

    def product(self, a: Matrix, b: Matrix) -> Matrix:
        """Multiply with cuBLAS in float64."""
        cp = cupy()
        # They are made wider on the device: fewer bytes cross the bus. float32 holds each number of a smaller type.
        left, right = (
            cp.asarray(m if m.dtype.isbuiltin == 1 else m.astype(np.float32)).astype(np.float64) for m in (a, b)
        )
        product = left @ right
        del left, right
        found = page_locked(cp, product.shape, product.dtype)
        product.get(out=found)
        del product
        release(cp)
        return found

    def staged(self, matrix: Matrix) -> Matrix:
        """Return a copy in page-locked memory."""
        copy = page_locked(cupy(), matrix.shape, matrix.dtype)
        copy[...] = matrix
        return copy

    def free_bytes(self) -> int | None:
        """Return the free device memory."""
        free, _ = cupy().cuda.runtime.memGetInfo()
        return int(free)

    def needed_bytes(self, problem: Problem, itemsize: int) -> int:
        """Return the larger of the reference's need (float64) and that of a kernel.

        A kernel needs its matrices, the L2 buffer, and a part of the reference when C is compared with it.
        """
        m, n, k = problem.m, problem.n, problem.k
        reference = (8 + itemsize) * (m * k + k * n) + 8 * m * n
        own = itemsize * (m * k + k * n + m * n) + 4 * GUARD_BYTES + 2 * l2_bytes()
        compared = 2 * 8 * min(m * n, max(MOST_ELEMENTS, n))
        return max(reference, own + compared)

    def trip(self, problem: Problem, dtype: str, dtype_out: str) -> Trip:
        """Allocate on both sides."""
        return DeviceTrip(cupy(), problem, dtype, dtype_out)

    def watch(self) -> AbstractContextManager[Observed]:
        """Read the GPU's sensors."""
        device = driver().device
        return watch_gpu(sensors(device.uuid) if device else None)

    def environment(self) -> Environment:
        """Return the versions of CuPy, the CUDA runtime and NVRTC."""
        cp = cupy()
        runtime = cp.cuda.runtime.runtimeGetVersion()
        return {
            "cupy": cp.__version__,
            "cuda_runtime": f"{runtime // 1000}.{runtime % 1000 // 10}",
            "nvrtc": nvrtc_version(),
        }


class CudaBackend(_DeviceBackend):
    """CUDA kernels, compiled by NVRTC, once per launch.

    Parameters
    ----------
    extra_flags
        Further flags for NVRTC.
    """

    name = "cuda"

    def __init__(self, extra_flags: tuple[str, ...] = ()) -> None:
        self._compiled: dict[tuple[object, ...], Compiled] = {}
        self._extra_flags = extra_flags

    def prepare(self, launch: Launch) -> Prepared:
        """Compile, or use an earlier build, and allocate; for several GPUs, on each of them."""
        _check_device(launch)
        if launch.part is None:
            return _CudaPrepared(launch, *self._built(launch, 0))
        check_peers(cupy(), launch)
        built = []
        for device in range(launch.devices):
            with cupy().cuda.Device(device):
                built.append(self._built(launch.part, device))
        kernels = [kernel for _, kernel, _, _ in built]
        return SeveralPrepared(cupy(), launch, built[0][0], kernels, built[0][2])

    def _built(self, launch: Launch, device: int) -> Compiled:
        """Return the build of a launch for a device, which has to be the current one."""
        source = launch.kernel
        shape = (launch.block, launch.cluster, launch.shared_bytes)
        sizes = (*launch.macros.items(), *launch.constants.items())
        key = (device, source.path, source.text, launch.entry, *sizes, *shape)
        if key not in self._compiled:
            self._compiled[key] = _compile(launch, self._extra_flags)
        return self._compiled[key]


def _compile(launch: Launch, extra_flags: tuple[str, ...]) -> Compiled:
    """Compile a launch.

    Raises
    ------
    BuildError, LaunchError, Unavailable
        As `Backend.prepare` does.
    """
    cp = cupy()
    if nvrtc_version() is None:
        raise Unavailable(f"NVRTC, CUDA's compiler, is not installed ({install_line(driver())})")
    kernel, module, build = compile_launch(cp, launch, extra_flags)
    _check_cluster(cp, kernel, launch)
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
            raise _too_much_shared(launch, launch.shared_bytes + kernel.shared_size_bytes, limit) from None
    return build, kernel, types_of(cp, module, launch), module


def _check_device(launch: Launch) -> None:
    """Refuse a launch that this GPU cannot run, before anything is compiled.

    Raises
    ------
    ConstraintError
        When it does not have the compute capability that the kernel needs, or enough shared memory for a block.
    """
    device = driver().device
    if device is None:
        return
    needs = capability.need(launch.kernel.capability, device.cc)
    if needs:
        raise ConstraintError(f"{launch.kernel.name} {needs}")
    if 0 < device.shared_per_block_bytes < launch.shared_bytes:
        raise _too_much_shared(launch, launch.shared_bytes, device.shared_per_block_bytes)


def _check_cluster(cp: Any, kernel: Any, launch: Launch) -> None:
    """Refuse a kernel whose clusters differ from those of its front matter.

    Raises
    ------
    BuildError
        When ``__cluster_dims__`` differs from ``cluster``.
    """
    known = driver().cuda
    if known is None or known < _CLUSTERS_FROM_CUDA:
        return
    x, y, z = (max(1, cp.cuda.driver.funcGetAttribute(which, kernel.kernel.ptr)) for which in _REQUIRED_CLUSTER)
    if (x, y, z) == launch.cluster:
        return
    source = launch.kernel
    text = tr(
        "the code asks for clusters of {code} blocks (__cluster_dims__), the front matter says {matter} (cluster)",
        code=f"{x} x {y} x {z}",
        matter=" x ".join(map(str, launch.cluster)),
    )
    raise BuildError(f"{source.path.name}: {text}", source.line_of("cluster"))


def _too_much_shared(launch: Launch, wanted: int, limit: int) -> ConstraintError:
    text = tr(
        "{kernel} asks for {wanted} bytes of shared memory per block; this GPU allows {limit}",
        kernel=launch.label,
        wanted=thousands(wanted),
        limit=thousands(limit),
    )
    return ConstraintError(text)


class CublasBackend(_DeviceBackend):
    """cuBLAS: in true single precision, or on the tensor cores.

    On tensor cores with the types of `gemmviz.backends.cublas.MIXED`, or with 8-bit floats by cuBLASLt.
    """

    name = "cublas"

    def prepare(self, launch: Launch) -> Prepared:
        """Allocate; there is nothing to compile."""
        kernel = launch.kernel
        _check_device(launch)
        types = kernel.types
        if types in MIXED and kernel.column_major <= {"B"}:
            return MixedPrepared(cupy(), launch, Build())
        if len({*types[:3]}) == 1 and kernel.dtype in _CUPY_MULTIPLIES and not kernel.math:
            return CublasPrepared(cupy(), launch, Build())
        if kernel.dtype in cublaslt.TYPES and kernel.dtype_out == "float32" and kernel.column_major == {"B"}:
            return cublaslt.LtPrepared(cupy(), launch, Build())
        order = ", stored by columns" if kernel.column_major else ""
        types_text = f"A and B in {types[0]}, sums in {types[1]} and C in {types[2]}{order}"
        raise ConstraintError(f"{kernel.name}: cuBLAS is not called for {types_text} here")


class _CudaPrepared(DevicePrepared):
    def __init__(self, launch: Launch, build: Build, kernel: Any, types: Types, module: Any) -> None:
        super().__init__(cupy(), launch, build)
        self._kernel = kernel
        self._types = types
        self._matrices = {"A": self.a, "B": self.b, "C": self.c.read, D: self.c.view, BIAS: self.c.bias}
        self._padding = Padding(cupy(), launch, {"A": self.a, "B": self.b})
        mapped = self._matrices | self._padding.copies
        maps = {matrix + SUFFIX: encode(launch, matrix, mapped[matrix].data.ptr) for matrix in launch.maps}
        self._maps = map_arguments(cupy(), maps, types)
        self._pointers = {name: self._entries(name) for name in launch.kernel.args if name in POINTERS}
        self._structs = struct_fillers(module, launch)
        self._arguments: tuple[Any, ...] = ()
        self.bind()

    def bind(self) -> None:
        """Make the arguments of the launch."""
        launch = self.launch
        values = arguments(launch, self._matrices | self._maps | self._pointers, self._types)
        for (first, end), fill in reversed([*zip(launch.kernel.structs, self._structs, strict=True)]):
            values[first:end] = [fill(cupy(), values[first:end])]
        self._arguments = tuple(values)

    def _entries(self, name: str) -> Any:
        """Return the addresses of a matrix's entries, in the device's memory."""
        matrix, batch = name.removesuffix(ENTRIES), self.launch.batch
        memory, count = self._matrices[matrix], batch.count if batch else 1
        stride = batch.strides["C" if matrix == D else matrix] if batch else 0
        return cupy().asarray(memory.data.ptr + np.arange(count) * (stride * memory.itemsize), np.uint64)

    def start(self) -> None:
        """Queue one launch, after its preparation: C set to zero, or copies of A and B with longer rows."""
        launch = self.launch
        self._padding.start()
        if launch.kernel.zeroed:
            self.c.clear()
        self._kernel(launch.grid, launch.block, self._arguments, shared_mem=launch.shared_bytes)

    def close(self) -> None:
        """Free the device memory."""
        self._arguments, self._matrices, self._maps, self._pointers = (), {}, {}, {}
        self._padding.close()
        super().close()
