"""The sizes that the host's grid divides: its names may be other ones than those of the kernel's arguments."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.polynomial import Polynomial
from gemmviz.catalogue.guessing.roles import Roles, named_so

_DEEPEST, _LEAST_SIZE = 4, 64
_SIZES = (32, 64, 128, 256, 512, 1024)
_SIZE = re.compile(r"\b[MNK]\b")
_DIVIDES = {"/", ">>"}
_USUAL = ("N", "M")
_LETTERS = ("M", "N", "K")


def meant_sides(
    launch: HostLaunch,
    function: Function,
    roles: Roles,
    made: Shape,
    known: Mapping[str, str],
    value: Callable[[str], Polynomial | None],
) -> list[dict[str, str]]:
    """Return, for each side of a host's grid, the meaning of its names.

    Parameters
    ----------
    launch, function
        The launch, and its kernel.
    roles
        The roles of the kernel's parameters.
    made
        The launch that was guessed from the kernel's own code.
    known
        The names whose meaning the arguments of the launch give.
    value
        Returns the value of a name at the launch.
    """
    passed = _passed(launch, function, roles)
    own = _own_letters(launch, function, value)
    known = {name: size for name, size in known.items() if name not in own}
    silent = not _SIZE.search(" ".join(made.grid))
    meant = []
    for axis in range(len(launch.grid)):
        by_code = set(_SIZE.findall(made.grid[axis])) if axis < len(made.grid) else set()
        if silent and len(launch.grid) > 1:  # the kernel's indices are in PTX: its columns usually lie along x
            by_code = set(_USUAL[axis : axis + 1])
        least = 1 if own else _LEAST_SIZE
        meant.append(_constant(launch, axis, by_code, known, value, least) | _one_of_several(passed, by_code))
    return meant


def names_of_sides(
    launch: HostLaunch, function: Function, roles: Roles, constants: Mapping[str, object]
) -> dict[str, str]:
    """Return the sizes that the host's names say in a launch, where no argument gives them: ``a_rows`` is M.

    Parameters
    ----------
    launch, function
        The launch, and its kernel.
    roles
        The roles of the kernel's parameters.
    constants
        The constants of the files.
    """
    passed = {roles.of.get(one.name) for one, _ in zip(function.parameters, launch.arguments, strict=False)}
    words = (word for part in (*launch.grid, *launch.block) for word in part if word.isidentifier())
    named = {word: named_so(word) for word in words if word not in constants and word not in launch.constants}
    return {word: size for word, size in named.items() if size and size not in passed}


def has_structures(launch: HostLaunch, function: Function) -> bool:
    """Return whether the matrices are structures: the kernel is then read with sizes that no argument gives."""
    return [one.name for one in function.parameters[len(launch.arguments) :]] == [*_LETTERS]


def _own_letters(launch: HostLaunch, function: Function, value: Callable[[str], Polynomial | None]) -> set[str]:
    """Return the letters of sizes that are the host's own constants, where it calls its sizes I, J and K.

    Blocks divide rows and columns, so K in the grid is no K of ours. With structures no argument says what it is.
    """
    if not has_structures(launch, function):
        return set()
    tiles = {word for part in launch.block for word in part}
    words = {word for axis in range(len(launch.grid)) for word in _written(launch, axis) if word.isidentifier()} - tiles
    numbers = {word for word in words if (one := value(word)) is not None and one.value is not None}
    return numbers & {*_LETTERS} if "K" in words and numbers == words and len(words) > 1 else set()


def fixed_sides(
    grid: tuple[str, ...], block: tuple[str, ...], of_kernel: tuple[str, ...], function: Function
) -> dict[int, str]:
    """Return the sides of a host's grid with a fixed number of blocks, and the number that covers C. No side: 1 block.

    A fixed side says nothing where another side, or the block, grows with the same size: both may share its tiles.

    Parameters
    ----------
    grid, block
        The host's launch.
    of_kernel
        The grid that the kernel's own code needs. Where it has loops over the grid or the block, any number will do.
    function
        The kernel.
    """
    if "gridDim" in function.body or "+= blockDim" in " ".join(function.body):
        return {}
    grows = {*_SIZE.findall(" ".join((*grid, *block)))}
    fixed = (at for at in range(len(of_kernel)) if not _SIZE.search("".join(grid[at : at + 1])))
    needed = {at: of_kernel[at] for at in fixed if _SIZE.search(of_kernel[at])}
    return {at: one for at, one in needed.items() if grows.isdisjoint(_SIZE.findall(one))}


def is_quotient(launch: HostLaunch, axis: int) -> bool:
    """Return whether a side of a host's grid is a quotient: then sizes were divided, and their values are known."""
    return axis < len(launch.grid) and not _DIVIDES.isdisjoint(_written(launch, axis))


def _written(launch: HostLaunch, axis: int) -> tuple[str, ...]:
    """Return a side of a grid as it is written where its variable gets its value."""
    side = launch.grid[axis]
    for _ in range(_DEEPEST):
        side = launch.constants.get(side[0], side) if len(side) == 1 else side
    return side


def _passed(launch: HostLaunch, function: Function, roles: Roles) -> dict[str, set[str]]:
    """Return the sizes for which each name of the host code is passed."""
    passed: dict[str, set[str]] = {}
    for parameter, argument in zip(function.parameters, launch.arguments, strict=False):
        role = roles.of.get(parameter.name, "")
        if len(argument) == 1 and role in ("M", "N", "K"):
            passed.setdefault(argument[0], set()).add(role)
    return passed


def _one_of_several(passed: Mapping[str, set[str]], by_code: set[str]) -> dict[str, str]:
    """Return the meaning of names that are passed as several sizes: ``f(A, n, n, n)``.

    It is the size by which the kernel's own code divides that side.
    """
    sizes = {name: by_code & those for name, those in passed.items() if len(those) > 1}
    return {name: next(iter(one)) for name, one in sizes.items() if len(one) == 1}


def _constant(
    launch: HostLaunch,
    axis: int,
    by_code: set[str],
    known: Mapping[str, str],
    value: Callable[[str], Polynomial | None],
    least: int,
) -> dict[str, str]:
    """Return the meaning of a variable that the host divides and passes to no parameter.

    Such sizes are members of a structure, or constants, or arguments of the host's function for square matrices. Again
    it is the size of the kernel's own code.
    """
    tiles = {word for part in (*launch.block, *launch.template) for word in part}
    side = _written(launch, axis)
    # The parameters of a lambda have names of their own: ``ceil_div(x, y)`` with x = N.
    behind = {word for name in side for word in launch.constants.get(name, ())}
    if not known.keys().isdisjoint({*side, *behind}) or _DIVIDES.isdisjoint(side):
        return {}
    values = {word: value(word) for word in side if word.isidentifier() and word not in tiles}
    large = [word for word, one in values.items() if one and (one.value or 0) >= least]
    divisors = {word for sign, word in pairwise(side) if sign in _DIVIDES}
    large = [word for word in large if word not in divisors] if len(large) > 1 else large
    likely = large or [word for word, one in values.items() if one is None and word not in launch.constants]
    return {likely[0]: next(iter(by_code))} if len(likely) == len(by_code) == 1 else {}


def least_sizes(sides: Iterable[str], params: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Yield a condition for each size below which a side of the grid divides by zero, such as ``N >= 1024``.

    Host code may divide by a part of a size, rounded down: ``N / 4 / 256``.

    Parameters
    ----------
    sides
        The sides of the grid.
    params
        The values of their other names, the usual one first.
    """
    expressions = [Expression(side) for side in sides if "/" in side]
    values = {name: given[0] for name, given in params.items()} | dict.fromkeys("MNK", _SIZES[-1])

    def divides(size: dict[str, int]) -> bool:
        try:
            for one in expressions:
                one.evaluate(values | size)
        except FrontMatterError:
            return False
        return True

    for name in "MNK" if divides({}) else "":
        least = next(size for size in _SIZES if divides({name: size}))
        if least > _SIZES[0]:
            yield f"{name} >= {least}"
