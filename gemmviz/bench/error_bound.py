"""Bounds of the rounding error of a computed C: bounds that always hold, and bounds that hold with high probability.

Both have the form |C - A B| <= tolerance |A| |B|, element by element. The a-priori bound holds for every input and
every order of summation:

    tolerance = gamma_K,   gamma_K = K u / (1 - K u)

with u the unit roundoff of the type that sums are kept in. Source: N. J. Higham, *Accuracy and Stability of Numerical
Algorithms*, 2nd edition, SIAM 2002, section 3.5 (equation 3.13). From K u = 1/2 on it allows an error as large as the
result and is useless. Sums in half precision reach this point at K = 1024, sums in bfloat16 at K = 128, and earlier if
tensor cores may compute them: see `gamma`.

For larger K the probabilistic bound is used. If rounding errors are independent and have mean zero, then

    tolerance = exp(lambda sqrt(K) u + K u^2 / (1 - u)) - 1

holds for one element of C with a probability of at least 1 - 2 K exp(-lambda^2 (1 - u)^2 / 2), in every order of
summation. Source: N. J. Higham, T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
Comput. 41(5), 2019, theorem 3.1. `FAILURE` is the probability that it fails for any element of C; lambda follows from
it. If even this bound reaches 1, the random trial cannot find an error, and only the exact trial with integers judges
C.

If C is stored in a type with a larger unit roundoff u_C than that of the sums, u_C (1 + tolerance) is added to either
bound.
"""

from dataclasses import dataclass
from math import ceil, exp, log, sqrt

import ml_dtypes

from gemmviz.bench.row import Bound
from gemmviz.catalogue.dtypes import FP8_SUM_BITS, OPERAND_ROUNDOFF, PROMOTED_AFTER, is_float, is_fp8, roundoff
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

FAILURE = 1e-6
"""The probability that the probabilistic bound fails for at least one element of a right C."""
# Within a step, tensor cores that keep sums in 16 bits add like those with sums in float32.
_INSIDE_TENSOR_CORES = "float32"


@dataclass(frozen=True)
class ErrorBound:
    """|C - A B| <= tolerance |A| |B| + underflow.

    Attributes
    ----------
    kind
        The kind of bound; see the module's text.
    tolerance
        The bound relative to |A| |B|.
    underflow
        The additional absolute error because of numbers below the smallest normal number of a type.
    """

    kind: Bound
    tolerance: float
    underflow: float = 0.0


def of_kernel(kernel: Kernel, problem: Problem) -> ErrorBound:
    """Return the bound for random inputs of a kernel at a size."""
    k, sums, stored = problem.k, kernel.accumulate, kernel.dtype_out
    kind, tolerance = _of_sums(kernel, problem)
    finer = not is_float(stored) or (is_float(sums) and roundoff(stored) <= roundoff(sums))
    rounded = 0.0 if finer else roundoff(stored)
    return ErrorBound(kind, _both(tolerance, rounded), k * _underflow(sums) + _underflow(stored))


def _of_sums(kernel: Kernel, problem: Problem) -> tuple[Bound, float]:
    """Return the kind of bound for the error of the sums, before they are stored, and its tolerance."""
    k, sums = problem.k, kernel.accumulate
    if is_fp8(kernel.dtype) and is_float(sums):
        # They are truncated, so that the mean of their errors is not zero.
        promoted = kernel.math == "promoted"
        inside = _gamma(min(k, PROMOTED_AFTER) if promoted else k, 2.0**-FP8_SUM_BITS, tensor_cores=True)
        outside = _gamma(ceil(k / PROMOTED_AFTER), roundoff(sums), tensor_cores=False) if promoted else 0.0
        return ("none", 1.0) if inside is None or outside is None else ("a priori", _both(inside, outside))
    tensor_cores = kernel.dtype in ("float16", "bfloat16") or bool(kernel.math)
    known = gamma(k, sums, tensor_cores, kernel.math)
    if known is not None:
        return "a priori", known
    inside = gamma(k, _INSIDE_TENSOR_CORES, tensor_cores) if tensor_cores else 0.0
    probable = _both(inside or 0.0, probable_gamma(k, problem.m * problem.n, sums))
    return ("probabilistic" if probable < 1 else "none"), probable


def gamma(k: int, accumulate: str, tensor_cores: bool = False, math: str = "") -> float | None:
    """Return Higham's gamma_K for a sum of `k` terms, including the error of rounded operands.

    Return None from K u = 1/2 on, where it is useless.

    Parameters
    ----------
    k
        Number of terms.
    accumulate
        NumPy name of the type that the sum is kept in; 0 is returned for integers, which do not round.
    tensor_cores
        Whether the sum may be made by tensor cores. They add four or more exact products to the sum at a time, and
        truncate every addend and then the sum instead of rounding it: an error below 2 u each, at most five times per
        four products. Sources: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor
        cores", PeerJ Computer Science 7:e330, 2021; P. Blanchard, N. J. Higham, F. Lopez, T. Mary, S. Pranesh, "Mixed
        precision block fused multiply-add", SIAM J. Sci. Comput. 42(3), 2020.
    math
        ``"tf32"``, ``"fp16"`` or ``"bf16"`` when each operand is rounded before it is multiplied. Then the error of a
        product (1 + d1)(1 + d2) a b is at most 2 u + u**2, in addition to the error of the sum.
    """
    if not is_float(accumulate):
        return 0.0
    unit = OPERAND_ROUNDOFF.get(math, 0.0)
    operands = unit * (2 + unit)
    of_sum = _gamma(k, roundoff(accumulate), tensor_cores)
    return None if of_sum is None else _both(operands, of_sum)


def _gamma(k: int, unit: float, tensor_cores: bool) -> float | None:
    error = (k + ceil(k / 4)) * 2 * unit if tensor_cores else k * unit
    return error / (1 - error) if error < 0.5 else None


def probable_gamma(k: int, elements: int, accumulate: str) -> float:
    """Return the probabilistic bound for sums of `k` terms that are rounded to nearest.

    Tensor cores that keep their sums in 16 bits round each new sum to nearest (Fasi et al.; see `gamma`), and less
    often than once per term.

    Parameters
    ----------
    k
        Number of terms.
    elements
        Number of sums: the elements of C. The bound holds for all of them, up to `FAILURE`.
    accumulate
        NumPy name of the type that sums are kept in, a float.
    """
    unit = roundoff(accumulate)
    spread = sqrt(2 * log(2 * k * elements / FAILURE)) / (1 - unit)  # lambda
    return exp(spread * sqrt(k) * unit + k * unit**2 / (1 - unit)) - 1


def _both(first: float, second: float) -> float:
    """Return the bound for two relative errors, the second made after the first."""
    return first + second * (1 + first)


def _underflow(name: str) -> float:
    """Return the largest absolute error of a rounding below the smallest normal number of a type; 0 for integers."""
    if not is_float(name):
        return 0.0
    return float(ml_dtypes.finfo(name).smallest_subnormal) / 2  # type: ignore[no-untyped-call]
