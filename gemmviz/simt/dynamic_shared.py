"""Dynamic shared memory: gives the array in a kernel's declaration a definition and an element type."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.simt.shared_array import SharedArray

_BYTES = ("int8", "uint8")
_TYPES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    **dict.fromkeys(("long", "long long", "unsigned long", "unsigned long long", "int64_t", "uint64_t"), "int64"),
    "half": "float16",
    "__half": "float16",
    "nv_half": "float16",
    "__nv_half": "float16",
    "nv_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "half2": "float16",
    "__half2": "float16",
    "nv_bfloat162": "bfloat16",
    "__nv_bfloat162": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
    "float2": "float32",
    "float4": "float32",
}
_DEEPEST = 8
_QUALIFIERS = r"(?:const\s+|volatile\s+)*"
_CAST = (
    rf"(?:reinterpret_cast\s*<\s*{_QUALIFIERS}(?P<new>[\w:\s]+?)\s*\*\s*>\s*\("
    rf"|\(\s*{_QUALIFIERS}(?P<old>[\w:]+)\s*\*\s*\))"
)


_ALIGN = r"(?:(?:__align__|alignas|gvalign)\s*\((?:[^()]|\([^()]*\))*\)\s*)"
_DECLARED = re.compile(
    rf"\bextern\s+{_ALIGN}?__shared__\s+{_ALIGN}?"
    r"(?P<type>[A-Za-z_][\w:]*(?:\s+[A-Za-z_][\w:]*)*)\s+(?P<name>\w+)\s*\[\s*\](?P<rest>(?:\s*\[[^\]\n]*\])*)\s*(?=;)"
)
# One structure, whose members fill all of dynamic shared memory.
_STRUCTURE = re.compile(
    rf"\bextern\s+{_ALIGN}?__shared__\s+{_ALIGN}?"
    r"(?P<type>[A-Za-z_][\w:]*\s*(?:<[^<>;]*>)?)\s*\b(?P<name>\w+)\s*(?=;)"
)
# nvcc takes an array with all of its extents as a static one, and says so in a warning.
_STATIC = re.compile(
    rf"\bextern(?=\s+{_ALIGN}?__shared__\s+{_ALIGN}?[A-Za-z_][\w:]*(?:\s*<[^<>;]*>)?[\w:\s]*?\b\w+\s*\[\s*[^\]\s])"
)
_TEMPLATE_TYPES = re.compile(r"\b(?:typename|class)\s+(\w+)\s*[,=>]")
_CONSTANT = re.compile(
    r"(?:\bconst(?:expr)?\s[\w\s]*?\b(\w+)\s*=|^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t])\s*([^;,\n]+)", re.MULTILINE
)
# A namespace that no kernel uses; the arrays in it keep their own names.
_PLACE = "gv_dynamic_shared"
_ALIGNED = 1024


def defined(text: str, shared_bytes: int) -> tuple[str, list[str], list[str]]:
    """Return a source whose dynamic shared arrays have a definition, and the lines to put before it and after it.

    An array with one dimension and a global type is defined after the source. An array with more dimensions, with a
    template's type or in a namespace becomes a reference to bytes that are defined before the source.

    So does a structure (``extern __shared__ Tiles<64> s;``). An array with all extents is a static one, as for nvcc.

    Parameters
    ----------
    text
        The source of the device; its lines keep their numbers.
    shared_bytes
        Bytes of dynamic shared memory per block.
    """
    size = max(shared_bytes, 1)
    plain = plain_code(text)
    for found in _STATIC.finditer(plain):
        text = text[: found.start()] + " " * len(found[0]) + text[found.end() :]
    open_types = set(_TEMPLATE_TYPES.findall(plain))
    nested = re.search(r"\bnamespace\b(?!\s+\w+\s*=)[\w:\s]*\{", plain) is not None
    parts, end = [], 0
    before: dict[str, str] = {}
    behind: dict[str, str] = {}
    places = [*_DECLARED.finditer(plain), *_STRUCTURE.finditer(plain)]
    for found in sorted(places, key=lambda place: place.start()):
        name, element, rest = found["name"], found["type"], found.groupdict().get("rest")
        if rest is None:
            made = f"{element} &{name} = *({element} *)::{_PLACE}::{name}"
        elif not rest.strip() and not nested and element not in open_types:
            # Several kernels of a file may declare the same array.
            behind[name] = f"__shared__ {element} {name}[({size} + sizeof({element}) - 1) / sizeof({element})];"
            continue
        else:
            made = f"{element} (&{name})[]{rest} = *({element} (*)[]{rest})::{_PLACE}::{name}"
        before[name] = f"namespace {_PLACE} {{ __shared__ gvalign({_ALIGNED}) char {name}[{size}]; }}"
        parts += [text[end : found.start()], made + "\n" * plain.count("\n", found.start(), found.end())]
        end = found.end()
    return "".join([*parts, text[end:]]), list(before.values()), list(behind.values())


def typed(array: SharedArray, launch: Launch) -> SharedArray:
    """Return the array with the element type that the source uses for its bytes.

    The array stays an array of bytes if the source uses no type, several types, or an unknown type.

    Parameters
    ----------
    array
        The array from the debug information.
    launch
        The launch: its source, and the values of its parameters.
    """
    if array.dtype not in _BYTES or len(array.shape) != 1:
        return array
    use = _use_of(launch.kernel.text, array.name)
    if use.is_template:
        return _of(array, launch.kernel.dtype, ())
    if use.declared is not None:
        return _of(array, use.declared, _extents(use.rest, plain_code(launch.kernel.text), launch))
    return array if use.cast is None else _of(array, use.cast, ())


@dataclass(frozen=True)
class _Use:
    """How a source declares an array of bytes, and to which type alone it casts it."""

    is_template: bool
    declared: str | None
    rest: str
    cast: str | None


@lru_cache(maxsize=64)  # a kernel is recorded, and counted, many times
def _use_of(text: str, name: str) -> _Use:
    plain = plain_code(text)
    declared = next((d for d in _DECLARED.finditer(plain) if d["name"] == name), None)
    if declared is not None and declared["type"] in _TEMPLATE_TYPES.findall(plain):
        return _Use(True, None, "", None)
    if declared is not None and declared["type"] in _TYPES:
        return _Use(False, _TYPES[declared["type"]], declared["rest"], None)
    casts = re.finditer(rf"{_CAST}\s*\(*\s*&?\s*{re.escape(name)}\b", plain)
    types = {_TYPES.get(" ".join((cast["new"] or cast["old"]).split())) for cast in casts}
    return _Use(False, None, "", types.pop() if len(types) == 1 else None)


def _of(array: SharedArray, dtype: str, extents: tuple[int, ...]) -> SharedArray:
    """Return the array as rows with these extents if its bytes are whole rows; else as a flat array."""
    size = np.dtype(dtype).itemsize
    if array.shape[0] % size:
        return array
    row = int(np.prod(extents)) if extents else 0
    count = array.shape[0] // size
    shape = (count // row, *extents) if row and count % row == 0 else (count,)
    return replace(array, shape=shape, dtype=dtype)


def _extents(brackets: str, plain: str, launch: Launch) -> tuple[int, ...]:
    """Return the values in square brackets; an empty tuple if one of them is unknown."""
    constants = {first or second: value for first, second, value in _CONSTANT.findall(plain)}

    def value(text: str, depth: int = 0) -> int:
        expression = Expression(text.strip())
        names = {
            name: launch.params[name] if name in launch.params else value(constants[name], depth + 1)
            for name in expression.names()
            if depth < _DEEPEST
        }
        return expression.integer(names)

    try:
        return tuple(value(text) for text in re.findall(r"\[([^\]]*)\]", brackets))
    except (FrontMatterError, KeyError):
        return ()
