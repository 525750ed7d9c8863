"""Parameters of a template that stand for sizes: ``template <int M, int N, int K> __global__ void gemm(...)``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.host_launch import find
from gemmviz.catalogue.guessing.roles import WHOLE, is_size_word
from gemmviz.catalogue.guessing.size_constants import SizeConstant

# The distance between two rows of a matrix is no size.
_DISTANCE = re.compile(r"(?i)ld_?[abcd]?|ld_?(?:out|in|x|y)|.*(?:stride|pitch|leading).*")
_LETTER = re.compile(r"[A-Z]")
_TYPES = ("typename", "class", "bool")


def size_templates(function: Function, source: ParsedSource) -> list[SizeConstant]:
    """Return the template parameters that may be sizes: those that are called so, where a kernel has too few sizes.

    Parameters
    ----------
    function, source
        The kernel, and its file.
    """
    whole = [p.name for p in function.parameters if not p.pointer and p.type in WHOLE]
    if sum(_DISTANCE.fullmatch(name) is None for name in whole) >= len("MNK"):
        return []
    names = [name for kind, name, _ in function.template if kind not in _TYPES]
    called = [name for name in names if is_size_word(name)]
    # Beside two sizes any other letter is a size, too: ``template <int N, int M, int P>``.
    letters = [name for name in names if _LETTER.fullmatch(name)] if len(called) > 1 and not whole else []
    return [SizeConstant(name, name) for name in names if name in called or name in letters]


def passed_twice(function: Function, source: ParsedSource) -> dict[str, str]:
    """Return the template parameters to which every launch gives the same name as to a parameter, and this parameter.

    Parameters
    ----------
    function, source
        The kernel, and its file.
    """
    found: dict[str, str] = {}
    whole = [p.name if not p.pointer and p.type in WHOLE else "" for p in function.parameters]
    launches = [one for one in find(source, function) if len(one.arguments) == len(whole)]
    for place, (kind, name, _) in enumerate(function.template):
        given = {one.template[place : place + 1] for one in launches}
        if kind in _TYPES or len(given) != 1:
            continue
        (value,) = next(iter(given)) or ((),)
        named = [
            p for one in launches for p, given_so in zip(whole, one.arguments, strict=True) if p and given_so == value
        ]
        if len(value) == 1 and value[0].isidentifier() and named:
            found[name] = named[0]
    return found


def as_arguments(
    function: Function, source: ParsedSource, given: Sequence[SizeConstant], same: Mapping[str, str]
) -> tuple[Function, ParsedSource]:
    """Return a function with such template parameters as further parameters, and its launches to match.

    Parameters
    ----------
    function, source
        The kernel, and its file.
    given
        From `size_templates`.
    same
        From `passed_twice`.
    """
    names = {one.name for one in given} - {*same}
    if not names and not same:
        return function, source
    places = [place for place, (_, name, _) in enumerate(function.template) if name in names]
    gone = {place for place, (_, name, _) in enumerate(function.template) if name in same} | {*places}
    more = tuple(Parameter(function.template[place][1], "int", False, True) for place in places)
    made = replace(
        function,
        template=tuple(one for place, one in enumerate(function.template) if place not in gone),
        parameters=(*function.parameters, *more),
    )
    launches = []
    for one in source.launches:
        if one.name == function.name.rpartition("::")[2] and len(one.template) > max(gone):
            rest = tuple(value for place, value in enumerate(one.template) if place not in gone)
            full = len(one.arguments) == len(function.parameters)
            behind = tuple(one.template[place] for place in places) if full else ()
            one = replace(one, template=rest, arguments=(*one.arguments, *behind))
        launches.append(one)
    constants = source.constants | {name: (parameter,) for name, parameter in same.items()}
    return made, replace(source, launches=tuple(launches), constants=constants, sizes=source.sizes | names)
