"""Kernels that take a matrix as a structure: ``struct Matrix { int width, height; float *elements; }``."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.roles import MATRIX_WORDS, WHOLE, matrix_called, plain_word
from gemmviz.catalogue.guessing.struct_types import bodies
from gemmviz.catalogue.guessing.tokens import split

Layouts = Mapping[str, tuple[Parameter, ...]]
"""The members of structures that may be a matrix: whole numbers and one pointer."""
_COLUMNS = re.compile(
    r"(?i)_*(w|width|n?_?cols?|num_?cols?|n?_?columns?|num_?columns?|nc|stride|ld|pitch|leading_?dim\w*)_?"
)
_ROWS = re.compile(r"(?i)_*(h|height|(n|num)?_?rows?|nr)_?")
_SIZES = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}
_QUALIFIERS = {"const", "unsigned", "__restrict__", "restrict", "*"}


@dataclass(frozen=True)
class StructParameter:
    """A parameter that is a matrix: its name, whether it is a pointer, the matrix, and its members."""

    name: str
    pointer: bool
    matrix: str
    members: tuple[Parameter, ...]

    def roles(self, matrix: str) -> tuple[str, ...]:
        """Return the role of each member, where the structure is a given matrix."""
        return tuple(matrix if one.pointer else _size(self.matrix, one.name) or "0" for one in self.members)


def layouts(tokens: Sequence[str]) -> dict[str, tuple[Parameter, ...]]:
    """Return the structures of a text that may be a matrix, by name."""
    found: dict[str, tuple[Parameter, ...]] = {}
    for name, parameters, opens, end in bodies(tokens):
        members = _members(tuple(tokens[opens + 1 : end]))
        if members and not parameters and sum(one.pointer for one in members) == 1 < len(members):
            found[name] = members
    return found


def _members(body: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return the members of a structure in their order; nothing if it has more than whole numbers and a pointer."""
    found: list[Parameter] = []
    for statement in split(body, ";"):
        if not statement:
            continue
        kind = next((word for word in statement if word not in _QUALIFIERS), "")
        for number, part in enumerate(split(statement)):
            words = [word for word in part if word.isidentifier() and word not in _QUALIFIERS]
            if not words or len(words) < 2 - (number > 0) or not set(part) <= {*words, *_QUALIFIERS}:
                return ()
            pointer = "*" in part
            if not pointer and kind not in WHOLE:
                return ()
            found.append(Parameter(words[-1], kind, pointer, "const" in part))
    return tuple(found)


def _size(matrix: str, member: str) -> str:
    rows, columns = _SIZES[matrix]
    return columns if _COLUMNS.fullmatch(member) else rows if _ROWS.fullmatch(member) else ""


def flattened(function: Function, known: Layouts) -> tuple[Function, dict[str, StructParameter]]:
    """Return a kernel that takes pointers and the sizes M, N and K in place of matrices as structures.

    Parameters
    ----------
    function
        The kernel.
    known
        From `layouts`.

    Returns
    -------
    tuple
        The kernel, and its parameters that are structures by name; without three such parameters it is unchanged.
    """
    given = [p for p in function.parameters if p.type in known]
    if len(given) != len(_SIZES):
        return function, {}
    called = [plain_word(p.name) for p in given]
    by_name = ["".join(m for m, words in MATRIX_WORDS.items() if word in words) for word in called]
    matrices = by_name if sorted(by_name) == sorted(_SIZES) else list(_SIZES)
    found = {
        p.name: StructParameter(p.name, p.pointer, matrix, known[p.type])
        for p, matrix in zip(given, matrices, strict=True)
    }
    parameters = [_pointer(found[p.name]) if p.name in found else p for p in function.parameters]
    sizes = [Parameter(name, "int", False, True) for name in "MNK"]
    body = _replaced(function.body, {name: (one.matrix, one.members) for name, one in found.items()})
    return replace(function, parameters=(*parameters, *sizes), body=body), found


def _pointer(one: StructParameter) -> Parameter:
    pointer = next(member for member in one.members if member.pointer)
    return replace(pointer, name=one.matrix)


def _replaced(body: Sequence[str], known: Mapping[str, tuple[str, tuple[Parameter, ...]]]) -> tuple[str, ...]:
    """Return code with ``A.width`` as a size, and ``A.elements`` as ``A``."""
    out: list[str] = []
    at = 0
    while at < len(body):
        word, dot, member = (*body[at : at + 3], "", "")[:3]
        if (
            word in known
            and dot in (".", "->")
            and body[at - 1 : at]
            not in (
                [
                    ".",
                ],
                (".",),
                ["->"],
                ("->",),
            )
        ):
            matrix, members = known[word]
            pointer = any(one.pointer and one.name == member for one in members)
            size = _size(matrix, member)
            if pointer or size:
                out.append(matrix if pointer else size)
                at += 3
                continue
        out.append(known[word][0] if word in known and dot not in (".", "->") else word)
        at += 1
    return tuple(out)


def with_sizes(tokens: Sequence[str], known: Layouts) -> list[str]:
    """Return host code in which the sizes of matrices stand for their members: ``d_B.width`` is N."""
    if not known:
        return list(tokens)
    members = {one.name for layout in known.values() for one in layout if not one.pointer}
    out: list[str] = []
    at = 0
    while at < len(tokens):
        word, dot, member = (*tokens[at : at + 3], "", "")[:3]
        matrix = matrix_called(word) if dot in (".", "->") and member in members and word.isidentifier() else ""
        if matrix and (size := _size(matrix, member)):
            out.append(size)
            at += 3
        else:
            out.append(word)
            at += 1
    return out


def own_arguments(
    parameters: Sequence[Parameter], matrices: Mapping[str, StructParameter], role_of: Callable[[str], str]
) -> tuple[list[tuple[str, str, str]], list[tuple[int, int, bool]]]:
    """Return name, type and role of each parameter of a kernel, and the structures among them.

    Parameters
    ----------
    parameters
        The kernel's own parameters.
    matrices
        Those that are structures, from `flattened`: their members stand in their place.
    role_of
        Returns the role of a parameter of the flattened kernel.

    Returns
    -------
    tuple
        The parameters; and of each structure its first member, the place behind its last one, and whether it is a
        pointer.
    """
    found: list[tuple[str, str, str]] = []
    structures: list[tuple[int, int, bool]] = []
    for p in parameters:
        one = matrices.get(p.name)
        if one is None:
            found.append((p.name, p.type + (" *" if p.pointer else ""), role_of(p.name)))
            continue
        structures.append((len(found), len(found) + len(one.members), one.pointer))
        roles = one.roles(role_of(one.matrix) or one.matrix)
        for member, role in zip(one.members, roles, strict=True):
            found.append((f"{p.name}.{member.name}", member.type + (" *" if member.pointer else ""), role))
    return found, structures
