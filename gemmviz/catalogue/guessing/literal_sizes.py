"""Launches with numbers for the sizes: ``kernel<<<dim3(4096 / 16, 4096 / 16), block>>>(a, b, c, 4096, 4096, 4096)``."""

from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.roles import WHOLE
from gemmviz.catalogue.guessing.tokens import integer

_LEAST = 32
_Tokens = tuple[str, ...]


def with_names(launch: HostLaunch, function: Function) -> HostLaunch:
    """Return a launch with a name for each number that a parameter of the kernel gets, also where the grid has it.

    A number that the block or a template's argument has may be the side of a tile: it stays.

    Parameters
    ----------
    launch, function
        A launch in the host code, and its kernel.
    """
    tiles = {token for part in (*launch.block, *launch.template) for token in part}
    numbers = {
        argument[0]
        for parameter, argument in zip(function.parameters, launch.arguments, strict=False)
        if not parameter.pointer and parameter.type in WHOLE and len(argument) == 1 and argument[0].isdecimal()
    }
    named = {one: f"size_{one}" for one in numbers - tiles if (integer(one) or 0) >= _LEAST}
    if not named:
        return launch

    def named_in(tokens: _Tokens) -> _Tokens:
        return tuple(named.get(token, token) for token in tokens)

    constants = {name: named_in(value) for name, value in launch.constants.items()}
    return replace(
        launch,
        arguments=tuple(map(named_in, launch.arguments)),
        grid=tuple(map(named_in, launch.grid)),
        constants=constants | {name: (number,) for number, name in named.items()},
    )
