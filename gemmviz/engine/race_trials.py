"""Looks for a race in a launch whose C is wrong: a race is the kernel's own fault, whatever its arguments mean."""

import itertools
import threading
from collections.abc import Callable

from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_kernel import plain_kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.plan import CheckEntry
from gemmviz.engine.messages import Checked, CheckRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import front_matter_lines
from gemmviz.language import mark, tr
from gemmviz.trace.hazards.finding import Finding

_SAME_LINE = mark(
    "a race at {size}, with the launch in the file: nothing orders the accesses of different threads to {array} here"
)
_TWO_LINES = mark(
    "a race at {size}, with the launch in the file: nothing orders the accesses to {array} here and in line {other}"
)


def race_trier(engine: Engine, cancel: threading.Event) -> Callable[[Kernel, Problem], Flaw | None]:
    """Return a function that checks a launch, and returns its first race with the file's own lines, or None.

    Parameters
    ----------
    engine, cancel
        As for `gemmviz.engine.trying.trier`.
    """
    runs = itertools.count(1)

    def try_race(kernel: Kernel, size: Problem) -> Flaw | None:
        entry = CheckEntry(m=size.m, n=size.n, k=size.k, params=kernel.defaults)
        request = CheckRequest(next(runs), **plain_kernel(kernel), launches=[entry])
        reports = [one.report for one in engine.run(request, cancel) if isinstance(one, Checked)]
        above = front_matter_lines(kernel)
        races = (_flaw(one, size, above) for report in reports for one in report.findings if one.kind == "race")
        return next(filter(None, races), None)

    return try_race


def _flaw(found: Finding, size: Problem, above: int) -> Flaw | None:
    """Return a race as a flaw; None where its line is not in the kernel's file, or the array has no name."""
    here, other = found.line - above, found.other_line - above
    if here < 1 or not found.array:
        return None
    if other < 1 or other == here:
        return Flaw("race", here, tr(_SAME_LINE, size=size, array=found.array))
    return Flaw("race", here, tr(_TWO_LINES, size=size, array=found.array, other=other))
