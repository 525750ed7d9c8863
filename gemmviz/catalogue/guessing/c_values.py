"""Values of small C expressions, and those that are a quotient that is rounded up, however they are written."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from gemmviz.catalogue.guessing.tokens import closing, integer

Value = int | Fraction
_WHOLE = {"int", "unsigned", "size_t", "long", "short", "uint", "uint32_t", "int32_t", "int64_t", "uint64_t", "auto"}
_REAL = {"float", "double"}
_LEVELS: tuple[dict[str, Callable[[Value, Value], Value]], ...] = (
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"&": lambda a, b: int(a) & int(b)},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: _over(a, b), "%": lambda a, b: _rest(a, b)},
)
# Pairs with and without a remainder: no other function of two numbers has these values by chance.
_PAIRS = ((1, 1), (7, 2), (8, 2), (9, 8), (64, 16), (65, 16), (100, 7), (3, 5), (1000, 128), (1024, 128))
_LONGEST = 200  # tokens of an expression
_BEYOND = 1 << 64


def c_value(tokens: Sequence[str], values: Mapping[str, int]) -> Value | None:
    """Return the value of an expression of whole numbers as C computes it; None where it is more than that.

    Parameters
    ----------
    tokens
        The expression.
    values
        The value of each name.
    """
    if len(tokens) > _LONGEST:
        return None
    try:
        reader = _Reader(tokens, values)
        found = reader.choice()
        return found if reader.at == len(tokens) else None
    except (ValueError, ZeroDivisionError, OverflowError, RecursionError):
        return None


def rounds_up(tokens: Sequence[str], above: str, below: str) -> bool:
    """Return whether an expression of two names is the first over the second, rounded up."""
    return all(c_value(tokens, {above: a, below: b}) == -(-a // b) for a, b in _PAIRS)


def _over(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return Fraction(a) / Fraction(b)


def _rest(a: Value, b: Value) -> Value:
    return a - _over(a, b) * b


def _whole(digits: str) -> int:
    found = integer(digits)
    if found is None:
        raise OverflowError
    return found


class _Reader:
    def __init__(self, tokens: Sequence[str], values: Mapping[str, int]) -> None:
        self.tokens, self.values, self.at = tokens, values, 0

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str) -> None:
        if self.next() != wanted:
            raise ValueError(wanted)
        self.at += 1

    def choice(self) -> Value:
        asked = self.level(0)
        if self.next() != "?":
            return asked
        self.at += 1
        one = self.choice()
        self.take(":")
        other = self.choice()
        return one if asked else other

    def level(self, number: int) -> Value:
        if number == len(_LEVELS):
            return self.single()
        total = self.level(number + 1)
        while self.next() in _LEVELS[number]:
            sign = self.next()
            self.at += 1
            total = _LEVELS[number][sign](total, self.level(number + 1))
            # Squares of squares would fill the memory.
            if not -_BEYOND < total < _BEYOND or total.denominator > _BEYOND:
                raise OverflowError
        return total

    def single(self) -> Value:
        token = self.next()
        self.at += 1
        if token == "-":
            return -self.single()
        if token == "!":
            return int(not self.single())
        if token == "(":
            end = closing(list(self.tokens), self.at - 1)
            inside = [word for word in self.tokens[self.at : end] if word not in ("const", "std", "::")]
            if inside and set(inside) <= _WHOLE | _REAL:
                self.at = end + 1
                return self.cast(inside)
            found = self.choice()
            self.take(")")
            return found
        if token == "static_cast":
            end = list(self.tokens).index(">", self.at)
            kinds = self.tokens[self.at + 1 : end]
            self.at = end + 1
            return self.cast(kinds)
        if token == "std":
            self.take("::")
            return self.single()
        if token in _WHOLE | _REAL and self.next() == "(":
            return self.cast([token])
        if token in ("max", "min") and self.next() == "(":
            self.at += 1
            first = self.choice()
            self.take(",")
            second = self.choice()
            self.take(")")
            return max(first, second) if token == "max" else min(first, second)
        if token in ("ceil", "ceilf", "floor", "floorf"):
            found = self.single()
            return math.ceil(found) if token.startswith("ceil") else math.floor(found)
        if token in self.values:
            return self.values[token]
        digits = token.rstrip("uUlL")
        if digits.isdecimal():
            return _whole(digits)
        number = digits.rstrip("fF")
        whole, _, rest = number.partition(".")
        if whole.isdecimal() and set(rest) <= {"0"}:
            return Fraction(_whole(whole))
        raise ValueError(token)

    def cast(self, kinds: Sequence[str]) -> Value:
        found = self.single()
        return Fraction(found) if set(kinds) & _REAL else math.trunc(found)
