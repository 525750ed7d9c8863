"""The figures of libraries beside a search for parameters."""

from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.bench.ranking import LIBRARIES, place
from gemmviz.bench.row import Row, figure_of
from gemmviz.catalogue.kernel import Kernel
from gemmviz.session.models.results import Results
from gemmviz.session.models.tuning import Tuning


@dataclass(frozen=True)
class Rival:
    """A library's figure at the tuned size: its title, GFLOPS, and the machine of the figure (empty: this one)."""

    title: str
    gflops: float
    origin: str


def rivals(tuning: Tuning, results: Results, kernels: Sequence[Kernel]) -> list[Rival]:
    """Return the figures of libraries with the tuned kernel's element types, at its size, on the same device."""
    kernel = tuning.kernel
    if kernel is None:
        return []
    size, found = (tuning.problem.m, tuning.problem.n, tuning.problem.k), []
    for library in kernels:
        same = library.types == kernel.types
        if library.backend not in LIBRARIES or not same or place(library) != place(kernel):
            continue
        shown = _shown(results, library.name, size, tuning.device(kernel))
        if shown is not None:
            found.append(Rival(library.title, figure_of(shown[0]), shown[1]))
    return found


def _shown(results: Results, name: str, size: tuple[int, int, int], device: str) -> tuple[Row, str] | None:
    row = results.figures.at(name, size)
    if row is not None:
        return row, ""
    for reference in results.all_references:
        row = reference.figures.at(name, size)
        if row is not None and device and device in reference.origin(row):
            return row, reference.origin(row)
    return None
