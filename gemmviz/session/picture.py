"""Parameters for the stage: small enough that a small problem still shows several blocks."""

from itertools import islice, product

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

_SMALL = (2, 4, 8, 16, 32)
_MOST_TRIED = 2000


def picture_params(kernel: Kernel, problem: Problem) -> dict[str, int]:
    """Return parameters with which a small problem still shows several blocks: about four, as square as they can be.

    Returns nothing where the kernel has no parameters, or none of the values tried fits.
    """
    names = list(kernel.params)
    choices = [sorted({v for v in (*_SMALL, *offered) if v <= max(offered)}) for offered in kernel.params.values()]
    if not names:
        return {}
    best: tuple[tuple[float, ...], dict[str, int]] | None = None
    for values in islice(product(*choices), _MOST_TRIED):
        params = dict(zip(names, values, strict=True))
        try:
            tried = launch(kernel, problem, params)
        except GemmvizError:
            continue
        uneven = max(tried.block) / max(min(tried.block[:2]), 1)
        score = (
            abs(min(tried.blocks, 64) - 4),
            tried.threads < 4,
            uneven,
            max(values) / max(min(values), 1),
            -sum(values),
        )
        if best is None or score < best[0]:
            best = score, params
    return best[1] if best else {}
