"""Kernels with a fourth pointer: the C that they read where they write D, or a bias."""

import re
from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.hindrances import is_packed
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.roles import GuessReason, Roles, kind_of
from gemmviz.catalogue.matrices import BIAS, D
from gemmviz.catalogue.no_c import CALLED_C
from gemmviz.language import tr

_CALLED_BIAS = re.compile(r"(?:(?:d|dev|ptr|g)_?)?bias(?:_?(?:in|d|dev|ptr|vec|vector|data))?", re.IGNORECASE)


def with_fourth(function: Function, index: Indexing, roles: Roles) -> Roles:
    """Return the roles, with a role for a fourth pointer that is only read if its name or index makes the role clear.

    Parameters
    ----------
    function, index
        The kernel, and the use of its pointers.
    roles
        The roles of A, B and C. C is the matrix that is written.
    """
    result = roles.parameter("C")
    left = [p.name for p in function.parameters if p.pointer and p.name and not roles.of.get(p.name)]
    left = left or _tested(function, roles)
    if len(left) != 1 or not result or index.pointers[left[0]].writes:
        return roles
    (more,) = left
    kinds = {p.name: p.type for p in function.parameters}
    if _CALLED_BIAS.fullmatch(more) and (kinds[more] != kinds[result] or _has_a_value_per_row(more, index, roles)):
        return roles  # a bias has a value of C's type for each column
    if _CALLED_BIAS.fullmatch(more):
        given, why = {more: BIAS}, {more: tr("{name} is read and called like a bias", name=more)}
    elif not is_packed(more) and _has_a_value_per_column(more, index, roles):
        given, why = {more: BIAS}, {more: tr("{name} has one value for each column of C", name=more)}
    elif CALLED_C.fullmatch(more):
        given = {more: "C", result: D}
        why = {
            result: tr("{name} is written, and {other} is only read", name=result, other=more),
            more: tr("{name} is read and called like C", name=more),
        }
    elif not is_packed(more) and _is_indexed_like(more, result, index):
        given = {more: "C", result: D}
        why = {
            result: tr("{name} is written, and {other} is only read", name=result, other=more),
            more: tr("{name} is read where {other} is written", name=more, other=result),
        }
    else:
        return roles
    reasons = {name: GuessReason(0.8, text) for name, text in why.items()}
    return replace(roles, of=roles.of | given, why=roles.why | reasons)


def _is_indexed_like(name: str, other: str, index: Indexing) -> bool:
    """Return whether two pointers have the same elements at each row and column."""
    mine, its = (index.pointers[one].terms for one in (name, other))
    return bool(mine) and {key: {*map(str, value)} for key, value in mine.items()} == {
        key: {*map(str, value)} for key, value in its.items()
    }


def _tested(function: Function, roles: Roles) -> list[str]:
    """Return the C that beta scales, of the type of the result, in a kernel that also takes a null pointer for it."""
    kinds = {p.name: p.type for p in function.parameters if p.pointer}
    if not roles.parameter("beta"):
        return []
    result = kinds.get(roles.parameter("C"))
    none = (name for name, kind in kinds.items() if roles.of.get(name) == "0" and kind == result)
    return [name for name in none if CALLED_C.fullmatch(name)]


def _has_a_value_per_column(name: str, index: Indexing, roles: Roles) -> bool:
    """Return whether the index of a pointer is the column of C, whatever the row."""
    sizes = {parameter for parameter, role in roles.of.items() if role in ("M", "N", "K")}
    atoms = _atoms(name, index)
    along = bool(atoms & {*roles.columns}) and not atoms & {*roles.rows}
    return along and index.pointers[name].is_vector(sizes)


def _has_a_value_per_row(name: str, index: Indexing, roles: Roles) -> bool:
    """Return whether the index of a pointer is the row of C, whatever the column."""
    atoms = _atoms(name, index)
    return bool(atoms & {*roles.rows}) and not atoms & {*roles.columns}


def _atoms(name: str, index: Indexing) -> set[str]:
    return {word for product in index.pointers[name].terms for word in product if kind_of(word)}
