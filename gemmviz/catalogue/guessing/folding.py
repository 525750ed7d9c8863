"""Expressions of front matter as text: their value, brackets, and what can be worked out of them at once."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.tokens import closing

_KEPT = 2048
"""Texts whose meaning is remembered."""


def evaluate(text: str, values: Mapping[str, int]) -> float | None:
    """Return the value of an expression; None when it has none."""
    expression = _expression(text)
    try:
        return None if expression is None else float(expression.evaluate(values))
    except (FrontMatterError, OverflowError, TypeError):
        return None


@lru_cache(_KEPT)
def _expression(text: str) -> Expression | None:
    """Return an expression, read once: a guess asks for the value of the same ones with thousands of parameters."""
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
    """Work out an expression that has no name in it, and drop brackets around a single word or the whole."""
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
