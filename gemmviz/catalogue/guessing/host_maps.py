"""Reads the boxes of tensor maps in a file's own host code: its calls of ``cuTensorMapEncodeTiled``.

The order of the arguments and their names are those of the CUDA Driver API, "Tensor Map Object Management".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.guessing.callers import filled, space_of, ways_up
from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.folding import evaluate
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.plain_values import SIZES
from gemmviz.catalogue.guessing.roles import DTYPES
from gemmviz.catalogue.guessing.tokens import closing, is_whole, split

_Tokens = tuple[str, ...]
_TYPE = "CU_TENSOR_MAP_DATA_TYPE_"
_SWIZZLE = "CU_TENSOR_MAP_SWIZZLE_"
_TYPES: dict[str, ElementType] = {
    **{"FLOAT16": "float16", "BFLOAT16": "bfloat16", "FLOAT32": "float32", "FLOAT64": "float64", "INT32": "int32"},
    **{"TFLOAT32": "float32", "FLOAT32_FTZ": "float32", "TFLOAT32_FTZ": "float32"},
}
_SWIZZLES = {"NONE": 0, "32B": 32, "64B": 64, "128B": 128}
_ADDRESS, _RANK, _SIZES, _BOX, _STRIDES, _SWIZZLED, _ARGUMENTS = 3, 2, 4, 6, 7, 9, 12
_MOST = 32
# Behind a name of the caller that the called function has, too: BLOCK_N, passed as its BLOCK_M.
_CALLER = "__of_caller"
# Casts say nothing about a value.
_EQUALS = re.compile(r"if \( (\w+) == (\d+) \)(?: \{)?$")
_ENCODE = re.compile(r"\w*TensorMapEncodeTiled\w*")
_SIZE_OF = re.compile(r"sizeof \( (\w+) \)")
_CASTS = re.compile(
    r"static_cast < [\w: ]+ > (?=\()|\( (?:const )?(?:\w+ :: )?(?:void|u?int\d+_t|cuuint\d+_t|size_t|int|unsigned|"
    r"long|unsigned int)(?: \*)* \) |\b(?:u?int\d+_t|cuuint\d+_t|size_t|unsigned|int) (?=\()"
)


@dataclass(frozen=True)
class HostMap:
    """One tensor map, in the names of the host function that has it made.

    Attributes
    ----------
    names
        Names of its matrix: those in the address, then those of the variables that take the map.
    rows, columns
        Of a box of the matrix as it is stored.
    swizzle
        In bytes.
    rank
        Dimensions of the tensor.
    dtype
        Of the elements; None for types of 8 bits, which the driver calls bytes.
    inner
        The names in the extent along which elements are neighbours.
    space
        The namespaces of the function that makes it.
    """

    names: _Tokens
    rows: _Tokens
    columns: _Tokens
    swizzle: int
    rank: int
    dtype: ElementType | None
    inner: frozenset[str]
    space: _Tokens = ()


def find(source: ParsedSource, kernel: Function) -> list[HostMap]:
    """Return the tensor maps that the host code makes; those that it cannot follow are left out.

    Where a function in the kernel's own namespace makes some, those of other namespaces are left out, too.

    Parameters
    ----------
    source, kernel
        The file, and its kernel.
    """
    found = _everywhere(source)
    own = [one for one in found if one.space and one.space == space_of(kernel)]
    return own or found


def _everywhere(source: ParsedSource) -> list[HostMap]:
    found: list[HostMap] = []
    everywhere: dict[str, _Tokens] = {}
    for function in source.callers:
        everywhere = _declared(function.body)[0] | everywhere
    for function in source.callers:
        for arguments in islice(_encodings(function.body), _MOST):
            locals_, arrays = _declared(function.body)
            for given, targets in islice(ways_up(function, source.callers), _MOST):
                # Constants of the function that launches the kernel have their meaning from there.
                known = {name: value for name, value in locals_.items() if given or not is_whole(value)}
                values = known | _of_caller(given, known)
                kind = _element(function, arguments[_ADDRESS], given, source)
                bytes_ = {one.type: SIZES.get(kind, 0) for one in function.parameters if one.pointer} | SIZES
                values |= _settled(arguments[_SWIZZLED], function.body, everywhere | locals_ | given, bytes_)
                made = _made(arguments, values, arrays, targets, kind)
                if made is not None and len(found) < _MOST:
                    found.append(replace(made, space=space_of(function)))
    return found


def _of_caller(given: Mapping[str, _Tokens], known: Mapping[str, _Tokens]) -> dict[str, _Tokens]:
    """Return the arguments of a call, with a mark at the caller's names that mean something else in the function."""
    own = {*given, *known}
    return {
        name: value if value == (name,) else tuple(word + _CALLER if word in own else word for word in value)
        for name, value in given.items()
    }


def _element(function: Function, address: _Tokens, given: Mapping[str, _Tokens], source: ParsedSource) -> str:
    """Return the type of the elements at an address: that of the parameter for it, or of the caller's pointer."""
    one = next((one for one in function.parameters if one.pointer and one.name in address), None)
    if one is None or one.type in DTYPES:
        return one.type if one else ""
    named = [word for word in given.get(one.type, ()) if word in DTYPES]
    passed = given.get(one.name, ())
    found = (p for caller in source.callers for p in caller.parameters if p.pointer and (p.name,) == passed)
    return next(iter([*named, *(p.type for p in found if p.type in DTYPES)]), "")


def _encodings(body: _Tokens) -> Iterator[list[_Tokens]]:
    """Yield the arguments of each call that makes a tensor map: it is the driver's, or has a type of elements."""
    found: set[int] = set()
    for at, token in enumerate(body):
        opening = at + 1 if _ENCODE.fullmatch(token) and body[at + 1 : at + 2] == ("(",) else 0
        if token.startswith(_TYPE):
            depth, start = 0, at
            while start >= 0 and depth <= 0:
                depth += (body[start] == "(") - (body[start] == ")")
                start -= 1
            opening = start + 1
        if not opening or opening in found:
            continue
        found.add(opening)
        arguments = split(body[opening + 1 : closing(body, opening)])
        if len(arguments) == _ARGUMENTS:
            yield arguments


def _declared(body: _Tokens) -> tuple[dict[str, _Tokens], dict[str, list[_Tokens]]]:
    """Return the values and the arrays that a function declares with one."""
    values: dict[str, _Tokens] = {}
    arrays: dict[str, list[_Tokens]] = {}
    for at in (i for i, token in enumerate(body) if token == "=" and i):
        if body[at - 1] == "]" and body[at + 1 : at + 2] == ("{",):
            name = body[max((i for i in range(at) if body[i] == "["), default=1) - 1]
            arrays.setdefault(name, split(body[at + 2 : closing(body, at + 1)]))
        elif body[at - 1].isidentifier() and ";" in body[at + 2 :]:
            values.setdefault(body[at - 1], next(iter(split(body[at + 1 : body.index(";", at)])), ()))
    return values, arrays


def _settled(
    argument: _Tokens, body: _Tokens, values: Mapping[str, _Tokens], sizes: Mapping[str, int]
) -> dict[str, _Tokens]:
    """Return the value of a variable that gets one of several, as in ``if (width == 64) swizzle = ...;``.

    It has no value where a condition is not known: none of several is taken for the only one. `sizes` are the bytes of
    types.
    """
    places = [i for i in range(1, len(body)) if body[i] == "=" and (body[i - 1],) == argument]
    if len(places) < 2:
        return {}
    chosen: _Tokens = ()
    for at in places:
        asked = " ".join(body[max(at - 8, 0) : at - 1])
        found = _EQUALS.search(asked)
        side = _number(filled((found[1],), values), sizes) if found else None
        if found and side is None:
            return {argument[0]: ()}
        if not found or side == int(found[2]):
            chosen = body[at + 1 : body.index(";", at)]
    return {argument[0]: chosen}


def _number(tokens: _Tokens, sizes: Mapping[str, int]) -> int | None:
    """Return the value of a constant expression, with the sizes of types in bytes."""
    text = _SIZE_OF.sub(lambda found: str(sizes.get(found[1]) or found[0]), " ".join(_plain(tokens)))
    value = evaluate(text, {})
    return int(value) if value is not None else None


def _made(
    arguments: list[_Tokens],
    values: Mapping[str, _Tokens],
    arrays: Mapping[str, list[_Tokens]],
    targets: _Tokens,
    element: str,
) -> HostMap | None:
    def array(number: int) -> list[_Tokens]:
        name = next((token for token in arguments[number] if token in arrays), "")
        return [_plain(_chosen(filled(part, values))) for part in arrays.get(name, [])]

    digits = "".join(_plain(filled(arguments[_RANK], values)))
    rank = int(digits) if digits in ("2", "3", "4", "5") else 0
    box, sizes, strides = array(_BOX), array(_SIZES), array(_STRIDES)
    swizzle = _swizzle(_chosen(filled(arguments[_SWIZZLED], values)))
    if not rank or min(len(box), len(sizes), len(strides)) < rank or swizzle is None:
        return None
    if any(stride != ("1",) for stride in strides[:rank]):  # elements are left out
        return None
    # Of more dimensions the third counts panels of columns, and there is 1 of the others: see `TensorMap.panel`.
    if rank > 2 and (box[0] != sizes[0] or any(side != ("1",) for side in (*box[3:rank], *sizes[3:rank]))):
        return None
    columns = box[0] if rank == 2 else ("(", *box[0], ")", "*", "(", *box[2], ")")
    inner = sizes[0] if rank == 2 else (*sizes[0], *sizes[2])
    names = filled(arguments[_ADDRESS], values)
    kind = next((word for word in arguments[1] if word.startswith(_TYPE)), "")
    if not kind and not element:
        return None
    return HostMap(
        tuple(
            word for word in _plain((*names, *reversed(targets), *filled(arguments[0], values))) if word.isidentifier()
        ),
        box[1],
        columns,
        swizzle,
        rank,
        _TYPES.get(kind.removeprefix(_TYPE)) if kind else _wide(element),
        frozenset(word for word in inner if word.isidentifier()),
    )


def _wide(element: str) -> ElementType | None:
    return DTYPES.get(element) if SIZES.get(element, 1) > 1 else None


def _plain(tokens: _Tokens) -> _Tokens:
    return tuple(_CASTS.sub("", " ".join(tokens).replace(_CALLER, "")).split())


def _chosen(tokens: _Tokens) -> _Tokens:
    """Return the side that ``asked ? one : other`` takes, if the condition is known."""
    while tokens[:1] == ("(",) and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    if tokens.count("?") != 1 or ":" not in tokens[tokens.index("?") :]:
        return tokens
    at, colon = tokens.index("?"), len(tokens) - 1 - tokens[::-1].index(":")
    asked = " ".join(tokens[:at])
    for word, number in (("true", "1"), ("false", "0")):
        asked = re.sub(rf"\b{word}\b", number, asked)
    taken = evaluate(asked, {})
    return tokens if taken is None else tokens[at + 1 : colon] if taken else tokens[colon + 1 :]


def _swizzle(tokens: _Tokens) -> int | None:
    """Return the bytes of a swizzle; None where it is not clear which one it is."""
    named = [word.removeprefix(_SWIZZLE) for word in tokens if word.startswith(_SWIZZLE)]
    return _SWIZZLES.get(named[0]) if len(named) == 1 else None
