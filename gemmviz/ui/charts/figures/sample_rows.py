"""The samples of one kernel, round by round: from a running measurement, or from a row. No Qt."""

from dataclasses import dataclass

from gemmviz.bench.figures import ON_GPU, SampleSeries, Shown
from gemmviz.bench.row import Row
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.figures.ladder_figures import ladder_figures
from gemmviz.ui.look.figure_text import size_text

_MOST_FLOPS = 1e30
"""The largest number of operations per second that is drawn; a damaged file may have more, which no axis can show."""


@dataclass(frozen=True)
class SampleRows:
    """The samples to draw.

    Attributes
    ----------
    label, size
        The kernel's label, and M × N × K.
    rounds
        GFLOPS of each sample, round by round.
    median
        GFLOPS of the median of all samples.
    origin
        The origin of a reference; empty for a measurement from this machine.
    live
        Whether more samples may arrive.
    launches
        Whether each sample is one launch, as on a GPU. On a CPU it is the mean of launches over some milliseconds.
    taken
        How many samples each round took; empty if all of them are drawn.
    """

    label: str
    size: str
    rounds: tuple[tuple[float, ...], ...]
    median: float
    origin: str = ""
    live: bool = False
    launches: bool = True
    taken: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[float, ...]:
        """All samples, in the order in which they were taken."""
        return tuple(value for samples in self.rounds for value in samples)


def of_series(session: Session, series: SampleSeries) -> SampleRows:
    """Return the samples of the running measurement."""
    rounds = tuple(tuple(v for v in samples if v * 1e9 < _MOST_FLOPS) for samples in series.by_round())
    name = series.turn.kernel if series.turn is not None else ""
    launches = any(k.name == name and k.backend in ON_GPU for k in session.results.charted)
    live = series is session.results.live
    return SampleRows(series.label, series.size, rounds, series.median, live=live, launches=launches)


def of_row(shown: Shown) -> SampleRows | None:
    """Return the samples that a row keeps; None if it keeps none.

    A row keeps a limited number of them, evenly spaced; each round then has its share.
    """
    row: Row = shown.row
    flops = 2.0 * row["M"] * row["N"] * row["K"]
    kept = [s for s in row["samples_s"] if s > 0 and flops / s < _MOST_FLOPS]
    if not kept or row["gflops"] is None:
        return None
    counts = [entry["n"] for entry in row["rounds"]] or [len(kept)]
    ends = [round(sum(counts[: i + 1]) * len(kept) / sum(counts)) for i in range(len(counts))]
    rounds = tuple(
        tuple(flops / s / 1e9 for s in kept[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)
    )
    size = size_text((row["M"], row["N"], row["K"]))
    origin, launches = shown.origin, row["backend"] in ON_GPU
    taken = tuple(counts) if sum(counts) > len(kept) else ()
    label = row.get("label") or row["kernel"]
    return SampleRows(label, size, rounds, row["gflops"], origin, launches=launches, taken=taken)


def shown_samples(session: Session) -> SampleRows | None:
    """Return the samples to show: the user's choice, the running measurement, or the chosen kernel."""
    results, chosen = session.results, session.chart_choices.samples
    if chosen and chosen in results.all_samples:
        return of_series(session, results.all_samples[chosen])
    if results.live is not None:
        return of_series(session, results.live)
    name = session.choice.kernel.name
    arrived = [s for s in results.all_samples.values() if s.gflops and s.turn is not None and s.turn.kernel == name]
    if arrived:
        return of_series(session, arrived[-1])
    bar = ladder_figures(session).of("chosen")
    return of_row(Shown(bar.standing.row, bar.origin)) if bar is not None else None


def kernel_and_size(rows: SampleRows) -> str:
    """Return a text with the kernel and the size."""
    return tr("{kernel} at {size}", kernel=rows.label, size=rows.size)
