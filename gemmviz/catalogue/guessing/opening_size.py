"""The size at which a described kernel opens, where it does not take the usual small one.

A pipeline loads its first tiles without a test: with one tile along K it reads behind its matrices. `check` reports
this at such a size; `record` and the window, which choose a size themselves, choose another one.
"""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem

_USUAL = Problem.cube(8)


def with_opening_size(found: Guess, size: Problem, try_one: Callable[[Kernel, Problem], str]) -> Guess:
    """Return a right guess with a size to open at, if it is wrong at the size that is chosen otherwise.

    Parameters
    ----------
    found
        It is right at a size.
    size
        This size.
    try_one
        As for `gemmviz.catalogue.guessing.settle.settle`.
    """
    kernel = guessed_kernel(found)
    usual = nearest_size(kernel, _USUAL, kernel.defaults)
    if usual is None or usual.k >= size.k:
        return found
    try:
        wrong = try_one(kernel, usual)
    except GemmvizError:  # it has no launch there
        return found
    return replace(found, demo=(size.m, size.n, size.k)) if wrong else found
