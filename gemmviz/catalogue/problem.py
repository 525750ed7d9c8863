"""The problem that a kernel solves: C = A x B of one size, with reproducible inputs."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from gemmviz.catalogue.dtypes import is_float
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr

LARGEST = 131_072
Side = Annotated[int, Meta(ge=1, le=LARGEST)]
"""M, N or K of a file."""
Matrix = npt.NDArray[Any]
HUGE_BYTE = 0x7B
"""Repeated, it makes a large and finite number of every type: 61280 in half precision, 1.3e36 in float32."""
UNFILLED = 0xFF
"""Repeated, it is NaN in every float type: rows of A that are multiplied before they are there show."""


@dataclass(frozen=True)
class Problem:
    """C (M x N) = A (M x K) times B (K x N).

    Raises
    ------
    ConstraintError
        When a size is not between 1 and `LARGEST`.
    """

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        for name, size in (("M", self.m), ("N", self.n), ("K", self.k)):
            if not 1 <= size <= LARGEST:
                reason = tr("{name} = {size}: choose a size from 1 to {largest}", name=name, size=size, largest=LARGEST)
                raise ConstraintError(reason)

    @classmethod
    def cube(cls, size: int) -> "Problem":
        """Return the problem with M = N = K = size."""
        return cls(size, size, size)

    @property
    def flops(self) -> int:
        """Floating-point operations: a multiplication and an addition per (i, j, k), 2 M N K."""
        return 2 * self.m * self.n * self.k

    def shape(self, matrix: str) -> tuple[int, int]:
        """Return (rows, columns) of matrix ``"A"``, ``"B"`` or ``"C"``."""
        return {"A": (self.m, self.k), "B": (self.k, self.n), "C": (self.m, self.n)}[matrix]

    def __str__(self) -> str:
        return f"{self.m} x {self.n} x {self.k}"


def random_inputs(problem: Problem, dtype: str, seed: int) -> tuple[Matrix, Matrix]:
    """Return A and B for measuring: uniform in [-1, 1), never zeros, which run faster on a GPU.

    Integer types get whole numbers from -4 to 4, unsigned ones from 0 to 8.

    Parameters
    ----------
    problem
        The size.
    dtype
        NumPy name of the element type.
    seed
        The same seed gives the same matrices on every machine.

    Returns
    -------
    tuple
        A (M x K) and B (K x N), C-contiguous, of `dtype`.
    """
    generator = np.random.default_rng(seed)

    def matrix(shape: tuple[int, int]) -> Matrix:
        if np.issubdtype(np.dtype(dtype), np.integer):
            least = 0 if np.dtype(dtype).kind == "u" else -4
            return generator.integers(least, least + 9, shape).astype(dtype)
        values = generator.random(shape, dtype=np.float32)
        values *= 2
        values -= 1
        return values.astype(dtype, copy=False)

    return matrix(problem.shape("A")), matrix(problem.shape("B"))


def small_integer_inputs(problem: Problem, dtype: str, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return A and B for recording: whole numbers from -3 to 3 without 0, so that sums are exact and readable.

    Unsigned types get those from 1 to 3. Products and sums are exact in float32 up to K = 2**24 / 9, so C of a
    recording must equal the reference bit for bit; for sums in 16 bits see `gemmviz.catalogue.whole_numbers`.

    Parameters
    ----------
    problem, dtype, seed
        As for `random_inputs`.

    Returns
    -------
    tuple
        A (M x K) and B (K x N), C-contiguous, of `dtype`.
    """
    generator = np.random.default_rng(seed)
    values = np.array([1, 2, 3, 1, 2, 3] if np.dtype(dtype).kind == "u" else [-3, -2, -1, 1, 2, 3], np.int8)
    # 32 bits give the same numbers as 64, in a quarter of the time. Small types are fast to copy before the last one.
    a, b = (values[generator.integers(0, 6, problem.shape(name), np.int32)] for name in "AB")
    return a.astype(dtype), b.astype(dtype)


def poison_byte(kernel: Kernel) -> int:
    """Return the byte that fills the result before a kernel runs, so that an unwritten element shows.

    All ones is NaN in every float type. A kernel that computes beta * C with beta = 0 must not see a NaN, and in an
    integer type all ones is -1, a likely result: there `HUGE_BYTE` serves.
    """
    return 0xFF if is_float(kernel.dtype_out) and not kernel.reads_result else HUGE_BYTE


def stored(kernel: Kernel, name: str, matrix: Matrix) -> Matrix:
    """Return the matrix as the kernel stores it, flat: by columns where its front matter says so.

    Parameters
    ----------
    kernel
        The kernel, for its layout.
    name
        ``"A"``, ``"B"`` or ``"C"``.
    matrix
        Two-dimensional.

    Returns
    -------
    numpy.ndarray
        One-dimensional and contiguous.
    """
    return np.ascontiguousarray(matrix.T if name in kernel.column_major else matrix).reshape(-1)


def unstored(kernel: Kernel, name: str, flat: Matrix, problem: Problem) -> Matrix:
    """Undo `stored`: return the flat array as a matrix (rows x columns)."""
    rows, columns = problem.shape(name)
    return flat.reshape(columns, rows).T if name in kernel.column_major else flat.reshape(rows, columns)
