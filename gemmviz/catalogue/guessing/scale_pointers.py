"""Factors of the product that a kernel takes by pointer: ``const float *alpha``, as cuBLAS can take them."""

import re
from collections.abc import Sequence

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.roles import REAL, WHOLE, plain_word

_NAMES = ("alpha", "beta")


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


def as_structures(roles: Sequence[str], kinds: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Return the arguments that point to alpha or beta as structures with one member, as front matter has them.

    Parameters
    ----------
    roles, kinds
        The role and the type of each argument; a pointer's type ends with ``*``.
    """
    given = enumerate(zip(roles, kinds, strict=True))
    return [(at, at + 1, True) for at, (role, kind) in given if role in _NAMES and kind.endswith("*")]


def joined(
    first: Sequence[tuple[int, int, bool]], second: Sequence[tuple[int, int, bool]]
) -> tuple[tuple[int, int, bool], ...]:
    """Return the structures of two lists in the order of the arguments; a member of one is no structure itself."""
    inside = {at for start, end, _ in first for at in range(start, end)}
    return tuple(sorted([*first, *(one for one in second if one[0] not in inside)]))
