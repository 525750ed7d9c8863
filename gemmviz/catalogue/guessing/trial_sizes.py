"""The sizes at which a guess is tried, and whether it has a launch there."""

from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem

# M, N and K differ, so that a launch that exchanges them fails. The uneven size is no multiple of a tile.
EVEN, UNEVEN = Problem(48, 32, 64), Problem(37, 45, 41)
# In the sizes above K is larger than M, so that a grid made of K covers C. Here it does not, nor does M in place of N.
_BROAD = Problem(128, 192, 64)
_FEW, _MOST_WITHOUT_NEED = Problem(4, 8, 16), 2**24
# Sizes that only test the conditions are smaller: a run that took too long would count as wrong.
MOST_PRODUCTS = 3 * 2**19


def first_size(kernel: Kernel) -> Problem | None:
    """Return a small size that a launch can have, of different extents where it takes them; None where it has none."""
    size = nearest_size(kernel, EVEN, kernel.defaults)
    if size is not None and size.m * size.n * size.k > _MOST_WITHOUT_NEED:  # some sizes are large numbers
        size = nearest_size(kernel, _FEW, kernel.defaults) or size
    if size is None or not size.m == size.n == size.k:
        return size
    other = nearest_size(kernel, Problem(size.m, 2 * size.n, size.k), kernel.defaults)
    return size if other is None or other.m == other.n == other.k else other


def broad_size(kernel: Kernel) -> Problem | None:
    """Return a size at which K is the smallest extent and N the largest; None if there is no small one.

    A launch with a grid of another extent may be right at the first size, and is wrong here.
    """
    size = nearest_size(kernel, _BROAD, kernel.defaults)
    if size is None or not size.k < size.m < size.n or size.m * size.n * size.k > MOST_PRODUCTS:
        return None
    return size


def less_equal_sizes(kernel: Kernel, size: Problem) -> list[Problem]:
    """Return small sizes of which more extents differ than of a size; none where the kernel takes only equal ones.

    A launch that exchanges M and N, or takes one for the other, is right at equal sizes and wrong there.
    """
    try:
        found = [one for one in (first_size(kernel), broad_size(kernel)) if one is not None]
    except FrontMatterError:  # a condition that has no value at some size
        return []
    return [one for one in dict.fromkeys(found) if _different(one) > _different(size) and has_blocks(kernel, one)]


def _different(size: Problem) -> int:
    return len({size.m, size.n, size.k})


def has_blocks(kernel: Kernel, size: Problem) -> bool:
    """Return whether a launch can be made: a grid that rounds down has no block at a small size."""
    try:
        launch(kernel, size)
    except GemmvizError:
        return False
    return True
