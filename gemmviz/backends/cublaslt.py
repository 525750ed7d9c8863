"""Products by cuBLASLt, through ctypes: CuPy has no call for 8-bit floats, nor for the library's choice of algorithms.

``cublasLtMatmulAlgoGetHeuristic`` gives several algorithms for a product, in the expected order of speed; the fastest
one has to be found by measuring. cuBLAS, "Using the cuBLASLt API"; the numbers are those of ``cublasLt.h``,
``cublas_api.h`` and ``library_types.h``.
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

TYPES = {"float8_e4m3fn"}
"""The element types of A and B for which only cuBLASLt has a product."""
WORKSPACE_BYTES = 32 << 20
"""The size that cuBLAS itself uses on Hopper."""
_MORE_WORKSPACE_BYTES = 64 << 20
_NUMBERS = {"float32": 0, "float16": 2, "bfloat16": 14, "float8_e4m3fn": 28}
_FLOAT, _COMPUTE_FLOAT, _TRANSPOSED = 0, 68, 1
_TRANS_A, _SCALE_OF_A, _SCALE_OF_B, _FAST_ACCUMULATION = 3, 17, 18, 25
_MOST_WORKSPACE = 1
_ROUNDS, _LAUNCHES = 5, 4
_APART = 64  # in floats: the library needs aligned scales
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


class LtProduct:
    """C = A B with A and C by rows and sums in single precision, by the algorithms that the heuristic proposes.

    Parameters
    ----------
    cp
        The module ``cupy``.
    sizes
        M, N and K.
    dtype, dtype_out
        NumPy names of the element types of A and B, and of C.
    by_columns
        Whether B is stored by columns.
    scales
        Addresses of two floats on the device, by which A and B are multiplied; None for types without scales.
    fast
        With scales: whether sums stay in the tensor cores, which have fewer bits.
    workspace_bytes
        Memory that an algorithm may use.
    most
        The number of algorithms to request.

    Raises
    ------
    LaunchError
        When the library refuses the product.
    """

    def __init__(
        self,
        cp: Any,
        sizes: tuple[int, int, int],
        dtype: str,
        dtype_out: str,
        *,
        by_columns: bool = False,
        scales: tuple[int, int] | None = None,
        fast: bool = True,
        workspace_bytes: int = WORKSPACE_BYTES,
        most: int = 16,
    ) -> None:
        m, n, k = sizes
        cp.cuda.device.get_cublas_handle()  # loads the library
        self._cp = cp
        self._library = ctypes.CDLL(f"libcublasLt.so.{cp.cuda.runtime.runtimeGetVersion() // 1000}")
        self._workspace = cp.empty(workspace_bytes, "uint8")
        self._scalars = np.array([1, 0], np.float32)
        with ExitStack() as opened:  # frees all that was created, also if a call fails
            self._open = opened
            self._handle = self._made("cublasLt", "Create", "Destroy")
            self._product = self._made("cublasLtMatmulDesc", "Create", "Destroy", _COMPUTE_FLOAT, _FLOAT)
            attributes: list[tuple[int, Any]] = [(_TRANS_A, ctypes.c_int32(_TRANSPOSED))] if by_columns else []
            if scales is not None:
                attributes += [(_SCALE_OF_A, ctypes.c_uint64(scales[1])), (_SCALE_OF_B, ctypes.c_uint64(scales[0]))]
                attributes.append((_FAST_ACCUMULATION, ctypes.c_int8(fast)))
            for attribute, value in attributes:
                self._set("cublasLtMatmulDescSetAttribute", self._product, attribute, value)
            # The library stores by columns: this is the transposed product of the swapped operands.
            of, out = _NUMBERS[dtype], _NUMBERS[dtype_out]
            shapes = ((of, k, n) if by_columns else (of, n, k), (of, k, m), (out, n, m))
            self._layouts = [self._layout(*shape) for shape in shapes]
            preference = self._made("cublasLtMatmulPreference", "Create", "Destroy")
            room = ctypes.c_uint64(workspace_bytes)
            self._set("cublasLtMatmulPreferenceSetAttribute", preference, _MOST_WORKSPACE, room)
            found, count = (_Found * most)(), ctypes.c_int()
            b, a, c = self._layouts
            self._call(
                "cublasLtMatmulAlgoGetHeuristic",
                *(self._handle, self._product, b, a, c, c, preference, most, found, ctypes.byref(count)),
            )
            self._algorithms = [each for each in found[: count.value] if each.status == 0]
            self._open = opened.pop_all()

    def __len__(self) -> int:
        """Return the number of proposed algorithms."""
        return len(self._algorithms)

    def start(self, number: int, a: int, b: int, c: int) -> None:
        """Queue one product by a proposed algorithm; `a`, `b` and `c` are addresses on the device."""
        one, (of_b, of_a, of_c) = self._scalars.ctypes.data, self._layouts
        pointer = ctypes.c_void_p
        self._call(
            "cublasLtMatmul",
            *(self._handle, self._product, pointer(one)),
            *(pointer(b), of_b, pointer(a), of_a),
            *(pointer(one + self._scalars.itemsize), pointer(c), of_c, pointer(c), of_c),
            ctypes.byref(self._algorithms[number]),
            *(pointer(self._workspace.data.ptr), ctypes.c_size_t(self._workspace.size)),
            pointer(self._cp.cuda.get_current_stream().ptr),
        )

    def close(self) -> None:
        """Free the library's objects and the workspace."""
        self._open.close()
        self._workspace = None

    def _layout(self, kind: int, rows: int, columns: int) -> ctypes.c_void_p:
        shape = kind, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows)
        return self._made("cublasLtMatrixLayout", "Create", "Destroy", *shape)

    def _made(self, what: str, make: str, end: str, *values: Any) -> ctypes.c_void_p:
        """Return a new object of the library, which `close` frees."""
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
            raise LaunchError(f"{function} fails with status {status}")


class LtPrepared(DevicePrepared):
    """A reference by cuBLASLt with B by columns and C in float32, and a scale for each of A and B.

    The library proposes algorithms; the one that is fastest on this device, with random numbers, is used.
    """

    def __init__(self, cp: Any, launch: Launch, build: Build) -> None:
        super().__init__(cp, launch, build)
        self._scales = cp.ones((2, _APART), "float32")
        first = self._scales.data.ptr
        problem, kernel = launch.problem, launch.kernel
        self._product = LtProduct(
            cp,
            (problem.m, problem.n, problem.k),
            kernel.dtype,
            kernel.dtype_out,
            by_columns=True,
            scales=(first, first + _APART * self._scales.itemsize),
            fast=kernel.math != "promoted",
            workspace_bytes=_MORE_WORKSPACE_BYTES,
        )
        self._number = self._fastest()

    def start(self) -> None:
        """Queue one product."""
        self._product.start(self._number, self.a.data.ptr, self.b.data.ptr, self.c.address)

    def close(self) -> None:
        """Free the library's objects and the device memory."""
        self._product.close()
        del self._scales
        super().close()

    def _fastest(self) -> int:
        """Return the number of the algorithm with the smallest median, measured in turns."""
        random = np.random.default_rng(0)
        for matrix in (self.a, self.b):
            matrix.set(random.integers(0, 256, matrix.size, np.uint8) & _NO_NAN)
        usable = [number for number in range(len(self._product)) if self._runs(number)]
        if not usable:
            text = tr("cuBLASLt has no algorithm for {kernel} at this size", kernel=self.launch.kernel.name)
            raise LaunchError(text)
        seconds: list[list[float]] = [[] for _ in usable]
        for _ in range(_ROUNDS):
            for self._number, its in zip(usable, seconds, strict=True):
                its.append(self.sample(_LAUNCHES, cold=True))
        return usable[int(np.argmin([median(its[1:]) for its in seconds]))]

    def _runs(self, number: int) -> bool:
        """Return whether the library can run a proposed algorithm."""
        self._number = number
        try:
            self.start()
        except LaunchError:
            return False
        return True
