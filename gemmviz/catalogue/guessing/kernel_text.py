"""The text of a guess's kernel."""

import re

from gemmviz.catalogue.guessing.guessed_matter import Guess


def kernel_text(made: Guess) -> str:
    """Return the text of the kernel from its name to the bracket that closes its body."""
    name = re.split(r"[\s<]", made.entry)[0].rpartition("::")[2]
    for found in re.finditer(rf"\b{re.escape(name)}\s*\([^;{{}}]*\)\s*\{{", made.text):
        depth = 0
        for at in range(found.end() - 1, len(made.text)):
            depth += (made.text[at] == "{") - (made.text[at] == "}")
            if not depth:
                return made.text[found.start() : at]
    return made.text
