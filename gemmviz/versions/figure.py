"""One figure of two versions, and the group that it belongs to."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure of both.

    Attributes
    ----------
    id
        Its name in files.
    name
        Its name for people, with its unit.
    before, after
        Of the first and of the second version; None: it has none.
    noise
        The share of the first one below which a difference is none; 0 for what is counted.
    """

    id: str
    name: str
    before: float | None
    after: float | None
    noise: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether it changed by more than noise."""
        if self.before is None or self.after is None:
            return self.before is not self.after
        return abs(self.after - self.before) > self.noise * self.before

    @property
    def ratio(self) -> float | None:
        """The second one over the first one; None where one is missing, or the first one is 0."""
        return self.after / self.before if self.before and self.after is not None else None


@dataclass(frozen=True)
class Group:
    """Figures that belong together.

    Attributes
    ----------
    id, title
        Its name in files and for people.
    origin
        *recorded as compiled*, *compiled*, *measured* or *reference: ...*.
    figures
        Its figures.
    note
        What is missing, and why; empty: nothing.
    """

    id: str
    title: str
    origin: str
    figures: Sequence[Figure]
    note: str = ""
