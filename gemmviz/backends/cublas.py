"""Products by cuBLAS, through a CuPy that the caller hands in."""

from typing import Any

import numpy as np

from gemmviz.backends.base import Build
from gemmviz.backends.device import DevicePrepared
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import unstored

# cublas_api.h and library_types.h.
_COMPUTE_32F, _GEMM_DEFAULT, _OP_N, _R_32F = 68, -1, 0, 0
MIXED = {"float16": 2, "bfloat16": 14}
"""cuBLAS's number of each element type of A and B whose products are summed in single precision."""


class CublasPrepared(DevicePrepared):
    """``cupy.dot``, which calls cuBLAS and writes C in place."""

    def __init__(self, cp: Any, launch: Launch, build: Build) -> None:
        super().__init__(cp, launch, build)
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


class MixedPrepared(DevicePrepared):
    """``cublasGemmEx``; it counts by columns, so that it computes the transposed product of the operands swapped."""

    def __init__(self, cp: Any, launch: Launch, build: Build) -> None:
        super().__init__(cp, launch, build)
        self._gemm = cp.cuda.cublas.gemmEx
        self._handle = cp.cuda.device.get_cublas_handle()
        self._scalars = np.array([1, 0], np.float32)
        self._kind = MIXED[launch.kernel.dtype]

    def start(self) -> None:
        """Queue one product."""
        problem, one = self.launch.problem, self._scalars.ctypes.data
        m, n, k = problem.m, problem.n, problem.k
        b, a, c = self.b.data.ptr, self.a.data.ptr, self.c.address
        sizes, zero = (self._handle, _OP_N, _OP_N, n, m, k), one + self._scalars.itemsize
        kind = self._kind
        self._gemm(*sizes, one, b, kind, n, a, kind, k, zero, c, _R_32F, n, _COMPUTE_32F, _GEMM_DEFAULT)
