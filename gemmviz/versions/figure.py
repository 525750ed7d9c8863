"""One figure of two versions, and groups of figures."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure of both versions.

    Attributes
    ----------
    id
        Its name in files.
    name
        Its name for people, with its unit.
    before, after
        The value in the first and in the second version; None if there is none.
    noise
        The relative difference up to which both are equal; 0 for counted figures.
    """

    id: str
    name: str
    before: float | None
    after: float | None
    noise: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether it changed by more than the noise."""
        if self.before is None or self.after is None:
            return self.before is not self.after
        return abs(self.after - self.before) > self.noise * self.before

    @property
    def ratio(self) -> float | None:
        """The second value divided by the first; None if one is missing, or if the first is 0."""
        return self.after / self.before if self.before and self.after is not None else None


@dataclass(frozen=True)
class Group:
    """A group of related figures.

    Attributes
    ----------
    id, title
        Its name in files and for people.
    origin
        *recorded as compiled*, *compiled*, *measured* or *reference: ...*.
    figures
        Its figures.
    note
        Which figures are missing, and why; empty if none is.
    """

    id: str
    title: str
    origin: str
    figures: Sequence[Figure]
    note: str = ""
