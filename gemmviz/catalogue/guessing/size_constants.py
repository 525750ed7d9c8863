"""Constants of a file that stand for sizes: ``#define WIDTH 1024`` in place of a parameter."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.polynomial import Lookup, looked_up, parse
from gemmviz.catalogue.guessing.repeats import repeats
from gemmviz.catalogue.guessing.roles import DISTANCE, LEFT_OVER, WHOLE, Roles, is_size_word

# A constant that is called like a size may be this small; another one is then rather a tile.
_SMALLEST_NAMED, _SMALLEST = 32, 256
_OF_TILES = re.compile(
    r"(?i)block|thread|tile(?!s\b)|warp|stage|pad|skew|unroll|chunk|step|bytes|lanes|^b[mnk]$|^[tw][mn]$"
)
_COUNTS_TILES = re.compile(r"(?i)grid|tiles|(?:num|n|count)_?(?:of_?)?(?:blocks?|tiles?|steps?)")


@dataclass(frozen=True)
class SizeConstant:
    """A constant that stands for a size.

    Attributes
    ----------
    name
        The size: a constant, the same as `leaf` or a multiple of it.
    leaf
        The constant that is defined as a number.
    times
        How often the size has the leaf: 16 for ``#define M_GLOBAL (16 * M_TILES)``.
    number
        The value of the size in the file; 0 where it is not known.
    """

    name: str
    leaf: str
    times: int = 1
    number: int = 0

    def size_of(self, roles: Roles) -> str:
        """Return which size it is, ``"M"``, ``"N"`` or ``"K"``; nothing where no use of it says so."""
        role = roles.of.get(self.name, "")
        columns = {"lda": ("K", "M", "A"), "ldb": ("N", "K", "B"), "ldc": ("N", "M", "C")}.get(role)
        if columns:
            return columns[columns[2] in roles.column_major]
        used = role in ("M", "N", "K") and roles.why[self.name].confidence > LEFT_OVER
        return role if used else ""

    def value(self, roles: Roles) -> str:
        """Return the expression for the leaf."""
        size = self.size_of(roles)
        return size if self.times == 1 else f"{size} / {self.times}"

    def requires(self, roles: Roles) -> tuple[str, ...]:
        """Return the condition for the leaf to be a whole number."""
        return (f"{self.size_of(roles)} % {self.times} == 0",) if self.times > 1 else ()


def size_constants(function: Function, source: ParsedSource) -> list[SizeConstant]:
    """Return the constants that a kernel may use as sizes, where its parameters are too few.

    Parameters
    ----------
    function, source
        The kernel, with the helpers that it calls, and its file.
    """
    whole = [p.name for p in function.parameters if not p.pointer and p.type in WHOLE]
    counts = repeats(function)
    sizes = [name for name in whole if not DISTANCE.fullmatch(name) and name not in counts]
    taken = {p.name for p in function.parameters} | {name for _, name, _ in function.template}
    if len(sizes) >= len("MNK") or sum(p.pointer for p in function.parameters) < len("ABC"):
        return []
    in_tiles = _in_tiles(function, source)
    look = looked_up(source.constants.get)
    found: dict[str, SizeConstant] = {}
    for leaf in sorted(_reached(function, source) - taken - in_tiles):
        number = look(leaf)
        value = None if number is None else number.value
        if value is None or not _is_number(source.constants[leaf]) or _OF_TILES.search(leaf):
            continue
        largest = _largest(source, leaf, look)
        named = is_size_word(largest.name)
        if value >= (_SMALLEST_NAMED if named else _SMALLEST) and (named or not sizes):
            found[largest.name] = largest
    alone = [one for one in found.values() if one.leaf == one.name]
    tiles = {one.value for name in in_tiles if (one := look(name)) is not None and one.value}
    return [*found.values(), *_counts_of_tiles(_reached(function, source) - taken - in_tiles, alone, tiles, look)]


def _counts_of_tiles(
    names: set[str], sizes: Sequence[SizeConstant], tiles: set[int], look: Lookup
) -> Iterator[SizeConstant]:
    """Yield the constants that are a size divided by a tile, by their names and values: ``#define GRID_SIZE 32``."""
    for leaf in sorted(name for name in names if _COUNTS_TILES.search(name)):
        known = look(leaf)
        value = known.value if known is not None else None
        divided = next((one for one in sizes if value and one.number == value * (one.number // value)), None)
        if divided is not None and value and divided.number // value in tiles:
            yield SizeConstant(divided.name, leaf, divided.number // value, divided.number)


def sizes_in_file(given: list[SizeConstant], roles: Roles, requires: Sequence[str]) -> tuple[int, int, int] | None:
    """Return M, N and K as constants of the file give them; None where one of them is not known.

    Parameters
    ----------
    given
        The constants that stand for sizes.
    roles
        The roles of the parameters, with these constants among them.
    requires
        The conditions of the launch.
    """
    known = {one.size_of(roles): one.number for one in given}
    n = known.get("N", 0)
    m, k = (known.get(size, n if f"{size} == N" in requires else 0) for size in "MK")
    return (m, n, k) if m and n and k else None


def as_parameters(function: Function, given: list[SizeConstant]) -> Function:
    """Return a function with such constants as further parameters."""
    more = tuple(Parameter(name, "int", False, True) for name in dict.fromkeys(one.name for one in given))
    return replace(function, parameters=(*function.parameters, *more))


def without(source: ParsedSource, given: list[SizeConstant]) -> ParsedSource:
    """Return a file in which such constants have no value; a leaf is its size divided by a number."""
    names = {one.name for one in given} | {one.leaf for one in given}
    constants = {name: tokens for name, tokens in source.constants.items() if name not in names}
    constants |= {one.leaf: (one.name, "/", str(one.times)) for one in given if one.leaf != one.name}
    kept = source.sizes | {one.name for one in given}
    return replace(source, constants=constants, tunable=source.tunable - names, sizes=kept)


def _is_number(tokens: tuple[str, ...]) -> bool:
    return parse(tokens).value is not None


def _reached(function: Function, source: ParsedSource) -> set[str]:
    """Return the constants that a function names, and those that these are made of."""
    found: set[str] = set()
    waiting = {word for word in function.body if word in source.constants}
    while waiting:
        found |= waiting
        waiting = {word for name in waiting for word in source.constants[name] if word in source.constants} - found
    return found


def _in_tiles(function: Function, source: ParsedSource) -> set[str]:
    """Return the words in the extents of the function's arrays, and the words of their definitions."""
    body = function.body
    words: set[str] = set()
    for at in (i for i, token in enumerate(body) if token == "__shared__"):
        end = next((i for i in range(at, len(body)) if body[i] == ";"), at)
        words |= {*body[at:end]}
    inside = replace(function, body=(*words, *function.bounds))
    return _reached(inside, source)


def _largest(source: ParsedSource, leaf: str, look: Lookup) -> SizeConstant:
    """Return the largest constant that is a multiple of a leaf; the leaf itself where there is none."""
    number = parse(source.constants[leaf], look).value or 0
    best = SizeConstant(leaf, leaf, number=number)
    for name, tokens in source.constants.items():
        if leaf in tokens and name != leaf and not _OF_TILES.search(name):
            value = parse(tokens, lambda word: None if word == leaf else look(word))
            times = value.terms.get((leaf,), 0)
            if len(value.terms) == 1 and times > best.times:
                best = SizeConstant(name, leaf, times, times * number)
    return best
