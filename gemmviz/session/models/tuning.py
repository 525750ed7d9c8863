"""The search for a kernel's fastest parameters: the current or last search, and the kept results of earlier ones."""

from psygnal import Signal

from gemmviz.bench.document import Measured
from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.kept import Tuned
from gemmviz.bench.tuning.outcome import Candidate, Outcome, device_name
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem


class Tuning:
    """The candidates of a search and its outcome.

    Parameters
    ----------
    problem
        The size to tune for at first.
    """

    changed = Signal()
    """A candidate, the end of a search, or the kept parameters have changed."""
    started = Signal()

    known = Signal()
    """The facts of this machine."""
    kept_wanted = Signal()
    """`wanted`."""

    def __init__(self, problem: Problem) -> None:
        self.kernel: Kernel | None = None
        self.problem = problem
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

    # Kept parameters

    def set_machine(self, facts: Measured) -> None:
        """Take the facts of this machine: ``device`` and ``env`` of a result file, or of the engine's probe."""
        self._machine = facts
        self.known.emit()

    def device(self, kernel: Kernel) -> str:
        """Return the name of the GPU or processor that runs a kernel here; empty if it is not known yet."""
        return device_name(kernel.backend, self._machine) if self._machine else ""

    def want(self, wanted: bool) -> None:
        """Measure kernels with their kept parameters, or with their defaults."""
        self.wanted, self._kept = wanted, None
        self.kept_wanted.emit()
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
