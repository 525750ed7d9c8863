"""The products that cuBLASLt's heuristic proposes, through ctypes and a CuPy that the caller hands in.

``cublasLtMatmulAlgoGetHeuristic`` (cuBLAS, "Using the cuBLASLt API") gives several algorithms for a product, the one
that it expects to be the fastest first; which one really is has to be measured.
"""

import ctypes
from typing import Any

import numpy as np

from gemmviz.backends.base import LaunchError

WORKSPACE_BYTES = 32 << 20
"""As much as cuBLAS itself takes on Hopper."""
_WORKSPACE, _COMPUTE_32F, _SCALE_32F = 1, 68, 0
_NUMBERS = {"float32": 0, "float16": 2, "bfloat16": 14}
_VERSIONS = (13, 12)


class _Algorithm(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


def _library() -> ctypes.CDLL:
    for version in _VERSIONS:
        try:
            return ctypes.CDLL(f"libcublasLt.so.{version}")
        except OSError:
            continue
    raise LaunchError("libcublasLt is not found")


def _check(status: int, where: str) -> None:
    if status:
        raise LaunchError(f"cuBLASLt: {where} returns {status}")


class LtProduct:
    """C = A B of matrices by rows, with sums in single precision, by the algorithms that the heuristic proposes.

    Parameters
    ----------
    cp
        The module ``cupy``; cuBLAS has been used, so that its libraries are loaded.
    sizes
        M, N and K.
    dtype, dtype_out
        NumPy names of the element types of A and B, and of C.
    most
        How many algorithms to ask for.

    Raises
    ------
    LaunchError
        When the library is missing or refuses the product.
    """

    def __init__(self, cp: Any, sizes: tuple[int, int, int], dtype: str, dtype_out: str, most: int = 8) -> None:
        m, n, k = sizes
        self._cp, self._code = cp, _library()
        self._handle, self._desc, preference = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        _check(self._code.cublasLtCreate(ctypes.byref(self._handle)), "cublasLtCreate")
        _check(
            self._code.cublasLtMatmulDescCreate(ctypes.byref(self._desc), _COMPUTE_32F, _SCALE_32F),
            "cublasLtMatmulDescCreate",
        )
        # It counts by columns: the transposed product of the operands swapped.
        self._layouts = [self._layout(*its) for its in ((dtype, n, k), (dtype, k, m), (dtype_out, n, m))]
        _check(self._code.cublasLtMatmulPreferenceCreate(ctypes.byref(preference)), "cublasLtMatmulPreferenceCreate")
        room = ctypes.c_size_t(WORKSPACE_BYTES)
        self._code.cublasLtMatmulPreferenceSetAttribute(preference, _WORKSPACE, ctypes.byref(room), 8)
        self._workspace = cp.empty(WORKSPACE_BYTES, "uint8")
        found, count = (_Algorithm * most)(), ctypes.c_int()
        b, a, c = self._layouts
        _check(
            self._code.cublasLtMatmulAlgoGetHeuristic(
                self._handle, self._desc, b, a, c, c, preference, most, found, ctypes.byref(count)
            ),
            "cublasLtMatmulAlgoGetHeuristic",
        )
        self._code.cublasLtMatmulPreferenceDestroy(preference)
        self._algorithms = [one for one in found[: count.value] if one.state == 0]
        self._scalars = np.array([1, 0], np.float32)

    def __len__(self) -> int:
        """Return the number of proposed algorithms."""
        return len(self._algorithms)

    def start(self, number: int, a: int, b: int, c: int) -> None:
        """Queue one product by a proposed algorithm; `a`, `b` and `c` are addresses on the device."""
        one = self._scalars.ctypes.data
        lb, la, lc = self._layouts
        status = self._code.cublasLtMatmul(
            self._handle,
            self._desc,
            ctypes.c_void_p(one),
            ctypes.c_void_p(b),
            lb,
            ctypes.c_void_p(a),
            la,
            ctypes.c_void_p(one + 4),
            ctypes.c_void_p(c),
            lc,
            ctypes.c_void_p(c),
            lc,
            ctypes.byref(self._algorithms[number]),
            ctypes.c_void_p(self._workspace.data.ptr),
            ctypes.c_size_t(WORKSPACE_BYTES),
            ctypes.c_void_p(self._cp.cuda.get_current_stream().ptr),
        )
        _check(status, "cublasLtMatmul")

    def close(self) -> None:
        """Give handle, descriptions and workspace back."""
        for layout in self._layouts:
            self._code.cublasLtMatrixLayoutDestroy(layout)
        self._code.cublasLtMatmulDescDestroy(self._desc)
        self._code.cublasLtDestroy(self._handle)
        self._layouts, self._workspace = [], None

    def _layout(self, dtype: str, rows: int, columns: int) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        status = self._code.cublasLtMatrixLayoutCreate(
            ctypes.byref(made), _NUMBERS[dtype], ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows)
        )
        _check(status, "cublasLtMatrixLayoutCreate")
        return made
