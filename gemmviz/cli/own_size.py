"""The size of a command if the user gives none: the usual size, or the nearest one that the kernel takes."""

import argparse
import sys
from collections.abc import Mapping

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import options


def own_problem(kernel: Kernel, args: argparse.Namespace, settings: Mapping[str, int]) -> Problem:
    """Return the size that the options give, else one that the kernel takes.

    Parameters
    ----------
    kernel
        The kernel.
    args
        The command line: with `options.add_launch`, or with `add_sides`, `--size` and `default_size`.
    settings
        Values of the kernel's parameters; the others have their defaults.

    Raises
    ------
    ConstraintError
        When a size is out of range.
    """
    problem = options.problem(args)
    return problem if options.has_size(args) else fitting(kernel, problem, settings)


def fitting(kernel: Kernel, usual: Problem, settings: Mapping[str, int]) -> Problem:
    """Return the usual size, or the nearest one that the kernel takes, with a line on standard error.

    If no size near it is found, return the usual size: its launch gives the reason.
    """
    try:
        launch(kernel, usual, dict(settings))
    except GemmvizError:
        nearest = nearest_size(kernel, usual, kernel.defaults | dict(settings)) or usual
    else:
        return usual
    if nearest != usual:
        text = f"{kernel.name} does not take {usual}; using the nearest size that works, {nearest}"
        print(f"gemmviz: {text} (--size, or --m, --n and --k, choose another one)", file=sys.stderr)
    return nearest
