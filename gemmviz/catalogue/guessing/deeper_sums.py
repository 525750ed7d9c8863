"""A pipeline that copies several tiles of K before its first product: it misses its arrays where K has fewer tiles."""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem

# Four tiles of 32 or of 64.
_DEPTHS = (128, 256)
_MOST_PRODUCTS = 2**24


def with_deeper_sums(made: Guess, size: Problem, try_one: Callable[[Kernel, Problem], str]) -> Guess | None:
    """Return a launch that asks for multiples of the least K at which no access misses its array; None without one.

    Parameters
    ----------
    made, size
        A launch that misses its arrays at a size.
    try_one
        As for `gemmviz.catalogue.guessing.settle.settle`.
    """
    for depth in _DEPTHS:
        asked = replace(made, requires=(*made.requires, f"K % {depth} == 0"))
        try:
            kernel = guessed_kernel(asked)
            at = nearest_size(kernel, Problem(size.m, size.n, depth), kernel.defaults)
            if at is None or at.k <= size.k or at.m * at.n * at.k > _MOST_PRODUCTS:
                continue
            wrong = try_one(kernel, at)
        except FrontMatterError:
            return None
        except GemmvizError:
            continue
        if not isinstance(wrong, Verdict) or wrong.ended:
            return asked
    return None
