"""The form of a file of claims (``resources/claims``), part by part."""

from typing import Annotated, Required, TypedDict

from msgspec import Meta

from gemmviz.catalogue.plain import Unread

Size = int | Annotated[list[int], Meta(min_length=3, max_length=3)]
"""M = N = K, or [M, N, K]."""
Figure = int | float
"""Integers stay integers: they are written as in the document."""


class CaseFields(TypedDict, total=False):
    """One case, as `gemmviz.bench.claims.record.Case` describes it."""

    kernel: Required[str]
    size: Required[Size]
    params: dict[str, int]
    device: str
    registers: int
    carve_out_kib: int
    as_written: bool


class LineFields(TypedDict, total=False):
    """A row or a column of a table: its label, and the keys that it adds to the cases of its cells."""

    label: Required[str]
    what: str
    kernel: str
    size: Size
    params: dict[str, int]
    device: str
    registers: int
    carve_out_kib: int


class TableFields(TypedDict, total=False):
    """A table; ``what`` is the default figure of its cells, ``without`` lists the cells without a figure."""

    title: Required[str]
    unit: Required[str]
    row_axis: Required[str]
    column_axis: Required[str]
    rows: Required[list[LineFields]]
    columns: Required[list[LineFields]]
    theirs: Required[list[list[Figure | str]]]
    what: str
    without: list[str]
    scale: float


class Limits(TypedDict, total=False):
    """The limits of a check: `gemmviz.bench.claims.rules.RULES` names those that each rule needs."""

    least: Figure
    factor: Figure
    within: Figure
    value: Figure | str


class CheckFields(TypedDict, total=False):
    """One check; further keys are the arguments of its rule."""

    rule: Required[str]
    label: Required[str]
    what: Required[str | list[str]]
    cases: Required[list[str]]
    theirs: Figure | str
    unit: str


class ClaimFields(TypedDict, total=False):
    """One claim."""

    id: Required[str]
    title: Required[str]
    statement: Required[str]
    figures: str
    where: str
    why: str
    note: str
    cases: dict[str, CaseFields]
    # Each is read as `CheckFields` and, after its rule is known, as `Limits`.
    checks: list[Unread]
    table: TableFields
    protocol: dict[str, Figure]
    long: bool


class FileFields(TypedDict, total=False):
    """A file: the document's id, its device, and the claims."""

    source: Required[str]
    device: str
    # Each is read as `ClaimFields`; a wrong one is named.
    claim: list[Unread]
