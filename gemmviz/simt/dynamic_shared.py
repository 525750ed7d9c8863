"""Dynamic shared memory that a kernel declares as bytes and carves into arrays: the type of its elements."""

import re
from dataclasses import replace

import numpy as np

from gemmviz.catalogue.plain_code import plain_code
from gemmviz.simt.debuginfo import SharedArray

_BYTES = ("int8", "uint8")
_TYPES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "half": "float16",
    "__half": "float16",
    "nv_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "half2": "float16",
    "__half2": "float16",
    "nv_bfloat162": "bfloat16",
    "__nv_bfloat162": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
    "float2": "float32",
    "float4": "float32",
}
_QUALIFIERS = r"(?:const\s+|volatile\s+)*"
_CAST = (
    rf"(?:reinterpret_cast\s*<\s*{_QUALIFIERS}(?P<new>[\w:\s]+?)\s*\*\s*>\s*\("
    rf"|\(\s*{_QUALIFIERS}(?P<old>[\w:]+)\s*\*\s*\))"
)


def typed(array: SharedArray, text: str) -> SharedArray:
    """Return the array with the element type that the source gives to its bytes.

    The array stays one of bytes where the source names no type, several, or one that is not known.

    Parameters
    ----------
    array
        As the compiler sees it.
    text
        The kernel's source.
    """
    if array.dtype not in _BYTES or len(array.shape) != 1:
        return array
    casts = re.finditer(rf"{_CAST}\s*\(*\s*&?\s*{re.escape(array.name)}\b", plain_code(text))
    types = {_TYPES.get(" ".join((cast["new"] or cast["old"]).split())) for cast in casts}
    dtype = types.pop() if len(types) == 1 else None
    if dtype is None or array.shape[0] % np.dtype(dtype).itemsize:
        return array
    return replace(array, shape=(array.shape[0] // np.dtype(dtype).itemsize,), dtype=dtype)
