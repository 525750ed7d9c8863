"""The sizes of a product by the elements of its arrays: the host code allocates 3 x 4, 4 x 5 and 3 x 5 of them.

A small program may have its sizes nowhere else: its kernel has no argument for them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isqrt

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.polynomial import looked_up, parse
from gemmviz.catalogue.guessing.roles import Roles
from gemmviz.catalogue.guessing.tokens import closing, split

_ALLOCATE = {"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync"}
_LONGEST = 40  # tokens of a value
_Tokens = tuple[str, ...]


def allocated_sizes(
    launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles
) -> tuple[int, int, int] | None:
    """Return M, N and K as the host code allocates A, B and C for a launch; None where it does not say them.

    Parameters
    ----------
    launch, function
        The launch, and its kernel.
    source
        The file.
    roles
        The roles of the kernel's parameters.
    """
    places = {parameter.name: place for place, parameter in enumerate(function.parameters)}
    arrays = [_array(launch, places.get(roles.parameter(matrix), -1)) for matrix in "ABC"]
    if "" in arrays or len({*arrays}) < len(arrays):
        return None
    plain = function.name.rpartition("::")[2]
    for caller in (one for one in source.callers if plain in one.body):
        counts = _counts(caller.body, source.constants)
        a, b, c = (counts.get(array, 0) for array in arrays)
        if a and b and c:
            return _sides(a, b, c)
    return None


def _array(launch: HostLaunch, place: int) -> str:
    """Return the name of the array that a launch gives to the parameter at a place; "" for another argument."""
    argument = launch.arguments[place] if 0 <= place < len(launch.arguments) else ()
    return argument[0] if len(argument) == 1 and argument[0].isidentifier() else ""


def _counts(body: _Tokens, constants: Mapping[str, _Tokens]) -> dict[str, int]:
    """Return the number of elements of each array that a function allocates, where numbers of the file give it."""
    local = _local(body)

    def tokens_of(word: str) -> Sequence[str] | None:
        found = local.get(word) or constants.get(word)
        return None if found is None else _in_elements(found)

    found: dict[str, int] = {}
    for name, size in _allocations(body):
        value = parse(_in_elements(size), looked_up(tokens_of)).value
        if name in found or value is None:  # one name for two arrays says nothing
            value = 0
        found[name] = value
    return found


def _allocations(body: _Tokens) -> Iterator[tuple[str, _Tokens]]:
    """Yield the array and the size of each allocation: ``cudaMalloc((void**)&d_a, n * sizeof(float))``."""
    for at, (word, bracket) in enumerate(pairwise(body)):
        if word in _ALLOCATE and bracket == "(":
            given = split(body[at + 2 : closing(body, at + 1)])
            if len(given) > 1 and given[0] and given[0][-1].isidentifier() and "&" in given[0]:
                yield given[0][-1], given[1]


def _local(body: _Tokens) -> dict[str, _Tokens]:
    """Return the values of a function's variables that get one value only."""
    given = [at for at, word in enumerate(body) if word == "=" and at and body[at - 1].isidentifier()]
    times = Counter(body[at - 1] for at in given)
    found: dict[str, _Tokens] = {}
    for at in given:
        behind = body[at + 1 : at + 1 + _LONGEST]
        value = next(iter(split(behind[: behind.index(";")])), ()) if ";" in behind else ()
        if times[body[at - 1]] == 1 and value:
            found[body[at - 1]] = value
    return found


def _in_elements(tokens: Sequence[str]) -> _Tokens:
    """Return a size with 1 for ``sizeof(float)``: it counts elements then, and no bytes."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == "sizeof" and tokens[at + 1 : at + 2] in (["("], ("(",)):
            out.append("1")
            at = closing(tokens, at + 1) + 1
        else:
            out.append(tokens[at])
            at += 1
    return tuple(out)


def _sides(a: int, b: int, c: int) -> tuple[int, int, int] | None:
    """Return M, N and K of matrices with so many elements; None where no such sizes are."""
    m, n, k = (isqrt(above // below) for above, below in ((a * c, b), (b * c, a), (a * b, c)))
    return (m, n, k) if (m * k, k * n, m * n) == (a, b, c) else None
