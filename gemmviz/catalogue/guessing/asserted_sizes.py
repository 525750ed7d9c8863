"""The sizes that a kernel's own assertions ask for: larger ones are tried until no assertion is false."""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem

# Kernels with a queue of tiles may ask for 8 or 16 tiles of 128 rows.
_SIDES, _DEPTHS = (256, 512, 1024, 2048), (64, 512)
_LEAST_SIDE = 32
MOST_ELEMENTS = _SIDES[-1] ** 2
MOST_PRODUCTS = MOST_ELEMENTS * _DEPTHS[-1]


def with_asserted_sizes(made: Guess, try_one: Callable[[Kernel, Problem], str]) -> Guess | None:
    """Return a launch that asks for multiples of M, N and K at which no assertion is false; None if none is found.

    Parameters
    ----------
    made
        A launch of which an assertion is false at a small size.
    try_one
        As for `gemmviz.catalogue.guessing.settle.settle`.
    """

    def holds(size: Problem) -> bool:
        asked = replace(made, requires=(*made.requires, *_multiples(size)))
        try:
            kernel = guessed_kernel(asked)
            if nearest_size(kernel, size, kernel.defaults) != size:
                return False
            wrong = try_one(kernel, size)
        except FrontMatterError:
            return False
        except GemmvizError as error:
            wrong = str(error)
        return not (isinstance(wrong, Verdict) and (wrong.asserted or wrong.refused))

    sizes = (Problem(side, side, depth) for depth in _DEPTHS for side in _SIDES)
    found = next(filter(holds, sizes), None)
    if found is None:
        return None
    m, n, k = found.m, found.n, found.k
    while m > _LEAST_SIDE and holds(Problem(m // 2, n, k)):
        m //= 2
    while n > _LEAST_SIDE and holds(Problem(m, n // 2, k)):
        n //= 2
    while k > _DEPTHS[0] and holds(Problem(m, n, k // 2)):
        k //= 2
    return replace(made, requires=(*made.requires, *_multiples(Problem(m, n, k if k > _DEPTHS[0] else 1))))


def _multiples(size: Problem) -> tuple[str, ...]:
    """Return the conditions that make a size the smallest one."""
    sides = (("M", size.m), ("N", size.n), ("K", size.k))
    return tuple(f"{name} % {side} == 0" for name, side in sides if side > 1)
