"""Leaves out ``#pragma unroll`` where no loop follows: CUDA's compilers pass over it, and others refuse it."""

import re

from gemmviz.catalogue.plain_code import plain_code

_UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:no)?unroll\b[^\n]*", re.MULTILINE)
# A macro may hold the loop.
_MAY_BE_A_LOOP = re.compile(r"(?:\s|#[^\n]*)*(?:for|while|do|[A-Z_][A-Z0-9_]*)\b")


def without_idle_pragmas(text: str) -> str:
    """Return a source with spaces in place of each such pragma: every line keeps its number."""
    if "unroll" not in text:
        return text
    plain = plain_code(text)

    def kept(found: re.Match[str]) -> str:
        return found[0] if _MAY_BE_A_LOOP.match(plain, found.end()) else " " * len(found[0])

    return _UNROLL.sub(kept, text)
