"""The types that a template of a kernel gets: those that the files say, else those that its tensor cores take."""

import re
from collections.abc import Iterable, Sequence

from gemmviz.catalogue.guessing import host_launch, struct_types
from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.roles import DTYPES, GuessReason, Roles
from gemmviz.language import tr

ELEMENTS = "elements"
"""The key of the evidence for a type that no file gives."""
_OPERAND = {"matrix_a", "matrix_b"}
_CLOSES = re.compile(r"[;(){}]")


def element_types(function: Function, source: ParsedSource) -> tuple[dict[str, str], dict[str, GuessReason]]:
    """Return what each parameter of a template is that is no number: a type, or a value of an enumeration.

    Where no file gives one, the evidence says so.

    Parameters
    ----------
    function, source
        The kernel, and its file.
    """
    names = [name for _, name, _ in function.template]
    launched = host_launch.find(source, function)
    found: dict[str, str] = {}
    unsaid: list[str] = []
    free: list[str] = []
    for kind, name, default in function.template:
        place = names.index(name)
        given = [one.template[place] for one in launched if place < len(one.template)]
        if kind in source.enums:
            said = _values(source.enums[kind], [*(argument[-1] for argument in given if argument), default])
            found[name] = next(iter(said), source.enums[kind][0])
            free += [name] if len(said) != 1 else []
            continue
        if kind not in ("typename", "class"):
            continue
        of_structs = (_struct_type(argument, source) for argument in given)
        if struct := next(filter(None, of_structs), ""):
            found[name] = struct
            continue
        said = [argument[0] for argument in given if len(argument) == 1 and argument[0] in DTYPES]
        said += [default] if default in DTYPES else []
        if said:
            found[name] = "float" if "float" in said else said[0]
            unsaid += [name] if len(set(said)) > 1 else []
        else:
            found[name] = _of_fragments(function.body, name)
            unsaid.append(name)
    why = GuessReason(0.3, tr("the files do not say which one type {names} is", names=", ".join(unsaid)))
    if free and not unsaid:
        why = GuessReason(0.3, tr("the files do not say which value {names} has", names=", ".join(free)))
    return found, {ELEMENTS: why} if unsaid or free else {}


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


def _struct_type(argument: tuple[str, ...], source: ParsedSource) -> str:
    """Return the structure that a template is launched with, with numbers for its arguments; empty for another type."""
    if not argument or argument[0] not in source.structs:
        return ""
    return struct_types.spelled(argument)
