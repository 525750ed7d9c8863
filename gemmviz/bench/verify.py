"""Checks a computed C.

Every kernel is tested twice. With small integers as inputs every sum is exact in any order, so C must equal the
reference bit for bit: a single term that is missing or counted twice is found at any size (see
`gemmviz.catalogue.whole_numbers`). On random inputs the rounding error of each element must stay below a bound:
see `gemmviz.bench.error_bound`.
"""

from dataclasses import dataclass, replace

import numpy as np

from gemmviz.backends.compared import Compared
from gemmviz.bench.error_bound import ErrorBound
from gemmviz.bench.parts import CHUNK_ELEMENTS, in_threads
from gemmviz.bench.row import Bound, Errors
from gemmviz.catalogue.problem import Matrix
from gemmviz.language.numbers import thousands

EXACT = ErrorBound("exact", 0.0)
"""C must equal the reference."""


@dataclass(frozen=True)
class Reference:
    """The correct C, and the tolerance.

    Attributes
    ----------
    expected
        float64 (M x N), A times B.
    magnitude
        float64 (M x N), |A| times |B|; None when `expected` is exact and C must equal it.
    bound
        The allowed error of C.
    """

    expected: Matrix
    magnitude: Matrix | None = None
    bound: ErrorBound = EXACT


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
        Largest |C - A B| / (|A| |B|), to be compared with `tolerance`; like `max_abs` if C must be exact. The error
        that numbers below the smallest normal number may add is subtracted before.
    tolerance, bound
        The tolerance, and the kind of its bound.
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
    bound: Bound
    worst_index: tuple[int, int]
    got: float
    wanted: float
    wrong: int
    elements: int

    @property
    def message(self) -> str:
        """The fault as a sentence; empty if there is none."""
        if self.ok:
            return ""
        row, column = self.worst_index
        share = f"{thousands(self.wrong)} of {thousands(self.elements)} elements of C are wrong"
        return f"{share}; the worst is C[{row}, {column}] = {self.got:.7g}, and it should be {self.wanted:.7g}"

    def to_plain(self) -> Errors:
        """Return the verdict in the form of a result file (JSON has no infinity: it becomes None)."""
        return {
            "max_abs": _finite(self.max_abs),
            "max_rel": _finite(self.max_rel),
            "tolerance": self.tolerance,
            "bound": self.bound,
            "worst_index": list(self.worst_index),
            "wrong": self.wrong,
        }


def check(c: Matrix, reference: Reference) -> Verdict:
    """Compare C (M x N, any real type) with the reference; NaN and infinity are wrong."""
    rows, columns = reference.expected.shape
    step = max(1, CHUNK_ELEMENTS // max(columns, 1))
    parts = [slice(first, first + step) for first in range(0, rows, step)]
    found = in_threads(lambda part: _compare(c, reference, part), parts)
    worst = max(found, key=lambda one: one.ratio)  # of equal ones the first: `max` returns it
    largest = max(one.largest for one in found)
    return judged(replace(worst, wrong=sum(one.wrong for one in found), largest=largest), reference)


def judged(found: Compared, reference: Reference) -> Verdict:
    """Return the verdict about a whole C that was compared with its reference."""
    return Verdict(
        found.wrong == 0,
        found.largest,
        found.ratio,
        reference.bound.tolerance,
        reference.bound.kind,
        found.index,
        found.got,
        float(reference.expected[found.index]),
        found.wrong,
        reference.expected.size,
    )


def _compare(c: Matrix, reference: Reference, part: slice) -> Compared:
    """Compare some rows of C with the reference."""
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(c[part].astype(np.float64) - reference.expected[part])
    error[~np.isfinite(error)] = np.inf
    ratio = error
    if reference.magnitude is not None:
        ratio = _divide(np.maximum(error - reference.bound.underflow, 0.0), reference.magnitude[part])
    at = int(ratio.argmax())
    wrong = int(np.count_nonzero(ratio > reference.bound.tolerance))
    row, column = divmod(at, error.shape[1])
    index = part.start + row, column
    return Compared(wrong, float(error.max()), float(ratio.flat[at]), index, float(c[index]))


def _divide(error: Matrix, magnitude: Matrix) -> Matrix:
    """Return error / magnitude; if the magnitude is 0, C must be exactly 0."""
    ratio = np.where(error > 0, np.inf, 0.0)
    return np.divide(error, magnitude, out=ratio, where=magnitude > 0)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
