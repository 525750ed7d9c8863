"""The standard of C++ that a kernel is written in."""

import re

from gemmviz.catalogue.plain_code import plain_code

OLDER, NEWER = "c++17", "c++20"
_NEWER_WORDS = re.compile(
    r"\b(?:concept\s+\w+\s*=|consteval\b|constinit\b|requires\s*[({\w])|<=>|"
    r"#[ \t]*include[ \t]*<(?:concepts|span|bit|ranges)>|"
    r"\]\s*<\s*(?:typename|class|int|unsigned|auto|size_t|bool)\b[^;{}()]*>\s*\("
)


def cxx_standard(text: str) -> str:
    """Return the name of the standard, as compilers take it: C++20 where a text has words that C++17 does not have.

    Parameters
    ----------
    text
        All that is compiled, with the user's own headers.
    """
    return NEWER if _NEWER_WORDS.search(plain_code(text)) else OLDER
