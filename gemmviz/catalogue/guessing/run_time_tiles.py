"""Parameters of a kernel that give the side of its tile at run time: ``int tile_width``, a loop's step, the block's.

So are those that say how many elements each thread computes: ``int coarse_factor``.
"""

import re
from dataclasses import replace

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.host_launch import find, number_at
from gemmviz.catalogue.guessing.roles import WHOLE, is_of_a_thread, is_size_word

_CALLED = re.compile(r"(?i)_*(?:tile|blo?c?k)_*(?:width|size|dim|side|w|sz|len|length)?|ts|bs|tw")
_USUAL, _LARGEST = 16, 256


def run_time_tiles(function: Function, source: ParsedSource) -> dict[str, int]:
    """Return the values of such parameters: those of the first launch in the host code, or else a usual one.

    Parameters
    ----------
    function, source
        The kernel, and its file.
    """
    found: dict[str, int] = {}
    for place, parameter in enumerate(function.parameters):
        if parameter.pointer or parameter.type not in WHOLE:
            continue
        of_block = _host_names(place, parameter.name, function, source)
        of_a_thread = is_of_a_thread(parameter.name)
        is_side = bool(of_block) or _CALLED.fullmatch(parameter.name) or _is_step(parameter.name, function)
        if not of_a_thread and not is_side:
            continue
        usual = 1 if of_a_thread else _USUAL
        numbers = (number_at(launch, source, place) for launch in find(source, function))
        value = next((value for value in numbers if value), usual)
        if value > _LARGEST and not of_block:
            continue  # the size of a matrix, whatever it is called
        found[parameter.name] = value
        found |= dict.fromkeys(of_block, found[parameter.name])
    return found


def _host_names(place: int, name: str, function: Function, source: ParsedSource) -> list[str]:
    """Return the names of a parameter's argument in the host code, if it is a side of the block there.

    The kernel then multiplies a block's index by it, as in ``blockIdx.x * width + threadIdx.x``: it is not a matrix's
    size, which one block may have as its side, too.
    """
    body, own, index = " ".join(function.body), re.escape(name), r"blockIdx \. [xyz]"
    copies = "|".join(re.findall(rf"(\w+) = {index} [;,]", body)) or index  # ``int bx = blockIdx.x``
    by_block = rf"{index} \* {own}\b|\b{own} \* {index}|= (?:{copies}) \* {own} \+"
    if not name or not re.search(by_block, body):
        return []
    given = [(one.arguments[place], one.block) for one in find(source, function) if place < len(one.arguments)]
    sides = [argument for argument, block in given if argument in block]
    return [argument[0] for argument in sides if len(argument) == 1 and argument[0].isidentifier()]


def _is_step(name: str, function: Function) -> bool:
    """Return whether a loop advances by a parameter that is called like no size."""
    step = rf"\bfor \([^{{}}]*?\+= {re.escape(name)} \)" if name else ""
    return bool(step) and not is_size_word(name) and re.search(step, " ".join(function.body)) is not None


def with_tiles(source: ParsedSource, tiles: dict[str, int]) -> ParsedSource:
    """Return a file in which such parameters are constants."""
    return replace(source, constants=source.constants | {name: (str(value),) for name, value in tiles.items()})
