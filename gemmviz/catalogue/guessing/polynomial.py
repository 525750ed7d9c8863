"""Index arithmetic of a kernel as sums of products. They show the factor of each index."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from gemmviz.catalogue.guessing.tokens import closing, split

# A product of names, sorted. The empty product is 1. A part that cannot be multiplied out (a quotient, a call) is one
# name: its own text.
Product = tuple[str, ...]
_CASTS = {
    "int",
    "unsigned",
    "size_t",
    "long",
    "short",
    "uint",
    "uint32_t",
    "int32_t",
    "int64_t",
    "uint64_t",
    "ptrdiff_t",
}
ROUNDS_UP = re.compile(r"(?i)ceil_?div|div_?up|cdiv|div_?ceil|idivup")
"""The names that people give to a quotient that is rounded up."""
_MOST_TERMS = 64
_MOST_LETTERS = 4000
_DEEPEST = 40
_MOST_NAMES = 8  # whose values are filled in, one in the other
_BEYOND = 1 << 64  # no integer of a kernel is so large


@dataclass(frozen=True)
class Polynomial:
    """A sum of products with whole factors."""

    terms: Mapping[Product, int]

    @classmethod
    def number(cls, value: int) -> "Polynomial":
        """Return a constant."""
        return cls({(): value} if value else {})

    @classmethod
    def name(cls, name: str) -> "Polynomial":
        """Return a polynomial that is one name."""
        return cls({(name,): 1})

    def __add__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for product, factor in other.terms.items():
            terms[product] = terms.get(product, 0) + factor
        return Polynomial({p: f for p, f in terms.items() if f})

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        if len(self.terms) * len(other.terms) > _MOST_TERMS:
            return _by_text(f"({self} * {other})")
        # Squares of squares would fill the memory.
        if self.largest * other.largest >= _BEYOND or self.degree + other.degree > _MOST_TERMS:
            return _by_text(f"({self} * {other})")
        total = Polynomial({})
        for mine, factor in self.terms.items():
            for yours, more in other.terms.items():
                total += Polynomial({tuple(sorted(mine + yours)): factor * more})
        return total

    def __neg__(self) -> "Polynomial":
        return Polynomial({p: -f for p, f in self.terms.items()})

    def over(self, other: "Polynomial") -> "Polynomial":
        """Return the quotient: a polynomial where the division is always exact, else one name."""
        if other == ONE:
            return self
        if len(other.terms) == 1:
            ((below, factor),) = other.terms.items()
            if below == () and factor and all(f % factor == 0 for f in self.terms.values()):
                return Polynomial({p: f // factor for p, f in self.terms.items()})
            if factor == 1 and all(_contains(p, below) for p in self.terms):
                return Polynomial({_without(p, below): f for p, f in self.terms.items()})
        return _by_text(f"({self:b} / {other:b})")

    def modulo(self, other: "Polynomial") -> "Polynomial":
        """Return the remainder as one name."""
        return _by_text(f"({self:b} % {other:b})")

    @property
    def largest(self) -> int:
        """The largest magnitude of a factor."""
        return max(map(abs, self.terms.values()), default=0)

    @property
    def degree(self) -> int:
        """The number of names in its longest product."""
        return max(map(len, self.terms), default=0)

    @property
    def is_long(self) -> bool:
        """Whether its text is too long to stand in another one, or a factor is no integer of 64 bits."""
        letters = sum(len(name) for product in self.terms for name in product)
        return len(self.terms) > _MOST_TERMS or letters > _MOST_LETTERS or self.largest >= _BEYOND

    @property
    def value(self) -> int | None:
        """The value of a constant; None when the polynomial is not constant."""
        return None if any(self.terms.keys() - {()}) else self.terms.get((), 0)

    def __str__(self) -> str:
        parts = []
        for product, factor in self.terms.items():
            words = [*([str(abs(factor))] if abs(factor) != 1 or not product else []), *product]
            parts.append(("-" if factor < 0 else "+", " * ".join(words)))
        text = " ".join(f"{sign} {words}" for sign, words in parts)
        return (
            text.removeprefix("+ ").replace("- ", "-", 1) if text.startswith("- ") else text.removeprefix("+ ") or "0"
        )

    def __format__(self, spec: str) -> str:
        """Return the text; with ``b`` in brackets unless it is one word."""
        text = str(self)
        single = re.fullmatch(r"[\w.#]+", text) or (
            len(self.terms) == 1 and len(next(iter(self.terms))) == 1 == max(self.terms.values())
        )
        return text if spec != "b" or single else f"({text})"


def _by_text(text: str) -> Polynomial:
    """Return a value that is known by its text only; of a long text its beginning and a number stand for the whole."""
    if len(text) > _MOST_LETTERS:
        text = f"{text[:_MOST_LETTERS]}...{sha256(text.encode()).hexdigest()[:16]})"
    return Polynomial.name(text)


ONE = Polynomial.number(1)
Lookup = Callable[[str], Polynomial | None]


def parse(tokens: tuple[str, ...] | list[str], lookup: Lookup = lambda name: None) -> Polynomial:
    """Return the value of an expression of C as a polynomial.

    Parameters
    ----------
    tokens
        The expression.
    lookup
        Returns the value of a name; None for a name that stays as it is.
    """
    return _Parser(list(tokens), lookup).sum()


def looked_up(
    tokens_of: Callable[[str], Sequence[str] | None], known: Mapping[str, Polynomial | None] | None = None
) -> Lookup:
    """Return a reader of names whose values may name others in turn, up to eight of them.

    Parameters
    ----------
    tokens_of
        Returns the value of a name, as tokens; None for a name without one.
    known
        The names that have another name, or None: they stay as they are.
    """
    known = known or {}

    @cache  # a value that names several others would otherwise be read many times at each depth
    def look(word: str, depth: int) -> Polynomial | None:
        if word in known:
            return known[word]
        tokens = tokens_of(word) if depth <= _MOST_NAMES else None
        found = None if tokens is None else parse(list(tokens), lambda inner: look(inner, depth + 1))
        return None if found is None or found.is_long else found

    return lambda word: look(word, 0)


class _Parser:
    def __init__(self, tokens: list[str], lookup: Lookup, depth: int = 0) -> None:
        self.tokens, self.lookup, self.at, self.depth = tokens, lookup, 0, depth

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def inner(self, tokens: list[str]) -> Polynomial:
        return _Parser(tokens, self.lookup, self.depth + 1).sum()

    def sum(self) -> Polynomial:
        if self.depth > _DEEPEST or self._no_arithmetic():
            return Polynomial.name(self._opaque(self.tokens))
        total = self.product()
        while self.next() in ("+", "-"):
            sign = self.next()
            self.at += 1
            term = self.product()
            total += term if sign == "+" else -term
        bits = {
            "<<": lambda v: total * Polynomial.number(1 << v),
            ">>": lambda v: total.over(Polynomial.number(1 << v)),
        }
        mask = {"&": lambda v: total.modulo(Polynomial.number(v + 1))}
        if self.next() in (*bits, *mask):
            sign = self.next()
            right = self.inner(self.tokens[self.at + 1 :]).value
            if right is not None and (0 <= right < 31 if sign in bits else right >= 0 and right & (right + 1) == 0):
                return (bits | mask)[sign](right)
            return Polynomial.name(self._opaque(self.tokens))
        return total if self.at >= len(self.tokens) else Polynomial.name(self._opaque(self.tokens))

    def _no_arithmetic(self) -> bool:
        """Return whether a comparison, a choice or a mixture of bit operators stands outside all brackets."""
        depth, signs = 0, 0
        for token in self.tokens:
            depth += (token in "([{") - (token in ")]}")
            if depth == 0 and token in ("?", "==", "!=", "<=", ">=", "&&", "||", "^", "|", "="):
                return True
            signs += depth == 0 and token in ("<<", ">>", "&")
        return signs > 1

    def product(self) -> Polynomial:
        value = self.factor()
        while self.next() in ("*", "/", "%"):
            sign = self.next()
            self.at += 1
            right = self.factor()
            value = value * right if sign == "*" else value.over(right) if sign == "/" else value.modulo(right)
        return value

    def factor(self) -> Polynomial:
        token = self.next()
        self.at += 1
        if token == "-":
            return -self.factor()
        if token == "+":
            return self.factor()
        if token == "(":
            end = closing(self.tokens, self.at - 1)
            inside = self.tokens[self.at : end]
            self.at = end + 1
            if inside and all(word in _CASTS for word in inside):
                return self.factor()
            return self.inner(inside)
        if token in ("true", "false"):
            return Polynomial.number(int(token == "true"))
        number = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", token)
        if number and len(token) < 20:
            digits = number[1].lower()
            return Polynomial.number(int(digits, 16) if digits.startswith("0x") else int(digits))
        if re.match(r"[A-Za-z_]", token):
            return self.named(token)
        return Polynomial.name(self._opaque([token]))

    def named(self, token: str) -> Polynomial:
        if token in ("static_cast", "__cvta") and self.next() == "<" and "(" in self.tokens[self.at :]:
            self.at = self.tokens.index("(", self.at)
            return self.factor()
        if self.next() == "." and self.at + 1 < len(self.tokens):
            token = f"{token}.{self.tokens[self.at + 1]}"
            self.at += 2
        if self.next() in ("(", "["):
            end = closing(self.tokens, self.at)
            parts = split(self.tokens[self.at + 1 : end])
            opened = self.next()
            self.at = end + 1
            if opened == "(" and token in _CASTS and len(parts) == 1:
                return self.inner(list(parts[0]))
            if opened == "(" and ROUNDS_UP.fullmatch(token) and len(parts) == 2:
                above, below = (self.inner(list(part)) for part in parts)
                return (above + below + Polynomial.number(-1)).over(below)
            inner = ", ".join(str(self.inner(list(part))) for part in parts)
            return Polynomial.name(f"{token}{opened}{inner}{')' if opened == '(' else ']'}")
        found = self.lookup(token)
        return Polynomial.name(token) if found is None else found

    def _opaque(self, tokens: list[str]) -> str:
        """Return a text with the value of each name filled in, so that its dependencies stay visible."""
        words = []
        for token in tokens:
            found = self.lookup(token) if re.match(r"[A-Za-z_]", token) and self.depth <= _DEEPEST else None
            words.append(token if found is None else f"{found:b}")
        return "{" + " ".join(words)[:2000].replace(" . ", ".") + "}"


def _contains(product: Product, below: Product) -> bool:
    return all(product.count(name) >= below.count(name) for name in set(below))


def _without(product: Product, below: Product) -> Product:
    left = list(product)
    for name in below:
        left.remove(name)
    return tuple(left)
