"""The kernels that are compared with the chosen one: same processor, same element type, same size. No Qt."""

from dataclasses import dataclass, replace
from typing import Literal

from gemmviz.bench.figures import Shown, Size, fullest_size, size_of, usable
from gemmviz.bench.ranking import LIBRARIES, Standing, place, standings
from gemmviz.bench.row import FAILURES
from gemmviz.catalogue.chapters import Chapter, by_chapter, chapter_of
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session

Role = Literal["chosen", "before", "best", "library", "other"]
_MOST_JUMPS, _LEAST_JUMP = 4, 1.1


@dataclass(frozen=True)
class Bar:
    """One kernel with its figure.

    Attributes
    ----------
    standing
        The kernel, its row, the origin of the figure (empty: measured here), its share of the library.
    role
        Its relation to the chosen kernel: itself, the one before it, the project's best, a library, another kernel.
    chapter
        Its chapter.
    live
        Whether it is being timed: the figure is the median of the samples so far.
    jump
        GFLOPS divided by those of the kernel before it, if this is one of the few jumps to show; else None.
    elsewhere
        For a figure of the chosen device: the figures of the other devices that measured this kernel in this session,
        at this size, as pairs of their label and GFLOPS.
    beside
        For a library with the figure that the share of a kernel is of: that kernel, if the library's own row is of
        another run.
    """

    standing: Standing
    role: Role
    chapter: Chapter
    live: bool = False
    jump: float | None = None
    elsewhere: tuple[tuple[str, float], ...] = ()
    beside: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.standing.kernel

    @property
    def gflops(self) -> float:
        """The main figure in GFLOPS; 0 for a variant that failed."""
        return self.standing.gflops

    @property
    def origin(self) -> str:
        """The origin of a reference; empty for a measurement from this machine."""
        return self.standing.origin


@dataclass(frozen=True)
class LadderFigures:
    """The compared kernels, chapter by chapter.

    Attributes
    ----------
    size
        (M, N, K); None where there are no figures.
    left_out
        The numbers of cores of CPUs whose references are left out, because this machine has another number of cores.
    """

    size: Size | None
    bars: tuple[Bar, ...] = ()
    left_out: tuple[int, ...] = ()

    def of(self, role: Role) -> Bar | None:
        """Return the bar with a role; of several libraries the fastest one, preferably from the same machine."""
        chosen = next((bar for bar in self.bars if bar.role == "chosen"), None)
        found = [bar for bar in self.bars if bar.role == role]
        same = [bar for bar in found if chosen is not None and bar.origin == chosen.origin]
        return max(same or found, key=lambda bar: bar.gflops, default=None)

    def library_of(self, bar: Bar | None) -> Bar | None:
        """Return the library that a kernel is compared with, with the figure that its share is of: see `Standing`.

        Without a share it is the fastest one.
        """
        found = [one for one in self.bars if one.role == "library"]
        standing = bar.standing if bar is not None else None
        if standing is None or standing.library_gflops is None:
            return self.of("library")
        same = (one for one in found if one.kernel.title == standing.library and one.origin == standing.origin)
        library = next(same, None)
        if library is None or library.gflops == standing.library_gflops:
            return library or self.of("library")
        row = library.standing.row | {"gflops": standing.library_gflops}
        return replace(library, standing=replace(library.standing, row=row), beside=standing.kernel)

    def ratio(self, bar: Bar) -> float | None:
        """Return GFLOPS of the chosen kernel divided by those of another; None if the machines differ."""
        chosen = self.of("chosen")
        if chosen is None or not chosen.gflops or not bar.gflops or chosen.origin != bar.origin:
            return None
        return chosen.gflops / bar.gflops


def group(session: Session) -> list[Kernel]:
    """Return the kernels of the chosen one's processor and types, with their variants, in the ladder's order.

    The types are those of A and B, of the sums and of C, and TF32 is another one than FP32.
    """
    chosen = session.choice.kernel
    return [k for k in session.results.charted if place(k) == place(chosen) and k.types == chosen.types]


def cores_elsewhere(session: Session, shown: Shown) -> int | None:
    """Return the number of cores of a CPU reference if this machine has another number of cores; else None."""
    if not shown.origin or shown.row["backend"] not in ("c", "numpy", "openblas"):
        return None
    here = session.results.cpu_cores
    for reference in session.results.all_references:
        if reference.origin(shown.row) == shown.origin:
            return reference.cores if here and reference.cores and reference.cores != here else None
    return None


def ladder_figures(session: Session, size: Size | None = None) -> LadderFigures:
    """Return the figures to compare with the chosen kernel.

    References of a CPU with another number of cores are left out if there are measurements from this machine.

    Parameters
    ----------
    session
        The session with the figures and the samples of the current measurement.
    size
        (M, N, K); by default the user's choice, the size of the current measurement, or the one with the most figures.
    """
    kernels = group(session)
    at = size or _size(session, kernels)
    if at is None:
        return LadderFigures(None)
    picked = {kernel.name: _pick(session, kernel, at) for kernel in kernels}
    here = any(shown is not None and not shown.origin for shown in picked.values())
    left_out = set()
    for name, shown in picked.items():
        cores = cores_elsewhere(session, shown) if shown is not None and here else None
        if cores is not None:
            left_out.add(cores)
            picked[name] = None
    ordered = [kernel for _, taught in by_chapter(kernels) for kernel in taught]
    found = standings(ordered, picked.get)
    return LadderFigures(at, _with_jumps(_bars(session, found)), tuple(sorted(left_out)))


def figures_of_chosen(session: Session) -> LadderFigures:
    """Return the figures of `ladder_figures`; if the chosen kernel has none there, those at a size where it has one.

    Parameters
    ----------
    session
        The session with the figures.
    """
    found = ladder_figures(session)
    if found.of("chosen") is not None:
        return found
    shown = session.results.shown(session.choice.kernel.name)
    return ladder_figures(session, size_of(shown.row)) if shown is not None else found


def _size(session: Session, kernels: list[Kernel]) -> Size | None:
    results, names = session.results, {kernel.name for kernel in kernels}
    if results.size_wanted in results.sizes():
        return results.size_wanted
    live = results.live
    if live is not None and live.turn is not None and live.turn.kernel in names:
        return live.turn.size
    newest = [row for row in results.figures if row["kernel"] in names and usable(row)]
    last = results.figures.newest
    if last is not None and last["kernel"] in names:
        return size_of(last)
    references = results.shown_references
    rows = [*newest, *(row for reference in references for row in reference.figures if row["kernel"] in names)]
    own = {size_of(row) for row in rows if row["kernel"] == session.choice.kernel.name and usable(row)}
    return fullest_size([row for row in rows if size_of(row) in own] or rows)


def _pick(session: Session, kernel: Kernel, size: Size) -> Shown | None:
    """Return a kernel's figure, live or kept; for a variant that failed here its row; None if there is no figure."""
    results = session.results
    live, latest = results.live, results.figures.latest(kernel.name)
    if live is not None and live.turn is not None and (live.turn.kernel, live.turn.size) == (kernel.name, size):
        known = latest if latest is not None and size_of(latest) == size else None
        from gemmviz.bench.results import new_row  # late: the first picture measures nothing

        row = known or new_row(kernel, Problem(*size), {})
        return Shown(row | {"status": "ok", "gflops": live.median, "label": live.label})
    if kernel.changes and latest is not None and latest["status"] in FAILURES:
        return Shown(latest) if size_of(latest) == size else None
    return results.shown(kernel.name, size)


def _bars(session: Session, found: list[Standing]) -> list[Bar]:
    """Set the role of every kernel."""
    chosen, live = session.choice.kernel, session.results.live
    own = [s for s in found if s.kernel.backend not in LIBRARIES and not s.kernel.changes]
    order = [kernel.name for kernel in session.choice.kernels]
    at = order.index(session.choice.base.name) if session.choice.base.name in order else len(order)
    if chosen.changes:
        earlier = [s for s in own if s.kernel.name == chosen.base_name]
    elif not session.choice.is_shipped_file(session.choice.base):
        earlier = []  # no kernel is taught before a file of the user
    else:
        earlier = [s for s in own if order.index(s.kernel.name) < at]
    before = earlier[-1].kernel.name if earlier else ""
    best = max(own, key=lambda s: s.gflops).kernel.name if own else ""

    def role(kernel: Kernel) -> Role:
        if kernel.name == chosen.name:
            return "chosen"
        if kernel.backend in LIBRARIES:
            return "library"
        return "before" if kernel.name == before else "best" if kernel.name == best else "other"

    timed = live.turn.kernel if live is not None and live.turn is not None else ""
    return [
        Bar(s, role(s.kernel), chapter_of(s.kernel), s.kernel.name == timed, elsewhere=_elsewhere(session, s))
        for s in found
    ]


def _elsewhere(session: Session, standing: Standing) -> tuple[tuple[str, float], ...]:
    if standing.origin or not standing.gflops:
        return ()
    found, row = [], standing.row
    for other in session.results.elsewhere:
        same = other.figures.at(standing.kernel.name, size_of(row), row["params"])
        if same is not None and same["gflops"]:
            found.append((other.origin(same), float(same["gflops"])))
    return tuple(found)


def _with_jumps(bars: list[Bar]) -> tuple[Bar, ...]:
    """Mark the jump of the chosen kernel, and the largest jumps of kernels that are faster than all before them."""
    own = [bar for bar in bars if bar.role != "library" and not bar.kernel.changes and bar.gflops]
    jumps: dict[str, float] = {}
    taught, most = any(bar.role == "before" for bar in bars), 0.0
    for before, bar in zip([None, *own], own, strict=False):
        same = before is not None and before.origin == bar.origin
        ratio = bar.gflops / before.gflops if before is not None and same else 0.0
        if ratio and ((bar.role == "chosen" and taught) or (bar.gflops > most and ratio >= _LEAST_JUMP)):
            jumps[bar.kernel.name] = ratio
        most = max(most, bar.gflops)
    chosen = {bar.kernel.name for bar in own if bar.role == "chosen"}
    kept = sorted(jumps, key=lambda name: (name not in chosen, -jumps[name]))[:_MOST_JUMPS]
    return tuple(replace(bar, jump=jumps[bar.kernel.name]) if bar.kernel.name in kept else bar for bar in bars)
