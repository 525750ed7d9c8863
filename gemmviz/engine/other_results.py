"""What a kernel computes instead of A B, where its C is in every element the result of another simple rule.

A recording of whole numbers is exact. So if all elements of a wrong C are equal to those of another result, for
example of A + B, the kernel computes that one: a wrong launch leaves elements out, or adds up fewer products.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from gemmviz.language import mark, tr
from gemmviz.trace.recording.recording import Recording

_Matrix = npt.NDArray[np.float64]
# With fewer elements or products, two rules may give the same C.
_LEAST_ELEMENTS, _LEAST_DEPTH = 256, 4
# An element that nothing has written is no number, or a larger one.
_LARGEST = 2.0**30
_LEAST_WRITTEN = 16
# A multiple of a whole number may be rounded, in half precision too.
_ROUNDED = 2.0**-9

_OF_ANY_SIZE: tuple[tuple[str, Callable[[_Matrix, _Matrix], _Matrix]], ...] = (
    (
        mark("C[i, j] is the sum of A[i, k] + B[k, j]: it adds where a product multiplies"),
        lambda a, b: a.sum(1)[:, None] + b.sum(0),
    ),
    (
        mark("C[i, j] is A[i, K - 1] B[K - 1, j] alone: each product replaces the one before it"),
        lambda a, b: a[:, -1:] @ b[-1:],
    ),
    (mark("C[i, j] lacks the product of k = 0"), lambda a, b: a[:, 1:] @ b[1:]),
    (mark("C[i, j] lacks the product of k = K - 1"), lambda a, b: a[:, :-1] @ b[:-1]),
    (
        mark("C[i, j] is the sum of the right elements from C[i, 0] to C[i, j]: the sum does not begin at 0 again"),
        lambda a, b: np.cumsum(a @ b, 1),
    ),
    (
        mark("C[i, j] is the sum of the right elements from C[0, j] to C[i, j]: the sum does not begin at 0 again"),
        lambda a, b: np.cumsum(a @ b, 0),
    ),
)
_OF_SQUARES: tuple[tuple[str, Callable[[_Matrix, _Matrix], _Matrix]], ...] = (
    (mark("C is A + B: it adds and does not multiply"), lambda a, b: a + b),
    (mark("C is A - B, and no product of matrices"), lambda a, b: a - b),
    (mark("C[i, j] is A[i, j] B[i, j], and no product of matrices"), lambda a, b: a * b),
    (mark("C is A A: B does not count"), lambda a, b: a @ a),
    (mark("C is B B: A does not count"), lambda a, b: b @ b),
)

_OF_VECTORS = (
    (mark("only the first {count} elements of C are written, and each is A + B: vectors are added"), np.add),
    (mark("only the first {count} elements of C are written, each as A B: no product of matrices"), np.multiply),
)


def other_result(recording: Recording) -> str:
    """Return a sentence for what all of a wrong C is instead of A B; empty where no simple rule gives it.

    Parameters
    ----------
    recording
        Of a kernel without an epilogue, which adds nothing to C; its C is wrong.
    """
    if recording.m * recording.n < _LEAST_ELEMENTS or recording.k < _LEAST_DEPTH:
        return ""
    a, b, c = (matrix.astype(np.float64) for matrix in (recording.a, recording.b, recording.c))
    return next((tr(text) for text, result in _rules(a, b) if np.array_equal(c, result)), _of_vectors(a, b, c))


def factor_of(recording: Recording) -> float:
    """Return the factor by which every element of A B is multiplied in a wrong C; 0 if there is none.

    A whole number is none: a kernel may add its products several times.

    Parameters
    ----------
    recording
        As for `other_result`.
    """
    product = recording.a.astype(np.float64) @ recording.b.astype(np.float64)
    counts = product != 0
    if counts.sum() < _LEAST_ELEMENTS or recording.k < _LEAST_DEPTH:
        return 0.0
    ratios = recording.c[counts].astype(np.float64) / product[counts]
    factor = float(np.median(ratios))
    within = _ROUNDED * abs(factor)
    fits = bool((np.abs(ratios - factor) <= within).all()) and bool((np.abs(recording.c[~counts]) <= within).all())
    return factor if fits and np.isfinite(factor) and abs(factor - round(factor)) > _ROUNDED else 0.0


def whole_result(recording: Recording) -> str:
    """Return a sentence if all of C are whole numbers where A and B are random numbers; else an empty text."""
    large = recording.m * recording.n >= _LEAST_ELEMENTS and bool(np.isfinite(recording.c).all())
    if not large or not np.array_equal(recording.c, np.round(recording.c)):
        return ""
    return tr(
        "with random numbers as A and B every element of C is a whole number: an integer type keeps a sum or an operand"
    )


def _rules(a: _Matrix, b: _Matrix) -> Iterator[tuple[str, _Matrix]]:
    for text, rule in _OF_ANY_SIZE:
        yield text, rule(a, b)
    if a.shape == b.shape and a.shape[0] == a.shape[1]:
        for text, rule in _OF_SQUARES:
            yield text, rule(a, b)


def _of_vectors(a: _Matrix, b: _Matrix, c: _Matrix) -> str:
    """Return the sentence if C, as it lies in memory, begins with a vector made of A and B, and ends there."""
    first, second, written = a.reshape(-1), b.reshape(-1), c.reshape(-1)
    has_value = np.abs(written) < _LARGEST
    count = int(has_value.argmin())
    if count < _LEAST_WRITTEN or has_value[count:].any():
        return ""
    values = written[:count]
    if count == len(a) and np.array_equal(values, a @ second[: a.shape[1]]):
        return tr("only M elements of C are written, and they are A times K elements of B: a matrix times a vector")
    if count > min(len(first), len(second)):
        return ""
    for text, result in _OF_VECTORS:
        if np.array_equal(values, result(first[:count], second[:count])):
            return tr(text, count=count)
    return ""
