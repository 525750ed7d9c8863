"""Adjusts line numbers of a source if its front matter has become longer or shorter."""

import re

_LINES = re.compile(r"\b(lines? )(\d+(?:, \d+)*)(?=:)")


def shifted(line: int, first: int, by: int) -> int:
    """Return the current number of a line of the file.

    Parameters
    ----------
    line
        From 1; 0 means no line and stays 0.
    first
        The line on which the code began: earlier lines have not moved.
    by
        The number of lines by which the code has moved down; negative: up.
    """
    return line + by if line >= first > 0 else line


def shifted_note(note: str, first: int, by: int) -> str:
    """Return a note of `gemmviz.proving.verdict` with its lines ("line 31: ...", "lines 4, 7: ...") adjusted."""

    def now(found: re.Match[str]) -> str:
        return found[1] + ", ".join(str(shifted(int(line), first, by)) for line in found[2].split(", "))

    return _LINES.sub(now, note)
