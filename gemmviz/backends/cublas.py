"""Products by cuBLAS, through a CuPy that the caller passes."""

from typing import Any

import numpy as np

from gemmviz.backends.base import Build
from gemmviz.backends.device import DevicePrepared
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import unstored

# cublas_api.h and library_types.h.
_GEMM_DEFAULT, _OP_N, _OP_T = -1, 0, 1
_NUMBERS = {"float32": 0, "float16": 2, "bfloat16": 14, "int8": 3, "int32": 10}
# The compute type and the type of alpha and beta, by the type of the sums.
_COMPUTE = {"float32": (68, np.float32), "float16": (64, np.float16), "int32": (72, np.int32)}
_COMPUTE_TF32 = 77
MIXED = frozenset(
    {
        *(("float16", "float32", c, "") for c in ("float32", "float16")),
        *(("bfloat16", "float32", c, "") for c in ("float32", "bfloat16")),
        ("float16", "float16", "float16", ""),
        ("int8", "int32", "int32", ""),
        ("float32", "float32", "float32", "tf32"),
    }
)
"""`Kernel.types` that ``cublasGemmEx`` multiplies here (cuBLAS, "cublasGemmEx()")."""


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
        """Free the device memory."""
        self._views = []
        super().close()


class MixedPrepared(DevicePrepared):
    """``cublasGemmEx``: as it stores by columns, it computes the transposed product of the swapped operands."""

    def __init__(self, cp: Any, launch: Launch, build: Build) -> None:
        super().__init__(cp, launch, build)
        self._gemm = cp.cuda.cublas.gemmEx
        self._handle = cp.cuda.device.get_cublas_handle()
        kernel = launch.kernel
        self._compute, scalar = _COMPUTE[kernel.accumulate]
        if kernel.math:
            self._compute = _COMPUTE_TF32
        by_columns = "B" in kernel.column_major
        self._order_of_b, self._lead_of_b = (_OP_T, launch.problem.k) if by_columns else (_OP_N, launch.problem.n)
        self._scalars = np.array([1, 0], scalar)
        self._kind, self._c_kind = _NUMBERS[kernel.dtype], _NUMBERS[kernel.dtype_out]

    def start(self) -> None:
        """Queue one product."""
        problem, one = self.launch.problem, self._scalars.ctypes.data
        m, n, k = problem.m, problem.n, problem.k
        b, a, c = self.b.data.ptr, self.a.data.ptr, self.c.address
        sizes, zero = (self._handle, self._order_of_b, _OP_N, n, m, k), one + self._scalars.itemsize
        kind, lead = self._kind, self._lead_of_b
        self._gemm(*sizes, one, b, kind, lead, a, kind, k, zero, c, self._c_kind, n, self._compute, _GEMM_DEFAULT)
