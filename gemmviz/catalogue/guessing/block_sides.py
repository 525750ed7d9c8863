"""A size with several blocks along both sides of C, for a launch whose block is guessed.

With one block along a side, a tile of the wrong size can still compute a right C.
"""

import re

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.candidates import is_stated
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem

_TIMES = (3, 5)
_MOST_PRODUCTS = 8 * 2**19
_SIZE = re.compile(r"\b[MN]\b")


def several_blocks(made: Guess, size: Problem) -> Problem | None:
    """Return a larger size with several blocks along each side that grows with C.

    None where the file states the block, where the given size has several blocks, or where a recording would take long.

    Parameters
    ----------
    made
        A launch that is right at the size.
    size
        The size.
    """
    sides = [at for at, side in enumerate(made.grid) if _SIZE.search(side)]
    if is_stated(made, "block") or not sides or _least(made, size, sides) > 1:
        return None
    kernel = guessed_kernel(made)
    for times in _TIMES:
        larger = nearest_size(kernel, Problem(times * size.m, times * size.n, size.k), kernel.defaults)
        if larger is None or larger.m * larger.n * larger.k > _MOST_PRODUCTS:
            continue
        if _least(made, larger, sides) > 1:
            return larger
    return None


def _least(made: Guess, size: Problem, sides: list[int]) -> int:
    """Return the smallest of some sides of the grid; 0 where there is no launch."""
    try:
        return min(launch(guessed_kernel(made), size).grid[at] for at in sides)
    except GemmvizError:
        return 0
