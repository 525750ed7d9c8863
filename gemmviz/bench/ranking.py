"""The rungs beside each other: how much faster than the first, and what share of the library and of the peak."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gemmviz.bench.figures import ON_GPU, Pick, Row, Shown
from gemmviz.catalogue.kernel import Kernel

LIBRARIES = ("numpy", "openblas", "cublas")


@dataclass(frozen=True)
class Standing:
    """One rung with a figure.

    Attributes
    ----------
    kernel, row, origin
        What was measured, and where: `origin` is empty for this machine.
    speedup
        GFLOPS over those of the first rung that runs in the same place (CPU or GPU) of the same machine.
    share, library
        GFLOPS over those of the best library with the same element types on the same processor, and its title; None
        where there is none, and for the libraries' own rows.
    """

    kernel: Kernel
    row: Row
    origin: str
    speedup: float
    share: float | None
    library: str

    @property
    def gflops(self) -> float:
        """The headline: GFLOPS of the cold median."""
        return float(self.row["gflops"])

    @property
    def peak_share(self) -> float | None:
        """Share of the device's modelled peak."""
        return self.row.get("peak_fraction")


def place(kernel: Kernel) -> str:
    """Return ``"CPU"`` or ``"GPU"``: where a kernel runs."""
    return "GPU" if kernel.backend in ON_GPU else "CPU"


def standings(kernels: Iterable[Kernel], pick: Pick) -> list[Standing]:
    """Return the rungs that have a figure, in the ladder's order.

    Figures of different machines are never compared with each other.

    Parameters
    ----------
    kernels
        The ladder, or a part of it.
    pick
        Returns the figure to show of a kernel.
    """
    chosen = [(k, shown) for k in kernels if not k.exhibit and (shown := pick(k.name)) is not None]
    first: dict[tuple[str, str], float] = {}
    for kernel, shown in chosen:
        first.setdefault((shown.origin, place(kernel)), shown.row["gflops"])
    return [
        Standing(kernel, s.row, s.origin, s.row["gflops"] / first[s.origin, place(kernel)], *_share(kernel, s, chosen))
        for kernel, s in chosen
    ]


def _share(kernel: Kernel, shown: Shown, chosen: Sequence[tuple[Kernel, Shown]]) -> tuple[float | None, str]:
    if kernel.backend in LIBRARIES:
        return None, ""
    types = kernel.dtype, kernel.accumulate
    rivals = [
        (s.row["gflops"], k.title)
        for k, s in chosen
        if k.backend in LIBRARIES
        and place(k) == place(kernel)
        and (k.dtype, k.accumulate) == types
        and s.origin == shown.origin
    ]
    if not rivals:
        return None, ""
    most, title = max(rivals)
    return shown.row["gflops"] / most, title
