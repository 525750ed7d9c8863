"""The launches still to try, in the light of the recordings of the others.

A recording whose C is wrong shows with which layouts it would be right, see `gemmviz.engine.readings`: these launches
come next. So does a grid with its sides exchanged, where an assertion of the kernel is false. At M = N = K, with a deep
sum, layouts, roles of sizes and the order of A and B make no other difference, so where no layout is right there, the
launch itself is wrong, and its other variants are left out.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gemmviz.catalogue.guessing.candidates import LEAST_DEPTH, SQUARE
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.verdict import Reading, Verdict
from gemmviz.catalogue.problem import Problem

_SAME_KIND = {**dict.fromkeys("MNK", "size"), **dict.fromkeys("AB", "input"), **dict.fromkeys(("lda", "ldb"), "row")}
_ONE_SIZE = re.compile(r"[MNK] == \d+")
_Key = tuple[object, ...]


class Untried:
    """Yields launches, each once.

    Parameters
    ----------
    launches
        The most likely first.
    """

    def __init__(self, launches: Iterable[Guess]) -> None:
        self._launches = iter(launches)
        self._next: deque[Guess] = deque()
        self._seen: set[str] = set()
        self._hopeless: set[_Key] = set()

    def __iter__(self) -> Iterator[Guess]:
        while True:
            shown = bool(self._next)
            one = self._next.popleft() if shown else next(self._launches, None)
            if one is None:
                return
            matter = one.front_matter()
            if matter not in self._seen and (shown or _key(one) not in self._hopeless):
                self._seen.add(matter)
                yield one

    def learn(self, tried: Guess, size: Problem, verdict: str) -> None:
        """Take note of a launch that was wrong.

        Parameters
        ----------
        tried, size
            The launch.
        verdict
            A `gemmviz.catalogue.guessing.verdict.Verdict`; a plain text says nothing about other launches.
        """
        if isinstance(verdict, Verdict) and verdict.asserted and not is_stated(tried, "grid"):
            # A kernel may check its own tiles: with the sides of the grid exchanged they lie elsewhere.
            self._next.append(replace(tried, grid=tried.grid[::-1]))
        if not isinstance(verdict, Verdict) or not verdict.comparable:
            return
        in_grid = {name for side in tried.grid for name in re.findall(r"\b[MNK]\b", side)}
        for reading in verdict.readings:
            if _is_cut_off(tried, reading) and len(tried.grid) == 2 and {"M", "N"} <= in_grid:
                # Each side of the grid covers the other size: its rows or columns end where the other size ends.
                self._next.append(replace(tried, grid=tried.grid[::-1]))
            # Where the grid grows with a size, its blocks have to cover that size.
            if not (reading.rows and "M" in in_grid) and not (reading.columns and "N" in in_grid):
                self._next += _so_read(tried, reading)
        if not verdict.readings and size.m == size.n == size.k and size.k >= LEAST_DEPTH:
            self._hopeless.add(_key(tried))


def _key(made: Guess) -> _Key:
    """Return the parts of a guess that M = N = K cannot test."""
    roles = tuple(_SAME_KIND.get(role, role) for role in made.roles)
    grid = tuple(re.sub(r"\b[MNK]\b", "S", side) for side in made.grid)
    # A kernel for one size is wrong at any other one, whatever was tried there.
    one_size = frozenset(filter(_ONE_SIZE.fullmatch, made.requires))
    return roles, repr(made.params), made.block, grid, made.shared, one_size


def _is_cut_off(tried: Guess, reading: Reading) -> bool:
    """Return whether C is right as it was tried, but for its last rows or its last columns."""
    as_tried = reading.column_major == tried.column_major and not reading.exchanged and not reading.depth
    return as_tried and (reading.rows == 0) != (reading.columns == 0)


def _in_part(requires: tuple[str, ...], reading: Reading) -> tuple[str, ...]:
    """Return the conditions of a launch whose C is right in its first rows and columns only: its sizes are those."""
    sizes = {"M": reading.rows, "N": reading.columns, "K": reading.depth}
    fixed = {name: size for name, size in sizes.items() if size}
    if not fixed:
        return requires
    kept = (one for one in requires if one not in SQUARE and one.partition(" ")[0] not in fixed)
    return (*kept, *(f"{name} == {size}" for name, size in fixed.items()))


def _of_blocks(made: Guess, reading: Reading) -> Iterator[Guess]:
    """Yield launches of many blocks, if one block was tried and the right part of C shows its elements."""
    if is_stated(made, "grid") or "blockIdx" not in made.text or reading.depth or not (reading.rows or reading.columns):
        return
    tile = {name: size for name, size in (("M", reading.rows), ("N", reading.columns)) if size}
    kept = (one for one in made.requires if one not in SQUARE and one.partition(" ")[0] not in tile)
    whole = replace(made, requires=(*kept, *(f"{name} % {size} == 0" for name, size in tile.items())))
    sides = [f"{name} / {size}" for name, size in tile.items()]
    # The blocks along the other size are known already, if one was tried with many.
    sides += [side for side in made.grid if len(tile) == 1 and {*re.findall(r"\b[MN]\b", side)} == {*"MN"} - {*tile}]
    flat = [(" * ".join(f"({side})" for side in sides),)] if len(sides) > 1 else []
    for grid in dict.fromkeys(((*sides[::-1],), (*sides,), *flat)):
        yield replace(whole, grid=grid)


def _so_read(tried: Guess, reading: Reading) -> Iterator[Guess]:
    """Yield a launch with other layouts: for any size, with the grid turned, and as it was tried."""
    swap = {"A": "B", "B": "A", "lda": "ldb", "ldb": "lda"} if reading.exchanged else {}
    roles = tuple(swap.get(role, role) for role in tried.roles)
    made = replace(tried, column_major=reading.column_major, roles=roles)
    made = replace(made, epilogue=reading.epilogue)
    yield from _of_blocks(made, reading)
    made = replace(made, requires=_in_part(tried.requires, reading))
    free = replace(made, requires=tuple(one for one in made.requires if one not in SQUARE))
    yield free
    if len(free.grid) == 2:
        yield replace(free, grid=free.grid[::-1])
    yield made
