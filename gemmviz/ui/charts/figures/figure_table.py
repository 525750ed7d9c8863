"""The figures of a chart as a table, and the object name of boxes that are left out of pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

CHOICE = "choice"
"""The name of boxes that choose the drawn figures: they are left out of exported pictures."""


@dataclass(frozen=True)
class FigureTable:
    """The figures of a chart: headings with units, and rows of texts and numbers (None where there is none)."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
