"""Kernels that take PyTorch's accessors: ``torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> A``.

Such a kernel is read as one with pointers and sizes: ``A[row][k]`` is ``A[row * K + k]``, and ``A.size(1)`` is K.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.roles import MATRIX_WORDS, plain_word
from gemmviz.catalogue.guessing.tokens import closing, split

_ACCESSOR = re.compile(r"(?:const )?(?:(?:torch|at) :: )?(?:Generic)?PackedTensorAccessor(?:32|64)? < (.+?) , ([12])\b")
_WHOLE = frozenset({"int", "unsigned", "auto", "size_t", "long", "int64_t", "uint32_t", "int32_t"})
_SIZES = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}
Tokens = Sequence[str]
_Index = tuple[str, ...]


@dataclass(frozen=True)
class Accessor:
    """One accessor, of a matrix or of a vector.

    Attributes
    ----------
    matrix
        A, B or C; the parameter's own name for a vector.
    type
        Of an element.
    sides
        The sizes along its indices: ``("N", "K")`` for a B that is read as ``weight[col][k]``.
    pointer
        False: it is given by value.
    """

    matrix: str
    type: str
    sides: tuple[str, ...]
    pointer: bool = False

    @property
    def members(self) -> tuple[Parameter, ...]:
        """Its members as parameters, in the order of <gemmviz/torch_types.h>."""
        names = [f"{name}[{at}]" for name in ("sizes_", "strides_") for at in range(len(self.sides))]
        return (Parameter("data_", self.type, True, False), *(Parameter(name, "int", False, True) for name in names))

    def read_as(self, member: str) -> str:
        """Return the name that stands for a member in the flattened kernel; nothing for a stride."""
        names = [one.name for one in self.members]
        return dict(zip(names, (self.matrix, *self.sides), strict=False)).get(member, "")

    def roles(self, role_of: Callable[[str], str]) -> tuple[str, ...]:
        """Return the role of each member, from the roles in the flattened kernel."""
        matrix = role_of(self.matrix) or (self.matrix if self.matrix in _SIZES else "")
        rows = (f"ld{matrix.lower()}",) if len(self.sides) > 1 else ()
        return matrix, *self.sides, *rows, "1"


def is_accessor(parameter: Parameter) -> bool:
    """Return whether a parameter is an accessor of a matrix."""
    found = _ACCESSOR.match(parameter.declared)
    return found is not None and found[2] == "2"


def without_accessors(function: Function) -> tuple[Function, Mapping[str, Accessor]]:
    """Return a kernel with pointers and sizes in place of accessors, and the accessors by name.

    Parameters
    ----------
    function
        The kernel. One that has not exactly three accessors of matrices is unchanged.
    """
    types = {p.name: one[1].replace(" ", "") for p in function.parameters if (one := _ACCESSOR.match(p.declared))}
    two = [p.name for p in function.parameters if is_accessor(p)]
    matrices = _matrices(function.body, two) if len(two) == len(_SIZES) else {}
    if not matrices:
        return function, {}
    turned = _turned(function.body, {matrix: name for name, matrix in matrices.items()})
    found: dict[str, Accessor] = {}
    for name, kind in types.items():
        matrix = matrices.get(name, "")
        found[name] = Accessor(
            matrix or name, kind, _SIZES[matrix][:: -1 if matrix in turned else 1] if matrix else ("N",)
        )
    parameters = [
        replace(p, name=found[p.name].matrix, type=types[p.name], pointer=True) if p.name in found else p
        for p in function.parameters
    ]
    sizes = [Parameter(name, "int", False, True) for name in "MNK"]
    return replace(function, parameters=(*parameters, *sizes), body=_replaced(function.body, found)), found


def _matrices(body: Tokens, names: list[str]) -> dict[str, str]:
    """Return the matrix that each accessor is: by its name, or else C is the one that is written."""
    by_name = {name: m for name in names for m, words in MATRIX_WORDS.items() if plain_word(name) in words}
    if sorted(by_name.values()) == sorted(_SIZES):
        return by_name
    written = [name for name in names if _is_written(body, name)]
    if len(written) != 1:
        return {}
    read = [name for name in names if name not in written]
    return {written[0]: "C", read[0]: "A", read[1]: "B"}


def _turned(body: Tokens, names: Mapping[str, str]) -> set[str]:
    """Return the matrices whose index along K is the first one (A) or the second one (B).

    The index along K depends on a loop that A and B share.
    """
    loops = {body[at + 1] for at, word in enumerate(body) if word in _WHOLE and _begins_loop(body, at)}
    indices = {matrix: _first_indices(body, names[matrix]) for matrix in ("A", "B")}
    used = {matrix: [_words_behind(body, one) & loops for one in both] for matrix, both in indices.items()}
    if not all(used.values()):
        return set()
    shared = {word for one in used["A"] for word in one} & {word for one in used["B"] for word in one}
    along_k = {matrix: [bool(one & shared) for one in both] for matrix, both in used.items()}
    return {matrix for matrix, place in (("A", 0), ("B", 1)) if along_k[matrix][place] > along_k[matrix][1 - place]}


def _begins_loop(body: Tokens, at: int) -> bool:
    """Return whether the type at a place belongs to the variable of a loop: ``for (int k = 0;``."""
    before = tuple(body[max(at - 3, 0) : at])
    return "for" in before and before[before.index("for") + 1 : before.index("for") + 2] == ("(",)


def _words_behind(body: Tokens, index: _Index) -> set[str]:
    """Return the words of an index, with those of the first value of each variable in it."""
    values: dict[str, _Index] = {}
    for at, word in enumerate(body[:-1]):
        if body[at + 1] == "=" and word.isidentifier() and word not in values and ";" in body[at:]:
            values[word] = tuple(body[at + 2 : body.index(";", at)])
    found: set[str] = set()
    left = [*index]
    while left:
        word = left.pop()
        if word not in found:
            found.add(word)
            left += values.get(word, ())
    return found


def _indices(body: Tokens, at: int) -> tuple[_Index, _Index, int] | None:
    """Return the two indices of ``A[row][k]`` at a place, and the place behind them; None for anything else."""
    if tuple(body[at + 1 : at + 2]) != ("[",):
        return None
    middle = closing(body, at + 1)
    if tuple(body[middle + 1 : middle + 2]) != ("[",):
        return None
    end = closing(body, middle + 1)
    return tuple(body[at + 2 : middle]), tuple(body[middle + 2 : end]), end + 1


def _places(body: Tokens, name: str) -> list[int]:
    return [at for at, word in enumerate(body) if word == name and (not at or body[at - 1] not in (".", "->"))]


def _first_indices(body: Tokens, name: str) -> tuple[_Index, ...]:
    found = next((one for at in _places(body, name) if (one := _indices(body, at))), None)
    return found[:2] if found else ()


def _is_written(body: Tokens, name: str) -> bool:
    behind = (body[one[2] : one[2] + 1] for at in _places(body, name) if (one := _indices(body, at)))
    return any(tuple(word)[:1] in (("=",), ("+=",)) for word in behind)


def _replaced(body: Tokens, accessors: Mapping[str, Accessor]) -> tuple[str, ...]:
    out: list[str] = []
    at = 0
    while at < len(body):
        one = accessors.get(body[at]) if not at or body[at - 1] not in (".", "->") else None
        indices = _indices(body, at) if one and len(one.sides) > 1 else None
        if one and indices:
            first, second = (_replaced(index, accessors) for index in indices[:2])
            out += [one.matrix, "[", "(", *first, ")", "*", one.sides[1], "+", "(", *second, ")", "]"]
            at = indices[2]
        elif one and tuple(body[at + 1 : at + 2]) == (".",):
            member, behind = _member(body, at + 2, one)
            out += member
            at = behind
        else:
            out.append(one.matrix if one else body[at])
            at += 1
    return tuple(out)


def _member(body: Tokens, at: int, one: Accessor) -> tuple[list[str], int]:
    """Return the meaning of ``size(1)``, ``stride(0)`` or ``data()`` behind an accessor, and the place behind it."""
    if tuple(body[at + 1 : at + 2]) != ("(",):
        return [one.matrix, ".", body[at]], at + 1
    end = closing(body, at + 1)
    given = split(tuple(body[at + 2 : end]))
    number = given[0][0] if given and len(given[0]) == 1 else ""
    meant = {
        ("size", "0"): one.sides[0],
        ("size", "1"): one.sides[1],
        ("stride", "0"): one.sides[1],
        ("stride", "1"): "1",
    }
    if body[at] == "data" and not number:
        return [one.matrix], end + 1
    known = meant.get((body[at], number))
    return ([known], end + 1) if known else ([one.matrix, ".", *body[at : end + 1]], end + 1)
