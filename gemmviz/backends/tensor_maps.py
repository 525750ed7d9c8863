"""Tensor maps for the copy engine (TMA), made by the CUDA driver through ctypes: CuPy has no call for it.

``cuTensorMapEncodeTiled``, CUDA Driver API, "Tensor Map Object Management"; the numbers are those of ``cuda.h``.
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.backends.base import LaunchError
from gemmviz.backends.driver import error_text
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.tensor_map import UNIT_BYTES

BYTES = 128
_ALIGNMENT = 64
_TYPES = {"int32": 3, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}
_TYPES |= dict.fromkeys(("uint8", "int8", "float8_e4m3fn", "float8_e5m2"), 0)  # bytes
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_NO_INTERLEAVE, _L2_PROMOTION_128_BYTES, _ZEROS_OUTSIDE = 0, 2, 0


@dataclass(frozen=True)
class Geometry:
    """The description of a matrix for the driver; of each pair the first is along a row as it is stored.

    Attributes
    ----------
    element
        The driver's number of the element type.
    sizes, box
        Of the matrix and of a box, in elements.
    row_bytes
        From a row to the next.
    swizzle
        The driver's number of the swizzle.
    """

    element: int
    sizes: tuple[int, int]
    row_bytes: int
    box: tuple[int, int]
    swizzle: int


def geometry(launch: Launch, matrix: str) -> Geometry:
    """Return how a launch's tensor map of a matrix looks to the driver."""
    kernel, wanted = launch.kernel, launch.maps[matrix]
    rows, columns = launch.problem.shape(matrix)
    sizes = (rows, columns) if matrix in kernel.column_major else (columns, rows)
    dtype = kernel.dtype_of(matrix)
    row_bytes = sizes[0] * np.dtype(dtype).itemsize
    return Geometry(_TYPES[dtype], sizes, row_bytes, (wanted.columns, wanted.rows), _SWIZZLES[wanted.swizzle])


def encode(launch: Launch, matrix: str, address: int) -> Any:
    """Return the tensor map of a launch's matrix.

    Parameters
    ----------
    launch
        Which has such a map.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    address
        Where it begins in the GPU's memory.

    Returns
    -------
    numpy.void
        128 bytes, which CuPy passes to a kernel by value.

    Raises
    ------
    LaunchError
        When the driver refuses it, or has no tensor maps.
    """
    where = f"{launch.label}: the tensor map of {matrix}"
    if address % UNIT_BYTES:
        raise LaunchError(f"{where} needs a matrix that begins at a multiple of {UNIT_BYTES} bytes")
    code = ctypes.CDLL("libcuda.so.1")
    if not hasattr(code, "cuTensorMapEncodeTiled"):
        raise LaunchError(f"{where} needs a newer NVIDIA driver, of CUDA 12 or later")
    known = geometry(launch, matrix)
    memory = np.zeros(BYTES + _ALIGNMENT, np.uint8)
    # The driver writes to a multiple of 64 bytes only.
    start = -memory.ctypes.data % _ALIGNMENT
    encoded = memory[start : start + BYTES]
    error = code.cuTensorMapEncodeTiled(
        ctypes.c_void_p(encoded.ctypes.data),
        known.element,
        2,
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * 2)(*known.sizes),
        (ctypes.c_uint64 * 1)(known.row_bytes),
        (ctypes.c_uint32 * 2)(*known.box),
        (ctypes.c_uint32 * 2)(1, 1),
        _NO_INTERLEAVE,
        known.swizzle,
        _L2_PROMOTION_128_BYTES,
        _ZEROS_OUTSIDE,
    )
    if error:
        raise LaunchError(f"{where} is refused by the driver: {error_text(code, error)}")
    return encoded.copy().view(f"V{BYTES}")[0]
