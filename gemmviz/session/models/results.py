"""The measured figures, of this machine and of others, for the charts, the list of kernels and the claims."""

import platform
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from psygnal import Signal

from gemmviz.bench.document import Document
from gemmviz.bench.figures import (
    TRANSFER,
    Figures,
    Sampled,
    SampleSeries,
    Shown,
    Size,
    Turn,
    by_volume,
    fullest_size,
    size_of,
)
from gemmviz.bench.model.devices import Facts
from gemmviz.bench.row import FAILURES, Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr

if TYPE_CHECKING:
    from gemmviz.bench.reference_results import ReferenceResults
    from gemmviz.proving.proofs import Proofs


class Results:
    """Figures of this machine, the references, and which of both is shown.

    Parameters
    ----------
    kernels
        The ladder; kernels are added to this list in place.
    """

    measured = Signal(str)
    """There is a new row of the kernel with that name."""
    sampled = Signal()
    referenced = Signal()
    """The references, or whether they are shown, have changed."""
    device_changed = Signal()
    """`device` and `device_facts` have changed: this machine is known now."""

    size_chosen = Signal()
    """The size at which rungs are compared."""

    def __init__(self, kernels: list[Kernel]) -> None:
        self._kernels = kernels
        self._places: dict[str, ReferenceResults] = {}
        self._place, self._host = "", platform.node()
        self._expected = ""
        self._variants: dict[str, tuple[str, Kernel]] = {}
        self.document: Document | None = None
        self.figures = Figures()
        self.references: list[ReferenceResults] = []
        self.reading = False  # whether the references of the first view are still to come
        self.proofs: list[Proofs] = []
        self.references_wanted: bool | None = None
        self.size_wanted: Size | None = None
        self.all_samples: dict[Sampled, SampleSeries] = {}
        self.samples = SampleSeries("", "")
        self.live: SampleSeries | None = None
        """The samples up to now of the kernel that is being timed; None if nothing is timed."""
        self.device = ""
        self.device_facts: Facts | None = None
        self.cpu_cores: int | None = None
        self._sizes_of: list[tuple[Figures, int]] = []
        self._sizes: tuple[list[Size], Size | None] = ([], None)

    @property
    def rows(self) -> dict[str, Row]:
        """The newest row of each kernel, whatever its size, parameters and status."""
        return {row["kernel"]: row for row in self.figures if row.get("backend") != TRANSFER}

    @property
    def charted(self) -> list[Kernel]:
        """The ladder, and after each rung those of its edited or broken variants that have a figure or a status."""
        variants = [(base, k) for base, k in self._variants.values() if self.figures.of(k.name)]
        return [
            shown for kernel in self._kernels for shown in (kernel, *(k for base, k in variants if base == kernel.name))
        ]

    def _defaults(self, name: str) -> dict[str, int]:
        """Return the default parameters of a kernel of `charted`; none for another name."""
        found = next((kernel for kernel in self._kernels if kernel.name == name), None)
        if found is None and name in self._variants and self.figures.of(name):
            found = self._variants[name][1]
        return found.defaults if found else {}

    def keep_variant(self, kernel: Kernel) -> None:
        """Keep a variant of a rung that is measured; drop the figures of another text with its name."""
        if kernel.base_name == kernel.name:
            return
        before = self._variants.get(kernel.name)
        if before is not None and before[1].sha256 != kernel.sha256:
            self.figures.forget(kernel.name)
        self._variants[kernel.name] = kernel.base_name, kernel

    def drop_stale(self, kernel: Kernel) -> None:
        """Drop the figures of a variant whose text has changed."""
        before = self._variants.get(kernel.name)
        if before is not None and before[1].sha256 != kernel.sha256:
            del self._variants[kernel.name]
            self.figures.forget(kernel.name)
            self.measured.emit(kernel.base_name)

    def forget(self, name: str) -> None:
        """Drop the figures of a kernel and of its variants: its text has changed."""
        for variant in [variant for variant, (base, _) in self._variants.items() if base == name]:
            del self._variants[variant]
            self.figures.forget(variant)
        self.figures.forget(name)

    @property
    def references_shown(self) -> bool:
        """Whether references are shown: if this machine has no GPU, unless the user chose otherwise."""
        if self.references_wanted is None:
            return bool(self.device) and self.device_facts is None
        return self.references_wanted

    @property
    def away(self) -> str:
        """The name of the machine that measures, if it is another one; else an empty text."""
        return self._host if self._place else ""

    @property
    def device_and_host(self) -> str:
        """The name of the device that measures, with its machine if it is another one; empty if it is not known yet."""
        if not self.away:
            return self.device
        return tr("{device} on {host}", device=self.device or self._expected, host=self.away)

    @property
    def elsewhere(self) -> "list[ReferenceResults]":
        """The figures that were measured in this session on other devices than the present one."""
        return [one for place, one in self._places.items() if place != self._place and len(one.figures)]

    @property
    def all_references(self) -> "list[ReferenceResults]":
        """The figures of all other machines: those measured in this session first."""
        return [*self.elsewhere, *self.references]

    @property
    def shown_references(self) -> "list[ReferenceResults]":
        """The shown figures of other machines: those measured in this session, and on request the references."""
        return [*self.elsewhere, *(self.references if self.references_shown else [])]

    def move(self, place: str, host: str, device: str = "") -> None:
        """Measure on another device: its figures are separate from those of the one before, which become references.

        Parameters
        ----------
        place
            Distinguishes the device from all others; empty for this machine.
        host
            The name of its machine.
        device
            Its name on another machine, for people, until that machine has sent all facts.
        """
        from gemmviz.bench.reference_results import ReferenceResults  # late: the first picture needs no other machine

        gpu = str(self.device_facts["name"]) if self.device_facts else ""
        cpu = self.device.removeprefix(f"{gpu} / ")
        today = datetime.now(UTC).date().isoformat()
        here = ReferenceResults(gpu, cpu, today, self.figures, cores=self.cpu_cores, host=self._host)
        if self.device or self._place not in self._places:  # else its names are known from before
            self._places[self._place] = here
        self._place, self._host, self._expected = place, host, device
        known = self._places.get(place)
        self.figures = known.figures if known is not None else Figures()
        self.document = None
        self.start_samples()
        self.set_device("")
        self.referenced.emit()

    def know(self, place: str, gpu: str, cpu: str, cores: int | None, host: str) -> None:
        """Take the names of another device, which measures at the same time.

        Parameters
        ----------
        place, host
            As for `move`.
        gpu, cpu
            The names of its devices; ``gpu`` is empty if it has none.
        cores
            The number of its processor's cores; None if it is unknown.
        """
        from gemmviz.bench.reference_results import ReferenceResults  # late, as in `move`

        known = self._places.get(place)
        figures = known.figures if known is not None else Figures()
        today = datetime.now(UTC).date().isoformat()
        self._places[place] = ReferenceResults(gpu, cpu, today, figures, cores=cores, host=host)

    def add_beside(self, place: str, row: Row) -> None:
        """Take one row of another device, which measures at the same time: see `know`."""
        figures = self._places[place].figures
        first = not len(figures)
        if not figures.add(row):
            return
        if first:  # the device is new in the charts
            self.referenced.emit()
        else:
            self.measured.emit(row["kernel"])

    def set_references(self, references: "list[ReferenceResults]") -> None:
        """Take the results that were measured on other machines."""
        self.references, self.reading = references, False
        self.referenced.emit()

    def set_proofs(self, files: "list[Proofs]") -> None:
        """Take the proofs that were made on GPUs."""
        self.proofs = files
        self.referenced.emit()

    def want_references(self, wanted: bool) -> None:
        """Show the references, or hide them."""
        self.references_wanted = wanted
        self.referenced.emit()

    def shown(self, kernel: str, size: Size | None = None) -> Shown | None:
        """Return the figure to show of a kernel, or None.

        Parameters
        ----------
        kernel
            Its name.
        size
            (M, N, K), exactly; by default `shown_size`, or the nearest size that has a figure.

        Returns
        -------
        Shown
            The last figure measured here; else, if references are shown, a reference, with the kernel's default
            parameters if there is one. A kernel that failed here has no reference and, by default, no older figure.
        """
        at = size or self.shown_size()
        latest = self.figures.latest(kernel)
        failed = latest is not None and latest["status"] in FAILURES
        if at is None or (failed and size is None):
            return None
        references = self.shown_references if not failed else []
        params = self._defaults(kernel)
        found = _first(Figures.at, self.figures, references, kernel, at, params)
        return found if found or size else _first(Figures.near, self.figures, references, kernel, at, params)

    def shown_size(self) -> Size | None:
        """Return the size (M, N, K) at which rungs are compared; None if there are no figures.

        The user's choice; else the size that was measured here last; else the size at which most rungs have a figure.
        """
        newest, (sizes, fullest) = self.figures.newest, self._all_sizes()
        for size in (self.size_wanted, size_of(newest) if newest else None):
            if size in sizes:
                return size
        return fullest

    def want_size(self, size: Size | None) -> None:
        """Choose the size at which rungs are compared; None: the default of `shown_size`."""
        self.size_wanted = size
        self.size_chosen.emit()

    def sizes(self) -> list[Size]:
        """Return the sizes that have figures, from small to large."""
        return list(self._all_sizes()[0])

    def _all_sizes(self) -> tuple[list[Size], Size | None]:
        """Return `sizes`, and the size at which most rungs have a figure: the list of kernels asks for each rung."""
        references = self.shown_references
        used = [self.figures, *(reference.figures for reference in references)]
        state = [(figures, figures.changes) for figures in used]
        if state != self._sizes_of:
            found = {size for figures in used for size in figures.sizes()}
            fullest = fullest_size(row for figures in used for row in figures)
            self._sizes_of, self._sizes = state, (sorted(found, key=by_volume), fullest)
        return self._sizes

    def start_samples(self) -> None:
        """Forget the samples of the last run."""
        self.samples, self.live = SampleSeries("", ""), None
        self.all_samples = {}
        self.sampled.emit()

    def add_samples(self, label: str, size: str, gflops: list[float], median: float, turn: Turn | None = None) -> None:
        """Take new samples: kernels are measured in turns, and each has its own samples."""
        self.samples = self.all_samples.setdefault((label, size), SampleSeries(label, size))
        self.samples.add(gflops, median, turn)
        self.live = self.samples if turn else None
        self.sampled.emit()

    def end_samples(self) -> None:
        """Note the end of the samples: the run is over. They are kept until the next run."""
        self.live = None
        self.sampled.emit()

    def add_result(self, row: Row) -> None:
        """Take one row of a result file, finished or not; see `Figures.add`."""
        if self.figures.add(row):
            self.measured.emit(row["kernel"])

    def set_device(self, device: str, facts: Facts | None = None, cores: int | None = None) -> None:
        """Set the machine of the figures.

        Parameters
        ----------
        device
            Its name.
        facts
            The facts of its GPU (``device`` of a result file), if any.
        cores
            The number of its processor's cores; None if unknown.
        """
        self.cpu_cores = cores
        self.device = device
        self.device_facts = facts
        self.device_changed.emit()


def _first(
    pick: Callable[..., Row | None],
    here: Figures,
    references: "Iterable[ReferenceResults]",
    kernel: str,
    size: Size,
    params: dict[str, int],
) -> Shown | None:
    """Return the result of `Figures.at` or `Figures.near` here, else that of the first reference with a result."""
    row = pick(here, kernel, size)
    if row is not None:
        return Shown(row)
    for reference in references:
        row = pick(reference.figures, kernel, size, params)
        if row is not None:
            return Shown(row, reference.origin(row))
    return None
