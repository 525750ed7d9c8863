"""The parameters of a kernel at a size where the user gives none, and the reason for them in words."""

from collections.abc import Mapping
from dataclasses import replace

from gemmviz.catalogue.conditions import conditions
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.schedule import Choice, choices
from gemmviz.language import tr


def scheduled(kernel: Kernel, problem: Problem, given: Mapping[str, int] | None = None) -> tuple[Choice, ...]:
    """Return the sets of a kernel's schedule that can be launched at a size, the best first; empty without a schedule.

    Parameters
    ----------
    kernel, problem
        The kernel, and the size.
    given
        Values that the user gives: no set changes them.
    """
    if kernel.schedule is None:
        return ()
    if kernel.division:
        return scheduled(replace(kernel, division=None), part_of(kernel, problem, given or {}), given)
    must_hold = tuple(condition.expression for condition in conditions(kernel))
    return choices(kernel.schedule, must_hold, (problem.m, problem.n, problem.k), kernel.defaults, dict(given or {}))


def part_of(kernel: Kernel, problem: Problem, given: Mapping[str, int]) -> Problem:
    """Return the product of one launch: of a kernel for several GPUs a part of the problem, else the problem.

    Parameters
    ----------
    kernel, problem
        The kernel, and the size of the whole product; sides that cannot be divided equally are cut off.
    given
        Values of parameters; the others have their defaults.
    """
    if kernel.division is None:
        return problem
    values = kernel.defaults | dict(given) | {"M": problem.m, "N": problem.n, "K": problem.k}
    sides = kernel.division.sides()
    return Problem(*(max(1, int(Expression(sides[name]).evaluate(values))) for name in ("M", "N", "K")))


def usual(kernel: Kernel, problem: Problem, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the values of all parameters: those that are given, and for the others the schedule's, or the defaults."""
    given = dict(given or {})
    found = scheduled(kernel, problem, given) if kernel.params.keys() - given.keys() else ()
    return kernel.defaults | (found[0].params if found else {}) | given


def left_open(kernel: Kernel, params: Mapping[str, int]) -> dict[str, int]:
    """Return those of some parameters that the kernel's schedule does not decide, such as the number of GPUs."""
    decided = kernel.schedule.decides if kernel.schedule is not None else frozenset()
    return {name: value for name, value in params.items() if name not in decided}


def why(kernel: Kernel, problem: Problem, params: Mapping[str, int]) -> str:
    """Return why a kernel has these parameters at a size, in a sentence or two; empty if no schedule chose them.

    The figures are modelled.
    """
    found = scheduled(kernel, problem, left_open(kernel, params))
    if not found or found[0].params != dict(params):
        return ""
    best = found[0]
    text = _of(best)
    other = _rival(best, found)
    if other is None:
        return text
    return tr(
        "{text} {rows} x {columns} tiles would keep {busy} of them busy, and take {times} times as long (modelled).",
        text=text,
        rows=other.rows,
        columns=other.columns,
        busy=other.busy,
        times=f"{other.cost / best.cost:.2f}",
    )


def _of(best: Choice) -> str:
    values = {"rows": best.rows, "columns": best.columns, "busy": best.busy, "sms": best.multiprocessors}
    parts = best.params.get("SPLIT", 1)
    if parts > 1:
        return tr(
            "Tiles of {rows} x {columns}, each in {parts} parts along K, keep {busy} of {sms} multiprocessors busy.",
            parts=parts,
            **values,
        )
    return tr("Tiles of {rows} x {columns} keep {busy} of {sms} multiprocessors busy.", **values)


def _rival(best: Choice, found: tuple[Choice, ...]) -> Choice | None:
    """Return the best set of those with the largest other tile: the one that people would think of first."""
    others = [one for one in found if (one.rows, one.columns) != (best.rows, best.columns)]
    return max(others, key=lambda one: (one.rows * one.columns, -one.cost), default=None)
