"""The result of comparing C with its reference, on the host or on a device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Compared:
    """Some rows of C beside their reference.

    Attributes
    ----------
    wrong
        The number of elements out of bounds.
    largest
        Largest |C - A B|; infinite when an element is not finite.
    ratio, index
        Largest |C - A B| / (|A| |B|), or |C - A B| if C must be exact, and its (row, column): the first of equal ones.
    got
        The value of that element.
    """

    wrong: int
    largest: float
    ratio: float
    index: tuple[int, int]
    got: float
