"""The text of a guess's kernel, and its line."""

import re

from gemmviz.catalogue.guessing.guessed_matter import Guess


def kernel_text(made: Guess) -> str:
    """Return the text of the kernel from its name to the bracket that closes its body."""
    found = _head(made)
    depth = 0
    for at in range(found.end() - 1, len(made.text)) if found else ():
        depth += (made.text[at] == "{") - (made.text[at] == "}")
        if found and not depth:
            return made.text[found.start() : at]
    return made.text


def kernel_line(made: Guess) -> int:
    """Return the line of the kernel's name, from 1."""
    found = _head(made)
    return made.text.count("\n", 0, found.start()) + 1 if found else 1


def _head(made: Guess) -> re.Match[str] | None:
    name = re.split(r"[\s<]", made.entry)[0].rpartition("::")[2]
    return re.search(rf"\b{re.escape(name)}\s*\([^;{{}}]*\)\s*\{{", made.text)
