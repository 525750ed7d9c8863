"""The data of the page of results, taken from the reference result: no figure is written in these files."""

from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.bench.document import Document
from gemmviz.bench.figures import Figures, Row, size_of, usable
from gemmviz.bench.ranking import LIBRARIES
from gemmviz.catalogue.kernel import Kernel

SIDE = 4096
SWEEP = range(1024, 8192 + 1, 512)
NOT_MEASURED = "not measured"
TYPES = {"float32": "FP32", "float16": "FP16", "bfloat16": "BF16"}
"""The element types in which the ladder is ranked beside a library."""


@dataclass(frozen=True)
class Rung:
    """One line of a table: a kernel and its figures.

    Attributes
    ----------
    kernel
        Of the ladder.
    row
        Its row at M = N = K = `SIDE`; None if none is ok.
    before
        The row of the rung before, of the same types; None for a library.
    status
        The reason for a missing figure; else empty.
    """

    kernel: Kernel
    row: Row | None
    before: Row | None
    status: str

    @property
    def step(self) -> float | None:
        """GFLOPS over those of the rung before; None without one of the two."""
        return self.row["gflops"] / self.before["gflops"] if self.row and self.before else None

    @property
    def is_clear(self) -> bool:
        """Whether the middle halves of both rungs' samples lie apart; False without one of the two."""
        if not (self.row and self.before):
            return False
        mine, its = self.row["stats"], self.before["stats"]
        return bool(mine["q3"] < its["q1"] or its["q3"] < mine["q1"])


def share(row: Row) -> float | None:
    """Return GFLOPS over those of the library in the same run, with the same types; None without a library."""
    library = row.get("library_gflops")
    return row["gflops"] / library if library else None


def kind(kernel: Kernel) -> str:
    """Return what the kernels of one table share: the element type, or "tf32" for products of such operands."""
    return "tf32" if kernel.math == "tf32" else kernel.dtype


def rungs(document: Document, kernels: Sequence[Kernel], types: Sequence[str]) -> list[Rung]:
    """Return the GPU's rungs of some element types, and the libraries behind them, in the ladder's order."""
    figures, size = Figures(document["results"]), (SIDE, SIDE, SIDE)
    found: list[Rung] = []
    before: dict[str, Row | None] = {}
    for kernel in kernels:
        if kernel.backend not in ("cuda", "cublas") or kind(kernel) not in types or kernel.exhibit:
            continue
        row = figures.at(kernel.name, size, kernel.defaults)
        last = None if kernel.backend in LIBRARIES else before.get(kind(kernel))
        failed = [r["status"] for r in figures.of(kernel.name) if size_of(r) == size]
        found.append(Rung(kernel, row, last, "" if row else f"no figure: {failed[-1]}" if failed else NOT_MEASURED))
        before[kind(kernel)] = row
    return found


def last_rungs(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Return the last rung of the GPU with each of the `TYPES`, which no library is.

    Kernels with a schedule stand on a page of their own (``every-shape.md``), and so do those for several GPUs
    (``several-gpus.md``).
    """
    own = [k for k in kernels if k.backend == "cuda" and not k.exhibit and k.schedule is None and k.division is None]
    return [[k for k in own if kind(k) == dtype][-1] for dtype in TYPES]


def sweep(document: Document, kernel: Kernel) -> list[Row | None]:
    """Return a kernel's rows at the sizes of the sweep, each with the fastest of the parameters measured there."""
    figures = Figures(document["results"])
    found = [[r for r in figures.of(kernel.name) if size_of(r) == (n, n, n) and usable(r)] for n in SWEEP]
    return [max(rows, key=lambda row: row["gflops"], default=None) for rows in found]
