"""A claim of one of the documents: what it states, and the experiment that looks at it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_ORIGINS = ("recorded", "modelled", "profiled")


@dataclass(frozen=True)
class Case:
    """A kernel at a size with all of its parameters: what a figure belongs to.

    Attributes
    ----------
    kernel
        Its name in the ladder, or `gemmviz.bench.figures.TRANSFER`.
    size
        (M, N, K).
    params
        Name and value of every parameter, sorted by name.
    device, registers, carve_out_kib
        For modelled occupancy: a device of ``resources/devices.toml``, registers per thread, and the KiB of an SM that
        are shared memory (0: as many as it can have).
    as_written
        For recorded figures: whether every access that the text names counts, or those that a compiler leaves.
    """

    kernel: str
    size: tuple[int, int, int]
    params: tuple[tuple[str, int], ...] = ()
    device: str = ""
    registers: int = 0
    carve_out_kib: int = 0
    as_written: bool = False


@dataclass(frozen=True)
class Quantity:
    """A figure of a case.

    Attributes
    ----------
    case
        What it belongs to.
    what
        A figure of a result row (``"gflops"``, ``"first_launch_s"``, ...), of a recording (``"recorded.C.writes"``), of
        Nsight Compute (``"profiled.compute"``) or of a model (``"modelled.occupancy"``).
    """

    case: Case
    what: str

    @property
    def origin(self) -> str:
        """``"measured"``, ``"profiled"``, ``"recorded"`` or ``"modelled"``."""
        origin = self.what.partition(".")[0]
        return origin if origin in _ORIGINS else "measured"


@dataclass(frozen=True)
class Check:
    """One thing to look at: a rule over some figures.

    Attributes
    ----------
    rule
        A name in `gemmviz.bench.claims.rules.RULES`.
    label
        What the figure is, for people.
    quantities
        What the rule gets, in this order.
    names
        What each quantity is called in the claim.
    theirs
        What the document states: a number or a text; None where it gives no figure.
    unit
        Of `theirs` and of our figure: ``"x"``, ``"ms"``, ``"writes"``...
    limits
        What else the rule wants (``least``, ``within``, ``factor``, ...).
    """

    rule: str
    label: str
    quantities: tuple[Quantity, ...]
    names: tuple[str, ...]
    theirs: float | str | None = None
    unit: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StatedTable:
    """Figures in two dimensions, as a document prints them.

    Attributes
    ----------
    title, unit
        What the figures are.
    row_axis, column_axis
        What rows and columns stand for.
    rows, columns
        Their names.
    cells
        What stands in each cell; None where there is nothing to measure.
    theirs
        The document's figures; None where it gives none.
    scale
        What a figure of a row (seconds, GFLOPS) is multiplied with to be in `unit`.
    """

    title: str
    unit: str
    row_axis: str
    column_axis: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Quantity | None, ...], ...]
    theirs: tuple[tuple[float | None, ...], ...]
    scale: float


@dataclass(frozen=True)
class Claim:
    """A claim.

    Attributes
    ----------
    id, source
        ``"s0-unroll"``, and the id of the document: ``"S0"`` (see `gemmviz.catalogue.documents`).
    title, statement
        A few words, and what the document says in one plain sentence.
    figures
        The document's figures, for people; may be empty.
    where
        What the document measured on; may be empty.
    checks
        What is looked at; all must hold.
    table
        Figures to show side by side, or None.
    why
        Why it cannot be judged, where that is so; then there are no checks.
    note
        What to know about it, for example a flaw of the document's own measurement.
    protocol
        Fields of the measuring protocol that this claim's experiment needs to differ.
    long
        Whether the experiment takes many minutes, so that it is run only when it is asked for by name.
    """

    id: str
    source: str
    title: str
    statement: str
    figures: str = ""
    where: str = ""
    checks: tuple[Check, ...] = ()
    table: StatedTable | None = None
    why: str = ""
    note: str = ""
    protocol: Mapping[str, float] = field(default_factory=dict)
    long: bool = False

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Every figure that the claim wants, once each."""
        wanted = [q for check in self.checks for q in check.quantities]
        wanted += [q for row in (self.table.cells if self.table else ()) for q in row if q is not None]
        return tuple(dict.fromkeys(wanted))

    @property
    def first_launch(self) -> bool:
        """Whether it looks at the very first launch of a process."""
        return any(q.what == "first_launch_s" for q in self.quantities)
