"""The types that a template of a kernel gets: those that the files say, else those that its tensor cores take."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.guessing import host_launch, struct_types
from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.instantiations import instantiations, signatures
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.roles import DTYPES, GuessReason, Roles
from gemmviz.catalogue.guessing.tokens import angles, tokens_of
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.language import tr

ELEMENTS = "elements"
"""The key of the evidence for a type that no file gives."""
_OPERAND = {"matrix_a", "matrix_b"}
_LAYOUTS = {"row_major", "col_major"}
_MULTIPLIED = {"f16": "half", "bf16": "__nv_bfloat16"}
_PRODUCTS = re.compile(r"\bmma\.sync[\w.]*\.(f16|bf16)\.\1\b")
_USES_PTX = re.compile(r"(?i)mma|ldmatrix|^asm$")
# Types of 16 bits that are no numbers of a product: the kernel takes the bits of others.
_BITS = {"uint16_t", "int16_t", "ushort", "short"}
_BRAIN, _HALF = re.compile(r"(?i)bf(?:loat)?_?16"), re.compile(r"(?i)half|(?<!b)f(?:p|loat)?_?16")
_DISPATCHES = re.compile(r"AT_DISPATCH_\w*(?:FLOATING|ALL)_TYPES\w*")
_MEMBER = re.compile(r"\b(\w+) :: (\w+)(?: const)? \*")
_CLOSES = re.compile(r"[;(){}]")


def of_bits(kind: str, text: str) -> ElementType | None:
    """Return the type of matrices that a kernel takes as whole numbers of 16 bits; None for another type.

    Parameters
    ----------
    kind, text
        The type of a parameter, and the kernel's file.
    """
    if kind not in _BITS:
        return None
    plain = without_comments(text)
    return "bfloat16" if _BRAIN.search(plain) and not _HALF.search(plain) else "float16"


def element_types(function: Function, source: ParsedSource, text: str) -> tuple[dict[str, str], dict[str, GuessReason]]:
    """Return the kind of each parameter of a template that is no number: a type, or a value of an enumeration.

    Where no file gives one, the evidence says so.

    Parameters
    ----------
    function, source, text
        The kernel, and its file.
    """
    names = [name for _, name, _ in function.template]
    launched = host_launch.find(source, function)
    plain = function.name.rpartition("::")[2]
    instantiated = instantiations(source.files).get(plain, [])
    compiled = signatures(source.files).get(plain, [])
    found: dict[str, str] = {}
    undecided: list[str] = []
    free: list[str] = []
    for kind, name, default in function.template:
        place = names.index(name)
        given = [one[place] for one in (*(one.template for one in launched), *instantiated) if place < len(one)]
        if kind in source.enums:
            values = _values(source.enums[kind], [*(argument[-1] for argument in given if argument), default])
            found[name] = next(iter(values), source.enums[kind][0])
            free += [name] if len(values) != 1 else []
            continue
        if kind not in ("typename", "class"):
            continue
        of_structs = (_struct_type(argument, source) for argument in given)
        if struct := next(filter(None, of_structs), ""):
            found[name] = struct
            continue
        # How a fragment of the tensor cores lies.
        layouts = (argument[-1] for argument in given if argument and argument[-1] in _LAYOUTS)
        if layout := next(layouts, ""):
            found[name] = f"nvcuda::wmma::{layout}"
            continue
        types = [argument[0] for argument in given if len(argument) == 1 and argument[0] in DTYPES]
        types += [default] if default in DTYPES else []
        # All types that a template is compiled for are right ones.
        if explicit := _deduced_from(function, name, compiled):
            found[name] = "float" if "float" in explicit else explicit[0]
            continue
        if not types and _is_dispatched(given, source):
            found[name] = "float"
            continue
        types = types or _deduced(function, name, launched, source)
        if types:
            found[name] = "float" if "float" in types else types[0]
            undecided += [name] if len(set(types)) > 1 else []
        else:
            found[name] = _of_products(function, text) or _of_fragments(function.body, name)
            undecided.append(name)
    for name, kind in _of_members(function, found, source).items():
        found[name] = kind or "float"
        undecided += [] if kind else [name]
    why = GuessReason(0.3, tr("the files do not say which one type {names} is", names=", ".join(undecided)))
    if free and not undecided:
        why = GuessReason(0.3, tr("the files do not say which value {names} has", names=", ".join(free)))
    return found, {ELEMENTS: why} if undecided or free else {}


def _deduced(function: Function, name: str, launched: Sequence[HostLaunch], source: ParsedSource) -> list[str]:
    """Return the types that a template gets from the arguments of its launches: from their casts, or declarations."""
    places = [at for at, one in enumerate(function.parameters) if one.pointer and one.type == name]
    found: list[str] = []
    for one in launched:
        if len(one.arguments) != len(function.parameters):
            continue
        for argument in (one.arguments[at] for at in places):
            cast = [word for word, sign in pairwise(argument) if word in DTYPES and sign == "*"]
            found += cast or (_declared(argument[0], source) if len(argument) == 1 else [])
    return list(dict.fromkeys(found))


def _is_dispatched(given: Iterable[tuple[str, ...]], source: ParsedSource) -> bool:
    """Return whether a macro of PyTorch's launches a kernel for several types, float among them, as ``scalar_t``."""
    words = {word for one in source.files for word in one.tokens if word.startswith("AT_DISPATCH_")}
    return any(one[-1:] == ("scalar_t",) for one in given) and any(map(_DISPATCHES.fullmatch, words))


def _deduced_from(function: Function, name: str, given: Sequence[tuple[tuple[str, ...], ...]]) -> list[str]:
    """Return the types that a template gets from the parameters of its instantiations."""
    places = [at for at, one in enumerate(function.parameters) if one.pointer and one.type == name]
    some = (one[at] for one in given if len(one) == len(function.parameters) for at in places)
    return list(dict.fromkeys(word for parameter in some for word in parameter if word in DTYPES))


def _declared(name: str, source: ParsedSource) -> list[str]:
    """Return the types of the pointers with a name in the host code."""
    found: list[str] = []
    for one in (caller for caller in source.callers if name in caller.body):
        found += [p.type for p in one.parameters if p.pointer and p.name == name and p.type in DTYPES]
        body = one.body
        found += [body[at - 2] for at, word in enumerate(body) if word == name and at > 1 and body[at - 1] == "*"]
    return [kind for kind in found if kind in DTYPES]


def _of_products(function: Function, text: str) -> str:
    """Return the type that the PTX of a file multiplies, where a kernel uses tensor cores by PTX; else nothing."""
    found = set(_PRODUCTS.findall(text)) if any(map(_USES_PTX.search, function.body)) else set()
    return next((kind for word, kind in _MULTIPLIED.items() if word in found), "")


def _values(known: Sequence[str], given: Iterable[str]) -> list[str]:
    """Return the values of an enumeration that launches give, each once."""
    by_name = {value.rpartition("::")[2]: value for value in known}
    words = (one.rpartition("::")[2] for one in given)
    return list(dict.fromkeys(by_name[word] for word in words if word in by_name))


def differing(function: Function, roles: Roles) -> dict[str, GuessReason]:
    """Return the evidence where A and B have elements of different types, which front matter cannot say."""
    a, b = ({p.type for p in function.parameters if roles.of.get(p.name) == matrix} for matrix in ("A", "B"))
    if a == b or not a or not b:
        return {}
    return {ELEMENTS: GuessReason(0.3, tr("A has elements of {one}, B of {other}", one=a.pop(), other=b.pop()))}


def _of_fragments(body: tuple[str, ...], name: str) -> str:
    """Return the type that tensor cores take where a template's type stands in a fragment: half; else float."""
    for at, word in enumerate(body):
        if word == "fragment":
            end = next((i for i in range(at, len(body)) if _CLOSES.fullmatch(body[i])), len(body))
            if name in body[at:end] and not _OPERAND.isdisjoint(body[at:end]):
                return "half"
    return "float"


def _of_members(function: Function, types: Mapping[str, str], source: ParsedSource) -> dict[str, str]:
    """Return the types of matrices that a structure names, ``typename T::Element *``; nothing for an unknown one."""
    found: dict[str, str] = {}
    for parameter in (one for one in function.parameters if one.pointer):
        member = _MEMBER.search(parameter.declared)
        struct = tokens_of(types.get(member[1], "")) if member else ()
        known = [at for at, word in enumerate(struct) if word in source.structs][:1]
        if member and known:
            arguments, _ = angles(struct, known[0] + 1)
            meant = source.structs[struct[known[0]]].meant(member[2], arguments)
            found[parameter.type] = meant[-1] if meant and meant[-1] in DTYPES else ""
    return found


def _struct_type(argument: tuple[str, ...], source: ParsedSource) -> str:
    """Return the structure that a template is launched with, with numbers for its arguments; empty for another type."""
    if not argument or argument[0] not in source.structs:
        return ""
    if source.structs[argument[0]].parameters and len(argument) == 1:  # a parameter with the name of a template
        return ""
    whole: list[str] = []
    for at, word in enumerate(argument):
        spaces = (struct_types.space_of(word, one.tokens) for one in source.files) if word in source.structs else ()
        space = next(filter(None, spaces), "") if argument[at - 1 : at] != ("::",) else ""
        whole += [space, "::", word] if space else [word]
    return struct_types.spelled(whole)
