"""The samples of one kernel, round by round: as they arrive, or those that a row keeps. No Qt."""

from dataclasses import dataclass

from gemmviz.bench.figures import ON_GPU, SampleSeries, Shown
from gemmviz.bench.row import Row
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.figures.ladder_figures import ladder_figures
from gemmviz.ui.look.figure_text import size_text

_MOST_FLOPS = 1e30
"""Per second: a damaged file may claim more, which no axis could show."""


@dataclass(frozen=True)
class SampleRows:
    """What to draw.

    Attributes
    ----------
    label, size
        The kernel's label, and M × N × K.
    rounds
        GFLOPS of each sample, round by round.
    median
        GFLOPS of the median of all.
    origin
        Empty: measured here; else a reference.
    live
        Whether more may come.
    launches
        Whether each sample is one launch, as on a GPU; on a CPU it is the mean of as many as take some milliseconds.
    """

    label: str
    size: str
    rounds: tuple[tuple[float, ...], ...]
    median: float
    origin: str = ""
    live: bool = False
    launches: bool = True

    @property
    def all(self) -> tuple[float, ...]:
        """All samples, in the order taken."""
        return tuple(value for samples in self.rounds for value in samples)


def of_series(session: Session, series: SampleSeries) -> SampleRows:
    """Return the samples that arrived."""
    rounds = tuple(tuple(v for v in samples if v * 1e9 < _MOST_FLOPS) for samples in series.by_round())
    name = series.turn.kernel if series.turn is not None else ""
    launches = any(k.name == name and k.backend in ON_GPU for k in session.results.charted)
    live = series is session.results.live
    return SampleRows(series.label, series.size, rounds, series.median, live=live, launches=launches)


def of_row(shown: Shown) -> SampleRows | None:
    """Return the samples that a row keeps; None where it keeps none.

    A row keeps at most so many of them, evenly spaced; then each round has its share.
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
    return SampleRows(row.get("label") or row["kernel"], size, rounds, row["gflops"], origin, launches=launches)


def shown_samples(session: Session) -> SampleRows | None:
    """Return the samples to show: those that the user chose, those that arrive, or those of the chosen kernel."""
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


def whose(rows: SampleRows) -> str:
    """Name the kernel and the size."""
    return tr("{kernel} at {size}", kernel=rows.label, size=rows.size)
