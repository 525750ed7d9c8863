"""The candidates of a tuner: every combination of a kernel's declared values, without those that cannot run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from gemmviz.bench.model.devices import Facts, limits
from gemmviz.catalogue.conditions import Condition, conditions
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import SharedMemoryError, launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands

Params = dict[str, int]
MOST = 20_000
"""The largest number of combinations: for more, checking their constraints alone would take minutes."""
BLOCK = mark("blocks, grids or boxes that CUDA does not allow")
SHARED = mark("more shared memory than this GPU has for a block")


@dataclass(frozen=True)
class Space:
    """The candidates of a search.

    Attributes
    ----------
    candidates
        Values for all of the kernel's parameters, in the declared order; the defaults come first if they can run.
    default
        The defaults, or the choice of the kernel's schedule, with the held values, whether they can run or not.
    left_out
        The number of combinations that cannot run, by reason: a condition that does not hold, `BLOCK` or `SHARED`.
    """

    candidates: tuple[Params, ...]
    default: Params
    left_out: Mapping[str, int]

    @property
    def default_number(self) -> int | None:
        """The index of the default among the candidates; None if it cannot run."""
        return self.candidates.index(self.default) if self.default in self.candidates else None

    @property
    def combinations(self) -> int:
        """The number of combinations, including those left out."""
        return len(self.candidates) + sum(self.left_out.values())


def space(kernel: Kernel, problem: Problem, held: Mapping[str, int], device: Facts | None) -> Space:
    """Return the candidates and the combinations left out.

    Parameters
    ----------
    kernel, problem
        The tuned kernel, and its size.
    held
        Parameters with a fixed value, which need not be one of the declared values.
    device
        The GPU in the form of a result file, for its limit of shared memory; None: no limit.

    Raises
    ------
    ConstraintError
        For a held parameter that does not exist, a kernel without parameters, more than `MOST` combinations, or none
        that can run; the message has the remedy.
    """
    for name in held:
        if name not in kernel.params:
            launch(kernel, problem, dict(held))  # raises an error that lists the existing parameters
    if not kernel.params:
        raise ConstraintError(tr("{kernel} declares no parameters: there is nothing to tune", kernel=kernel.name))
    values = {name: (held[name],) if name in held else tuple(dict.fromkeys(v)) for name, v in kernel.params.items()}
    count = prod(len(v) for v in values.values())
    if count > MOST:
        text = tr(
            "{kernel} has {count} combinations; at most {most} can be searched: fix some parameters",
            kernel=kernel.name,
            count=thousands(count),
            most=thousands(MOST),
        )
        raise ConstraintError(text)
    known = limits(device) if kernel.backend == "cuda" else None
    most_shared = known.shared_per_block if known else None
    must_hold = conditions(kernel)
    candidates: list[Params] = []
    left_out: Counter[str] = Counter()
    for chosen in product(*values.values()):
        params = dict(zip(values, chosen, strict=True))
        reason = _refused(kernel, problem, params, must_hold, most_shared)
        if reason:
            left_out[reason] += 1
        else:
            candidates.append(params)
    default = usual(kernel, problem, held)
    if not candidates:
        raise ConstraintError(_nothing_fits(kernel, problem, default))
    return Space(tuple(candidates), default, dict(left_out.most_common()))


def _refused(
    kernel: Kernel, problem: Problem, params: Params, must_hold: Sequence[Condition], most_shared: int | None
) -> str:
    """Return why a combination cannot run; empty if it can."""
    names = {"M": problem.m, "N": problem.n, "K": problem.k, **params}
    try:
        for condition in must_hold:
            if not condition.expression.evaluate(names):
                return condition.expression.text
        concrete = launch(kernel, problem, params)
    except SharedMemoryError:
        return SHARED
    except (ConstraintError, FrontMatterError):
        return BLOCK  # also if a side is 0, by which later conditions would divide
    return SHARED if most_shared is not None and concrete.shared_bytes > most_shared else ""


def _nothing_fits(kernel: Kernel, problem: Problem, default: Params) -> str:
    nearest = nearest_size(kernel, problem, default)
    if nearest is None or nearest == problem:
        return tr("{kernel}: no combination of its parameters can run at {size}", kernel=kernel.name, size=problem)
    return tr(
        "{kernel}: no combination of its parameters can run at {size}; with the defaults {nearest} works",
        kernel=kernel.name,
        size=problem,
        nearest=nearest,
    )
