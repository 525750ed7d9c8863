"""Quotients that host code rounds up with a condition: ``N / 16 + (N % 16 ? 1 : 0)``, ``N % 16 ? N / 16 + 1 : ...``."""

from collections.abc import Iterator

from gemmviz.catalogue.guessing.c_values import c_value, rounds_up
from gemmviz.catalogue.guessing.tokens import integer

Tokens = tuple[str, ...]
_CONDITIONS = frozenset({"?", "!", "!=", "==", "<", ">", "<=", ">="})
_MOST_DIVISOR = 4096


def rounded_up(tokens: Tokens) -> Tokens | None:
    """Return the usual form of an expression that is a quotient, rounded up; None for any other expression.

    Parameters
    ----------
    tokens
        An expression of host code; one without a condition has its usual form already.
    """
    if _CONDITIONS.isdisjoint(tokens):
        return None
    for above, below in dict.fromkeys(_quotients(tokens)):
        others = {word for word in tokens if word.isidentifier()} - {above, below}
        if len(others) > 1:
            return None
        # The remainder of another size is meant to be that of this one.
        same = tuple(above if word in others else word for word in tokens)
        if _rounds_up(same, above, below):
            return ("(", above, "+", below, "-", "1", ")", "/", below)
    return None


def _quotients(tokens: Tokens) -> Iterator[tuple[str, str]]:
    """Yield the two parts of each quotient of a name and a name or number; either may stand in brackets."""
    for at, word in enumerate(tokens):
        if word == "/":
            left = at - 2 if tokens[at - 1 : at] == (")",) else at - 1
            right = at + 2 if tokens[at + 1 : at + 2] == ("(",) else at + 1
            if left >= 0 and right < len(tokens) and tokens[left].isidentifier():
                yield tokens[left], tokens[right]


def _rounds_up(tokens: Tokens, above: str, below: str) -> bool:
    if below.isidentifier():
        return rounds_up(tokens, above, below)
    number = integer(below) or 0
    if not 1 < number <= _MOST_DIVISOR:
        return False
    some = (1, number - 1, number, 2 * number, 8 * number - 1, *(3 * number + (1 << bit) for bit in range(13)))
    return all(c_value(tokens, {above: one}) == -(-one // number) for one in some)
