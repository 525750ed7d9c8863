"""Expressions of front matter as text: evaluate them, put them in brackets, and compute their constant parts."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.tokens import closing

_KEPT = 2048
"""The number of parsed expressions in the cache."""


def evaluate(text: str, values: Mapping[str, int]) -> float | None:
    """Return the value of an expression; None when it has none."""
    expression = _expression(text)
    try:
        return None if expression is None else float(expression.evaluate(values))
    except (FrontMatterError, OverflowError, TypeError):
        return None


@lru_cache(_KEPT)
def _expression(text: str) -> Expression | None:
    """Return a parsed expression. It is cached, because a guess evaluates it with thousands of parameter values."""
    try:
        return Expression(text)
    except FrontMatterError:
        return None


def bracket(text: str) -> str:
    """Put an expression in brackets unless it is a single word."""
    text = fold(text)
    return text if re.fullmatch(r"\w+|\w+\([^()]*\)", text) else f"({text})"


@lru_cache(_KEPT)
def fold(text: str) -> str:
    """Compute the value of an expression without names, and drop brackets around a single word or the whole text."""
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
