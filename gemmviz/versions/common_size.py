"""The size at which two kernels are compared if the user gives none."""

from collections.abc import Iterator, Mapping

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import Launch, launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr

_CUBES = (32, 64, 128, 256, 512)
_LARGEST = 512
_ENOUGH_BLOCKS = 4
_ROUNDS = 4


def own_params(kernel: Kernel, settings: Mapping[str, int]) -> dict[str, int]:
    """Return the settings of parameters that a kernel has."""
    return {name: value for name, value in settings.items() if name in kernel.params}


def common_size(kernels: tuple[Kernel, Kernel], settings: Mapping[str, int]) -> Problem:
    """Return the smallest size that both kernels take with at least four blocks, else with fewer blocks.

    Parameters
    ----------
    kernels
        The two kernels.
    settings
        Values of parameters; each kernel takes those of its own parameters, and its defaults.

    Raises
    ------
    ConstraintError
        When no size is found that both take; the text has the reason for one of them.
    """
    fitting: Problem | None = None
    why = ""
    for problem in _candidates(kernels, settings):
        try:
            made = [launch(kernel, problem, own_params(kernel, settings)) for kernel in kernels]
        except ConstraintError as error:
            why = why or str(error)
            continue
        if all(map(_shows_blocks, made)):
            return problem
        fitting = fitting or problem
    if fitting is None:
        text = tr("no size was found that both kernels take: choose one with --size, or --m, --n and --k")
        raise ConstraintError(f"{text} ({why})")
    return fitting


def _candidates(kernels: tuple[Kernel, Kernel], settings: Mapping[str, int]) -> Iterator[Problem]:
    """Yield cubes of the usual sides, the nearest sizes that fulfil the conditions of both kernels, then all cubes."""
    yield from map(Problem.cube, _CUBES)
    for side in _CUBES:
        size = Problem.cube(side)
        for _ in range(_ROUNDS):
            for kernel in kernels:
                size = nearest_size(kernel, size, kernel.defaults | own_params(kernel, settings)) or size
        yield size
    yield from map(Problem.cube, range(1, _LARGEST + 1))


def _shows_blocks(made: Launch) -> bool:
    return made.kernel.backend == "c" or made.blocks >= _ENOUGH_BLOCKS
