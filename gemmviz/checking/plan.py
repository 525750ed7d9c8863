"""Chooses the sizes and parameters at which the checker records a kernel."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from math import prod
from typing import TypedDict

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.switches import Break
from gemmviz.language import tr

# A size that tiles divide, and the first of these whose lengths still differ after rounding for the kernel: an index
# that confuses M, N and K is not noticed if two of them are equal. A tile of 32 has a neighbour on each side: a hazard
# between two tile steps is not visible with one step.
_EVEN = Problem.cube(32)
_UNEVEN = tuple(Problem(*s) for s in ((37, 45, 41), (48, 32, 64), (64, 32, 96), (96, 64, 32), (256, 128, 64)))
# Each offered value needs its own compilation; with these limits a check ends within seconds.
_MOST_VALUES = 8
_MOST_PRODUCTS_OF_EQUAL_SIZES = 2**23
_MOST_CONSTANTS = 3
# Three tiles of 64 and a rest, or two of 128.
_DEEP = 200
# Sides of C: one of them is behind the first tile, also if the kernel takes multiples of 8 alone.
_BEHIND_A_TILE = (40, 56, 72, 104, 136, 200, 264, 392, 520)
_MOST_PRODUCTS_OF_TILES = 2**23
# A row or a column in 8 bits begins again at 256.
_OF_BYTES = re.compile(r"\b(?:u_?int8_t|int8_t|uchar|char)\s+\w+\s*=[^;]*\bblockIdx\b")
_ABOVE_BYTES = Problem(272, 288, 16)


class CheckEntry(TypedDict):
    """A launch to be checked."""

    m: int
    n: int
    k: int
    params: dict[str, int]


@dataclass
class CheckPlan:
    """The launches to check, in this order.

    Attributes
    ----------
    launches
        Sizes with parameters, at least one.
    left_out
        The launches that are left out, with the reasons, for people.
    """

    launches: list[tuple[Problem, dict[str, int]]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def to_plain(self) -> list[CheckEntry]:
        """Return the launches as `gemmviz.engine.messages.CheckRequest` takes them."""
        return [{"m": size.m, "n": size.n, "k": size.k, "params": params} for size, params in self.launches]


def plan(kernel: Kernel, sizes: Iterable[Problem], params: dict[str, int]) -> CheckPlan:
    """Choose sizes and parameters.

    Parameters
    ----------
    kernel
        The kernel to be checked.
    sizes
        The requested sizes; if there are none, sizes that suit the kernel are chosen.
    params
        The requested parameters. If there are none: the defaults, those of the kernel's declared changes, and then each
        other offered value, one at a time, the parameters in turns.

    Raises
    ------
    ConstraintError
        When the kernel takes no size near the usual ones; the text names its constraints.
    FrontMatterError
        When the front matter cannot be evaluated.
    """
    chosen = CheckPlan()
    asked = list(sizes)
    base = kernel.defaults | params
    own = asked or [size for size in (nearest_size(kernel, _EVEN, base), uneven(kernel, base)) if size]
    if own and not asked:
        own += _tiles_along_k(kernel, base, own[-1])
        if _OF_BYTES.search(kernel.text):
            own += filter(None, [nearest_size(kernel, _ABOVE_BYTES, base)])
        own += _other_constants(kernel, base, own)
        own += _several_tiles(kernel, base, own)
    if not own:
        launch(kernel, _EVEN, base)  # the error gives the reason: a parameter may be wrong, and not the size
    chosen.launches = [(size, base) for size in dict.fromkeys(own)]
    if params:
        return chosen
    if not asked:
        chosen.launches += [case for case in telling(kernel, base) if case not in chosen.launches]
        chosen.launches += [case for case in _small_blocks(kernel, base) if case not in chosen.launches]

    # The parameters in turns: where there are too many values, each parameter has some.
    others = ([(name, value) for value in offered[1:]] for name, offered in kernel.params.items())
    values = [one for turn in zip_longest(*others) for one in turn if one is not None]
    fitting = []
    for name, value in values:
        varied = base | {name: value}
        fits = (size for size in asked if nearest_size(kernel, size, varied) == size)
        size = next(fits, None) if asked else uneven(kernel, varied)
        if size and (size, varied) not in chosen.launches:
            fitting.append((size, varied, f"{name} = {value}"))
    chosen.launches += [(size, varied) for size, varied, _ in fitting[:_MOST_VALUES]]
    if fitting[_MOST_VALUES:]:
        rest = ", ".join(what for _, _, what in fitting[_MOST_VALUES:])
        text = tr("{values}: more values than are checked by default, name one with --set", values=rest)
        chosen.left_out.append(text)
    return chosen


def _tiles_along_k(kernel: Kernel, base: dict[str, int], size: Problem) -> list[Problem]:
    """Return sizes with one tile and with three along K.

    The kernel's conditions give the length of a tile, or a part of it: a tile of 64 may take K in multiples of 16, or
    any K. So a kernel with shared memory is tried at a larger K, too.

    A pipeline has separate code for the first and the last tile. With one tile both are the same; with three there is
    one tile in the middle, which is neither. Where equal sizes are required, C grows with K: large ones are left out.
    """
    one = nearest_size(kernel, Problem(size.m, size.n, 1), base)
    three = nearest_size(kernel, Problem(size.m, size.n, 3 * one.k), base) if one else None
    sizes = [found for found in (one, three) if found]
    if three and three.k < _DEEP and "__shared__" in kernel.text:
        sizes += filter(None, [nearest_size(kernel, Problem(size.m, size.n, _DEEP), base)])
    least = nearest_size(kernel, Problem.cube(1), base)
    if least and least.m == least.n == least.k and size.m == size.n == size.k:
        # Equal sizes are tried at three tiles, too: other sizes of this kind are often powers of two.
        sizes += filter(None, [nearest_size(kernel, Problem.cube(3 * least.k), base)])
    return [s for s in sizes if s.m <= size.m or s.m * s.n * s.k <= _MOST_PRODUCTS_OF_EQUAL_SIZES]


def _several_tiles(kernel: Kernel, base: dict[str, int], own: list[Problem]) -> list[Problem]:
    """Return a size with several tiles of C in both directions, if the other sizes have one tile in a direction.

    A tile that is taken for the first one, or put in its place, is not noticed if there is only one. The sides of a
    tile are found by the number of blocks, which grows behind each.
    """
    least = nearest_size(kernel, Problem.cube(1), base) if kernel.backend == "cuda" else None
    if least is None:
        return []

    def blocks(size: Problem) -> int:
        try:
            return prod(launch(kernel, size, base).grid)
        except GemmvizError:  # the check of another size will report the fault
            return 0

    def is_behind(size: Problem | None) -> bool:
        """Return whether a size has more blocks than one tile."""
        return size is not None and blocks(size) > blocks(least)

    def down(side: int) -> Problem | None:
        return nearest_size(kernel, Problem(side, least.n, least.k), base)

    def across(side: int) -> Problem | None:
        return nearest_size(kernel, Problem(least.m, side, least.k), base)

    if any(is_behind(down(size.m)) and is_behind(across(size.n)) for size in own):
        return []
    sizes = [next(filter(is_behind, map(side_of, _BEHIND_A_TILE)), None) for side_of in (down, across)]
    if sizes[0] is None or sizes[1] is None:
        return []
    size = nearest_size(kernel, Problem(sizes[0].m + 4, sizes[1].n + 20, _EVEN.k), base)
    return [size] if size and size.m * size.n * size.k <= _MOST_PRODUCTS_OF_TILES else []


def _small_blocks(kernel: Kernel, base: dict[str, int]) -> list[tuple[Problem, dict[str, int]]]:
    """Return a launch of a C kernel with the parameters of its demo: several of its blocks are within small sizes.

    The blocks of a loop are not known otherwise, and those for a CPU's caches have hundreds of rows.
    """
    if kernel.backend != "c" or kernel.demo is None:
        return []
    small = base | kernel.demo.params
    size = uneven(kernel, small)
    return [(size, small)] if size else []


def _other_constants(kernel: Kernel, base: dict[str, int], own: list[Problem]) -> list[Problem]:
    """Return sizes at which the constants that follow from the size have values that they do not have at others.

    A kernel that copies as many elements at once as the rows allow has a constant such as ``N % 4``, and code for each
    of its values.
    """
    if not kernel.constants:
        return []

    def values(size: Problem) -> tuple[int, ...] | None:
        try:
            return tuple(launch(kernel, size, base).constants.values())
        except GemmvizError:  # the check of another size will report the fault
            return None

    known, found = {values(size) for size in own} | {None}, []
    for more in range(1, _MOST_CONSTANTS + 1) if own else ():
        first = own[0]
        size = nearest_size(kernel, Problem(first.m + more, first.n + more, first.k + more), base)
        if size and values(size) not in known:
            known.add(values(size))
            found.append(size)
    return found


def telling(kernel: Kernel, base: dict[str, int]) -> list[tuple[Problem, dict[str, int]]]:
    """Return the sizes and parameters at which a kernel's declared changes have an effect."""
    found: list[tuple[Problem, dict[str, int]]] = []
    for change in kernel.breaks:
        case = shown_at(kernel, change, base)
        if case and case not in found:
            found.append(case)
    return found


def shown_at(kernel: Kernel, change: Break, base: dict[str, int]) -> tuple[Problem, dict[str, int]] | None:
    """Return a size and parameters at which a declared change has an effect; None if no size fits."""
    params = base | change.params
    size = nearest_size(kernel, Problem(*change.at), params) if change.at else uneven(kernel, params)
    return (size, params) if size else None


def uneven(kernel: Kernel, params: dict[str, int]) -> Problem | None:
    """Return the smallest of a few sizes that the kernel takes with M, N and K as different as it allows, or None.

    Of equal sizes one with several blocks in both directions is taken: a wrong use of a block's index is not noticed if
    the index is 0.
    """
    taken = [size for wanted in _UNEVEN if (size := nearest_size(kernel, wanted, params))]

    def worth(size: Problem) -> tuple[int, int]:
        try:
            ways = sum(side > 1 for side in launch(kernel, size, params).grid)
        except GemmvizError:  # keep this size: the check will report the fault
            ways = len(kernel.grid)
        return len({size.m, size.n, size.k}), ways

    return max(taken, key=worth, default=None)  # of equal sizes the first
