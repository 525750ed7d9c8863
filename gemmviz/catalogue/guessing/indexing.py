"""Indexing of pointers in a C or CUDA function: the values of its local names, and the index of every access."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.polynomial import Polynomial, Product, parse
from gemmviz.catalogue.guessing.scopes import rename
from gemmviz.catalogue.guessing.tokens import closing, split

_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<=", ">>="}
_VECTOR = re.compile(r"^(?:float|double|half|int|uint|__nv_bfloat16|__half|bfloat16)_?(2|4)$")
_NAME = re.compile(r"[A-Za-z_]\w*$")
_WRITERS = re.compile(r"^(atomic\w+|store_matrix_sync)$")
_DEEPEST = 24
_LONGEST_NAME = 1500
_LONGEST = 400  # tokens of one expression; a longer one is cut
_LONGEST_SIDE = 60
_MOST_ARRAYS = 48
_COMPARES = {"<", ">", "<=", ">=", "==", "!="}
_ENDS_SIDE = {"&&", "||", ";", "{", "}", ",", "=", "?", ":", "return", "!"}


@dataclass
class Pointer:
    """The accesses through one pointer parameter.

    Attributes
    ----------
    terms
        The products in its indices, each with its whole factors. A name that ends in ``#`` counts the advances of
        the variable in front of it.
    reads, writes
        The number of reads and of writes in the source.
    added
        Whether atomicAdd writes it.
    sums
        The number of writes that add to the old value, ``+=``.
    vector
        The number of elements in the widest access.
    """

    terms: dict[Product, set[int]] = field(default_factory=dict)
    reads: int = 0
    writes: int = 0
    added: bool = False
    sums: int = 0
    vector: int = 1

    def is_vector(self, sizes: Collection[str]) -> bool:
        """Return whether no size is a factor in the indices, as the distance between rows is in those of a matrix."""
        return bool(self.terms) and {*sizes}.isdisjoint(
            name for product in self.terms for word in product for name in re.findall(r"[A-Za-z_]\w*", word)
        )

    def add(self, offset: Polynomial, scale: int = 1) -> None:
        """Add the products of an index."""
        for product, factor in offset.terms.items():
            # Rows of whole vectors: (row * N) / 4 of a float4 is row * N of a float.
            whole = re.fullmatch(rf"\((.*) / {scale}\)", product[0]) if scale > 1 and len(product) == 1 else None
            if whole:
                self.add(parse(re.findall(r"[\w.#]+|[^\s\w]", whole[1])) * Polynomial.number(factor))
            else:
                self.terms.setdefault(product, set()).add(factor * scale)


@dataclass(frozen=True)
class Loop:
    """A ``for`` loop, and the bound in its condition; `whole`: nothing else is in the condition."""

    variable: str
    start: Polynomial
    step: Polynomial
    bound: Polynomial
    whole: bool = False


@dataclass
class Indexing:
    """The uses of a function's parameters in its body.

    Attributes
    ----------
    pointers
        By parameter name.
    shared
        Extents of each shared array; empty extents for a dynamic one.
    shared_terms
        The terms in each bracket behind a shared array.
    compared
        (left, right) of every comparison outside the head of a loop.
    loops
        Every ``for`` loop with a start, a bound and a step.
    quotients
        (parameter, divisor) of every whole-number parameter that is divided directly: ``K / BK``, but not
        ``(K + BK - 1) / BK``.
    """

    pointers: dict[str, Pointer] = field(default_factory=dict)
    shared: dict[str, tuple[Polynomial, ...]] = field(default_factory=dict)
    shared_types: dict[str, str] = field(default_factory=dict)
    shared_terms: dict[str, list[tuple[Polynomial, ...]]] = field(default_factory=dict)
    compared: list[tuple[Polynomial, Polynomial]] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    quotients: list[tuple[str, Polynomial]] = field(default_factory=list)


def read_indexing(function: Function, constants: dict[str, tuple[str, ...]]) -> Indexing:
    """Read a function's body.

    Parameters
    ----------
    function
        From `gemmviz.catalogue.guessing.cxx.read_source`.
    constants
        Names of the file with a whole value, as tokens.
    """
    return _Reader(function, constants).run()


def _elements(kind: str) -> int:
    """Return the number of elements in a type: 4 in a ``float4``."""
    vector = _VECTOR.match(kind)
    return int(vector[1]) if vector else 1


class _Reader:
    def __init__(self, function: Function, constants: dict[str, tuple[str, ...]]) -> None:
        self.tokens = rename(function.body)
        self.constants = constants
        self.whole = {p.name for p in function.parameters if not p.pointer and p.name}
        self.result = Indexing({p.name: Pointer() for p in function.parameters if p.pointer and p.name})
        self.known: dict[str, Polynomial] = {}
        self.busy: set[str] = set()
        self.first: dict[str, tuple[str, ...]] = {}
        self.moves: dict[str, list[tuple[str, ...]]] = {}
        self.unclear: set[str] = set()
        self.sources: dict[str, list[tuple[str, ...]]] = {}
        # An alias of a pointer: (whose, elements per step of its own).
        self.aliases: dict[str, tuple[str, int]] = {
            p.name: (p.name, _elements(p.type)) for p in function.parameters if p.pointer and p.name
        }

    def run(self) -> Indexing:
        self.heads = self._loop_heads()
        self._assignments()
        self._shared_arrays()
        self._aliases()
        self._touches()
        self._comparisons()
        self._quotients()
        return self.result

    def value(self, tokens: tuple[str, ...] | list[str]) -> Polynomial:
        return parse(tokens, self.lookup)

    def lookup(self, name: str) -> Polynomial | None:
        if name in self.known:
            return self.known[name]
        if name in self.busy or len(self.busy) > _DEEPEST:
            return None
        if name == "warpSize":
            return Polynomial.number(32)
        tokens = self.first.get(name) or self.constants.get(name)
        if tokens is None:
            return None
        self.busy.add(name)
        if name in self.unclear:
            # It has several values: a name of its own stands for them and keeps their dependencies.
            mentions = sorted({w for part in self.sources[name] for w in self._names_in(self.value(part))})
            found = Polynomial.name("{" + f"{name}: {' '.join(mentions)}"[:_LONGEST_NAME] + "}")
        else:
            found = self.value(tokens)
            for step in self.moves.get(name, []):
                found += self.value(step) * Polynomial.name(f"{name}#")
        self.busy.discard(name)
        if any(len(word) > _LONGEST_NAME for product in found.terms for word in product):
            found = Polynomial.name(name)
        self.known[name] = found
        return found

    @staticmethod
    def _names_in(value: Polynomial) -> set[str]:
        return {w for product in value.terms for name in product for w in re.findall(r"[A-Za-z_][\w.]*#?", name)}

    def _loop_heads(self) -> list[tuple[int, int]]:
        heads = []
        for at, token in enumerate(self.tokens):
            if token == "for" and self.tokens[at + 1 : at + 2] == ["("]:
                heads.append((at + 1, self._close(at + 1)))
        return heads

    def _close(self, at: int) -> int:
        """Return the position where a bracket closes, or the longest allowed end."""
        return at + closing(self.tokens[at : at + _LONGEST], 0)

    def _end(self, at: int) -> int:
        """Return the end of the expression that begins at `at`."""
        depth = 0
        for end in range(at, min(at + _LONGEST, len(self.tokens))):
            token = self.tokens[end]
            depth += (token in "([{") - (token in ")]}")
            if depth < 0 or (depth == 0 and token in ",;"):
                return end
        return min(at + _LONGEST, len(self.tokens))

    def _assignments(self) -> None:
        for at in range(1, len(self.tokens)):
            sign, name = self.tokens[at], self.tokens[at - 1]
            if sign in ("++", "--"):
                after = self.tokens[at + 1] if at + 1 < len(self.tokens) else ""
                moved = name if _NAME.match(name) else after
                self.moves.setdefault(moved, []).append(("1",) if sign == "++" else ("-", "1"))
            elif sign in _ASSIGN and _NAME.match(name) and (at < 2 or self.tokens[at - 2] not in (".", "->", "]")):
                self._assign(name, sign, tuple(self.tokens[at + 1 : self._end(at + 1)]))

    def _assign(self, name: str, sign: str, value: tuple[str, ...]) -> None:
        """Record one assignment: an advance, a first value, or a value that differs from the one before."""
        self.sources.setdefault(name, []).append(value)
        if sign in ("+=", "-="):
            self.moves.setdefault(name, []).append(value if sign == "+=" else ("-", "(", *value, ")"))
        elif sign == "=" and value[:2] == (name, "+"):
            self.moves.setdefault(name, []).append(value[2:])
        elif sign == "=" and (name not in self.first or self.first[name] == value):
            self.first[name] = value
        else:
            self.unclear.add(name)

    def _shared_arrays(self) -> None:
        for at in [i for i, token in enumerate(self.tokens) if token == "__shared__"][:_MOST_ARRAYS]:
            end = self._end(at + 1)
            while end < min(at + _LONGEST, len(self.tokens)) and self.tokens[end] == ",":
                end = self._end(end + 1)
            dynamic = self.tokens[max(at - 1, 0)] == "extern"
            kind = ""
            for part in split(self.tokens[at + 1 : end]):
                start = part.index("[") if "[" in part else 0
                if not start:
                    # A structure may fill all of dynamic shared memory.
                    if dynamic and part and part[-1].isidentifier():
                        self.result.shared[part[-1]] = ()
                    continue
                name, kind = part[start - 1], part[start - 2] if start > 1 else kind
                if not name.isidentifier():
                    continue  # unfinished text: the extents of something else
                extents = _brackets(part, start)
                # nvcc takes an array with all of its extents as a static one: ``extern __shared__ float a[8][8];``.
                known = () if dynamic and not extents[0] else (self.value(extent) for extent in extents if extent)
                self.result.shared[name] = tuple(known)
                self.result.shared_types[name] = kind

    def _aliases(self) -> None:
        for name, value in list(self.first.items()):
            whose = [token for token in value if token in self.aliases]
            declared = [i for i in range(1, len(self.tokens)) if self.tokens[i - 1 : i + 2] == ["*", name, "="]]
            if len(set(whose)) != 1 or name in self.aliases or not declared:
                continue
            kind = _VECTOR.match(self.tokens[declared[0] - 2])
            base, scale = self.aliases[whose[0]]
            self.aliases[name] = (base, int(kind[1]) if kind else scale)

    def _touches(self) -> None:
        for at, token in enumerate(self.tokens):
            if token in self.result.shared and self.tokens[at + 1 : at + 2] == ["["]:
                inside = _brackets(self.tokens, at + 1)
                self.result.shared_terms.setdefault(token, []).append(tuple(self.value(b) for b in inside))
            if token not in self.aliases or self.tokens[max(at - 1, 0)] in (".", "->"):
                continue
            whose, scale = self.aliases[token]
            self._touch(at, self.result.pointers[whose], scale, whose)

    def _touch(self, at: int, pointer: Pointer, scale: int, whose: str) -> None:
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else ""
        if after in ("+=", "-="):
            moved = self.value(self.tokens[at + 2 : self._end(at + 2)])
            once = re.search(r"blockIdx|threadIdx", str(moved))
            pointer.add(moved if once else moved * Polynomial.name(f"{self.tokens[at]}#"), scale)
        elif after == "++":
            pointer.add(Polynomial.name(f"{self.tokens[at]}#"), scale)
        # A declaration is no access: its value is read separately.
        elif after != "=" or self.tokens[at + 2 : at + 3] == [self.tokens[at]]:
            end = self._index(at, after, pointer, scale)
            pointer.vector = max(pointer.vector, scale, self._cast_before(at))
            self._count(at, end, pointer)

    def _index(self, at: int, after: str, pointer: Pointer, scale: int) -> int:
        """Record the index behind a pointer, and return where it ends."""
        end = at + 1
        if after == "[":
            end = self._close(at + 1) + 1
            pointer.add(self.value(self.tokens[at + 2 : end - 1]), scale)
        elif after == "+":
            end = self._end(at + 2)
            pointer.add(self.value(self.tokens[at + 2 : end]), scale)
        elif after == ")":
            # ((float4 *) A)[i] or reinterpret_cast<float4 *>(A)[i]
            while end < len(self.tokens) and self.tokens[end] == ")":
                end += 1
            if end < len(self.tokens) and self.tokens[end] == "[":
                stop = self._close(end)
                pointer.add(self.value(self.tokens[end + 1 : stop]), self._cast_before(at) or scale)
                end = stop + 1
        return end

    def _cast_before(self, at: int) -> int:
        """Return the number of elements in the type of the nearest cast before; 0 if this statement has no cast."""
        for token in reversed(self.tokens[max(at - 12, 0) : at]):
            if token in (";", "{", "}", "="):
                return 0
            found = _VECTOR.match(token)
            if found:
                return int(found[1])
        return 0

    def _count(self, at: int, end: int, pointer: Pointer) -> None:
        while end < len(self.tokens) and self.tokens[end] in (")", "["):
            end = self._close(end) + 1 if self.tokens[end] == "[" else end + 1
        if self.tokens[end : end + 1] == ["."]:
            end += 2
        call = next((t for t in reversed(self.tokens[max(at - 4, 0) : at]) if re.match(r"[A-Za-z_]", t)), "")
        behind = self.tokens[end] if end < len(self.tokens) else ""
        if behind in _ASSIGN or behind in ("++", "--") or _WRITERS.match(call):
            pointer.writes += 1
            pointer.added |= call.startswith("atomicAdd")
            pointer.sums += behind == "+="
            pointer.reads += behind not in ("=", "") and not _WRITERS.match(call)
        else:
            pointer.reads += 1

    def _comparisons(self) -> None:
        in_heads = [False] * len(self.tokens)
        for start, end in self.heads:
            in_heads[start:end] = [True] * (end - start)
            self._loop(split(self.tokens[start + 1 : end], ";"))
        for at, token in enumerate(self.tokens):
            if token in _COMPARES and not in_heads[at]:
                left = self._until(at - 1, -1) + 1
                right = self._until(at + 1, 1)
                if "::" not in self.tokens[left:right]:
                    self.result.compared.append(
                        (self.value(self.tokens[left:at]), self.value(self.tokens[at + 1 : right]))
                    )

    def _loop(self, parts: list[tuple[str, ...]]) -> None:
        """Record the head of a ``for`` loop: its start, its bound, its step."""
        if len(parts) != 3 or "=" not in parts[0] or not parts[0].index("="):
            return
        name = parts[0][parts[0].index("=") - 1]
        terms = split([("," if t == "&&" else t) for t in parts[1]])
        for term in terms:
            cut = next((i for i, t in enumerate(term) if t in _COMPARES), None)
            if cut is not None and self.moves.get(name):
                start = self.value(parts[0][parts[0].index("=") + 1 :])
                bound = self.value(term[cut + 1 :])
                whole = len(terms) == 1 and "||" not in term and term[: cut + 1] == (name, "<")
                self.result.loops.append(Loop(name, start, self.value(self.moves[name][0]), bound, whole))

    def _quotients(self) -> None:
        for at in range(1, len(self.tokens) - 1):
            if self.tokens[at] not in ("/", ">>"):
                continue
            # A macro puts brackets around its arguments: (K) / (BK).
            bare = self.tokens[at - 1] != ")"
            name, before = (self.tokens[at - 1], at - 2) if bare else (self.tokens[max(at - 2, 0)], at - 4)
            if name not in self.whole or (not bare and self.tokens[max(at - 3, 0)] != "("):
                continue
            if before >= 0 and self.tokens[before] in ("*", "/", "%", ".", "->"):
                continue
            end = self._close(at + 1) + 1 if self.tokens[at + 1] == "(" else at + 2
            divisor = self.value(self.tokens[at + 1 : end])
            shift = divisor.value if self.tokens[at] == ">>" else None
            if shift is not None and 0 <= shift < 31:
                divisor = Polynomial.number(1 << shift)
            if self.tokens[at] == "/" or shift is not None:
                self.result.quotients.append((name, divisor))

    def _until(self, at: int, way: int) -> int:
        """Return the end of one side of a comparison, from `at` in one direction."""
        depth = 0
        for place in range(at, at + _LONGEST_SIDE * way, way):
            if not 0 <= place < len(self.tokens):
                return place
            token = self.tokens[place]
            if depth == 0 and token in _ENDS_SIDE:
                return place
            depth += way * ((token in "([") - (token in ")]"))
            if depth < 0:
                return place
        return at + _LONGEST_SIDE * way


def _brackets(tokens: Sequence[str], at: int) -> list[tuple[str, ...]]:
    """Return the content of each square bracket in the row of brackets that starts at `at`."""
    found = []
    while at < len(tokens) and tokens[at] == "[":
        end = at + closing(list(tokens[at : at + _LONGEST]), 0)
        found.append(tuple(tokens[at + 1 : end]))
        at = end + 1
    return found
