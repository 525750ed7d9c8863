"""Parameters for the stage: small enough that a small problem still shows several blocks."""

from itertools import islice, product

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

_SMALL = (2, 4, 8, 16, 32)
_SIZES = (16, 32, 64, 128)
_ENOUGH_BLOCKS = 4
_MOST_TRIED = 2000


def picture_params(kernel: Kernel, problem: Problem) -> dict[str, int]:
    """Return parameters with which a small problem still shows several blocks: about four, as square as they can be.

    Returns nothing where the kernel has no parameters, or none of the values tried fits.
    """
    names = list(kernel.params)
    choices = [sorted({v for v in (*_SMALL, *offered) if v <= max(offered)}) for offered in kernel.params.values()]
    if not names:
        return {}
    # The loops of a CPU's kernel are no blocks that could be counted: two of each of theirs fit into half a side.
    half = min(problem.m, problem.n, problem.k) // 2 if kernel.backend == "c" else max(map(max, choices))
    best: tuple[tuple[float, ...], dict[str, int]] | None = None
    for values in islice(product(*choices), _MOST_TRIED):
        params = dict(zip(names, values, strict=True))
        sizes = {"M": problem.m, "N": problem.n, "K": problem.k, **params}
        if not all(condition.evaluate(sizes) for condition in kernel.requires):
            continue  # before launching: a refusal looks for the nearest size, which takes long
        try:
            tried = launch(kernel, problem, params)
        except GemmvizError:
            continue
        uneven = max(tried.block) / max(min(tried.block[:2]), 1)
        score = (
            # One thread, or one fragment per warp, shows nothing of what the parameter is for.
            1 in values,
            sum(max(value - half, 0) for value in values),
            abs(min(tried.blocks, 64) - _ENOUGH_BLOCKS),
            tried.threads < 4,
            uneven,
            max(values) / max(min(values), 1),
            -sum(values),
        )
        if best is None or score < best[0]:
            best = score, params
    return best[1] if best else {}


def picture_problem(kernel: Kernel, wanted: Problem) -> Problem:
    """Return the size to show a kernel at: the one wanted, or where it does not take that, a small one of some blocks.

    A kernel that takes none of the sizes tried keeps the one wanted; launching it then says why not.
    """
    fitting = None
    for problem in (wanted, *map(Problem.cube, _SIZES)):
        try:
            tried = launch(kernel, problem, kernel.defaults | picture_params(kernel, problem))
        except GemmvizError:
            continue
        if problem == wanted or tried.blocks >= _ENOUGH_BLOCKS:
            return problem
        fitting = fitting or problem
    return fitting or wanted
