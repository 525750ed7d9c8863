"""A launch that is right in one block of rows, or of columns, only, where nothing gives its grid."""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.other_grids import QUOTIENT
from gemmviz.catalogue.guessing.trial_sizes import UNEVEN, has_blocks
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr

# The block is full at the first size, and not at the second one.
_SIZES = (UNEVEN, Problem(29, 23, 27))
RIGHT_AT_TWO = mark("recorded: C is right at {size} and at {other}")
SO_IT_ASKS = mark("at {size} it is wrong, so it asks for {conditions}")


def in_one_block(partly: Guess, try_one: Callable[[Kernel, Problem], str]) -> Guess:
    """Return a launch for as few rows, or columns, as one block has: ``N <= 32`` for the side ``ceil(N / 32)``.

    Parameters
    ----------
    partly
        A launch, right at its first size and perhaps wrong at a larger one. It is returned where no limit helps.
    try_one
        As for `gemmviz.catalogue.guessing.settle.settle`.
    """
    if partly.right or partly.wrong_itself or is_stated(partly, "grid"):
        return partly
    wrong_at = _at(partly, UNEVEN)
    if wrong_at is None or not _wrong(partly, wrong_at, try_one):
        return partly
    for side in filter(None, map(QUOTIENT.fullmatch, partly.grid)):
        limit = f"{side[1]} <= {side[2]}"
        made = replace(partly, requires=(*partly.requires, limit))
        first, second = (_at(made, size) for size in _SIZES)
        if not first or not second or first == second:
            continue
        if not _wrong(made, first, try_one) and not _wrong(made, second, try_one):
            asks = tr(SO_IT_ASKS, size=wrong_at, conditions=limit)
            return replace(made, settled=f"{tr(RIGHT_AT_TWO, size=first, other=second)}; {asks}", right=True)
    return partly


def _at(made: Guess, size: Problem) -> Problem | None:
    """Return the size nearest to another one at which a launch can be made."""
    kernel = guessed_kernel(made)
    found = nearest_size(kernel, size, kernel.defaults)
    return found if found is not None and has_blocks(kernel, found) else None


def _wrong(made: Guess, size: Problem, try_one: Callable[[Kernel, Problem], str]) -> str:
    try:
        return try_one(guessed_kernel(made), size)
    except GemmvizError as error:
        return str(error)
