"""The enumerations of a file, for templates that take one of their values: ``template <Layout L>``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.polynomial import parse
from gemmviz.catalogue.guessing.tokens import closing, split

_NAME = re.compile(r"[A-Za-z_]\w*")
ENUM = "enum"
"""The type of a parameter that is a value of an enumeration."""
OF_CUBLAS = {"cublasOperation_t": ("CUBLAS_OP_N", "CUBLAS_OP_T", "CUBLAS_OP_C")}
"""Enumerations of CUDA's libraries that kernels take, with their values from 0 on."""


def enumerations(tokens: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of each enumeration outside of functions, with the namespaces: ``"gemm::Layout::ROW"``.

    Parameters
    ----------
    tokens
        Of a file.
    """
    found: dict[str, tuple[str, ...]] = {}
    spaces: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == "enum" and (named := _head(tokens, at)):
            name, opens = named
            end = closing(list(tokens), opens)
            spaced = "::".join([*filter(None, spaces), name])
            values = [part[0] for part in split(tokens[opens + 1 : end]) if part and _NAME.fullmatch(part[0])]
            if values:
                found.setdefault(name, tuple(f"{spaced}::{value}" for value in values))
            at = end
        elif tokens[at] == "{":
            spaces.append(_opened(tokens, at))
        elif tokens[at] == "}" and spaces:
            spaces.pop()
        at += 1
    return found


def numbers_of(tokens: Sequence[str], wanted: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the number of each value of some enumerations, as tokens.

    Parameters
    ----------
    tokens
        Of a file.
    wanted
        The names of the enumerations.
    """
    found: dict[str, tuple[str, ...]] = {
        value: (str(number),)
        for name, values in OF_CUBLAS.items()
        if name in wanted
        for number, value in enumerate(values)
    }
    for at in (place for place, token in enumerate(tokens) if token == "enum"):
        named = _head(tokens, at)
        if named and named[0] in wanted:
            found |= _numbered(tokens[named[1] + 1 : closing(list(tokens), named[1])])
    return found


def with_enums(kernel: Function, names: set[str]) -> Function:
    """Return a kernel with one type, `ENUM`, for its parameters that are values of some enumerations.

    Parameters
    ----------
    kernel, names
        The kernel, and the names of the enumerations.
    """
    parameters = (replace(p, type=ENUM) if p.type in names and not p.pointer else p for p in kernel.parameters)
    return replace(kernel, parameters=tuple(parameters))


def _numbered(inside: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the values between the brackets of an enumeration: each is one more than the value before it."""
    number = -1
    for part in filter(None, split(inside)):
        given = parse(part[2:]).value if part[1:2] == ("=",) else number + 1
        if given is None:
            return
        number = given
        yield part[0], (str(number),)


def _head(tokens: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the name of the enumeration that begins at a place, and where its values begin."""
    start = at + 1 + (tokens[min(at + 1, len(tokens) - 1)] in ("class", "struct"))
    if not _NAME.fullmatch("".join(tokens[start : start + 1])):
        return None
    end = next((i for i in range(start + 1, min(start + 6, len(tokens))) if tokens[i] in ("{", ";")), 0)
    return (tokens[start], end) if end and tokens[end] == "{" else None


def _opened(tokens: Sequence[str], at: int) -> str:
    """Return the name of the namespace or structure that a bracket opens; empty for anything else."""
    start = at
    while start and (tokens[start - 1] == "::" or _NAME.fullmatch(tokens[start - 1])):
        start -= 1
        if tokens[start] in ("namespace", "struct", "class"):
            return "".join(tokens[start + 1 : at])
    return ""
