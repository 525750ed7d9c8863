"""The texts of a launch's sides as front matter takes them."""

import re
from collections.abc import Mapping

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import LONGEST, Expression
from gemmviz.catalogue.guessing.folding import fold


def shortened(text: str, params: Mapping[str, tuple[int, ...]]) -> str:
    """Return an expression. If it is too long, numbers replace the parameters that have only one value."""
    if len(text) <= LONGEST:
        return text
    one = {name: str(values[0]) for name, values in params.items() if len(values) == 1}
    return fold(re.sub(r"[A-Za-z_]\w*", lambda word: one.get(word[0], word[0]), text))


def speaks_of(text: str, allowed: set[str]) -> bool:
    """Return whether a text is an expression that uses allowed names only."""
    try:
        return not Expression(text).names() - allowed
    except FrontMatterError:
        return False


def without_ones(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sides of a grid or a block without those of 1 at its end."""
    while len(parts) > 1 and parts[-1] == "1":
        parts = parts[:-1]
    return parts
