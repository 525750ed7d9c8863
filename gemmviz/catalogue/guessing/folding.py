"""Expressions of front matter as text: their value, brackets, and the parts that can be computed at once."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.tokens import closing

_KEPT = 2048
"""The number of texts whose meaning is kept."""


def evaluate(text: str, values: Mapping[str, int]) -> float | None:
    """Return the value of an expression; None when it has none."""
    expression = _expression(text)
    try:
        return None if expression is None else float(expression.evaluate(values))
    except (FrontMatterError, OverflowError, TypeError):
        return None


@lru_cache(_KEPT)
def _expression(text: str) -> Expression | None:
    """Return an expression, parsed once: a guess evaluates the same ones with thousands of parameters."""
    try:
        return Expression(text)
    except FrontMatterError:
        return None


def bracket(text: str) -> str:
    """Put an expression in brackets where it is not one word."""
    text = fold(text)
    return text if re.fullmatch(r"\w+|\w+\([^()]*\)", text) else f"({text})"


@lru_cache(_KEPT)
def fold(text: str) -> str:
    """Compute an expression that has no name in it, and drop brackets around a single word or the whole."""
    text = re.sub(r"(?<!\w)\((\w+)\)", r"\1", text.strip())
    while text.startswith("(") and closing(list(text), 0) == len(text) - 1:
        text = text[1:-1]
    text = re.sub(r"(?<![/%] )\b\d+(?: \* \d+)+\b(?! *[/%])", lambda found: str(_product(found[0])), text)
    if not re.search(r"[A-Za-z_]", text):
        value = evaluate(text, {})
        if value is not None and value == int(value):
            return str(int(value))
    return text


def _product(text: str) -> int:
    total = 1
    for part in text.split(" * "):
        total *= int(part)
    return total
