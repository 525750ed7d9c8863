"""Parameters of a kernel that give the distance between rows in bytes: ``pitch / sizeof(float)``."""

from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.plain_values import SIZES
from gemmviz.catalogue.guessing.roles import WHOLE, Roles

_COLUMNS = {"lda": ("K", "M", "A"), "ldb": ("N", "K", "B"), "ldc": ("N", "M", "C")}


def in_elements(function: Function) -> tuple[Function, dict[str, int]]:
    """Return a kernel in which such parameters count elements, and the bytes of an element for each of them."""
    whole = {p.name for p in function.parameters if not p.pointer and (p.type in WHOLE or p.type == "size_t")}
    body: list[str] = []
    found: dict[str, int] = {}
    at = 0
    while at < len(function.body):
        word, *behind = function.body[at : at + 6]
        size = SIZES.get(behind[3], 0) if len(behind) == 5 else 0
        body.append(word)
        at += 1
        if word in whole and size and behind[:3] == ["/", "sizeof", "("] and behind[4] == ")":
            found[word] = size
            at += 5
    everywhere = {name for name in found if body.count(name) == _divided(function.body, name)}
    if everywhere != found.keys():
        return function, {}
    return replace(function, body=tuple(body)), found


def _divided(body: tuple[str, ...], name: str) -> int:
    return sum(body[at : at + 3] == (name, "/", "sizeof") for at in range(len(body)))


def in_bytes(role: str, roles: Roles, size: int) -> str:
    """Return the value of a parameter in bytes, whose role in elements is known; nothing without a role."""
    row, column, matrix = _COLUMNS.get(role, (role, role, ""))
    extent = column if matrix in roles.column_major else row
    return f"{size} * {extent}" if extent in ("M", "N", "K") else role
