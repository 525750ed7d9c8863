"""References for verification, computed once per problem and kept while memory allows."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from gemmviz.backends.base import Backend
from gemmviz.backends.host import available_memory, host_bytes
from gemmviz.bench import error_bound
from gemmviz.bench.parts import CHUNK_ELEMENTS, in_threads
from gemmviz.bench.verify import Reference
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import SCALED, Launch
from gemmviz.catalogue.matrices import BIAS
from gemmviz.catalogue.problem import Matrix, Problem, random_inputs
from gemmviz.catalogue.whole_numbers import DENSE, LARGEST_C, Spread, c_before, spread, whole_inputs

_CHECKED_ROWS = 4
Key = tuple[str, Problem]


@dataclass(frozen=True)
class VerificationCase:
    """Inputs and the correct C for them.

    Attributes
    ----------
    name
        The kind of trial, for people: "on whole numbers".
    a, b, reference
        The inputs, and the reference for the result.
    alpha, beta
        The scalars, for a kernel that takes them.
    c, bias
        C before the launch (M x N), and the bias (N); None if they are not used.
    """

    name: str
    a: Matrix
    b: Matrix
    reference: Reference
    alpha: float = 1.0
    beta: float = 0.0
    c: Matrix | None = None
    bias: Matrix | None = None


@dataclass
class _Kept:
    """The trials of one element type at one size, computed on first use; `exact` has the pattern `zeros`."""

    inputs: tuple[Matrix, Matrix] | None = None
    random: tuple[Matrix, Matrix] | None = None
    zeros: Spread = DENSE
    positive: bool = False
    exact: tuple[Matrix, Matrix, Matrix] | None = None

    @property
    def nbytes(self) -> int:
        return sum(m.nbytes for group in (self.inputs, self.random, self.exact) for m in group or ())


class References:
    """Keeps trials, because the kernels of a ladder share them, round after round.

    Parameters
    ----------
    seed
        The seed of the random inputs.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Host memory of the kept trials, in bytes; it is freed when another problem needs it."""
        return sum(kept.nbytes for kept in self._kept.values())

    def inputs(self, launch: Launch, backend: Backend) -> tuple[Matrix, Matrix]:
        """Return the random A and B of the measurement."""
        kept = self._find(launch)
        if kept.inputs is None:
            a, b = random_inputs(launch.problem, launch.kernel.dtype, self._seed)
            kept.inputs = backend.staged(a), backend.staged(b)
        return kept.inputs

    def random(self, launch: Launch, backend: Backend) -> VerificationCase:
        """Return the trial with random inputs, judged by a bound of rounding errors (`gemmviz.bench.error_bound`)."""
        kept, (a, b) = self._find(launch), self.inputs(launch, backend)
        if kept.random is None:
            expected = backend.product(a, b)
            _cross_check(a, b, expected)
            kept.random = expected, backend.product(np.abs(a), np.abs(b))
        expected, magnitude = kept.random
        bound = error_bound.of_kernel(launch.kernel, launch.problem)
        expected = _after(launch.kernel, expected)
        return VerificationCase("on random numbers", a, b, Reference(expected, magnitude, bound))

    def exact(self, launch: Launch, backend: Backend) -> VerificationCase:
        """Return the trial with small integers, for which C must be exact (`gemmviz.catalogue.whole_numbers`).

        This is true for tensor cores, too: below the largest exact integer, truncation changes nothing. For an epilogue
        that sets negative elements to zero no negative numbers are used, as it would hide missing terms.
        """
        kernel = launch.kernel
        a, b, expected = self._whole(launch, backend, spread(kernel, launch.problem), kernel.epilogue == "relu")
        return VerificationCase("on whole numbers", a, b, Reference(expected))

    def scaled(self, launch: Launch, backend: Backend) -> VerificationCase | None:
        """Return a trial like `exact` with alpha = 2, beta = -1, and integers in C and the bias.

        None for a kernel that takes none of these and has no epilogue. A kernel without beta that reads C and writes D
        adds C unchanged.
        """
        kernel, problem = launch.kernel, launch.problem
        adds = "beta" in kernel.args or kernel.has_d
        if not (adds or kernel.has_bias or kernel.epilogue or "alpha" in kernel.args):
            return None
        alpha = int(SCALED["alpha"]) if "alpha" in kernel.args else 1
        beta = int(SCALED["beta"]) if "beta" in kernel.args else 1 if kernel.has_d else 0
        zeros = spread(kernel, problem, kept_free=2 * LARGEST_C, factor=alpha)
        a, b, expected = self._whole(launch, backend, zeros, positive=False)
        c, bias = c_before(problem.shape("C"), self._seed), c_before((1, problem.n), self._seed + 1)[0]
        result = alpha * expected + beta * c + (bias if kernel.has_bias else 0)
        known = {"alpha": f"alpha = {alpha}", "beta": f"beta = {beta}", BIAS: "a bias"}
        features = [text for name, text in known.items() if name in kernel.args]
        features += ["C added"] * (adds and beta == 1) + ["negative sums"] * bool(kernel.epilogue)
        return VerificationCase(
            f"on whole numbers, with {' and '.join(features)}",
            *(a, b, Reference(_after(kernel, result)), alpha, beta),
            c.astype(kernel.dtype_out) if adds else None,
            bias.astype(kernel.dtype_out) if kernel.has_bias else None,
        )

    def _whole(self, launch: Launch, backend: Backend, zeros: Spread, positive: bool) -> tuple[Matrix, Matrix, Matrix]:
        """Return integers A, B and A B, with a pattern of zeros; `positive`: without negative numbers."""
        kept = self._find(launch)
        if kept.exact is None or (kept.zeros, kept.positive) != (zeros, positive):
            kept.exact = None  # free its memory for the next trial
            a, b = whole_inputs(launch.problem, launch.kernel.dtype, zeros, self._seed)
            a, b = (np.abs(a), np.abs(b)) if positive else (a, b)
            a, b = backend.staged(a), backend.staged(b)
            expected = backend.product(a, b)
            _cross_check(a, b, expected)
            kept.zeros, kept.positive, kept.exact = zeros, positive, (a, b, expected)
        return kept.exact

    def _find(self, launch: Launch) -> _Kept:
        key = launch.kernel.dtype, launch.problem
        if key not in self._kept:
            self._make_room(launch)
            self._kept[key] = _Kept()
        self._kept.move_to_end(key)
        return self._kept[key]

    def _make_room(self, launch: Launch) -> None:
        """Drop the least recently used problems, until a new one fits."""
        needed = host_bytes(launch.problem, np.dtype(launch.kernel.dtype_out).itemsize)
        while self._kept and (available_memory() or 0) < 2 * needed:
            self._kept.popitem(last=False)


def _after(kernel: Kernel, product: Matrix) -> Matrix:
    """Return the result of a kernel from its product, by applying the epilogue."""
    return np.maximum(product, 0) if kernel.epilogue == "relu" else product


def _cross_check(a: Matrix, b: Matrix, expected: Matrix) -> None:
    """Check some rows with NumPy, so that the reference does not depend on the GPU's library alone.

    Raises
    ------
    GemmvizError
        When the two disagree.
    """
    rows = np.unique(np.linspace(0, len(a) - 1, _CHECKED_ROWS).astype(int))
    left = a[rows].astype(np.float64)
    rounding = error_bound.gamma(a.shape[1], "float64")
    assert rounding is not None  # K is far below 1/(2 u)

    def agrees(columns: slice) -> bool:
        right = b[:, columns].astype(np.float64)
        bound = 2 * rounding * (np.abs(left) @ np.abs(right))
        return bool((np.abs(left @ right - expected[rows, columns]) <= bound).all())

    # In parts of B that fit in a cache.
    step = max(1, CHUNK_ELEMENTS // len(b))
    if not all(in_threads(agrees, [slice(first, first + step) for first in range(0, b.shape[1], step)])):
        raise GemmvizError("the library's reference differs from NumPy's: do not trust figures of this device")
