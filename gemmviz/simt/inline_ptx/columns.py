"""Gives a preprocessed source the columns of the file that it comes from, by which accesses on one line are told apart.

A preprocessor keeps the lines, and writes each line's tokens with single blanks between them.
"""

import re

from gemmviz.catalogue.plain_code import without_comments
from gemmviz.simt.inline_ptx.statements import MARKER

_TEXT = r'R"(?P<end>[^()\s\\]{0,16})\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
_TOKEN = re.compile(rf"{_TEXT}|\w+|\S", re.DOTALL)


def aligned(text: str, kernel: str, source: str) -> str:
    """Return a preprocessed source in which the tokens of the kernel's file stand at their columns.

    What a macro makes begins where the macro does; what follows it on the line stands where it did.

    Parameters
    ----------
    text
        The preprocessor's output, with its line markers.
    kernel
        The name of the kernel's file, as the markers have it.
    source
        The text that was preprocessed under that name.
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
    """Return one line with its tokens where the original has them; a marker stands where it has to be broken."""
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
