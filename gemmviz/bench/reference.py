"""References for verification, computed once per problem and backend and then kept."""

from dataclasses import dataclass

import numpy as np

from gemmviz.backends.base import Backend
from gemmviz.bench.verify import Reference, gamma
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Matrix, random_inputs, small_integer_inputs

_CHECKED_ROWS = 4
_LARGEST_PRODUCT = 9
Key = tuple[str, str, int, int, int, int]


@dataclass(frozen=True)
class Trial:
    """Inputs and what C must be for them."""

    a: Matrix
    b: Matrix
    reference: Reference


class References:
    """Remembers the last problem's trials, because a ladder of kernels asks for the same ones.

    Parameters
    ----------
    seed
        Of the random inputs.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._key: Key | None = None
        self._random: tuple[Matrix, Matrix, Matrix, Matrix] | None = None
        self._exact: tuple[Matrix, Matrix, Matrix] | None = None

    def random(self, launch: Launch, backend: Backend) -> Trial:
        """Return the trial with random inputs, judged by Higham's bound.

        Raises
        ------
        ConstraintError
            When the bound says nothing (see `gamma`).
        """
        self._forget_others(launch)
        tolerance = gamma(launch.problem.k, launch.kernel.accumulate)
        if self._random is None:
            a, b = random_inputs(launch.problem, launch.kernel.dtype, self._seed)
            expected = backend.product(a, b)
            _cross_check(a, b, expected)
            magnitude = backend.product(np.abs(a), np.abs(b))
            self._random = a, b, expected, magnitude
        a, b, expected, magnitude = self._random
        return Trial(a, b, Reference(expected, magnitude, tolerance))

    def exact(self, launch: Launch, backend: Backend) -> Trial | None:
        """Return the trial with small whole numbers, where C must be exact; None where sums could round."""
        self._forget_others(launch)
        if launch.problem.k * _LARGEST_PRODUCT > _largest_exact(launch.kernel.accumulate):
            return None
        if self._exact is None:
            a, b = small_integer_inputs(launch.problem, launch.kernel.dtype, self._seed)
            expected = backend.product(a, b)
            _cross_check(a, b, expected)
            self._exact = a, b, expected
        a, b, expected = self._exact
        return Trial(a, b, Reference(expected, None, 0.0))

    def _forget_others(self, launch: Launch) -> None:
        problem, kernel = launch.problem, launch.kernel
        key = (kernel.dtype, kernel.accumulate, problem.m, problem.n, problem.k, self._seed)
        if key != self._key:
            self._key, self._random, self._exact = key, None, None


def _largest_exact(accumulate: str) -> int:
    """Return up to which whole number every one is a value of the type."""
    dtype = np.dtype(accumulate)
    return int(2 ** (np.finfo(dtype).nmant + 1)) if dtype.kind == "f" else int(np.iinfo(dtype).max)


def _cross_check(a: Matrix, b: Matrix, expected: Matrix) -> None:
    """Let NumPy compute some rows too: a GPU's library must not be the only witness.

    Raises
    ------
    GemmvizError
        When the two disagree.
    """
    rows = np.unique(np.linspace(0, len(a) - 1, _CHECKED_ROWS).astype(int))
    left, right = a[rows].astype(np.float64), b.astype(np.float64)
    bound = gamma(a.shape[1], "float64") * 2 * (np.abs(left) @ np.abs(right))
    if not (np.abs(left @ right - expected[rows]) <= bound).all():
        raise GemmvizError("the reference computed by the library disagrees with NumPy: trust no figure of this device")
