"""The launch in the file at the size in the file: some host code launches a kernel for one small size only.

Its grid is a number of blocks, which is right for that size, or for no size at all.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.certainty import (
    has_known_arguments,
    has_known_depth,
    is_given,
    is_whole_at_one_size,
)
from gemmviz.catalogue.guessing.folding import evaluate
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.trial_sizes import first_size, has_blocks
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr

RIGHT_AT_ITS_SIZE = mark("recorded: C is right at {size}, the size in the file itself")
RIGHT_WITH_SHORTER_SUMS = mark("recorded: C is right at {size}, with M and N as in the file itself")
WRONG_AT_ITS_SIZE = mark("at {size}, the size in the file itself, the launch in the file gives a wrong C: {fault}")
_BREAKS = mark("the size in the file itself, {size}, breaks {conditions}: it was not tried, and C may be wrong there")
_MOST_PRODUCTS, _MOST_ELEMENTS = 2**21, 256 * 256
_MOST_LAUNCHES = 2
TryOne = Callable[[Kernel, Problem], str]


def at_its_own_size(guess: Guess, try_one: TryOne, *, with_reads: bool = True) -> Guess | None:
    """Return the launch in the file at its own size, if it is right there, or known to be wrong; None otherwise.

    Parameters
    ----------
    guess
        The guess, of which no launch is right at the sizes that were tried.
    try_one
        As for `gemmviz.catalogue.guessing.settle.settle`.
    with_reads
        Whether it is right, too, where it only reads out of bounds.
    """
    stated = [one for one in (guess, *guess.others) if is_stated(one, "block") and is_stated(one, "grid")]
    wrong, sure = None, True
    for made in stated[:_MOST_LAUNCHES]:
        if made.size is None:
            continue
        if _is_small(*made.size):
            asking, size, said = _asking(made, made.size), Problem(*made.size), RIGHT_AT_ITS_SIZE
        elif shorter := _with_shorter_sums(made, *made.size[:2]):
            (asking, size), said = shorter, RIGHT_WITH_SHORTER_SUMS
        else:
            continue  # a size may also be larger than any that is recorded
        for one in _with_c(asking):
            found, fault = _read_as(one, size, try_one)
            if not fault or (with_reads and isinstance(fault, Verdict) and fault.only_reads):
                outcome = tr(said, size=size)
                but = tr("but at {size}: {fault}", size=size, fault=fault) if fault else ""
                return replace(found, settled="; ".join(filter(None, (outcome, but))), right=True)
            if made.size == (size.m, size.n, size.k) and _has_one_size(made, size) and _is_shown(found, fault):
                wrong = replace(found, settled=tr(WRONG_AT_ITS_SIZE, size=size, fault=fault), wrong_itself=True)
            else:
                sure = False
    return wrong if sure else None


def given_at_its_size(guess: Guess) -> tuple[Guess, Problem] | None:
    """Return the launch in the file at its own size, if the file gives every part of it; None otherwise.

    Parameters
    ----------
    guess
        As for `at_its_own_size`.
    """
    for made in (guess, *guess.others):
        if made.size is not None and _is_small(*made.size) and is_given(made):
            return _asking(made, made.size), Problem(*made.size)
    return None


def broken_conditions(made: Guess) -> Iterator[str]:
    """Yield a sentence about the conditions that the size in the file itself breaks, if it breaks some.

    Parameters
    ----------
    made
        A launch that is right at other sizes, with the conditions that were guessed or found.
    """
    if made.size is None:
        return
    values = {name: given[0] for name, given in made.params.items()} | dict(zip("MNK", made.size, strict=True))
    broken = [one for one in made.requires if evaluate(one, values) == 0]
    if broken:
        size = " x ".join(map(str, made.size))
        yield tr(_BREAKS, size=size, conditions=tr(" and ").join(broken))


def _is_small(m: int, n: int, k: int) -> bool:
    return m * n <= _MOST_ELEMENTS and m * n * k <= _MOST_PRODUCTS


def _asking(made: Guess, size: tuple[int, int, int]) -> Guess:
    """Return a launch for one size only, with the grid that the file has there."""
    asked = tuple(f"{name} == {extent}" for name, extent in zip("MNK", size, strict=True))
    return replace(made, requires=asked, grid=made.own_grid or made.grid, others=())


def _with_shorter_sums(made: Guess, m: int, n: int) -> tuple[Guess, Problem] | None:
    """Return a launch for M and N as in the file, and a small K; None where M and N are large, or K is no argument."""
    if "K" not in {*made.roles, *made.constants.values()} or not _is_small(m, n, 1):
        return None
    kept = (one for one in made.requires if not re.search(r"\b[MN]\b", one))
    made = replace(made, requires=(*kept, f"M == {m}", f"N == {n}"), others=())
    found = first_size(guessed_kernel(made))
    return (made, found) if found and _is_small(found.m, found.n, found.k) else None


def _with_c(made: Guess) -> Iterator[Guess]:
    """Yield a launch, then the same one with zeros in C, if the kernel reads it."""
    yield made
    if made.reads_result and not made.adds:
        yield replace(made, adds=True)


def _read_as(made: Guess, size: Problem, try_one: TryOne) -> tuple[Guess, str]:
    """Return the launch in the layouts of its recording, and its fault."""
    shown = _tried(made, size, try_one)
    if isinstance(shown, Verdict) and shown:
        whole = (one for one in shown.readings if not (one.rows or one.columns or one.depth or one.exchanged))
        reading = next(whole, None)
        if reading is not None:
            made = replace(made, column_major=reading.column_major, epilogue=reading.epilogue)
            shown = _tried(made, size, try_one)
    return made, shown


def _has_one_size(made: Guess, size: Problem) -> bool:
    """Return whether M, N and K are equal in the file: the kernel's parameters, its sums or its threads show it."""
    if not size.m == size.n == size.k or not has_known_depth(made):
        return False
    kernel = guessed_kernel(replace(made, requires=()))
    if not has_blocks(kernel, size):  # a block of the file may have too many threads
        return False
    threads = launch(kernel, size)
    return "M" in made.roles or "M == N" in made.requires or prod((*threads.block, *threads.grid)) == size.m * size.n


def _is_shown(made: Guess, fault: str) -> bool:
    """Return whether a fault is the kernel's own: the file has the whole launch, and equal sizes have one layout."""
    if not isinstance(fault, Verdict) or not has_known_arguments(made):
        return False
    return fault.comparable or ((fault.misses or fault.ended) and is_whole_at_one_size(made))


def _tried(made: Guess, size: Problem, try_one: TryOne) -> str:
    try:
        return try_one(guessed_kernel(made), size)
    except GemmvizError as error:
        return str(error)
