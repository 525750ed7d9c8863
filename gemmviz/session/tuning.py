"""The search for a kernel's fastest parameters: the current or last search, and the kept results of earlier ones."""

from dataclasses import dataclass

from psygnal import Signal

from gemmviz.bench.document import Measured
from gemmviz.bench.ranking import LIBRARIES, place
from gemmviz.bench.row import Row, figure_of
from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.kept import Tuned
from gemmviz.bench.tuning.outcome import Candidate, Outcome, device_name
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.session.choice import Choice
from gemmviz.session.results import Results


@dataclass(frozen=True)
class Rival:
    """A library's figure at the tuned size: its title, GFLOPS, and the machine of the figure (empty: this one)."""

    title: str
    gflops: float
    origin: str


class Tuning:
    """The candidates of a search and its outcome.

    Parameters
    ----------
    choice
        The choice with the kernel to tune.
    results
        The results with the figures of libraries for comparison.
    """

    changed = Signal()
    """A candidate, the end of a search, or the kept parameters have changed."""
    started = Signal()

    def __init__(self, choice: Choice, results: Results) -> None:
        self._choice, self._results = choice, results
        self.kernel: Kernel | None = None
        self.problem: Problem = choice.bench_problem
        self.seconds = 120
        self.running = False
        self.candidates: dict[int, Candidate] = {}
        """The candidates by their index in the declared order; sorted by when they were first tried."""
        self.best: int | None = None
        self.default: int | None = None
        self.total = 0
        self.document: Outcome | None = None
        """The outcome of the last search; None during a search."""
        self.wanted = False
        """Whether kernels are measured with their kept parameters."""
        self._machine: Measured | None = None
        self._kept: list[Tuned] | None = None
        self._seen: tuple[str, str, Problem] | None = None
        choice.chosen.connect(self._on_chosen)
        choice.bench_chosen.connect(self._on_chosen)

    # A search

    def start(self, kernel: Kernel, problem: Problem) -> None:
        """Drop the last search, because another one begins."""
        self.kernel, self.problem, self.running = kernel, problem, True
        self.candidates, self.best, self.default, self.total, self.document = {}, None, None, 0, None
        self.started.emit()
        self.changed.emit()

    def take(self, number: int, candidate: Candidate, best: int | None, default: int | None, total: int) -> None:
        """Take the current state of a candidate."""
        self.candidates[number] = candidate
        self.best, self.default, self.total = best, default, total
        self.changed.emit()

    def finish(self, document: Outcome | None) -> None:
        """End the search with its outcome; None if it has none."""
        self.running, self.document = False, document
        if document is not None:
            for candidate in document["candidates"]:
                self.candidates[candidate["number"]] = candidate
            params = document["params"]
            self.best = next((n for n, c in self.candidates.items() if c["params"] == params), None)
        self._kept = None
        self.changed.emit()

    @property
    def found(self) -> dict[str, int] | None:
        """The parameters that the last search found; None during a search, or if it found none."""
        return None if self.document is None else self.document["params"]

    def use(self) -> bool:
        """Measure with the found parameters; return False if there are none, or if the kernel is not chosen."""
        if self.found is None or self.kernel is None or self._choice.kernel.name != self.kernel.name:
            return False
        self._choice.choose_bench(params=self.found)
        return True

    def rivals(self) -> list[Rival]:
        """Return the figures of libraries with the kernel's element types, at its size, on the same device."""
        kernel = self.kernel
        if kernel is None:
            return []
        size, found = (self.problem.m, self.problem.n, self.problem.k), []
        for library in self._choice.kernels:
            same = library.types == kernel.types
            if library.backend not in LIBRARIES or not same or place(library) != place(kernel):
                continue
            shown = self._rival(library.name, size, self.device(kernel))
            if shown is not None:
                found.append(Rival(library.title, figure_of(shown[0]), shown[1]))
        return found

    def _rival(self, name: str, size: tuple[int, int, int], device: str) -> tuple[Row, str] | None:
        row = self._results.figures.at(name, size)
        if row is not None:
            return row, ""
        for reference in self._results.all_references:
            row = reference.figures.at(name, size)
            if row is not None and device and device in reference.origin(row):
                return row, reference.origin(row)
        return None

    # Kept parameters

    def set_machine(self, facts: Measured) -> None:
        """Take the facts of this machine: ``device`` and ``env`` of a result file, or of the engine's probe."""
        self._machine = facts
        self.apply()

    def device(self, kernel: Kernel) -> str:
        """Return the name of the GPU or processor that runs a kernel here; empty if it is not known yet."""
        return device_name(kernel.backend, self._machine) if self._machine else ""

    def want(self, wanted: bool) -> None:
        """Measure kernels with their kept parameters, or with their defaults."""
        self.wanted, self._kept = wanted, None
        if wanted:
            self.apply()
        else:
            self._choice.choose_bench(params=self._choice.kernel.defaults)
        self.changed.emit()

    def kept_for(self, kernel: Kernel, problems: list[Problem]) -> Tuned | None:
        """Return the kept parameters of a kernel for this device and the nearest size that they fit: see `nearest`."""
        if self._kept is None:
            self._kept = kept.kept()[0]
        return kept.nearest(self._kept, kernel, self.device(kernel), problems)

    def params_for(self, kernel: Kernel, problems: list[Problem]) -> dict[str, int]:
        """Return the parameters to measure a kernel with: its defaults, unless others are wanted and kept."""
        one = self.kept_for(kernel, problems) if self.wanted and kernel.params else None
        return kernel.defaults | (one.params if one else {})

    def apply(self) -> None:
        """Choose the kept parameters for measuring the chosen kernel, if kept parameters are wanted."""
        one = self.kept_for(self._choice.kernel, [self._choice.bench_problem]) if self.wanted else None
        if one is not None and self._choice.bench_params != self._choice.bench_params | one.params:
            self._choice.choose_bench(params=one.params)

    def _on_chosen(self) -> None:
        seen = self._choice.kernel.name, self._choice.kernel.sha256, self._choice.bench_problem
        if seen != self._seen:
            self._seen = seen
            self.apply()
