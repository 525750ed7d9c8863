"""GFLOPS of two versions: measured here, or from a reference that has both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemmviz.bench.compare import NOISE
from gemmviz.bench.figures import by_volume, has_params, size_of, usable
from gemmviz.bench.row import Row, figure_of
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.versions.figure import Figure, Group
from gemmviz.versions.version import Speed, Version

if TYPE_CHECKING:
    from gemmviz.bench.reference_results import ReferenceResults


def speed_group(before: Version, after: Version) -> Group:
    """Return the GFLOPS of both, if there are any.

    Parameters
    ----------
    before, after
        The versions.
    """
    reasons = "; ".join(dict.fromkeys(of.no_speed for of in (before, after) if of.no_speed))
    known = [of.speed for of in (before, after) if of.speed is not None]
    if not known:
        return Group("speed", tr("Speed"), "", (), reasons)
    one, other = (None if of.speed is None else of.speed.gflops for of in (before, after))
    name = tr("GFLOPS at {size}", size=known[0].size)
    origin = " / ".join(dict.fromkeys(speed.origin for speed in known))
    return Group("speed", tr("Speed"), origin, [Figure("gflops", name, one, other, NOISE)], reasons)


def measured(row: Row) -> tuple[Speed | None, str]:
    """Return the figure of a new row, with its flags, or the reason why there is none."""
    if not usable(row):
        return None, row["message"] or row["status"]
    return Speed(figure_of(row), str(Problem(*size_of(row))), tr("measured")), ", ".join(row["flags"])


def reference(launches: tuple[Launch, Launch], results: "Sequence[ReferenceResults]") -> tuple[Speed, Speed] | None:
    """Return reference figures of one machine, at the largest size for which it has both; None if there are none.

    The rows have the same code and the same parameters.

    Parameters
    ----------
    launches
        The two launches.
    results
        Reference results.
    """
    for machine in results:
        one, other = ({size_of(row): row for row in _rows(machine, made)} for made in launches)
        size = max(one.keys() & other.keys(), key=by_volume, default=None)
        if size is not None:
            pair = [Speed(figure_of(row), str(Problem(*size)), machine.origin(row)) for row in (one[size], other[size])]
            return pair[0], pair[1]
    return None


def _rows(machine: "ReferenceResults", made: Launch) -> list[Row]:
    kernel = made.kernel
    return [
        row
        for row in machine.figures.of(kernel.name)
        if usable(row) and row["source_sha256"] == kernel.sha256 and has_params(row, made.params)
    ]
