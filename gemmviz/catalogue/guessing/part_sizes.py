"""Launches for a part of a product, with a size that is an expression: ``kernel<<<...>>>(a, b, c, rows / 2, n, k)``."""

from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.roles import WHOLE

_Tokens = tuple[str, ...]
_BEFORE, _BEHIND = {"(", "+"}, {")", "+", "-", "*", "/"}


def with_parts_named(launch: HostLaunch, function: Function) -> HostLaunch:
    """Return a launch with a name for each such expression, also where the grid has it.

    For the kernel it is a whole size, and the number of blocks follows from it. Where a part of the expression is an
    argument, too, it has a meaning already.

    Parameters
    ----------
    launch, function
        A launch in the host code, and its kernel.
    """
    known = {argument[0] for argument in launch.arguments if len(argument) == 1}
    known |= {word for part in (*launch.block, *launch.template) for word in part}
    arguments, grid, constants = list(launch.arguments), launch.grid, dict(launch.constants)
    for at, (parameter, given) in enumerate(zip(function.parameters, launch.arguments, strict=False)):
        words = {word for word in given if word.isidentifier()}
        if parameter.pointer or parameter.type not in WHOLE or len(given) < 3 or not words or words & known:
            continue
        name = f"part_{parameter.name}"
        named = tuple(_with_name(side, given, name) for side in grid)
        if named != grid:
            arguments[at], grid, constants[name] = (name,), named, given
    same = grid == launch.grid
    return launch if same else replace(launch, arguments=tuple(arguments), grid=grid, constants=constants)


def _with_name(tokens: _Tokens, given: _Tokens, name: str) -> _Tokens:
    """Return tokens with a name in the place of an expression, where the expression stands alone or in brackets."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        end = at + len(given)
        if tokens[at : end + 2] == ("(", *given, ")") and not (at and tokens[at - 1].isidentifier()):
            out.append(name)
            at = end + 2
        elif tokens[at:end] == given and _is_alone(tokens, at, end) and {"+", "-"}.isdisjoint(given):
            out.append(name)
            at = end
        else:
            out.append(tokens[at])
            at += 1
    return tuple(out)


def _is_alone(tokens: _Tokens, at: int, end: int) -> bool:
    before, behind = tokens[:at][-1:], tokens[end : end + 1]
    return {*before} <= _BEFORE and {*behind} <= _BEHIND
