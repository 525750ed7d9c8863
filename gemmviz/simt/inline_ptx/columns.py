"""Restores the original columns in a preprocessed source, because they distinguish the accesses on one line.

A preprocessor keeps the lines, but writes the tokens of a line with single blanks between them.
"""

import re

from gemmviz.catalogue.plain_code import without_comments
from gemmviz.simt.inline_ptx.statements import MARKER

_TEXT = r'R"(?P<end>[^()\s\\]{0,16})\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
_TOKEN = re.compile(rf"{_TEXT}|\w+|\S", re.DOTALL)


def aligned(text: str, kernel: str, source: str) -> str:
    """Return a preprocessed source in which the tokens of the kernel's file have their original columns.

    The expansion of a macro begins at the column of the macro; the tokens after the macro keep their columns.

    Parameters
    ----------
    text
        The preprocessor's output, with its line markers.
    kernel
        The name of the kernel's file in the markers.
    source
        The text of this file before preprocessing.
    """
    plain = without_comments(source).split("\n")
    line, inside = 0, False
    lines = []
    for written in text.split("\n"):
        mark = MARKER.fullmatch(written)
        if mark is not None:
            line, inside = int(mark[1]) - 1, mark[2] == kernel
        elif inside and written.strip() and not written.startswith("#") and line < len(plain):
            written = _line(written, plain[line], f'# {line + 1} "{kernel}"')
            line += 1
        else:
            line += 1
        lines.append(written)
    return "\n".join(lines)


def _line(written: str, original: str, marker: str) -> str:
    """Return one line with the original columns of its tokens, and a marker where the line must be split."""
    new, old = (list(_TOKEN.finditer(one)) for one in (written, original))
    if [token[0] for token in new] == [token[0] for token in old]:
        return original
    shorter = min(len(new), len(old))
    before = next((i for i in range(shorter) if new[i][0] != old[i][0]), shorter)
    most = shorter - before
    after = next((i for i in range(most) if new[-1 - i][0] != old[-1 - i][0]), most)
    if before == len(old):  # the rest of the macro is on a later line
        return written
    head = original[: old[before].start()]
    middle = written[new[before].start() : new[len(new) - after - 1].end()] if len(new) > before + after else ""
    if not after:
        return head + middle
    place = old[-after].start()
    return f"{head}{middle}\n{marker}\n{' ' * place}{original[place:]}"
