"""Whether a launch in the host code leaves something open, which is then taken as is usual."""

from collections.abc import Callable, Mapping, Sequence

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.polynomial import Polynomial
from gemmviz.catalogue.guessing.roles import Roles
from gemmviz.catalogue.guessing.tensors import usual_sides


def is_open(
    launch: HostLaunch,
    function: Function,
    roles: Roles,
    sides: Sequence[Mapping[str, str]],
    value: Callable[[str], Polynomial | None],
) -> bool:
    """Return whether a launch may be a part of the product, or has sizes that the host does not give.

    Parameters
    ----------
    launch, function, roles
        The launch, its kernel, and the roles of the kernel's parameters.
    sides, value
        The result of `gemmviz.catalogue.guessing.grid_sides.meant_sides`, and the function that it got.
    """
    passed = {word for argument in launch.arguments for word in argument}
    assumed = any(value(word) is None for side in sides for word in side.keys() - passed)
    return assumed or _has_assumed_sides(launch, function, roles) or _is_part(launch, function)


def _has_assumed_sides(launch: HostLaunch, function: Function, roles: Roles) -> bool:
    """Return whether a launch has sides of tensors that it does not give as arguments: they are what is usual."""
    sides = {side for side, _ in usual_sides(function.parameters, launch.arguments, roles)}
    given = {word for argument in launch.arguments for word in argument}
    parts = (*launch.grid, *launch.block, *(value for name, value in launch.constants.items() if name not in given))
    return not (sides - given).isdisjoint(word for part in parts for word in part)


def _is_part(launch: HostLaunch, function: Function) -> bool:
    """Return whether a launch gets a place inside a matrix: it may be one of several that make the product."""
    given = zip(function.parameters, launch.arguments, strict=False)
    return any(parameter.pointer and "+" in argument for parameter, argument in given)
