"""The formats of the numbers of a recording: how many bits each part of a number has, and the bits of some values."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np

from gemmviz.catalogue import front_matter
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.front_matter import Matter
from gemmviz.catalogue.matrices import A, B, C
from gemmviz.catalogue.matter_table import matter_table
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import Recording

_NAMES = "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"


@dataclass(frozen=True)
class Float:
    """A format of floating-point numbers.

    Attributes
    ----------
    exponent, fraction
        The number of bits of each part; one more is the sign.
    largest
        The largest number.
    step
        The distance from 1 to the next larger number.
    """

    exponent: int
    fraction: int
    largest: float
    step: float

    @property
    def bits(self) -> int:
        """All bits."""
        return 1 + self.exponent + self.fraction


def _float(name: str) -> Float:
    found: Any = ml_dtypes.finfo(name)  # type: ignore[no-untyped-call]
    return Float(int(found.nexp), int(found.nmant), float(found.max), float(found.eps))


FLOATS = {name: _float(name) for name in _NAMES}


@dataclass(frozen=True)
class Shown:
    """A number to show.

    Attributes
    ----------
    name
        The element, for example ``A(0, 0)``; ``"sum"``: a sum in registers.
    dtype
        NumPy's name of its type.
    value, pattern
        Its value, and its bits as a whole number; None: it has none yet.
    """

    name: str
    dtype: str
    value: float | None = None
    pattern: int | None = None


def narrow(recording: Recording) -> bool:
    """Return whether A or C has floating-point elements of fewer than 32 bits."""
    return any(recording.arrays[one].dtype in FLOATS and recording.arrays[one].itemsize < 4 for one in (A, C))


def numbers(playable: Playable, element: int, step: int) -> Iterator[Shown]:
    """Yield the first elements of a row of A and a column of B, a sum of them, and their element of C.

    Parameters
    ----------
    playable
        The recording.
    element
        The element of C, in memory order.
    step
        The step: before C is written it has no value.
    """
    recording = playable.recording
    row, column = (int(at[0]) for at in recording.arrays[C].cells(np.array([element])))
    yield _known("A", (row, 0), recording.arrays[A].dtype, recording.a[row, 0])
    yield _known("B", (0, column), recording.arrays[B].dtype, recording.b[0, column])
    yield Shown("sum", sums_type(playable))
    written = step >= playable.first_write[element]
    yield _known("C", (row, column), recording.arrays[C].dtype, recording.c[row, column] if written else None)


def _known(array: str, at: tuple[int, int], dtype: str, value: Any) -> Shown:
    name = f"{array}({at[0]}, {at[1]})"
    if value is None or dtype not in FLOATS:
        return Shown(name, dtype)
    bits = np.array([value]).astype(np.dtype(dtype))
    return Shown(name, dtype, float(value), int(bits.view(f"u{bits.itemsize}")[0]))


@per_recording
def sums_type(playable: Playable) -> str:
    """Return the type of the sums, as the front matter declares it."""
    try:
        table = matter_table(playable.recording.text, Path(playable.recording.kernel))
    except GemmvizError:
        return "float32"
    return front_matter.sums(cast(Matter, table))
