"""A kernel whose C is right with one tile along K and wrong with more: the launch is right, and the kernel is not.

A kernel that lacks a barrier between the products of a tile and the copy of the next one is wrong in each launch that
is tried first, because K has several tiles there. With one tile it is right, if the launch is: that tells its defect
from a wrong guess.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.guessing.candidates import SQUARE
from gemmviz.catalogue.guessing.certainty import counts_products
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr

ONE_TILE_ONLY = mark(
    "with one tile along K it is right, and with more it is wrong: the kernel itself is wrong between tiles"
)
RIGHT_AT_ONE = mark("recorded: C is right at {size}, but at {other}: {fault}")
# M, N and K differ, so that a launch that exchanges them is wrong with one tile, too.
_ROWS, _COLUMNS, _DEPTHS = 48, 96, (32, 16, 8, 64)
_MOST_LAUNCHES = 2
_MOST_ELEMENTS = 512 * 512


def right_with_one_tile(wrong: Sequence[Guess], try_one: Callable[[Kernel, Problem], str]) -> Guess | None:
    """Return a launch that is right with one tile along K and wrong with more; None where there is none.

    Parameters
    ----------
    wrong
        Launches that ran to their end and gave a wrong C, the likeliest first.
    try_one
        As for `gemmviz.catalogue.guessing.settle.settle`.
    """
    likely = [one for one in wrong if {"M", "N", "K"} <= {*one.roles} and _is_plain(one)]
    for launch in likely[:_MOST_LAUNCHES]:
        made = replace(launch, requires=tuple(one for one in launch.requires if one not in SQUARE))
        try:
            kernel = guessed_kernel(made)
        except FrontMatterError:
            continue
        sizes = (nearest_size(kernel, Problem(_ROWS, _COLUMNS, depth), kernel.defaults) for depth in _DEPTHS)
        for size in dict.fromkeys(one for one in sizes if one is not None):
            if size.m * size.n > _MOST_ELEMENTS or not size.k < size.m < size.n:
                continue
            found = _found(made, size, try_one)
            if found is not None:
                return found
    return None


def _is_plain(made: Guess) -> bool:
    """Return whether a recording confirms all roles: with another number for a flag C might be right."""
    return all((role and not role.isdecimal()) or counts_products(name, role) for (name, _), role in made.arguments)


def _found(made: Guess, size: Problem, try_one: Callable[[Kernel, Problem], str]) -> Guess | None:
    """Return the launch, in the layouts of its recording, if it is right at a size and wrong at a deeper one."""
    shown = _tried(made, size, try_one)
    if isinstance(shown, Verdict) and shown:
        whole = (one for one in shown.readings if not (one.rows or one.columns or one.depth or one.exchanged))
        reading = next(whole, None)
        if reading is None:
            return None
        made = replace(made, column_major=reading.column_major, epilogue=reading.epilogue)
        shown = _tried(made, size, try_one)
    kernel = guessed_kernel(made)
    deeper = nearest_size(kernel, Problem(size.m, size.n, 2 * size.k), kernel.defaults)
    if shown or deeper is None or deeper.k <= size.k:
        return None
    wrong = _tried(made, deeper, try_one)
    if not isinstance(wrong, Verdict) or not wrong.comparable or any(one.depth for one in wrong.readings):
        return None  # right, or no plain wrong C; or the kernel adds up the first terms only, as one for a fixed K does
    outcome = tr(RIGHT_AT_ONE, size=size, other=deeper, fault=wrong)
    return replace(made, settled=f"{outcome}; {tr(ONE_TILE_ONLY)}", wrong_itself=True)


def _tried(made: Guess, size: Problem, try_one: Callable[[Kernel, Problem], str]) -> str:
    try:
        return try_one(guessed_kernel(made), size)
    except GemmvizError as error:
        return str(error)
