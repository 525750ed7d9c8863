"""Results measured earlier on another machine, always shown with that machine's name and the date."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gemmviz import data
from gemmviz.backends.environment import cpu_of
from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.figures import Figures
from gemmviz.bench.row import Counts, Profile, Row
from gemmviz.catalogue.errors import GemmvizError

_ON_GPU = ("cuda", "cublas", "transfer")


@dataclass(frozen=True)
class ReferenceResults:
    """One result file of another machine.

    Attributes
    ----------
    gpu, cpu
        The names of its devices; ``gpu`` is empty if it has none.
    date
        When it was measured (YYYY-MM-DD).
    figures
        Its rows.
    recordings
        Counts of recordings, for claims; these are the same on every machine.
    profiles
        The counters of Nsight Compute on this machine, for claims.
    cores
        The number of the processor's cores; None if the file does not have it.
    host
        The machine, for figures that were measured there in this session; empty for a reference.
    """

    gpu: str
    cpu: str
    date: str
    figures: Figures
    recordings: tuple[Counts, ...] = ()
    profiles: tuple[Profile, ...] = ()
    cores: int | None = None
    host: str = ""

    def origin(self, row: Row) -> str:
        """Return the label that every figure of this file carries: the device that computed it, and the date."""
        device = self.gpu if row["backend"] in _ON_GPU else self.cpu
        return f"measured: {device} ({self.host}), {self.date}" if self.host else f"reference: {device}, {self.date}"


def load(folder: Path | None = None) -> tuple[list[ReferenceResults], list[str]]:
    """Read all reference results.

    Parameters
    ----------
    folder
        By default the one that gemmviz ships.

    Returns
    -------
    tuple
        The results, in the order of the files' names, and one message per file that could not be read.
    """
    found, faults = _shipped() if folder is None else _load(folder)
    return [*found], [*faults]


@cache
def _shipped() -> tuple[list[ReferenceResults], list[str]]:
    """Read the shipped results once for all windows of a process."""
    return _load(data.root("resources") / "reference")


def _load(folder: Path) -> tuple[list[ReferenceResults], list[str]]:
    found, faults = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(_reference(results.read_results(path)))
        except GemmvizError as error:
            faults.append(str(error))
    return found, faults


def _reference(document: Document) -> ReferenceResults:
    device, cpu = document.get("device"), cpu_of(document.get("env"))
    cores = f" ({cpu['cores']} cores)" if cpu["cores"] else ""
    return ReferenceResults(
        str(device["name"] or "") if device else "",
        f"{cpu['model'] or 'unknown processor'}{cores}",
        str(document.get("started_utc", ""))[:10],
        Figures(document["results"]),
        tuple(document.get("recordings", ())),
        tuple(document.get("profiles", ())),
        cpu["cores"] or None,
    )
