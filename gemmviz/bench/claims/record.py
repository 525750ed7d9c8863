"""A claim of one of the documents: its statement, and the experiment that tests it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gemmviz.bench.claims.claim_form import Limits

_ORIGINS = ("recorded", "modelled", "profiled")


@dataclass(frozen=True)
class Case:
    """The case of a figure: a kernel at a size with all of its parameters.

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
        For recorded figures: whether every access in the text counts, or only those that remain after compiling.
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
        The case of the figure.
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
    """One check of a claim: a rule over some figures.

    Attributes
    ----------
    rule
        A name in `gemmviz.bench.claims.rules.RULES`.
    label
        The name of the figure, for people.
    quantities
        The arguments of the rule, in this order.
    names
        The name of each quantity in the claim.
    theirs
        The document's figure or text; None if it gives none.
    unit
        The unit of `theirs` and of our figure: ``"x"``, ``"ms"``, ``"writes"``...
    limits
        Other arguments of the rule (``least``, ``within``, ``factor``, ...).
    """

    rule: str
    label: str
    quantities: tuple[Quantity, ...]
    names: tuple[str, ...]
    theirs: float | str | None = None
    unit: str = ""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class StatedTable:
    """Figures in two dimensions, as a document prints them.

    Attributes
    ----------
    title, unit
        Name and unit of the figures.
    row_axis, column_axis
        The meaning of rows and columns.
    rows, columns
        Their names.
    cells
        The quantity in each cell; None if there is nothing to measure.
    theirs
        The document's figures; None if it gives none.
    scale
        The factor that converts a figure of a row (seconds, GFLOPS) to `unit`.
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
        A few words, and the document's statement in one plain sentence.
    figures
        The document's figures, for people; may be empty.
    where
        The document's device; may be empty.
    checks
        The checks; all must hold.
    table
        Figures to show side by side, or None.
    why
        Why it cannot be judged, if so; then there are no checks.
    note
        A remark about it, for example a flaw of the document's own measurement.
    protocol
        Fields of the measuring protocol that differ for this claim's experiment.
    long
        Whether the experiment takes many minutes, so that it runs only when it is named.
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
        """Every figure that the claim needs, once each."""
        wanted = [q for check in self.checks for q in check.quantities]
        wanted += [q for row in (self.table.cells if self.table else ()) for q in row if q is not None]
        return tuple(dict.fromkeys(wanted))

    @property
    def first_launch(self) -> bool:
        """Whether it needs the very first launch of a process."""
        return any(q.what == "first_launch_s" for q in self.quantities)
