"""Finds the declarations outside of functions."""

from collections.abc import Sequence

from gemmviz.catalogue.guessing.host.statements import Block, statements
from gemmviz.catalogue.guessing.tokens import closing

_LONGEST_HEAD = 40


def outside(tokens: Sequence[str]) -> Block:
    """Return the declarations outside of functions; those of a namespace, too."""
    kept: list[str] = []
    at = spaces = 0
    while at < len(tokens):
        token = tokens[at]
        opens = _opened_space(tokens, at)
        if opens:
            spaces += 1
            kept.append(";")
            at = opens + 1
        elif token == "}" and spaces:
            spaces -= 1
            at += 1
        elif token == "{":
            end = closing(tokens, at)
            head = kept[-_LONGEST_HEAD:]
            if head[-1:] == [")"] or ("template" in head and ";" not in head):
                del kept[_last_end(kept) :]
            else:
                kept += tokens[at : end + 1]
            at = end + 1
        else:
            kept.append(token)
            at += 1
    return statements(tuple(kept))


def _opened_space(tokens: Sequence[str], at: int) -> int:
    """Return the place of the bracket that opens a namespace or ``extern "C"``; 0 for other code."""
    if tokens[at] not in ("namespace", "extern") or "{" not in tokens[at : at + 8]:
        return 0
    opens = at + list(tokens[at : at + 8]).index("{")
    return 0 if {";", "("} & {*tokens[at:opens]} else opens


def _last_end(kept: list[str]) -> int:
    """Return the place behind the last statement that ended."""
    return next((at + 1 for at in range(len(kept) - 1, -1, -1) if kept[at] in (";", "}")), 0)
