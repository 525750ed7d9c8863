"""The limit of the chosen kernel, and the next chapter's remedy: the words of *What next?*. No Qt."""

from dataclasses import dataclass

from gemmviz.bench.model.devices import Facts, named
from gemmviz.bench.model.peaks import peak_gflops
from gemmviz.bench.model.roofline import attainable_gflops, moved_bytes, point
from gemmviz.catalogue.chapters import TAUGHT, Chapter, by_chapter, chapter_of
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.trace.playable import Playable
from gemmviz.ui.charts.figures.ladder_figures import Bar
from gemmviz.ui.look.figure_text import gflops_text, size_text

_MOST_READS = 64  # of one product: a larger count is an effect of edges at the recorded size


@dataclass(frozen=True)
class Outlook:
    """The text below a figure, and the next step.

    Attributes
    ----------
    text
        Sentences; empty: nothing is known.
    chapter, kernel
        The next chapter, and its first kernel; None after the last one.
    """

    text: str
    chapter: Chapter | None
    kernel: Kernel | None


def facts_of(session: Session, bar: Bar) -> Facts | None:
    """Return the GPU that a figure was measured on, as far as it is known; None for a CPU."""
    if bar.kernel.backend not in ("cuda", "cublas"):
        return None
    if not bar.origin:
        return session.results.device_facts
    for reference in session.results.all_references:
        if reference.origin(bar.standing.row) == bar.origin:
            known = named(reference.gpu)
            return known.facts() if known is not None else None
    return None


def peak_share(session: Session, bar: Bar) -> tuple[float, str] | None:
    """Return the part of the modelled arithmetic peak that a figure reaches, and the type's name; None: unknown."""
    row = bar.standing.row
    peak = peak_gflops(facts_of(session, bar), row["dtype_in"], row["dtype_acc"])
    return (bar.gflops / peak[0], peak[1].split(" ")[0]) if peak and bar.gflops else None


def outlook(session: Session, bar: Bar) -> Outlook:
    """Return the limit of a figure, and the next chapter.

    Parameters
    ----------
    session
        The session with the kernels, the devices and the recording on the stage.
    bar
        The chosen kernel with its figure.
    """
    playable = session.cursor.playable
    if playable is not None and playable.recording.kernel != bar.kernel.name:
        playable = None
    sentences = [_limit(session, bar, playable)]
    if playable is not None and bar.kernel.backend == "cuda":
        sentences.append(_reads(playable))
    chapter, kernel = _next(session, bar.kernel)
    return Outlook(" ".join(filter(None, sentences)), chapter, kernel)


def _limit(session: Session, bar: Bar, playable: Playable | None) -> str:
    """Compare the figure with the roof over its counted bytes, else with the peak of its types."""
    row, facts = bar.standing.row, facts_of(session, bar)
    dtypes = row["dtype_in"], row["dtype_acc"]
    if playable is not None and dict(playable.recording.params) == dict(row.get("params") or {}):
        recording = playable.recording
        recorded = Problem(recording.m, recording.n, recording.k)
        moved = moved_bytes(playable.traffic.arrays, recorded, Problem(row["M"], row["N"], row["K"]))
        intensity = point(row, moved).from_global
        bound = attainable_gflops(facts, intensity, *dtypes) if intensity else None
        if bound and intensity:
            values = {"work": f"{intensity:.3g}", "bound": gflops_text(bound), "gflops": gflops_text(bar.gflops)}
            if bar.gflops > bound:
                return tr(
                    "{work} FLOP per byte would allow {bound} GFLOPS (modelled). The kernel reaches {gflops}, because "
                    "caches serve a part of its bytes.",
                    **values,
                )
            return tr(
                "{work} FLOP per byte would allow {bound} GFLOPS (modelled). The kernel reaches {gflops}.", **values
            )
    peak = peak_gflops(facts, *dtypes)
    if not peak:
        return ""
    return tr(
        "The arithmetic units would allow {bound} GFLOPS (modelled). The kernel reaches {gflops}.",
        bound=gflops_text(peak[0]),
        gflops=gflops_text(bar.gflops),
    )


def _reads(playable: Playable) -> str:
    """Count the values that the recorded launch reads from each memory for one product."""
    recording = playable.recording
    products = recording.m * recording.n * recording.k
    size = {info.name: info.itemsize for info in recording.arrays}
    values = {"global": 0.0, "shared": 0.0}
    for array in playable.traffic.arrays:
        values[array.space] = values.get(array.space, 0.0) + array.read_bytes / size[array.name] / products
    if not 0 < max(values.values()) <= _MOST_READS:
        return ""
    at = size_text((recording.m, recording.n, recording.k))
    shown = {space: f"{count:.2g}" for space, count in values.items()}
    if not values["shared"]:
        return tr(
            "Recorded at {size}, reads for each product: {outer} of global memory.", size=at, outer=shown["global"]
        )
    return tr(
        "Recorded at {size}, reads for each product: {shared} of shared memory, {outer} of global memory.",
        size=at,
        shared=shown["shared"],
        outer=shown["global"],
    )


def _next(session: Session, kernel: Kernel) -> tuple[Chapter | None, Kernel | None]:
    chapter = chapter_of(kernel)
    if chapter not in TAUGHT[:-1]:
        return None, None
    following = TAUGHT[TAUGHT.index(chapter) + 1]
    members = dict(by_chapter([one for one in session.choice.kernels if not one.changes])).get(following)
    return (following, members[0]) if members else (None, None)
