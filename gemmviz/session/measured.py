"""What was measured, here and elsewhere: the part of a session that the charts, the ladder and the claims listen to."""

from psygnal import Signal

from gemmviz.bench.figures import TRANSFER, Figures, Row, Samples, Shown, Size, usable
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.bench.results import FAILURES
from gemmviz.catalogue.problem import Problem


class Measured:
    """Figures of this machine as they come in, the references, and which of both is shown.

    Parameters
    ----------
    bench_problem
        The size to measure at first.
    """

    measured = Signal(str)
    """A row of the kernel with that name."""
    sampled = Signal()
    referenced = Signal()
    """The results from elsewhere, or whether they are shown."""
    device_changed = Signal()
    """This machine became known: `device` and `device_facts`."""

    def __init__(self, bench_problem: Problem) -> None:
        self.bench_problem = bench_problem
        self.document: Row = {}
        self.figures = Figures()
        self.references: list[ReferenceResults] = []
        self.references_wanted: bool | None = None
        self.all_samples: dict[tuple[str, str], Samples] = {}
        self.samples = Samples("", "")
        self.device = ""
        self.device_facts: Row | None = None

    @property
    def results(self) -> dict[str, Row]:
        """The newest row of each kernel, whatever its size, parameters and status."""
        return {row["kernel"]: row for row in self.figures if row.get("backend") != TRANSFER}

    @property
    def references_shown(self) -> bool:
        """Whether results from elsewhere are shown: where this machine has no GPU, unless the user chose."""
        if self.references_wanted is None:
            return bool(self.device) and self.device_facts is None
        return self.references_wanted

    def set_references(self, references: list[ReferenceResults]) -> None:
        """Take the results that were measured elsewhere."""
        self.references = references
        self.referenced.emit()

    def want_references(self, wanted: bool) -> None:
        """Show results from elsewhere, or hide them."""
        self.references_wanted = wanted
        self.referenced.emit()

    def shown(self, kernel: str, size: Size | None = None) -> Shown | None:
        """Return the figure to show of a kernel, or None.

        Parameters
        ----------
        kernel
            Its name.
        size
            (M, N, K); by default the size measured last, or the one chosen for measuring.

        Returns
        -------
        Shown
            What was measured here; else, when they are shown, a reference, unless the kernel failed here.
        """
        latest = self.figures.latest(kernel)
        here = self.figures.at(kernel, size) if size else latest
        if here is not None and usable(here):
            return Shown(here)
        if not self.references_shown or (latest is not None and latest["status"] in FAILURES):
            return None
        problem = self.bench_problem
        wanted = size or (problem.m, problem.n, problem.k)
        for reference in self.references:
            row = reference.figures.at(kernel, wanted)
            if row is None and size is None:
                row = reference.figures.best(kernel)
            if row is not None:
                return Shown(row, reference.origin(row))
        return None

    def sizes(self) -> list[Size]:
        """Return the sizes at which there is something to show, from small to large."""
        found = set(self.figures.sizes())
        if self.references_shown:
            found.update(size for reference in self.references for size in reference.figures.sizes())
        return sorted(found, key=lambda s: (s[0] * s[1] * s[2], s))

    def start_samples(self) -> None:
        """Forget the samples of the last run."""
        self.samples = Samples("", "")
        self.all_samples = {}
        self.sampled.emit()

    def add_samples(self, label: str, size: str, gflops: list[float], median: float) -> None:
        """Take samples as they arrive: kernels come in turns, and each keeps its own."""
        self.samples = self.all_samples.setdefault((label, size), Samples(label, size))
        self.samples.gflops.extend(gflops)
        self.samples.median = median
        self.sampled.emit()

    def add_result(self, row: Row) -> None:
        """Take one row of a result file, finished or as far as it is known; see `Figures.add`."""
        if self.figures.add(row):
            self.measured.emit(row["kernel"])

    def set_device(self, device: str, facts: Row | None = None) -> None:
        """Say which machine the figures come from, and the facts of its GPU (``device`` of a result file) if any."""
        self.device = device
        self.device_facts = facts
        self.device_changed.emit()
