"""The arguments of a CUDA kernel's launch, through a CuPy that the caller passes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gemmviz.backends.signature import DESCRIBE, MOST, scalar_types
from gemmviz.catalogue.launch import Launch

Types = dict[str, type[np.generic]]
"""The types of a kernel's scalar parameters."""


def arguments(launch: Launch, known: Mapping[str, Any], types: Types) -> list[Any]:
    """Return the arguments of a launch, in order.

    Parameters
    ----------
    launch
        The launch.
    known
        Matrices, tensor maps and pointers on the device, by their role.
    types
        From `types_of`; they decide how scalars are passed.
    """
    return [
        known[name] if name in known else _scalar(launch, name, types, number)
        for number, name in enumerate(launch.kernel.args, 1)
    ]


def types_of(cp: Any, module: Any, launch: Launch) -> Types:
    """Return the types of the kernel's scalar parameters, from the compiled module."""
    answer = cp.zeros(1 + MOST, "int32")
    module.get_function(DESCRIBE)((1,), (1,), (answer,))
    kernel = launch.kernel
    return scalar_types(cp.asnumpy(answer).tolist(), kernel.args, launch.entry, kernel.structs, kernel.struct_pointers)


def map_arguments(cp: Any, maps: Mapping[str, Any], types: Types) -> dict[str, Any]:
    """Return tensor maps as the kernel takes them: by value, or in the device's memory where it takes a pointer."""
    return {
        name: cp.asarray(np.frombuffer(one.tobytes(), np.uint8)) if name in types else one for name, one in maps.items()
    }


def _scalar(launch: Launch, name: str, types: Types, number: int) -> Any:
    value = launch.scalar(name)
    if any(first < number <= end for first, end in launch.kernel.structs):  # the compiler converts it
        return float(value) if name in ("alpha", "beta") else int(value)
    kind = types[f"{name} as parameter {number}" if name.isdecimal() else name]
    if (
        kind is np.float16 and "bfloat16" in launch.kernel.types
    ):  # a type of 16 bits, and the compiler does not say which
        return np.asarray(value, "bfloat16").view(np.uint16)[()]
    return np.dtype(kind).type(value)
