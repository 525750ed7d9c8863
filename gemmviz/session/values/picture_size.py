"""Size and parameters for the stage: the demo's, the schedule's, else small ones that still show several blocks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import prod
from operator import itemgetter

from gemmviz.catalogue.conditions import conditions
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import MAX_THREADS_PER_BLOCK, launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import left_open, scheduled

_SMALL = (2, 4, 8, 16, 32)
_SIZES = (16, 32, 64, 128, 256)
_USUAL = 8
_ENOUGH_BLOCKS = 4
_MOST_COMBINATIONS = 20_000
_MOST_LAUNCHED = 50
_Choices = tuple[tuple[str, tuple[int, ...]], ...]
_Score = tuple[float, ...]


@dataclass(frozen=True)
class _Shape:
    """A launch: number of blocks, threads per block, squareness, and whether boxes reach beyond their matrix."""

    blocks: int
    threads: int
    uneven: float
    oversized: bool


def picture_params(kernel: Kernel, problem: Problem, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the parameters with which a kernel is shown at a size.

    At the size of the kernel's demo they are the demo's. Elsewhere a kernel with a schedule has those that it takes at
    that size, as when it is measured: this is what such a kernel is about. Another kernel has parameters with which a
    small problem still shows several blocks: about four, nearly square. The result is empty if the kernel has no
    parameters, or if none of the tried values fits.

    Parameters
    ----------
    kernel, problem
        The kernel, and the size.
    given
        Values of parameters that a schedule does not decide; None: the demo's, or the defaults.
    """
    if kernel.demo is not None and kernel.demo.size == (problem.m, problem.n, problem.k):
        return dict(kernel.demo.params)
    if kernel.schedule is not None:
        usual = kernel.defaults | (kernel.demo.params if kernel.demo is not None else {})
        if chosen := scheduled(kernel, problem, left_open(kernel, usual if given is None else given)):
            return chosen[0].params
    return dict(_small_params(_Same(kernel), problem)) if kernel.params else {}


@dataclass(frozen=True, eq=False)
class _Same:
    """A kernel that is equal only to itself: to compare the texts of two would take longer."""

    kernel: Kernel

    def __hash__(self) -> int:
        return id(self.kernel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.kernel is self.kernel


@lru_cache(maxsize=16)  # asked again when the kernel is launched; few, as each keeps its kernel
def _small_params(same: _Same, problem: Problem) -> dict[str, int]:
    kernel = same.kernel
    sizes = {"M": problem.m, "N": problem.n, "K": problem.k}
    must_hold = tuple(condition.expression for condition in conditions(kernel))
    # A CPU's kernel has no blocks to count: its tiles should fit twice into half a side.
    half = min(sizes.values()) // 2 if kernel.backend == "c" else max(map(max, kernel.params.values()))
    shapes: dict[tuple[int, ...], _Score | None] = {}
    of_boxes = (side for box in kernel.maps.values() for side in (box.rows, box.columns))
    in_shape = {name for e in (*kernel.block, *kernel.grid, *kernel.cluster, *of_boxes) for name in e.names()}
    matter = [at for at, name in enumerate(kernel.params) if name in in_shape]

    def scored() -> Iterator[tuple[_Score, tuple[int, ...]]]:
        for values in _fitting(kernel, sizes, must_hold):
            key = tuple([values[at] for at in matter])
            if key not in shapes:
                shape = _shape(kernel, problem, dict(zip(kernel.params, values, strict=True)))
                shapes[key] = None if shape is None else _score(shape)
            if (of_shape := shapes[key]) is None:
                continue
            largest = max(values)
            beyond = sum([max(value - half, 0) for value in values]) if largest > half else 0
            # One thread, or one fragment per warp, does not show the parameter's effect.
            yield (1 in values, beyond, *of_shape, largest / max(min(values), 1), -sum(values)), values

    for _, values in nsmallest(_MOST_LAUNCHED, scored(), key=itemgetter(0)):
        params = dict(zip(kernel.params, values, strict=True))
        try:
            launch(kernel, problem, params)
        except GemmvizError:
            continue
        return params
    return {}


def _score(shape: _Shape) -> _Score:
    """Return the part of a combination's score, the lowest being the best, that only its launch determines."""
    # Few blocks without work.
    blocks = shape.blocks if shape.oversized else abs(min(shape.blocks, 64) - _ENOUGH_BLOCKS)
    return shape.oversized, blocks, shape.threads < 4, shape.uneven


def picture_problem(kernel: Kernel, wanted: Problem | None = None) -> Problem:
    """Return the size at which a kernel is shown: the wanted one, or a larger one if that shows too few blocks.

    Without a wanted size, it is that of the kernel's demo; without a demo, 8. If the tiles of a GPU kernel are larger
    than the wanted size, or if it does not take that size, the smallest of some sizes with enough blocks is returned.
    If it takes none of them and no size was wanted, the nearest sizes that it takes are tried. Else the wanted size is
    returned; its launch then gives the reason.
    """
    if wanted is None and kernel.demo is not None:
        return Problem(*kernel.demo.size)
    first = wanted or Problem.cube(_USUAL)
    usual = (first, *map(Problem.cube, _SIZES))
    found = _first_with_blocks(kernel, first, usual)
    if found is None and wanted is None:
        near = (nearest_size(kernel, problem, kernel.defaults) for problem in usual)
        found = _first_with_blocks(kernel, first, (problem for problem in near if problem))
    return found or first


def _first_with_blocks(kernel: Kernel, wanted: Problem, problems: Iterable[Problem]) -> Problem | None:
    """Return the first of some sizes that shows enough blocks, else the first that the kernel takes."""
    fitting = None
    for problem in problems:
        if fitting == wanted and problem.m <= max(wanted.m, wanted.n):
            continue  # not larger than the wanted size, which has too few blocks
        params = kernel.defaults | picture_params(kernel, problem)
        try:
            launch(kernel, problem, params)
        except GemmvizError:
            continue
        shape = _shape(kernel, problem, params)
        if kernel.backend == "c" or (shape and shape.blocks >= _ENOUGH_BLOCKS and not shape.oversized):
            return problem
        fitting = fitting or problem
    return fitting


def _fitting(kernel: Kernel, sizes: dict[str, int], must_hold: tuple[Expression, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the combinations of values of the parameters for which all conditions hold at a size.

    Smaller values than the offered ones are tried, too, unless a parameter has a single value: then a guess has
    described the kernel by its launches, and other values may be wrong although the conditions allow them: a loop
    whose step is the threads divided by a tile's columns has no end if a block has fewer threads.
    """
    small = _SMALL if all(offered[1:] for offered in kernel.params.values()) else ()
    choices = tuple(
        (name, tuple(sorted({value for value in (*small, *offered) if value <= max(offered)})))
        for name, offered in kernel.params.items()
    )
    with_sizes = [e for e in must_hold if e.names() & sizes.keys()]
    if not _hold([e for e in with_sizes if not e.names() & kernel.params.keys()], sizes):
        return
    of_both = [e for e in with_sizes if e.names() & kernel.params.keys()]
    # Few parameters are in these: each combination of their values is checked once.
    matter = [at for at, name in enumerate(kernel.params) if any(name in e.names() for e in of_both)]
    known: dict[tuple[int, ...], bool] = {}
    combinations = _combinations(choices, tuple(e for e in must_hold if not e.names() & sizes.keys()))
    if not of_both:
        yield from combinations
        return
    for values in combinations:
        key = tuple([values[at] for at in matter])
        if key not in known:
            known[key] = _hold(of_both, sizes | dict(zip(kernel.params, values, strict=True)))
        if known[key]:
            yield values


@lru_cache(maxsize=64)
def _combinations(choices: _Choices, must_hold: tuple[Expression, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the combinations of values for which conditions on parameters hold, the last parameter changing fastest.

    Each condition is checked as soon as all of its parameters have a value, so that only few combinations are made.
    """
    names = [name for name, _ in choices]
    ripe = [
        [e for e in must_hold if e.names() <= set(names[: i + 1]) and not e.names() <= set(names[:i])]
        for i in range(len(names))
    ]

    def chosen(values: dict[str, int]) -> Iterator[tuple[int, ...]]:
        at = len(values)
        if at == len(names):
            yield tuple(values.values())
            return
        for value in choices[at][1]:
            more = values | {names[at]: value}
            if _hold(ripe[at], more):
                yield from chosen(more)

    return tuple(islice(chosen({}), _MOST_COMBINATIONS))


def _hold(must_hold: list[Expression], values: dict[str, int]) -> bool:
    try:
        return all(e.evaluate(values) for e in must_hold)
    except FrontMatterError:
        return False


def _shape(kernel: Kernel, problem: Problem, params: dict[str, int]) -> _Shape | None:
    """Return the shape of a launch's blocks; None if CUDA takes no such blocks."""
    values = {"M": problem.m, "N": problem.n, "K": problem.k, **params}
    try:
        block, grid, cluster = (
            [e.integer(values) for e in shape] or [1] for shape in (kernel.block, kernel.grid, kernel.cluster)
        )
        oversized = _oversized(kernel, problem, values, prod(cluster))
    except FrontMatterError:
        return None
    if min(*block, *grid) < 1 or prod(block) > MAX_THREADS_PER_BLOCK:
        return None
    sides = [*block, 1][:2]
    return _Shape(prod(grid), prod(block), max(block) / min(sides), oversized)


def _oversized(kernel: Kernel, problem: Problem, values: dict[str, int], cluster: int) -> bool:
    """Whether a box of the copy engine is larger than its matrix, or those of A for all blocks of a cluster together.

    Then the grid still has blocks, but most or all of their loads are outside of the matrix.
    """
    for matrix, box in kernel.maps.items():
        rows, columns = problem.shape(matrix)[:: -1 if matrix in kernel.column_major else 1]
        blocks = cluster if matrix == "A" else 1
        if blocks * box.rows.integer(values) > rows or box.columns.integer(values) > columns:
            return True
    return False
