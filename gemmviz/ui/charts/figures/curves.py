"""Figures over N as curves: one per kernel, parameters and machine. No Qt."""

from dataclasses import dataclass, replace

from gemmviz.bench.figures import Figures, Shown, has_params, key_of
from gemmviz.bench.ranking import LIBRARIES
from gemmviz.bench.row import Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.session import Session
from gemmviz.ui.charts.figures.ladder_figures import Role, cores_elsewhere, group, ladder_figures


@dataclass(frozen=True)
class Curve:
    """The rows of one kernel, measured in one place, from small to large N.

    They have the same parameters. Where these follow from the size, each N has those of its last measurement.

    Attributes
    ----------
    kernel
        The kernel.
    origin
        Empty: measured here; else the origin of a reference.
    rows
        Its rows with M = N = K.
    usual
        Whether its parameters are those of the last measurement here, or without one the default parameters.
    role
        The kernel's relation to the chosen one.
    """

    kernel: Kernel
    origin: str
    rows: tuple[Row, ...]
    usual: bool
    role: Role = "other"


def curves(session: Session) -> list[Curve]:
    """Return the curves of the chosen kernel's processor and element type, in the ladder's order.

    A reference is used where this machine has no figure. Kernels other than the chosen one have only the usual curve of
    each machine. A CPU with another number of cores has no curve if there are measurements from this machine.
    """
    roles = {bar.kernel.name: bar.role for bar in ladder_figures(session).bars}
    found = []
    for kernel in group(session):
        if kernel.exhibit or kernel.changes:
            continue
        usual: Role = "library" if kernel.backend in LIBRARIES else "other"
        role: Role = "chosen" if kernel.name == session.choice.kernel.name else roles.get(kernel.name, usual)
        own = sorted(_of_kernel(session, kernel), key=lambda curve: not curve.usual)
        found += [replace(c, role=role if c.usual else "other") for c in own if c.usual or role == "chosen"]
    if any(not curve.origin for curve in found):
        found = [c for c in found if cores_elsewhere(session, Shown(c.rows[0], c.origin)) is None]
    return found


def _of_kernel(session: Session, kernel: Kernel) -> list[Curve]:
    """Return the curves of one kernel: first those measured here, starting with the last measured one."""
    results = session.results
    measured = _lines(results.figures, kernel)
    order = [key_of(row) for row in reversed(results.figures.of(kernel.name))]
    measured.sort(key=lambda rows: min(order.index(key_of(row)) for row in rows))
    here = {row["N"] for rows in measured for row in rows}
    params = (measured[0][0].get("params") or {}) if measured else kernel.defaults
    rest: list[tuple[list[Row], str]] = []
    for reference in results.shown_references:
        for rows in _lines(reference.figures, kernel):
            # Two devices that were measured in this session are compared: then both curves are complete.
            left = list(rows) if reference.host else [row for row in rows if row["N"] not in here]
            if left:
                rest.append((left, reference.origin(left[0])))
    found = [Curve(kernel, "", tuple(rows), True) for rows in measured]
    found += [Curve(kernel, origin, tuple(rows), has_params(rows[0], params)) for rows, origin in rest]
    if kernel.schedule is not None:
        return [replace(curve, usual=True) for curve in found]
    if found and not any(curve.usual for curve in found):
        found[0] = replace(found[0], usual=True)
    return found


def _lines(figures: Figures, kernel: Kernel) -> list[list[Row]]:
    """Return the rows of one machine's curves: one per parameters, or one where these follow from the size."""
    lines = list(figures.over_n(kernel.name).values())
    if kernel.schedule is None or not lines:
        return lines
    cubes = {key_of(row) for line in lines for row in line}
    by_size = {row["N"]: row for row in figures.of(kernel.name) if key_of(row) in cubes}
    return [[by_size[n] for n in sorted(by_size)]]
