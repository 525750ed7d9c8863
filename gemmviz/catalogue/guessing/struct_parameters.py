"""Kernels that take structures: each matrix, ``struct Matrix { int width, height; float *elements; }``, or everything.

A kernel that takes everything in one structure is read as one with the members as its parameters, and so is one that
takes its sizes in structures beside the matrices.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gemmviz.catalogue.guessing.accessors import Accessor
from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.roles import (
    MATRIX_WORDS,
    REAL,
    WHOLE,
    GuessReason,
    Roles,
    matrix_called,
    plain_word,
)
from gemmviz.catalogue.guessing.struct_types import bodies
from gemmviz.catalogue.guessing.tokens import split
from gemmviz.language import tr

Layouts = Mapping[str, tuple[Parameter, ...]]
"""The members of structures that have only numbers and pointers."""
_COLUMNS = re.compile(
    r"(?i)_*(w|width|n?_?cols?|num_?cols?|n?_?columns?|num_?columns?|nc|stride|ld|pitch|leading_?dim\w*)_?"
)
_DISTANCE = re.compile(r"(?i)_*(stride|ld|pitch|leading_?dim\w*)_?")
_ROWS = re.compile(r"(?i)_*(h|height|(n|num)?_?rows?|nr)_?")
_SIZES = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}
_QUALIFIERS = {"const", "unsigned", "__restrict__", "restrict", "*"}


@dataclass(frozen=True)
class StructParameter:
    """A parameter that is a structure: whether it is a pointer, the matrix, and its members.

    Without a matrix each member is a parameter by itself; where there are several such structures, ``own`` stands
    behind the names of their members, as in ``width`` of ``a``: ``widtha``. With ``turned``, ``width`` counts rows.
    """

    pointer: bool
    matrix: str
    members: tuple[Parameter, ...]
    own: str = ""
    turned: bool = False

    def read_as(self, member: str) -> str:
        """Return the name that stands for a member in the flattened kernel; nothing for another member."""
        one = next((one for one in self.members if one.name == member), None)
        if one is None:
            return ""
        if self.matrix:
            return self.matrix if one.pointer else self._size(member)
        return f"p_{member}" if one.pointer else f"{member}{self.own}_"

    def _size(self, member: str) -> str:
        size = _size(self.matrix, member)
        if not self.turned or not size or _DISTANCE.fullmatch(member):
            return size
        rows, columns = _SIZES[self.matrix]
        return rows if size == columns else columns

    def roles(self, role_of: Callable[[str], str]) -> tuple[str, ...]:
        """Return the role of each member, from the roles in the flattened kernel."""
        if not self.matrix:
            return tuple(role_of(self.read_as(one.name)) for one in self.members)
        matrix = role_of(self.matrix) or self.matrix
        # The distance of rows, or of columns where the matrix lies by columns, follows from its layout.
        distance = f"ld{matrix.lower()}"
        return tuple(
            matrix if one.pointer else distance if _DISTANCE.fullmatch(one.name) else self._size(one.name) or "0"
            for one in self.members
        )


Members = StructParameter | Accessor
"""A parameter of which each member has a role of its own."""


def layouts(tokens: Sequence[str]) -> dict[str, tuple[Parameter, ...]]:
    """Return the structures of a text that have only numbers and pointers, several of them, by name."""
    found: dict[str, tuple[Parameter, ...]] = {}
    for name, parameters, opens, end in bodies(tokens):
        members = _members(tuple(tokens[opens + 1 : end]))
        if members and not parameters and len(members) > 1:
            found[name] = members
    return found


def _members(body: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return the members of a structure in their order; nothing if it has more than numbers and pointers."""
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
            if not pointer and kind not in WHOLE | REAL:
                return ()
            found.append(Parameter(words[-1], kind, pointer, "const" in part))
    return tuple(found)


def _size(matrix: str, member: str) -> str:
    rows, columns = _SIZES[matrix]
    return columns if _COLUMNS.fullmatch(member) else rows if _ROWS.fullmatch(member) else ""


def flattened(function: Function, known: Layouts) -> tuple[Function, Mapping[str, Members]]:
    """Return a kernel without structures as parameters.

    In place of matrices as structures it takes pointers and the sizes M, N and K.

    Parameters
    ----------
    function
        The kernel.
    known
        From `layouts`.

    Returns
    -------
    tuple
        The kernel, and its parameters that are structures by name; a kernel with other structures is unchanged.
    """
    given = [p for p in function.parameters if p.type in known]
    pointers = [sum(one.pointer for one in known[p.type]) for p in given]
    own = [p.name[:1].lower() if len(given) > 1 else "" for p in given]
    sizes: list[Parameter] = []
    if pointers == [1] * len(_SIZES):
        called = [plain_word(p.name) for p in given]
        by_name = ["".join(m for m, words in MATRIX_WORDS.items() if word in words) for word in called]
        matrices = by_name if sorted(by_name) == sorted(_SIZES) else list(_SIZES)
        sizes = [Parameter(name, "int", False, True) for name in "MNK"]
    elif len(given) == 1 and pointers[0] >= len(_SIZES):
        matrices = [""]
    elif given and len({*own}) == len(own) and not any(pointers) and not any(p.pointer for p in given):
        matrices = [""] * len(given)  # sizes beside the matrices
    else:
        return function, {}
    turned = _counts_rows_by_width(function.body, {m: p.name for p, m in zip(given, matrices, strict=True)})
    found = {
        p.name: StructParameter(p.pointer, m, known[p.type], word, turned)
        for p, m, word in zip(given, matrices, own, strict=True)
    }
    parameters: list[Parameter] = []
    for p in function.parameters:
        one = found.get(p.name)
        members = () if one is None else (m for m in one.members if m.pointer or not one.matrix)
        parameters += [p] if one is None else [replace(m, name=one.read_as(m.name)) for m in members]
    return replace(function, parameters=(*parameters, *sizes), body=_replaced(function.body, found)), found


def _counts_rows_by_width(body: Sequence[str], names: Mapping[str, str]) -> bool:
    """Return whether loops along K end at the height of A or the width of B, and none at A's width or B's height."""
    depth = {"A": _COLUMNS, "B": _ROWS}
    usual, turned = 0, 0
    for loop in re.findall(r"\bfor \( [^;{}]*;([^;{}]*);", " ".join(body)):
        for matrix, along_k in depth.items():
            for member in re.findall(rf"\b{names.get(matrix) or '-'} (?:\.|->) (\w+)", loop):
                if along_k.fullmatch(member):
                    usual += 1
                elif _COLUMNS.fullmatch(member) or _ROWS.fullmatch(member):
                    turned += 1
    return turned > 0 and not usual


def _replaced(body: Sequence[str], known: Mapping[str, StructParameter]) -> tuple[str, ...]:
    """Return code with ``A.width`` as a size, and ``A.elements`` as ``A``."""
    out: list[str] = []
    at = 0
    while at < len(body):
        word, dot, member = (*body[at : at + 3], "", "")[:3]
        is_own = word in known and (not at or body[at - 1] not in (".", "->"))
        behind_dot = dot in (".", "->")
        name = known[word].read_as(member) if is_own and behind_dot else ""
        if name:
            out.append(name)
            at += 3
        else:
            out.append(known[word].matrix or word if is_own and not behind_dot else word)
            at += 1
    return tuple(out)


def with_sizes(tokens: Sequence[str], known: Layouts) -> list[str]:
    """Return host code in which the sizes of matrices stand for their members: ``d_B.width`` is N."""
    if not known:
        return list(tokens)
    matrices = [layout for layout in known.values() if sum(one.pointer for one in layout) == 1]
    members = {one.name for layout in matrices for one in layout if not one.pointer}
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


def sizes_of_members(functions: Sequence[Function], known: Layouts) -> dict[str, str]:
    """Return the sizes that variables of the host code are, because members of C get them: ``C->width = width;``.

    Parameters
    ----------
    functions
        The host code.
    known
        From `layouts`.
    """
    members = {one.name for layout in known.values() for one in layout if not one.pointer}
    found: dict[str, str] = {}
    for body in (one.body for one in functions):
        for at in (i for i, word in enumerate(body) if word == "=" and i > 2):
            matrix, dot, member, _, value, end = (*body[at - 3 : at + 3], "", "")[:6]
            size = _size("C", member) if dot in (".", "->") and member in members else ""
            if size and matrix_called(matrix) == "C" and value.isidentifier() and end == ";":
                found.setdefault(value, size)
    return found


def own_arguments(
    parameters: Sequence[Parameter], matrices: Mapping[str, Members], role_of: Callable[[str], str]
) -> tuple[list[tuple[str, str, str]], list[tuple[int, int, bool]]]:
    """Return name, type and role of each parameter of a kernel, and the structures among them.

    Parameters
    ----------
    parameters
        The kernel's own parameters.
    matrices
        Those that are structures, from `flattened` or `without_accessors`: their members stand in their place.
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
            found.append((p.name, f"{p.type} {'*' * p.depth}".rstrip(), role_of(p.name)))
            continue
        structures.append((len(found), len(found) + len(one.members), one.pointer))
        for member, role in zip(one.members, one.roles(role_of), strict=True):
            found.append((f"{p.name}.{member.name}", member.type + (" *" if member.pointer else ""), role))
    return found, structures


def reasons_of_members(matrices: Mapping[str, Members], named: Roles) -> dict[str, GuessReason]:
    """Return the evidence for the roles of the members of structures.

    Parameters
    ----------
    matrices
        As for `own_arguments`.
    named
        The roles of the parameters of the flattened kernel.
    """
    called = GuessReason(0.7, tr("it is called like this member of a matrix"))
    of_tensor = GuessReason(0.8, tr("PyTorch's accessors have this member"))
    found: dict[str, GuessReason] = {}
    for name, one in matrices.items():
        for member in one.members:
            why = named.why.get(one.read_as(member.name), GuessReason(0, ""))
            found[f"{name}.{member.name}"] = of_tensor if isinstance(one, Accessor) else called if one.matrix else why
    return found
