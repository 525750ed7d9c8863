"""Tensor maps for the copy engine (TMA), made by the CUDA driver through ctypes: CuPy has no call for it.

``cuTensorMapEncodeTiled``, CUDA Driver API, "Tensor Map Object Management"; the numbers are those of ``cuda.h``.
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.backends.base import LaunchError
from gemmviz.backends.driver import error_text
from gemmviz.backends.padding import padded_row_bytes
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.tensor_map import UNIT_BYTES

BYTES = 128
_ALIGNMENT = 64
_TYPES = {"int32": 3, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}
_TYPES |= dict.fromkeys(("uint8", "int8", "float8_e4m3fn", "float8_e5m2"), 0)  # bytes
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_NO_INTERLEAVE, _L2_PROMOTION_128_BYTES, _ZEROS_OUTSIDE = 0, 2, 0


@dataclass(frozen=True)
class Geometry:
    """The description of a matrix for the driver; the first dimension is along a stored row.

    Attributes
    ----------
    element
        The driver's number of the element type.
    sizes, box
        Sizes of the tensor and of a box, in elements.
    strides
        Distances in bytes along each dimension except the first.
    swizzle
        The driver's number of the swizzle.
    """

    element: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


def geometry(launch: Launch, matrix: str) -> Geometry:
    """Return the driver's description of a launch's tensor map of a matrix."""
    kernel, wanted = launch.kernel, launch.maps[matrix]
    rows, columns = launch.problem.shape(matrix)
    sizes = (rows, columns) if matrix in kernel.column_major else (columns, rows)
    dtype = kernel.dtype_of(matrix)
    itemsize = np.dtype(dtype).itemsize
    row_bytes = sizes[0] * itemsize
    if matrix in kernel.unaligned:
        row_bytes = padded_row_bytes(row_bytes)
    tensor: tuple[int, ...] = sizes
    strides: tuple[int, ...] = (row_bytes,)
    box: tuple[int, ...] = wanted.columns, wanted.rows
    if wanted.rank > 2:
        panel, more = wanted.panel(dtype), wanted.rank - 3
        tensor = (panel, sizes[1], sizes[0] // panel, *[1] * more)
        strides = (row_bytes, panel * itemsize, *[row_bytes] * more)
        box = (panel, wanted.rows, wanted.columns // panel, *[1] * more)
    return Geometry(_TYPES[dtype], tensor, strides, box, _SWIZZLES[wanted.swizzle])


def encode(launch: Launch, matrix: str, address: int) -> Any:
    """Return the tensor map of a launch's matrix.

    Parameters
    ----------
    launch
        A launch with such a map.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    address
        Its address in the GPU's memory.

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
    rank = len(known.sizes)
    memory = np.zeros(BYTES + _ALIGNMENT, np.uint8)
    # The driver writes only to a multiple of 64 bytes.
    start = -memory.ctypes.data % _ALIGNMENT
    encoded = memory[start : start + BYTES]
    error = code.cuTensorMapEncodeTiled(
        ctypes.c_void_p(encoded.ctypes.data),
        known.element,
        rank,
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*known.sizes),
        (ctypes.c_uint64 * (rank - 1))(*known.strides),
        (ctypes.c_uint32 * rank)(*known.box),
        (ctypes.c_uint32 * rank)(*[1] * rank),
        _NO_INTERLEAVE,
        known.swizzle,
        _L2_PROMOTION_128_BYTES,
        _ZEROS_OUTSIDE,
    )
    if error:
        raise LaunchError(f"{where} is refused by the driver: {error_text(code, error)}")
    return encoded.copy().view(f"V{BYTES}")[0]
