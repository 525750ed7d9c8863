"""The result of the trial of a launch: the error as a sentence, and other facts from the recording."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """A way to read the matrices of a recording.

    Attributes
    ----------
    column_major
        The matrices that are stored by columns.
    exchanged
        Whether the matrix that was given as A is B, and the other way round.
    rows, columns, depth
        The first rows and columns of C that are right, and the terms of their sums; 0 for all. A kernel for one tile,
        or for a fixed number of columns, has no others.
    epilogue
        The function that was applied to the product: ``"relu"``, or an empty text for none.
    """

    column_major: frozenset[str]
    exchanged: bool = False
    rows: int = 0
    columns: int = 0
    depth: int = 0
    epilogue: str = ""


class Verdict(str):
    """The error of a launch as a sentence; an empty text when C is right and no access misses its array.

    Attributes
    ----------
    readings
        The ways to read the matrices with which C would be right.
    comparable
        Whether the launch ran to its end and only computed a wrong C: then the readings are all that there are.
    only_reads
        Whether C is right and nothing is wrong but reads out of bounds.
    ended
        Whether the launch ran to its end, and nothing is wrong but C and reads out of bounds.
    crashed
        Whether the launch had no end: it crashed, or took too long.
    misses
        Whether the launch made an access that no GPU allows, outside of an array or misaligned, and nothing worse.
    refused
        Whether nothing ran: CUDA, or the recorder, does not take such a launch.
    faulty
        Whether a fault ended the launch: it crashed, and it was neither too slow nor an assertion of its own.
    asserted
        Whether an assertion of the kernel's own was false.
    computes
        What every element of C is instead, as a sentence; empty if no simple rule gives it.
    factor
        By how much every element of A B is multiplied, if that is no whole number; else 0.
    """

    readings: tuple[Reading, ...] = ()
    comparable: bool = False
    only_reads: bool = False
    ended: bool = False
    crashed: bool = False
    misses: bool = False
    refused: bool = False
    asserted: bool = False
    faulty: bool = False
    computes: str = ""
    factor: float = 0.0

    @classmethod
    def of(
        cls,
        text: str,
        *,
        readings: tuple[Reading, ...] = (),
        comparable: bool = False,
        only_reads: bool = False,
        ended: bool = False,
        crashed: bool = False,
        misses: bool = False,
        refused: bool = False,
        asserted: bool = False,
        faulty: bool = False,
        computes: str = "",
        factor: float = 0.0,
    ) -> "Verdict":
        """Return a verdict with its attributes."""
        made = cls(text)
        made.readings, made.comparable, made.only_reads = readings, comparable, only_reads
        made.ended, made.crashed = ended or comparable, crashed
        made.misses, made.refused = misses, refused
        made.asserted, made.faulty, made.computes, made.factor = asserted, faulty, computes, factor
        return made


def or_reads(verdict: str) -> str:
    """Return no error where a launch only reads out of bounds."""
    return "" if isinstance(verdict, Verdict) and verdict.only_reads else verdict
