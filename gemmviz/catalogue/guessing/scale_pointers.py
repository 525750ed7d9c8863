"""Numbers that a kernel takes by pointer: factors, ``const float *alpha``, as cuBLAS takes them, and sizes."""

import re
from collections.abc import Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.roles import REAL, WHOLE, plain_word

_NAMES = ("alpha", "beta")
_SIZES = ("M", "N", "K")
_MATRICES = 3
# What stands before the star of a number that is read, and not before the star of a product.
_BEFORE = {"=", "(", ",", ";", "{", "}", "<", ">", "<=", ">=", "+", "-", "/", "%", "return", "&&", "||", "?", ":", "=="}


def scales_by_pointer(function: Function, indexing: Indexing) -> dict[str, str]:
    """Return the parameters that point to alpha and beta, with these roles.

    A kernel reads one number there: ``*alpha`` or ``alpha[0]``.

    Parameters
    ----------
    function, indexing
        The kernel, and the use of its pointers.
    """
    found: dict[str, str] = {}
    for one in function.parameters:
        word = re.sub(r"_*(?:ptr|p|dev|d)?_*$", "", plain_word(one.name))
        used = indexing.pointers.get(one.name)
        reads_one = used is None or not (used.writes or any(used.terms))
        if one.pointer and word in _NAMES and one.type in REAL | WHOLE and reads_one and word not in found.values():
            found[one.name] = word
    return found


def with_plain_sizes(function: Function) -> Function:
    """Return a kernel in which whole numbers that it reads through pointers, ``*n``, are plain parameters.

    Parameters
    ----------
    function
        The kernel.
    """
    body, pointers = function.body, [p for p in function.parameters if p.pointer]
    sizes = {p.name for p in pointers if p.type in WHOLE and p.depth == 1 and p.name and _reads_one(body, p.name)}
    if not sizes or len(pointers) - len(sizes) < _MATRICES:
        return function
    parameters = tuple(replace(p, pointer=False) if p.name in sizes else p for p in function.parameters)
    stars = {at - 1 for at, word in enumerate(body) if word in sizes}
    return replace(function, parameters=parameters, body=tuple(w for at, w in enumerate(body) if at not in stars))


def _reads_one(body: Sequence[str], name: str) -> bool:
    """Return whether each use of a pointer reads the number that it points to: ``*name``."""
    places = [at for at, word in enumerate(body) if word == name]
    reads = [at > 1 and body[at - 1] == "*" and body[at - 2] in _BEFORE for at in places]
    kept = [at + 1 == len(body) or body[at + 1] not in ("=", "[", "++", "--", "+=", "-=", "->") for at in places]
    return bool(places) and all(reads) and all(kept)


def as_structures(roles: Sequence[str], kinds: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Return the arguments that point to alpha, beta or a size as structures with one member, as front matter has them.

    Parameters
    ----------
    roles, kinds
        The role and the type of each argument; a pointer's type ends with ``*``.
    """
    given = enumerate(zip(roles, kinds, strict=True))
    return [(at, at + 1, True) for at, (role, kind) in given if role in (*_NAMES, *_SIZES) and kind.endswith("*")]


def joined(
    first: Sequence[tuple[int, int, bool]], second: Sequence[tuple[int, int, bool]]
) -> tuple[tuple[int, int, bool], ...]:
    """Return the structures of two lists in the order of the arguments; a member of one is no structure itself."""
    inside = {at for start, end, _ in first for at in range(start, end)}
    return tuple(sorted([*first, *(one for one in second if one[0] not in inside)]))
