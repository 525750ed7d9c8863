"""A launch whose grid divides K: it is right only if it is right with several blocks along K.

A kernel may store the sum of each part of K in a place of its own, for another kernel to add. With one part that is C.
"""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.one_step import RIGHT_AT_ONE
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr

_TIMES = (2, 4, 8, 16)
_MOST_PRODUCTS = 2**24  # parts of K may be long


def or_wrong_in_parts(found: Guess, size: Problem, wrong_at: Callable[[Problem], str]) -> Guess:
    """Return a right launch; with its fault, if it is wrong where K has several blocks, or cannot be tried there.

    Parameters
    ----------
    found, size
        The launch, and a size at which it is right.
    wrong_at
        Returns its fault at another size; an empty text for none.
    """
    sides = [at for at, side in enumerate(found.grid) if Expression(side).names() & {"M", "N", "K"} == {"K"}]
    kernel = guessed_kernel(found)
    at = _in_parts(kernel, size, sides) if sides else None
    fault = wrong_at(at) if at else ""
    if not fault:
        return found
    return replace(found, settled=tr(RIGHT_AT_ONE, size=size, other=at, fault=fault), right=False)


def _in_parts(kernel: Kernel, size: Problem, sides: list[int]) -> Problem | None:
    """Return a small size with several blocks along K; None where there is none."""
    for times in _TIMES:
        at = nearest_size(kernel, Problem(size.m, size.n, times * size.k), kernel.defaults)
        if at is None or at.m * at.n * at.k > _MOST_PRODUCTS:
            return None
        try:
            grid = launch(kernel, at).grid
        except GemmvizError:
            continue
        if any(grid[side] > 1 for side in sides):
            return at
    return None
