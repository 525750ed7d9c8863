"""Whether a computed C is right.

Every kernel is tested twice. On inputs of small whole numbers every sum is exact in any order, so C must
equal the reference bit for bit: a single term left out or counted twice shows at any size. On random inputs the
rounding error must stay below its a-priori bound, element by element:

    |C - A B| <= gamma_K |A| |B|,   gamma_K = K u / (1 - K u)

with u the unit roundoff of the type that sums are kept in. Source: N. J. Higham, *Accuracy and Stability of Numerical
Algorithms*, 2nd edition, SIAM 2002, section 3.5 (equation 3.13).
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from gemmviz.bench.row import Errors
from gemmviz.catalogue.dtypes import TF32_ROUNDOFF, is_float, roundoff
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.problem import Matrix

# Small enough for a cache: the comparison passes over a chunk ten times.
_CHUNK_ELEMENTS = 1 << 18


@dataclass(frozen=True)
class Reference:
    """The correct C, and the tolerance.

    Attributes
    ----------
    expected
        float64 (M x N), A times B.
    magnitude
        float64 (M x N), |A| times |B|; None when `expected` is exact and C must equal it.
    tolerance
        gamma_K; 0 when C must equal `expected`.
    """

    expected: Matrix
    magnitude: Matrix | None
    tolerance: float


@dataclass(frozen=True)
class Verdict:
    """The result for one C.

    Attributes
    ----------
    ok
        Whether every element is finite and within its bound.
    max_abs
        Largest |C - A B|; infinite when an element is not finite.
    max_rel
        Largest |C - A B| / (|A| |B|), to be compared with `tolerance`; as `max_abs` where C must be exact.
    worst_index
        (row, column) of the worst element.
    got, wanted
        The two values of that element.
    wrong
        The number of elements out of bounds.
    """

    ok: bool
    max_abs: float
    max_rel: float
    tolerance: float
    worst_index: tuple[int, int]
    got: float
    wanted: float
    wrong: int
    elements: int

    @property
    def message(self) -> str:
        """The fault as a sentence; empty when there is none."""
        if self.ok:
            return ""
        row, column = self.worst_index
        share = f"{self.wrong:,} of {self.elements:,} elements of C are wrong"
        return f"{share}; the worst is C[{row}, {column}] = {self.got:.7g}, and it should be {self.wanted:.7g}"

    def to_plain(self) -> Errors:
        """Return the verdict in the form of a result file (JSON has no infinity: it becomes None)."""
        return {
            "max_abs": _finite(self.max_abs),
            "max_rel": _finite(self.max_rel),
            "tolerance": self.tolerance,
            "worst_index": list(self.worst_index),
            "wrong": self.wrong,
        }


def gamma(k: int, accumulate: str, tensor_cores: bool = False, math: str = "") -> float:
    """Return Higham's gamma_K for a sum of `k` terms, and the error of the terms where their operands are rounded.

    Parameters
    ----------
    k
        Number of terms.
    accumulate
        NumPy name of the type that the sum is kept in; 0 is returned for integers, which do not round.
    tensor_cores
        Whether the sum may be made by tensor cores. They add four or more exact products to the sum at a time, cut
        every addend and then the sum off instead of rounding it: an error below 2 u each, and five of them per four
        products at most. Sources: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor
        cores", PeerJ Computer Science 7:e330, 2021; P. Blanchard, N. J. Higham, F. Lopez, T. Mary, S. Pranesh, "Mixed
        precision block fused multiply-add", SIAM J. Sci. Comput. 42(3), 2020.
    math
        ``"tf32"`` when each operand is rounded before it is multiplied. Then a product (1 + d1)(1 + d2) a b is off by
        2 u + u**2 at most, and the sum's own error comes on top of that.

    Raises
    ------
    ConstraintError
        When K u >= 1/2: there the bound says nothing any more.
    """
    if not is_float(accumulate):
        return 0.0
    unit = roundoff(accumulate)
    error = (k + ceil(k / 4)) * 2 * unit if tensor_cores else k * unit
    if error >= 0.5:
        raise ConstraintError(f"sums of {k} terms in {accumulate} cannot be verified: the error may exceed the result")
    operands = TF32_ROUNDOFF * (2 + TF32_ROUNDOFF) if math == "tf32" else 0.0
    return operands + (1 + operands) * error / (1 - error)


def check(c: Matrix, reference: Reference) -> Verdict:
    """Compare C (M x N, any real type) with the reference; NaN and infinity are wrong."""
    rows, columns = reference.expected.shape
    step = max(1, _CHUNK_ELEMENTS // max(columns, 1))
    worst, wrong, largest = (-1.0, (0, 0)), 0, 0.0
    for first in range(0, rows, step):
        part = slice(first, first + step)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(c[part].astype(np.float64) - reference.expected[part])
        error[~np.isfinite(error)] = np.inf
        ratio = error if reference.magnitude is None else _divide(error, reference.magnitude[part])
        wrong += int(np.count_nonzero(ratio > reference.tolerance))
        largest = max(largest, float(error.max()))
        at = int(ratio.argmax())
        if ratio.flat[at] > worst[0]:
            worst = (float(ratio.flat[at]), (first + at // columns, at % columns))
    index = worst[1]
    return Verdict(
        wrong == 0,
        largest,
        worst[0],
        reference.tolerance,
        index,
        float(c[index]),
        float(reference.expected[index]),
        wrong,
        rows * columns,
    )


def _divide(error: Matrix, magnitude: Matrix) -> Matrix:
    """Return error / magnitude; where the magnitude is 0, C must be 0 exactly."""
    ratio = np.where(error > 0, np.inf, 0.0)
    return np.divide(error, magnitude, out=ratio, where=magnitude > 0)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
