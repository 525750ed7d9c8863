"""Reads the PTX of one kernel, with the source line of each of its lines.

``.loc 2 29 9`` means that the following lines come from line 29, column 9 of file 2; ``inlined_at 1 15 28`` after it
gives the call that was inlined (PTX ISA, "Debugging Directives: .loc"). The place of the call itself is known from an
earlier ``.loc`` with the same line and column.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.assembly.sass import Raw

_NAMED = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"')
_PLACE = re.compile(
    r"^\s*\.loc\s+(?P<file>\d+) (?P<line>\d+) (?P<column>\d+)"
    r"(?:.*?inlined_at (?P<at_file>\d+) (?P<at_line>\d+) (?P<at_column>\d+))?"
)
_Point = tuple[int, int, int]


@dataclass(frozen=True)
class Line:
    """A line of PTX.

    Attributes
    ----------
    number
        The number of the line in the whole PTX, from 1.
    text
        The line.
    place
        The source lines.
    """

    number: int
    text: str
    place: Raw


def lines(ptx: str, entry: str) -> Iterator[Line]:
    """Yield the lines of one kernel, without empty lines and lines that only give places.

    Parameters
    ----------
    ptx
        The whole PTX.
    entry
        The kernel's name in it.
    """
    every = ptx.splitlines()
    files = {int(named[1]): named[2] for line in every if (named := _NAMED.match(line))}
    begin = re.compile(rf"\.entry\s+{re.escape(entry)}\s*\(")
    known: dict[_Point, Raw] = {}
    place: Raw = ()
    inside, depth = False, 0
    for number, line in enumerate(every, 1):
        inside = inside or begin.search(line) is not None
        if not inside:
            continue
        if location := _PLACE.match(line):
            place = _place(location, files, known)
        elif line.strip():
            yield Line(number, line.rstrip().expandtabs(4), place)
            depth += line.count("{") - line.count("}")
            if depth == 0 and "}" in line:
                return


def _place(location: re.Match[str], files: dict[int, str], known: dict[_Point, Raw]) -> Raw:
    point = int(location["file"]), int(location["line"]), int(location["column"])
    # Line 0 means no line of the source.
    own: Raw = ((files.get(point[0], ""), point[1]),) if point[1] else ()
    outer: Raw = ()
    if location["at_file"]:
        at = int(location["at_file"]), int(location["at_line"]), int(location["at_column"])
        outer = known.get(at, ((files.get(at[0], ""), at[1]),))
    known[point] = own + outer
    return known[point]
