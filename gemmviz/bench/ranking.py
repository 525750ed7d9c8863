"""Compares the rungs: speedup over the first rung, and share of the library and of the peak."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gemmviz.bench.figures import ON_GPU, Pick, Shown, size_of
from gemmviz.bench.row import Row, device_of, figure_of
from gemmviz.catalogue.kernel import Kernel

LIBRARIES = ("numpy", "openblas", "cublas")


@dataclass(frozen=True)
class Standing:
    """One rung with a figure.

    Attributes
    ----------
    kernel, row, origin
        The measured row, and its machine: `origin` is empty for this machine.
    speedup
        GFLOPS divided by those of the first rung on the same processor (CPU or GPU) of the same machine; None for a
        variant, which is not a rung.
    share, library, library_gflops
        GFLOPS divided by those of the best one of its `rivals`, the title of that, and its GFLOPS; in a reference, of
        the library in the same run. None if there is none, and for libraries and variants.
    of_base
        For a variant: its GFLOPS divided by those of its rung, with the same machine, size and parameters; None if
        there are none. A variant that failed has a row without GFLOPS.
    """

    kernel: Kernel
    row: Row
    origin: str
    speedup: float | None
    share: float | None
    library: str
    library_gflops: float | None = None
    of_base: float | None = None

    @property
    def gflops(self) -> float:
        """The headline: GFLOPS of the cold median; 0 for a variant that failed."""
        return float(self.row["gflops"] or 0)

    @property
    def is_variant(self) -> bool:
        """Whether it is a changed or edited rung: shown after its rung, and never ranked."""
        return bool(self.kernel.changes)

    @property
    def peak_share(self) -> float | None:
        """Share of the device's modelled peak."""
        return self.row.get("peak_fraction")


def place(kernel: Kernel) -> str:
    """Return ``"CPU"``, ``"GPU"``, or ``"GPUs"`` if several compute one product: the hardware of a kernel."""
    if kernel.division:
        return "GPUs"
    return "GPU" if kernel.backend in ON_GPU else "CPU"


def standings(kernels: Iterable[Kernel], pick: Pick) -> list[Standing]:
    """Return the rungs and variants that have a figure, in the ladder's order.

    Figures of different machines are never compared with each other.

    Parameters
    ----------
    kernels
        The ladder, or a part of it; a variant comes after its rung.
    pick
        Returns the figure to show of a kernel; of a failed variant, the row with the failure.
    """
    chosen = [(k, shown) for k in kernels if not k.exhibit and (shown := pick(k.name)) is not None]
    rungs = [(kernel, shown) for kernel, shown in chosen if not kernel.changes]
    first: dict[tuple[str, str], float] = {}
    for kernel, shown in rungs:
        first.setdefault((shown.origin, place(kernel)), figure_of(shown.row))
    return [
        Standing(
            *(kernel, s.row, s.origin, None, None, ""),
            of_base=_of_base(s.row, [r.row for _, r in rungs if not r.origin]),
        )
        if kernel.changes
        else Standing(
            kernel, s.row, s.origin, figure_of(s.row) / first[s.origin, place(kernel)], *_share(kernel, s, rungs)
        )
        for kernel, s in chosen
    ]


def beside_base(rows: Sequence[Row]) -> list[tuple[Row, Row, float]]:
    """Return every variant's row that has a figure, its rung's row, and the ratio of their GFLOPS."""
    found = []
    for row in rows:
        base = _base_row(row, rows)
        if base is not None:
            found.append((row, base, figure_of(row) / figure_of(base)))
    return found


def _of_base(row: Row, rungs: Sequence[Row]) -> float | None:
    base = _base_row(row, rungs)
    return None if base is None else figure_of(row) / figure_of(base)


def _base_row(row: Row, rows: Sequence[Row]) -> Row | None:
    name, mark, _ = row["kernel"].partition("~")
    if not mark or not row.get("gflops"):
        return None
    same = _place_of(row)
    return next((r for r in rows if r["kernel"] == name and r.get("gflops") and _place_of(r) == same), None)


def _place_of(row: Row) -> tuple[object, ...]:
    return size_of(row), row.get("params") or {}, device_of(row)


def rivals(kernel: Kernel, kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return the libraries that a kernel is compared with.

    They have its element types and run on the same processor. Those whose matrices lie as the kernel's are preferred.
    """
    found = [k for k in kernels if k.backend in LIBRARIES and place(k) == place(kernel) and k.types == kernel.types]
    return [k for k in found if k.column_major == kernel.column_major] or found


def _share(
    kernel: Kernel, shown: Shown, chosen: Sequence[tuple[Kernel, Shown]]
) -> tuple[float | None, str, float | None]:
    nothing = None, "", None
    if kernel.backend in LIBRARIES:
        return nothing
    figures = {k.name: figure_of(s.row) for k, s in chosen if s.origin == shown.origin}
    found = rivals(kernel, (k for k, _ in chosen if k.name in figures))
    if not found:
        return nothing
    best = max(found, key=lambda k: (figures[k.name], k.title))
    # A reference may be made of several runs: there a row has the library's figure of its own run, or None.
    of_the_run = shown.row.get("library_gflops", figures[best.name])
    return (figure_of(shown.row) / of_the_run, best.title, of_the_run) if of_the_run else nothing
