"""Element types by name: NumPy's own, and bfloat16, which the package ``ml_dtypes`` adds to NumPy.

Everybody else writes ``np.dtype(name)``: importing this module is what makes it know ``"bfloat16"``.
"""

from typing import Literal, get_args

import ml_dtypes
import numpy as np

ElementType = Literal["float32", "float64", "float16", "bfloat16", "int32"]
ELEMENT_TYPES: tuple[ElementType, ...] = get_args(ElementType)
# How products are made: as the type says, or by tensor cores that keep 10 bits behind the point of a float.
MATHS = ("", "tf32")
# A tf32 operand is within this of the float that it was made of, relatively. Rounded to nearest it would be half of it;
# a kernel may also leave the rounding to the hardware, which cuts the bits off.
TF32_ROUNDOFF = 2.0**-10


def is_float(name: str) -> bool:
    """Whether a type rounds."""
    return np.dtype(name).kind not in "iu"


def roundoff(name: str) -> float:
    """Return the unit roundoff of a float type: half the distance from 1 to the next larger number."""
    return float(ml_dtypes.finfo(name).eps) / 2  # type: ignore[no-untyped-call]


def largest_exact(name: str) -> int:
    """Return up to which whole number every one is a value of the type."""
    return int(1 / roundoff(name)) if is_float(name) else int(np.iinfo(name).max)


def stored_as(name: str) -> str:
    """Return the type of the same size that any library can hold: the bits of a bfloat16 are a uint16."""
    return "uint16" if name == "bfloat16" else name
