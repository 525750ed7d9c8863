"""Where a mutant is looked at: small tiles, and sizes that they divide, that they do not, and that are tiny."""

from itertools import product
from math import prod

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem

_WANTED = (Problem(16, 16, 16), Problem(19, 13, 17), Problem(24, 40, 33))
# Fewer threads hide effects between warps and tiles.
_LEAST_THREADS, _LEAST_TILE = 16, 8


def small_params(kernel: Kernel) -> dict[str, int]:
    """Return the values offered whose tiles are the smallest that still have a few threads."""
    least = min(_LEAST_TILE, max((v for values in kernel.params.values() for v in values), default=0))
    best: tuple[int, dict[str, int]] | None = None
    # A tile of one element hides work that is done once for each element.
    costs = [(prod(values) * (1000 if 1 in values else 1), values) for values in product(*kernel.params.values())]
    for cost, values in sorted(costs, key=lambda one: one[0]):
        if best is not None and cost >= best[0]:
            break
        params = dict(zip(kernel.params, values, strict=True))
        size = nearest_size(kernel, _WANTED[0], params) if _may_fit(kernel, params) else None
        if size is None or max(values, default=0) < least:
            continue
        try:
            threads = launch(kernel, size, params).threads
        except GemmvizError:
            continue
        cost *= 1 if threads >= _LEAST_THREADS or kernel.backend == "c" else 1000
        if best is None or cost < best[0]:
            best = cost, params
    return best[1] if best else kernel.defaults


def _may_fit(kernel: Kernel, params: dict[str, int]) -> bool:
    """Whether a kernel's conditions on its parameters alone hold: tested before the search for sizes."""
    return all(e.evaluate(params) for e in kernel.requires if e.names() <= params.keys())


def small_launches(kernel: Kernel) -> list[tuple[Problem, dict[str, int]]]:
    """Return a few small launches: one size that tiles divide, two that they do not where the kernel takes such."""
    params = small_params(kernel)
    sizes = [nearest_size(kernel, wanted, params) for wanted in _WANTED]
    return [(size, params) for size in dict.fromkeys(sizes) if size]
