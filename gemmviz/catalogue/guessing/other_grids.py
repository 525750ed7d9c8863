"""Variants of a guess with another grid: one block, one tile, one product, a thread for each element of C."""

import re
from collections.abc import Iterator
from dataclasses import replace

from gemmviz.catalogue.guessing.folding import bracket
from gemmviz.catalogue.guessing.guessed_matter import SURE, Guess, is_stated
from gemmviz.catalogue.guessing.kernel_text import kernel_text
from gemmviz.catalogue.guessing.roles import GuessReason
from gemmviz.catalogue.launch import MAX_THREADS_PER_BLOCK
from gemmviz.language import tr

QUOTIENT = re.compile(r"(?:ceil|floor)\(([MNK]) / (\w+|\(.*\))\)")
"""A side of a grid that is a rounded quotient."""
_SIZE = re.compile(r"\b[MNK]\b")
_OF_BLOCK = ("B", "BLOCK_", "GV_BLOCK_")  # names of a block's extents that the kernel's code leaves open
EXACT = re.compile(r"([MNK]) / (\w+|\(.*\))")
"""A side that is an exact quotient."""


def by_own_code(guess: Guess) -> Iterator[Guess]:
    """Yield the launch with the grid that the kernel's own code shows, where the file's does not grow with a side of C.

    Host code that was only tried with square matrices may divide the wrong size.
    """
    extents = {f"{front}{axis}": side for axis, side in zip("XYZ", guess.block, strict=False) for front in _OF_BLOCK}
    known = {*"MNK", "ceil", "floor", *guess.params}
    for one in guess.others[-1:]:
        grid = tuple(re.sub(r"\w+", lambda word: extents.get(word[0], word[0]), side) for side in one.grid)
        fits = one.block == guess.block or grid != one.grid
        if fits and grid_lacks_a_side(guess, one) and {*re.findall(r"[A-Za-z]\w*", " ".join(grid))} <= known:
            yield replace(guess, grid=grid, why=guess.why | {"grid": one.why["grid"]})


def grid_lacks_a_side(stated: Guess, other: Guess) -> bool:
    """Return whether a grid grows with one size, or with K in place of M or N, and another one with both M and N.

    Parameters
    ----------
    stated, other
        Launches of one kernel; the first one is the file's own.
    """
    names, shown = ({name for side in one.grid for name in _SIZE.findall(side)} for one in (stated, other))
    return is_stated(stated, "grid") and len(names) > 0 and not {"M", "N"} <= names and shown == {"M", "N"}


def one_block(guess: Guess) -> Iterator[Guess]:
    """Yield the launch of a kernel without a block index: one block has a thread for each element of C."""
    body = kernel_text(guess)
    alone = {*guess.block, *guess.grid} == {"1"} and len(guess.block) > 1 and "threadIdx" in body
    if alone and not is_stated(guess, "block") and not re.search(r"\b(?:blockIdx|gridDim)\b", body):
        kept = (one for one in guess.requires if not re.fullmatch(r"[MN] == 1", one))
        yield replace(guess, block=("N", "M"), requires=(*kept, f"M * N <= {MAX_THREADS_PER_BLOCK}"))


def one_tile(guess: Guess) -> Iterator[Guess]:
    """Yield the launch of a kernel without a block index, whose host code has a grid for any size: C is one tile."""
    body = kernel_text(guess)
    if not is_stated(guess, "grid") or "threadIdx" not in body or re.search(r"\bblockIdx\b|ctaid", body):
        return
    found = [QUOTIENT.fullmatch(side) or EXACT.fullmatch(side) for side in guess.grid]
    tile = {one[1]: bracket(one[2]) for one in found if one}
    if {"M", "N"} <= {*tile}:
        kept = [one for one in guess.requires if one.partition(" ")[0] not in ("M", "N", "K")]
        sides = [f"{name} == {side}" for name, side in tile.items() if name != "K"]
        for depth in dict.fromkeys((tile["M"], tile["N"])):
            yield replace(guess, requires=(*kept, *sides, f"K == {depth}"))


def one_product(guess: Guess) -> Iterator[Guess]:
    """Yield the launch of one product, where the third index of a block numbers the products of a batch.

    A kernel that divides K among the blocks asks for their number, or adds to C.
    """
    body = kernel_text(guess)
    divides = re.search(r"gridDim\s*\.\s*z|\batomic\w+|nctaid", body)
    if len(guess.grid) == 3 and guess.grid[2] != "1" and "blockIdx" in body and not divides:
        why = GuessReason(SURE, tr("the third index of a block numbers products, and one is enough"))
        yield replace(guess, grid=guess.grid[:2], why=guess.why | {"grid": why})


def by_element(guess: Guess) -> Iterator[Guess]:
    """Yield the launch of a kernel whose index divided by the columns of C is the row: a thread for each element."""
    columns = next((name for (name, _), role in zip(guess.parameters, guess.roles, strict=True) if role == "N"), "")
    body = kernel_text(guess)
    divided = columns and all(re.search(rf"{sign}\s*{columns}\b", body) for sign in "/%")
    if divided and len(guess.block) == len(guess.grid) == 1 and not is_stated(guess, "grid"):
        threads = bracket(guess.block[0])
        kept = (one for one in guess.requires if not re.fullmatch(r"[MN] % .*", one))
        whole = replace(guess, grid=(f"M * N / {threads}",), requires=(*kept, f"M * N % {threads} == 0"))
        yield replace(whole, grid=(f"ceil(M * N / {threads})",), requires=tuple(whole.requires[:-1]))
        yield whole
