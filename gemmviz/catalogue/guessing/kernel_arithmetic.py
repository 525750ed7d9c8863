"""The arithmetic of a kernel's indices: the extents of its thread indices, as expressions and as numbers."""

import re
from collections.abc import Mapping

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.folding import bracket, evaluate, fold
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.polynomial import ONE, Polynomial, looked_up, parse
from gemmviz.catalogue.guessing.roles import Roles, Term, kind_of, terms
from gemmviz.catalogue.matrices import MATRICES


class KernelArithmetic:
    """Evaluates the indices of one kernel.

    Attributes
    ----------
    found
        The summands in the index of each matrix.
    params
        The tunable parameters, with the values offered.
    free
        The extents of the block that the source leaves open, by axis: a name or a number; empty where it does not.
    """

    def __init__(self, function: Function, source: ParsedSource, indexing: Indexing, roles: Roles, dtype: str) -> None:
        self.function, self.source, self.indexing, self.roles, self.dtype = function, source, indexing, roles, dtype
        self.sizes = {name for name, role in roles.of.items() if role not in ("A", "B", "C", "alpha", "beta", "")}
        self.found = {
            role: terms(indexing, roles.parameter(role), self.sizes) if roles.parameter(role) else []
            for role in MATRICES
        }
        self.params: dict[str, tuple[int, ...]] = {}
        self.free = ["", "", ""]
        self.body = " ".join(function.body)
        self.constants = _numbers(source.constants)

    def _side(self, atoms: tuple[str, ...]) -> list[Term]:
        """Return the summands of C's index that select a row, or those that select a column."""
        strided = any(t.size for t in self.found["C"] if t.atom in atoms)
        return [t for t in self.found["C"] if bool(t.size) == strided] if atoms else []

    def _text(self, value: Polynomial) -> str:
        """Return an expression of parameters and numbers, with the extents of the block filled in."""
        text = str(value)
        for axis, extent in zip("xyz", self.free, strict=False):
            text = re.sub(rf"\bblockDim\.{axis}\b", bracket(extent) if extent else "1", text)
        text = re.sub(
            r"[A-Za-z_]\w*",
            lambda word: str(self.constants.get(word[0], word[0])) if word[0] not in self.params else word[0],
            text,
        )
        return fold(text)

    def _number(self, value: Polynomial, values: Mapping[str, int]) -> float | None:
        return evaluate(self._text(value), values)

    def _from_shared(self, atom: str) -> str:
        for name, uses in self.indexing.shared_terms.items():
            extents = self.indexing.shared.get(name, ())
            for use in uses:
                for extent, index in zip(extents, use, strict=False):
                    if index == Polynomial.name(atom):
                        text = fold(str(extent))
                        constant = self.constants.get(text)
                        return text if constant is None else str(constant)
        return ""

    def _extent(self, term: Term, side: list[Term], values: Mapping[str, int]) -> Polynomial | None:
        """Return the number of values of a thread index: the next larger factor on its side divided by its own."""
        mine = self._number(term.factor, values)
        if not mine:
            return None
        larger = [
            (number, t.factor)
            for t in side
            if t is not term and (number := self._number(t.factor, values)) and number > mine
        ]
        larger += [(number, Polynomial.number(number)) for number in self._offsets(term) if number > mine]
        return min(larger, key=lambda pair: pair[0])[1].over(term.factor) if larger else None

    def _offsets(self, term: Term) -> list[int]:
        """Return by how many rows, or columns, a thread's further elements of C are away: another thread has those."""
        pointer = self.indexing.pointers.get(self.roles.parameter("C"))
        found = pointer.terms.get((term.size,) if term.size else (), set()) if pointer else set()
        return sorted(found)

    def _threads(self, rows: list[Term], columns: list[Term], values: Mapping[str, int]) -> dict[str, list[Polynomial]]:
        """Return the extents of every thread index in C's index, by axis of the block."""
        found: dict[str, list[Polynomial]] = {}
        for side in (rows, columns):
            for term in side:
                if kind_of(term.atom) != "thread":
                    continue
                modulus = re.fullmatch(r"\(.* % (\w+|\([^()]*\))\)", term.atom)
                extent = self._extent(term, side, values)
                if extent is None and modulus:
                    extent = parse(re.findall(r"\w+|[^\s\w]", modulus[1]))
                axes = "".join(dict.fromkeys(re.findall(r"threadIdx\.([xyz])", term.atom)))
                found.setdefault(axes, []).append(extent or ONE)
        return found


def _numbers(constants: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return the constants that are numbers, also where they are made of others."""
    found: dict[str, int] = {}
    waiting = looked_up(constants.get)

    def look(name: str) -> Polynomial | None:
        """Return a number: of a constant that stands before this one, or else behind it."""
        value = found.get(name)
        return waiting(name) if value is None else Polynomial.number(value)

    for name, tokens in constants.items():
        made = parse(tokens, look)
        if made.value is not None and not made.is_long:
            found[name] = made.value
    return found
