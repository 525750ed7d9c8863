"""One defect of a kernel."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "out of bounds",
    "misaligned vector access",
    "race",
    "read of memory nobody wrote",
    "barrier divergence",
    "element of C never written",
    "element of C written by two threads",
    "wrong result",
    "alignment of shared memory",
    "too many threads",
    "state left behind",
    "false assertion",
    "crash",
    "does not compile",
    "front matter",
]


@dataclass(frozen=True)
class Finding:
    """One defect.

    Attributes
    ----------
    kind
        Its class.
    line, other_line
        Lines of the kernel's file, from 1, of the two accesses; 0 if unknown, or if there is only one access.
    text
        The threads, their accesses and the element, for people, without the line.
    count
        The number of affected elements, each once; for accesses out of bounds, the number of accesses. The
        shared memory of each block has its own elements.
    array
        The array, if the finding is about one.
    """

    kind: Kind
    line: int
    text: str
    count: int = 1
    other_line: int = 0
    array: str = ""
