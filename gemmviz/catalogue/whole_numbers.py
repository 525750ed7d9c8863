"""Inputs of small whole numbers, for which a right kernel computes C exactly, in whatever order it adds.

Every product and every partial sum is a whole number, and the magnitudes of all terms of an element of C add up to no
more than the largest number up to which the type of the sums, and the type of C, hold every whole number. So nothing
is rounded, and a wrong element differs from A B.

Where K is small enough, A and B are dense: see `gemmviz.catalogue.problem.small_integer_inputs`. Sums in half
precision allow that up to K = 227, sums in bfloat16 up to K = 28. Beyond, A holds -1 and 1, B holds whole numbers
from -3 to 3 without 0, and where that is not enough, zeros are spread over both:

    A[i, k] = 0 unless (k + i) mod p = 0
    B[k, j] = 0 unless (k div p + j) mod q = 0

so that each element of C is a sum of at most ceil(K / (p q)) products. All products that are not 0 have a magnitude
from 1 to 3, and a further one would still be exact: if a kernel leaves such a product out, or adds it twice, C shows
it. No k can hide: with M >= p and N >= q there is a row i with (k + i) mod p = 0 and a column j with (k div p + j)
mod q = 0, so each k has a product that counts, in one of p rows and one of q columns. q is 1 where M is large enough,
and p is M elsewhere. Only where N is less than q, for example with fewer than 7 elements of C at K = 4096 with sums
in half precision, or 49 in bfloat16, some k count nowhere; they are left to the trial with random inputs.
"""

from math import ceil

import numpy as np

from gemmviz.catalogue.dtypes import FP8_SUM_BITS, is_fp8, largest_exact
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Matrix, Problem, small_integer_inputs

_LARGEST_PRODUCT = 9  # of dense inputs
_LARGEST_SPARSE_PRODUCT = 3
LARGEST_C = 3
"""Of C before a launch, and of a bias."""
Spread = tuple[int, int]
"""p and q of the pattern of zeros; (0, 0) for dense inputs with products up to 9."""
DENSE: Spread = (0, 0)


def spread(kernel: Kernel, problem: Problem, kept_free: int = 0, factor: int = 1) -> Spread:
    """Return the pattern of zeros that keeps every sum of a kernel exact.

    Parameters
    ----------
    kernel
        Its types of the sums and of C decide which whole numbers are exact.
    problem
        The size.
    kept_free, factor
        How much is added to `factor` times a sum: alpha A B + beta C has larger values than A B.
    """
    exact = [*map(largest_exact, (kernel.accumulate, kernel.dtype_out)), *([2**FP8_SUM_BITS] * is_fp8(kernel.dtype))]
    largest = (min(exact) - kept_free) // factor
    if problem.k * _LARGEST_PRODUCT <= largest:
        return DENSE
    terms = max(1, largest // _LARGEST_SPARSE_PRODUCT - 1)
    apart = ceil(problem.k / terms)
    rows = min(apart, problem.m)
    return rows, ceil(apart / rows)


def whole_inputs(problem: Problem, dtype: str, zeros: Spread = DENSE, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return A and B of small whole numbers.

    Parameters
    ----------
    problem, dtype, seed
        As for `gemmviz.catalogue.problem.small_integer_inputs`.
    zeros
        From `spread`.

    Returns
    -------
    tuple
        A (M x K) and B (K x N), C-contiguous, of `dtype`.
    """
    a, b = small_integer_inputs(problem, dtype, seed)
    if zeros == DENSE:
        return a, b
    p, q = zeros
    i, j, k = np.arange(problem.m)[:, None], np.arange(problem.n), np.arange(problem.k)
    a = np.where(k % p == -i % p, np.sign(a.astype(np.int8)), 0)
    b = np.where((k // p % q)[:, None] == -j % q, b, np.zeros(1, dtype))
    return a.astype(dtype), b


def c_before(shape: tuple[int, int], seed: int = 0) -> Matrix:
    """Return whole numbers from -3 to 3 as the C that a kernel reads: int8 (M x N)."""
    return np.random.default_rng(seed).integers(-LARGEST_C, LARGEST_C + 1, shape, np.int8)


def inputs_for(job: Launch) -> tuple[Matrix, Matrix]:
    """Return A and B for recording a launch: its result must equal that of `result_for`.

    An epilogue that sets negative elements to zero gets no negative numbers, so that the recording shows the product;
    but for a launch that tries the epilogue.
    """
    kernel = job.kernel
    added = (job.beta != 0) + (kernel.has_bias and job.tries_epilogue)
    zeros = spread(kernel, job.problem, kept_free=LARGEST_C * added, factor=int(job.alpha))
    a, b = whole_inputs(job.problem, kernel.dtype, zeros)
    return (np.abs(a), np.abs(b)) if kernel.epilogue == "relu" and not job.tries_epilogue else (a, b)


def bias_for(job: Launch) -> Matrix:
    """Return the bias for recording a launch: zeros, or for a launch that tries it whole numbers without 0."""
    (numbers,) = c_before((1, job.problem.n))
    bias = np.where(numbers == 0, LARGEST_C, numbers)
    return bias if job.tries_epilogue else np.zeros_like(bias)


def result_for(job: Launch, product: Matrix) -> Matrix:
    """Return the right result of a recorded launch, where C holds `c_before` if it counts.

    Parameters
    ----------
    job
        The launch.
    product
        A B (M x N).
    """
    if job.beta and not job.kernel.zeroed:
        product = job.alpha * product + job.beta * c_before(job.problem.shape("C"))
    else:
        product = job.alpha * product
    if job.kernel.has_bias:
        product = product + bias_for(job)
    return np.maximum(product, 0) if job.kernel.epilogue == "relu" else product
