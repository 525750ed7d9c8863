"""Products of 8-bit floats by cuBLASLt, through ctypes: CuPy has no call for it.

cuBLAS, "Using the cuBLASLt API"; the numbers are those of ``cublasLt.h``, ``cublas_api.h`` and ``library_types.h``.
"""

import ctypes
from contextlib import ExitStack
from statistics import median
from typing import Any

import numpy as np

from gemmviz.backends.base import Build, LaunchError
from gemmviz.backends.device import DevicePrepared
from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr

TYPES = {"float8_e4m3fn": 28}
"""The element types of A and B that are multiplied here, with the library's numbers."""
_FLOAT, _COMPUTE_FLOAT, _TRANSPOSED = 0, 68, 1
_TRANS_A, _SCALE_OF_A, _SCALE_OF_B, _FAST_ACCUMULATION = 3, 17, 18, 25
_MOST_WORKSPACE, _WORKSPACE_BYTES = 1, 64 << 20
_MOST_ALGORITHMS, _ROUNDS, _LAUNCHES = 16, 5, 4
_APART = 64  # floats: the library wants its scales aligned
_NO_NAN = 0xBF  # clears a bit that every NaN has


class _Found(ctypes.Structure):
    """``cublasLtMatmulHeuristicResult_t``."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


class LtPrepared(DevicePrepared):
    """``cublasLtMatmul`` with A by rows, B by columns and C by rows in float32, and a scale for each of A and B.

    The library proposes algorithms; the one that is fastest here, on random numbers, is taken. It counts by columns, so
    that it computes the transposed product of the operands swapped.
    """

    def __init__(self, cp: Any, launch: Launch, build: Build) -> None:
        super().__init__(cp, launch, build)
        cp.cuda.device.get_cublas_handle()  # loads the library
        self._library = ctypes.CDLL(f"libcublasLt.so.{cp.cuda.runtime.runtimeGetVersion() // 1000}")
        self._open = ExitStack()
        m, n, k = launch.problem.m, launch.problem.n, launch.problem.k
        kind = TYPES[launch.kernel.dtype]
        self._scales = cp.ones((2, _APART), "float32")
        self._workspace = cp.empty(_WORKSPACE_BYTES, "uint8")
        self._scalars = np.array([1, 0], np.float32)
        self._handle = self._made("cublasLt", "Create", "Destroy")
        self._product = self._made("cublasLtMatmulDesc", "Create", "Destroy", _COMPUTE_FLOAT, _FLOAT)
        one = self._scales.data.ptr
        attributes = (
            (_TRANS_A, ctypes.c_int32(_TRANSPOSED)),
            (_SCALE_OF_A, ctypes.c_uint64(one)),
            (_SCALE_OF_B, ctypes.c_uint64(one + _APART * self._scales.itemsize)),
            (_FAST_ACCUMULATION, ctypes.c_int8(launch.kernel.math != "promoted")),
        )
        for attribute, value in attributes:
            self._set("cublasLtMatmulDescSetAttribute", self._product, attribute, value)
        self._layouts = [
            self._made("cublasLtMatrixLayout", "Create", "Destroy", *shape)
            for shape in (
                (kind, ctypes.c_uint64(k), ctypes.c_uint64(n), ctypes.c_int64(k)),
                (kind, ctypes.c_uint64(k), ctypes.c_uint64(m), ctypes.c_int64(k)),
                (_FLOAT, ctypes.c_uint64(n), ctypes.c_uint64(m), ctypes.c_int64(n)),
            )
        ]
        self._algorithm = self._fastest()

    def start(self) -> None:
        """Queue one product."""
        self._multiply(self._algorithm)

    def close(self) -> None:
        """Give the library's objects and the device memory back."""
        self._open.close()
        del self._scales, self._workspace
        super().close()

    def _multiply(self, algorithm: _Found) -> None:
        one, (b, a, c) = self._scalars.ctypes.data, self._layouts
        pointer = ctypes.c_void_p
        self._call(
            "cublasLtMatmul",
            *(self._handle, self._product, pointer(one)),
            *(pointer(self.b.data.ptr), b, pointer(self.a.data.ptr), a),
            *(pointer(one + self._scalars.itemsize), pointer(self.c.address), c, pointer(self.c.address), c),
            *(ctypes.byref(algorithm), pointer(self._workspace.data.ptr), ctypes.c_size_t(_WORKSPACE_BYTES)),
            pointer(self._cp.cuda.get_current_stream().ptr),
        )

    def _fastest(self) -> _Found:
        """Return the algorithm of those proposed whose median is the least, in turns."""
        preference = self._made("cublasLtMatmulPreference", "Create", "Destroy")
        workspace = ctypes.c_uint64(_WORKSPACE_BYTES)
        self._set("cublasLtMatmulPreferenceSetAttribute", preference, _MOST_WORKSPACE, workspace)
        found, count = (_Found * _MOST_ALGORITHMS)(), ctypes.c_int()
        b, a, c = self._layouts
        self._call(
            "cublasLtMatmulAlgoGetHeuristic",
            *(self._handle, self._product, b, a, c, c, preference, _MOST_ALGORITHMS, found, ctypes.byref(count)),
        )
        random = np.random.default_rng(0)
        for matrix in (self.a, self.b):
            matrix.set(random.integers(0, 256, matrix.size, np.uint8) & _NO_NAN)
        usable = [each for each in found[: count.value] if each.status == 0 and self._runs(each)]
        if not usable:
            said = tr("cuBLASLt has no algorithm for {kernel} at this size", kernel=self.launch.kernel.name)
            raise LaunchError(said)
        seconds: list[list[float]] = [[] for _ in usable]
        for _ in range(_ROUNDS):
            for algorithm, its in zip(usable, seconds, strict=True):
                self._algorithm = algorithm
                its.append(self.sample(_LAUNCHES, cold=True))
        return usable[int(np.argmin([median(its[1:]) for its in seconds]))]

    def _runs(self, algorithm: _Found) -> bool:
        """Whether the library can do what it proposes."""
        try:
            self._multiply(algorithm)
        except LaunchError:
            return False
        return True

    def _made(self, what: str, make: str, end: str, *values: Any) -> ctypes.c_void_p:
        """Return a new object of the library, which `close` gives back."""
        made = ctypes.c_void_p()
        self._call(what + make, ctypes.byref(made), *values)
        self._open.callback(getattr(self._library, what + end), made)
        return made

    def _set(self, function: str, of: ctypes.c_void_p, attribute: int, value: Any) -> None:
        size = ctypes.c_size_t(ctypes.sizeof(value))
        self._call(function, of, attribute, ctypes.byref(value), size)

    def _call(self, function: str, *values: Any) -> None:
        status = getattr(self._library, function)(*values)
        if status:
            raise LaunchError(f"{self.launch.label} at {self.launch.problem}: {function} fails with status {status}")
