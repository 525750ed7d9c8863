"""Kernels that read C and write their result to a fourth matrix, D."""

import re
from dataclasses import replace

from gemmviz.catalogue.guessing.cxx import Function
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.roles import GuessReason, Roles
from gemmviz.catalogue.matrices import D

_CALLED_C = re.compile(r"(?:(?:d|dev|mat|matrix|ptr|g)_?)?c(?:_?(?:in|d|dev|ptr|mat|matrix|src))?", re.IGNORECASE)


def with_d(function: Function, index: Indexing, roles: Roles) -> Roles:
    """Return the roles with D for the result, where one more matrix is read and is called C; else the same roles.

    Parameters
    ----------
    function, index
        The kernel, and how it uses its pointers.
    roles
        Those of A, B and C, with C for the matrix that is written.
    """
    result = roles.parameter("C")
    left = [p.name for p in function.parameters if p.pointer and p.name and not roles.of.get(p.name)]
    if len(left) != 1 or not result or index.pointers[left[0]].writes or not _CALLED_C.fullmatch(left[0]):
        return roles
    why = {result: f"{result} is written, and {left[0]} is only read", left[0]: f"{left[0]} is read and called like C"}
    return replace(
        roles,
        of=roles.of | {left[0]: "C", result: D},
        why=roles.why | {name: GuessReason(0.8, text) for name, text in why.items()},
    )
