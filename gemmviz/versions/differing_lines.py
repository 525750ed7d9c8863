"""Which lines of code of two kernels differ; comments, descriptions and spaces do not count."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from gemmviz.catalogue.kernel import code
from gemmviz.catalogue.plain_code import without_comments

_NAME = "kernel"


@dataclass(frozen=True)
class CodeLine:
    """A line of code: its number in the file, from 1, and its text without the spaces at its ends."""

    number: int
    text: str


@dataclass(frozen=True)
class Passage:
    """Lines of one kernel that stand in the place of lines of another one; a side without lines is empty."""

    mine: tuple[CodeLine, ...]
    other: tuple[CodeLine, ...]


@lru_cache(maxsize=8)
def differing_lines(mine: str, other: str, names: tuple[str, str] = ("", "")) -> tuple[Passage, ...]:
    """Return the passages in which two kernels' code differs, in the order of the first one.

    Changed lines are passages of one line each where a passage has as many lines as the other one.

    Parameters
    ----------
    mine, other
        The texts of both kernels, with or without front matter.
    names
        The names of the two functions: lines that differ in these alone are the same.
    """
    old, new = _lines(mine), _lines(other)
    keys = [_key(line.text, names[0]) for line in old], [_key(line.text, names[1]) for line in new]
    found: list[Passage] = []
    for tag, first, end, start, stop in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        one_by_one = end - first == stop - start
        sides = tuple(old[first:end]), tuple(new[start:stop])
        found += [Passage((a,), (b,)) for a, b in zip(*sides, strict=True)] if one_by_one else [Passage(*sides)]
    return tuple(found)


def _lines(text: str) -> list[CodeLine]:
    """Return the lines of a kernel's code that are not empty."""
    begin, end = code(text)
    before = text[:begin].count("\n")
    numbered = enumerate(without_comments(text[begin:end]).split("\n"), before + 1)
    return [CodeLine(number, line.strip()) for number, line in numbered if line.strip()]


def _key(line: str, name: str) -> str:
    named = re.sub(rf"\b{re.escape(name)}\b", _NAME, line) if name else line
    return " ".join(named.split())
