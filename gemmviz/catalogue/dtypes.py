"""Element types by name: NumPy's own, and bfloat16 and 8-bit floats, which the package ``ml_dtypes`` adds to NumPy.

Other modules write ``np.dtype(name)``: it accepts these names after the import of this module.
"""

from typing import Literal, cast, get_args

import ml_dtypes
import numpy as np

SumType = Literal["float32", "float64", "float16", "bfloat16", "int32", "int64"]
"""A type that sums are kept in, and that C is stored in."""
ElementType = Literal[
    "float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "float8_e4m3fn", "float8_e5m2"
]
"""A type of A and B."""
SUM_TYPES: tuple[SumType, ...] = get_args(SumType)
ELEMENT_TYPES: tuple[ElementType, ...] = get_args(ElementType)
NAMES = {name: np.dtype(name) for name in ELEMENT_TYPES if np.dtype(name).isbuiltin != 1}
"""The types that NumPy knows from ``ml_dtypes`` only."""
PROMOTED_AFTER = 128
"""With `math` "promoted": the products that tensor cores add up before that sum is added in the type of the sums."""
# How products are made and added where the types do not say it, and the element types for which that is a choice. Of
# tf32 operands tensor cores use 10 bits of a float's fraction; a kernel may itself make operands of half precision or
# of bfloat16 of its floats, "fp16" and "bf16"; for "promoted" see above.
MATHS: dict[str, tuple[ElementType, ...]] = {
    **dict.fromkeys(("tf32", "fp16", "bf16"), ("float32",)),
    "promoted": ("float8_e4m3fn", "float8_e5m2"),
}
# Such an operand is within this of the float that it was made of, relatively. Rounded to nearest it would be half of
# it; a kernel may also leave the rounding to the hardware, which cuts the bits off.
OPERAND_ROUNDOFF = {"tf32": 2.0**-10, "fp16": 2.0**-10, "bf16": 2.0**-7}
# Tensor cores of compute capability 9.0 keep about 14 bits of a sum of products of 8-bit floats, whatever the type of
# the sums: DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv:2412.19437, section 3.3.2. One bit less is relied on.
FP8_SUM_BITS = 13


def is_float(name: str) -> bool:
    """Whether a type rounds."""
    return np.dtype(name).kind not in "iu"


def roundoff(name: str) -> float:
    """Return the unit roundoff of a float type: half the distance from 1 to the next larger number."""
    return float(ml_dtypes.finfo(name).eps) / 2  # type: ignore[no-untyped-call]


def largest_exact(name: str) -> int:
    """Return the largest n for which every whole number from 0 to n is a value of the type."""
    return int(1 / roundoff(name)) if is_float(name) else int(np.iinfo(name).max)


def stored_as(name: str) -> str:
    """Return the type of the same size that any library can hold: the bits of a bfloat16 are a uint16."""
    return f"uint{8 * np.dtype(name).itemsize}" if name in NAMES else name


def is_fp8(name: str) -> bool:
    """Whether a type is a float of 8 bits."""
    return np.dtype(name).itemsize == 1 and is_float(name)


def sums_of(name: ElementType) -> SumType:
    """Return the type in which products of a type are summed by default: the same, or one of 32 bits for one of 8."""
    if np.dtype(name).itemsize > 1:
        return cast(SumType, name)
    return "float32" if is_float(name) else "int32"
