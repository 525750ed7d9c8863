"""Finds the corresponding lines of two versions of a text."""

from collections.abc import Hashable
from difflib import SequenceMatcher
from functools import lru_cache

Place = Hashable
"""Equal for corresponding lines of both versions."""


@lru_cache(maxsize=8)
def places(before: str, after: str) -> tuple[list[Place], list[Place]]:
    """Return a place for each line of both texts, by its number from 1; number 0 (no line) has a place, too.

    Lines that differ only in spaces at their ends have the same place. Lines of a changed passage correspond one by one
    if their number is unchanged; else all lines of the passage have the same place.

    Parameters
    ----------
    before, after
        The texts.
    """
    old, new = ([line.strip() for line in text.splitlines()] for text in (before, after))
    mine: list[Place] = [("no line",), *(("gone", number) for number in range(len(old)))]
    theirs: list[Place] = [("no line",), *(("new", number) for number in range(len(new)))]
    for tag, first, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("delete", "insert"):
            continue
        one_by_one = end - first == stop - start
        for number in range(first, end):
            mine[number + 1] = ("line", start + number - first) if one_by_one else ("passage", start)
        for number in range(start, stop):
            theirs[number + 1] = ("line", number) if one_by_one else ("passage", start)
    return mine, theirs
