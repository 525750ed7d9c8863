"""Variants of a guess with other sizes: a tile's, a number in the code, one term, a block's, by names of matrices."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from gemmviz.catalogue.guessing.guessed_matter import SURE, Guess, is_stated
from gemmviz.catalogue.guessing.kernel_text import kernel_text
from gemmviz.catalogue.guessing.roles import WHOLE, GuessReason, named_so
from gemmviz.catalogue.guessing.tokens import integer
from gemmviz.catalogue.problem import Problem

_TILE = re.compile(r"m(\d+)_?n(\d+)_?k(\d+)")
SIZES = {"M", "N", "K", "lda", "ldb", "ldc"}
# A number that may be the size of matrices, and so many of them are tried.
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_ROW = re.compile(r"\*\s*(\d+)\b(?!\s*[*/.])")
_LEAST_SIZE, _MOST_NUMBERS = 4, 2
_MOST_SIZE = 256
# A tile in shared memory, or a K that is no parameter: a constant of the file.
_OF_ONE_TILE = re.compile(r"\b(?:__shared__|K)\b")


def of_one_tile(guess: Guess) -> Iterator[Guess]:
    """Yield the guess for a kernel without sizes whose name has those of one tile: ``mma_m16n8k16``.

    B lies by columns, as the instructions of tensor cores read it.
    """
    tiles = {found.groups() for found in _TILE.finditer(guess.entry)} or {
        found.groups() for found in _TILE.finditer(kernel_text(guess))
    }
    if len(tiles) == 1 and not {"M", "N", "K"} & {*guess.roles} and {*guess.grid} <= {"1"}:
        (sizes,) = tiles
        requires = tuple(f"{name} == {size}" for name, size in zip("MNK", sizes, strict=True))
        yield replace(guess, requires=requires, column_major=frozenset("B"))
        yield replace(guess, requires=requires)


def of_literal_size(guess: Guess) -> Iterator[Guess]:
    """Yield the guess for square matrices of a size that stands in the code as a number: ``A[row * 16 + k]``."""
    if SIZES & {*guess.roles} or guess.constants or not all(side.isdecimal() for side in guess.grid):
        return
    numbers = Counter(filter(None, map(integer, _NUMBER.findall(kernel_text(guess)))))
    usual = [number for number, _ in numbers.most_common() if _LEAST_SIZE <= number <= _MOST_SIZE]
    for number in usual[:_MOST_NUMBERS]:
        yield replace(guess, requires=tuple(f"{name} == {number}" for name in "MNK"))


def of_literal_rows(guess: Guess) -> Iterator[Guess]:
    """Yield the guess for rows that lie a number of elements apart: ``A[i * 1024 + k]``, with a block for each row.

    A, B and C have rows of that length; there may be any number of rows of C.
    """
    if guess.constants or len(guess.grid) != 1 or not is_stated(guess, "grid"):
        return
    times = Counter(filter(None, map(integer, _ROW.findall(kernel_text(guess)))))
    for number in (one for one, count in times.items() if count >= len("ABC") and one > _MOST_SIZE):
        if guess.grid == (str(number),):
            kept = (one for one in guess.requires if not re.search(r"\b[MNK]\b", one))
            made = replace(guess, grid=("M",), requires=(*kept, f"N == {number}", f"K == {number}"))
            yield replace(made, column_major=frozenset("B"))
            yield replace(made, column_major=frozenset())


def as_deep_as_a_block(guess: Guess) -> Iterator[Guess]:
    """Yield the guess for a product whose sums are as long as a block is wide: A has the columns of one tile.

    A launch of the file's own may leave out rows or columns unless C is square.
    """
    side = guess.block[0] if guess.block else ""
    if "K" in guess.roles or "N" not in guess.roles or not side.isdecimal():
        return
    if not _OF_ONE_TILE.search(kernel_text(guess)):
        return
    kept = (one for one in guess.requires if not re.search(r"\bK\b", one))
    made = replace(guess, requires=(*kept, f"K == {side}"))
    layouts = [*dict.fromkeys((made.column_major - {"A"}, made.column_major))]
    yield from (replace(made, column_major=layout) for layout in layouts)
    if "M" in guess.roles and is_stated(guess, "grid"):
        equal = replace(made, requires=(*made.requires, "M == N"))
        yield from (replace(equal, column_major=layout) for layout in layouts)


def of_one_term(guess: Guess) -> Iterator[Guess]:
    """Yield the guess for a column times a row, where the kernel never reads its parameter for K."""
    names = [name for (name, _), role in zip(guess.parameters, guess.roles, strict=True) if role == "K"]
    if len(names) == 1 and len(re.findall(rf"\b{re.escape(names[0])}\b", kernel_text(guess))) == 1:
        kept = (one for one in guess.requires if not re.search(r"\bK\b", one))
        yield replace(guess, requires=(*kept, "K == 1"))


def by_matrix_names(guess: Guess) -> Iterator[Guess]:
    """Yield a guess that takes all sizes from names with their matrix: ``A_cols`` and ``B_rows`` are K."""
    whole = [name for (name, kind), role in zip(guess.parameters, guess.roles, strict=True) if kind in WHOLE and name]
    meant = {name: named_so(name) for name in whole}
    if {*meant.values()} == {"M", "N", "K"}:
        roles = zip((name for name, _ in guess.parameters), guess.roles, strict=True)
        why = GuessReason(SURE, "its name says so")
        made = replace(guess, roles=tuple(meant.get(name, role) for name, role in roles), others=())
        yield replace(made, why=guess.why | dict.fromkeys(meant, why))


def with_shown_sizes(made: Guess, size: Problem) -> Guess:
    """Return a launch that is right at one size: it asks for M = N if it was not tried with others.

    Parameters
    ----------
    made, size
        The launch, and the size.
    """
    fixed = any(re.match(r"[MN] == ", one) for one in made.requires)
    if fixed or size.m != size.n or not {"M", "N"} <= {*made.roles}:
        return made
    return replace(made, requires=(*made.requires, "M == N"))
