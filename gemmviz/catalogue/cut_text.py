"""A source that was cut off: it ends before a round bracket is closed, so that no compiler takes it."""

import re
from collections.abc import Iterable

from gemmviz.catalogue.plain_code import plain_code
from gemmviz.catalogue.unclosed_body import first_branches

_PAIRS = {")": "(", "}": "{"}
_MACRO = re.compile(r"^[ \t]*#[ \t]*define\b(?:\\\n|[^\n])*", re.MULTILINE)


def cut_text(text: str, headers: Iterable[str] = ()) -> int:
    """Return the line of the first bracket that is still open where a source ends; 0 if there is none.

    Where brackets do not match before, or a macro may close one, no line is sure.

    Parameters
    ----------
    text
        C, C++ or CUDA. Of the branches of a condition of the preprocessor the first one counts.
    headers
        The texts of its headers.
    """
    code = plain_code(text)
    for one in (code, *map(plain_code, headers)):
        if any(macro.count("(") != macro.count(")") for macro in _MACRO.findall(one)):
            return 0
    opened: list[tuple[str, int]] = []
    for number, line in enumerate(first_branches(code), 1):
        for sign in re.findall(r"[(){}]", line):
            if sign not in _PAIRS:
                opened.append((sign, number))
            elif not opened or opened.pop()[0] != _PAIRS[sign]:
                return 0
    return next((number for sign, number in opened if sign == "("), 0)
