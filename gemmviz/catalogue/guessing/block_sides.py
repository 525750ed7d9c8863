"""A size with several blocks, for a launch that was right with few.

With one block along a side, a tile of the wrong size can still compute a right C. One block alone has no sides: a grid
whose sides are exchanged is right with it, too.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem

_TIMES = (3, 5)
_MOST_PRODUCTS = 8 * 2**19
_TALL, _SHALLOW = 512, 32
_GROUPS, _MOST_OF_GROUPS = (2, 4, 8, 16), 2**24
_SIZE = re.compile(r"\b[MN]\b")


def several_blocks(made: Guess, size: Problem) -> Problem | None:
    """Return a larger size with several blocks along each side that grows with C.

    Where the file states the block, two blocks along one side are enough, and only one block alone asks for them. A
    grid that does not grow with C gets a larger C: it may compute the first tile only.
    None where the given size has several blocks, or where a recording would take long.

    Parameters
    ----------
    made
        A launch that is right at the size.
    size
        The size.
    """
    sides = [at for at, side in enumerate(made.grid) if _SIZE.search(side)]
    kernel = guessed_kernel(made)
    if not sides:
        return _larger(kernel, size)
    if _least(made, size, sides) > 1:
        return None
    if is_stated(made, "block"):
        return _two_blocks(made, kernel, size, sides)
    for times in _TIMES:
        larger = nearest_size(kernel, Problem(times * size.m, times * size.n, size.k), kernel.defaults)
        if larger is None or larger.m * larger.n * larger.k > _MOST_PRODUCTS:
            continue
        if _least(made, larger, sides) > 1:
            return larger
    return None


def beyond_grid(made: Guess, size: Problem) -> Problem | None:
    """Return a size with many more rows, or columns, if the guessed grid grows with the other ones only.

    One block may have all rows that were tried, and still not all rows of a larger C.

    Parameters
    ----------
    made
        A launch that is right at the size.
    size
        The size.
    """
    names = {name for side in made.grid for name in _SIZE.findall(side)}
    if len(names) != 1 or is_stated(made, "grid") or "blockIdx" not in made.text:
        return None
    kernel = guessed_kernel(made)
    wanted = Problem(_TALL, size.n, _SHALLOW) if "M" not in names else Problem(size.m, _TALL, _SHALLOW)
    larger = nearest_size(kernel, wanted, kernel.defaults)
    if larger is None or larger.m * larger.n * larger.k > _MOST_PRODUCTS:
        return None
    return larger if (larger.n > size.n if "M" in names else larger.m > size.m) else None


def in_groups(made: Guess, size: Problem, is_wrong: Callable[[Guess, Problem], str]) -> tuple[Guess, Problem] | None:
    """Return the launch for whole groups of blocks along a side of C, and a size at which it is right; else None.

    Some kernels take their blocks in groups, for example of eight in a row: they skip blocks where a row has fewer.

    Parameters
    ----------
    made
        A launch of the file's own, right at a size with one block and wrong with several.
    size
        The first size.
    is_wrong
        Returns the fault of a launch at a size; an empty text for none.
    """
    if not is_stated(made, "block") or not is_stated(made, "grid"):
        return None
    for name, many in product("NM", _GROUPS):
        side = many * (size.n if name == "N" else size.m)
        asked = replace(made, requires=(*made.requires, f"{name} % {side} == 0"))
        rows, columns = (2 * size.m, side) if name == "N" else (side, 2 * size.n)
        kernel = guessed_kernel(asked)
        # A pipeline may need more steps than the fewest.
        for depth in (1, size.k):
            at = nearest_size(kernel, Problem(rows, columns, depth), kernel.defaults)
            if at is not None and at.m * at.n * at.k <= _MOST_OF_GROUPS and not is_wrong(asked, at):
                return asked, at
    return None


def doubled(kernel: Kernel, size: Problem) -> Problem | None:
    """Return a size with twice as many columns and terms; None if there is no small one."""
    other = nearest_size(kernel, Problem(size.m, 2 * size.n, 2 * size.k), kernel.defaults)
    return other if other is not None and other.m * other.n * other.k <= _MOST_PRODUCTS else None


def _larger(kernel: Kernel, size: Problem) -> Problem | None:
    """Return a size with more rows and columns for a grid that does not grow with C; None where none is allowed."""
    larger = nearest_size(kernel, Problem(2 * size.m, 2 * size.n, 1), kernel.defaults)
    fits = larger is not None and larger.m * larger.n * larger.k <= _MOST_PRODUCTS
    return larger if larger and fits and larger.m >= size.m and larger.n >= size.n and larger != size else None


def _two_blocks(made: Guess, kernel: Kernel, size: Problem, sides: list[int]) -> Problem | None:
    """Return a size with two blocks or more along one side of a grid with two, for a size with one block."""
    if len(sides) < 2 or set(_extents(made, size, sides)) != {1}:
        return None
    larger = nearest_size(kernel, Problem(2 * size.m, size.n, 1), kernel.defaults)
    if larger is None or larger.m * larger.n * larger.k > _MOST_PRODUCTS:
        return None
    return larger if len(set(_extents(made, larger, sides))) > 1 else None


def _least(made: Guess, size: Problem, sides: list[int]) -> int:
    """Return the smallest of some sides of the grid; 0 where there is no launch."""
    return min(_extents(made, size, sides), default=0)


def _extents(made: Guess, size: Problem, sides: list[int]) -> list[int]:
    """Return some sides of the grid; none where there is no launch."""
    try:
        return [launch(guessed_kernel(made), size).grid[at] for at in sides]
    except GemmvizError:
        return []
