"""The conditions that the constants in a kernel put on its parameters: ``WM / (TM * 8)`` must be a whole number."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from gemmviz.catalogue.guessing.c_values import Value, c_value
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.tokens import closing, split

Tokens = tuple[str, ...]
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"sizeof", "true", "false", "max", "min", "std", "static_cast", "int", "unsigned", "size_t", "uint", "const"}
_THREADS = re.compile(r"(?i)k?_*(num_*|n)?threads(_*per_*block)?|block_*size|thread_*count")
_DEEPEST, _LONGEST = 8, 120
_LEAST_THREADS, _MOST_THREADS = 32, 1024
_WARP = 32
# The sides of the tile of a block and of a warp, where both are parameters.
_TILE, _OF_WARP = (
    re.compile(r"(?i)b{side}|block_?tile_?{side}|block_?{side}|tile_?{side}".replace("{side}", "([mn])")),
    re.compile(r"(?i)w{side}|warp_?tile_?{side}|warp_?{side}".replace("{side}", "([mn])")),
)
_Test = Callable[[Mapping[str, int]], bool]


class Conditions:
    """Says which values of a kernel's parameters its constants allow.

    Parameters
    ----------
    function
        The kernel.
    constants
        The constants of its file, as tokens.
    params
        The names of its parameters.
    """

    def __init__(self, function: Function, constants: Mapping[str, Tokens], params: frozenset[str]) -> None:
        self._params = params
        self._known = {name: value for name, value in constants.items() if name not in params}
        self._tests: list[tuple[frozenset[str], _Test, dict[tuple[int, ...], bool]]] = []
        for name, value in _definitions(function.body):
            self._known.setdefault(name, value)
            self._divided(value)
            self._test(value, _at_least(0 if "-" in value else 1) if "/" in value else _any)
            if _THREADS.fullmatch(name):
                self._test(value, _is_block)
        if function.bounds:
            self._test(function.bounds, _is_block)
        for condition in _asserted(function.body):
            self._test(condition, bool)
        for extent in _extents(function.body):
            self._divided(extent)
            self._test(extent, _at_least(1))
        self._warps()

    def allow(self, values: Mapping[str, int]) -> bool:
        """Return whether no condition on the given parameters fails; others may have no value yet."""
        for names, test, seen in self._tests:
            if names <= values.keys():
                key = tuple(values[name] for name in sorted(names))
                if key not in seen:
                    seen[key] = test(values)
                if not seen[key]:
                    return False
        return True

    def _test(self, tokens: Tokens, holds: Callable[[Value], bool]) -> None:
        whole = self._expanded(tokens)
        names = frozenset(whole) & self._params if whole else frozenset[str]()
        if whole and names:
            self._add(names, lambda values: (found := c_value(whole, values)) is not None and holds(found))

    def _add(self, names: frozenset[str], test: _Test) -> None:
        self._tests.append((names, test, {}))

    def _divided(self, tokens: Tokens) -> None:
        """Ask that a quotient leaves no remainder, where it is the whole expression."""
        at = [place for place, token in enumerate(tokens) if token == "/" and _is_outside(tokens, place)]
        if len(at) == 1 and not any(token in "+-*%" and _is_outside(tokens, i) for i, token in enumerate(tokens)):
            above, below = tokens[: at[0]], tokens[at[0] + 1 :]
            self._test(("(", *above, ")", "%", "(", *below, ")"), lambda rest: rest == 0)

    def _warps(self) -> None:
        """Ask that the warps of a block share its tile, where the threads and both tiles are parameters."""
        sides = {}
        for pattern, kind in ((_TILE, "tile"), (_OF_WARP, "warp")):
            for name in self._params:
                if found := pattern.fullmatch(name):
                    side = next(filter(None, found.groups())).lower()
                    sides[kind, side] = name
        threads = next((name for name in sorted(self._params) if _THREADS.fullmatch(name)), "")
        for side in "mn":
            if ("tile", side) in sides and ("warp", side) in sides:
                self._test((sides["tile", side], "%", sides["warp", side]), lambda rest: rest == 0)
        if threads and len(sides) == len("mn") * 2:
            bm, bn, wm, wn = (sides[kind, side] for kind in ("tile", "warp") for side in "mn")
            same = ("==", "(", bm, "/", wm, ")", "*", "(", bn, "/", wn, ")", "*", str(_WARP))
            self._test((threads, *same), bool)

    def _expanded(self, tokens: Tokens, depth: int = 0) -> Tokens:
        """Return an expression in which only parameters and numbers are left; nothing where others are."""
        out: list[str] = []
        for token in tokens:
            if token in self._params or token in _WORDS or not _NAME.fullmatch(token):
                out.append(token)
                continue
            inner = self._expanded(self._known[token], depth + 1) if token in self._known and depth < _DEEPEST else ()
            if not inner or len(out) > _LONGEST:
                return ()
            out += ["(", *inner, ")"]
        return tuple(out)


def _any(_: Value) -> bool:
    return True


def _at_least(least: int) -> Callable[[Value], bool]:
    return lambda value: value >= least


def _is_block(threads: Value) -> bool:
    return _LEAST_THREADS <= threads <= _MOST_THREADS and threads % _WARP == 0


def _is_outside(tokens: Tokens, place: int) -> bool:
    """Return whether a place is outside all brackets."""
    return sum((token in "([{") - (token in ")]}") for token in tokens[:place]) == 0


def _definitions(body: Tokens) -> Iterator[tuple[str, Tokens]]:
    """Yield the local constants of a function, with their values."""
    for at, token in enumerate(body):
        if token in ("const", "constexpr") and body[at + 1 : at + 2] not in (("const",), ("constexpr",)):
            end = next((i for i in range(at, min(at + 200, len(body))) if body[i] in (";", "{")), at)
            for part in split(body[at:end]):
                cut = part.index("=") if "=" in part else 0
                if cut and _NAME.fullmatch(part[cut - 1]) and "*" not in part[:cut]:
                    yield part[cut - 1], part[cut + 1 :]


def _asserted(body: Tokens) -> Iterator[Tokens]:
    """Yield the conditions of a function's static assertions."""
    for at, token in enumerate(body):
        if token == "static_assert" and body[at + 1 : at + 2] == ("(",):
            yield next(iter(split(body[at + 2 : closing(body, at + 1)])), ())


def _extents(body: Tokens) -> Iterator[Tokens]:
    """Yield the extents of a function's local and shared arrays."""
    for at, (kind, name) in enumerate(pairwise(body)):
        place = at + 2
        if not (_NAME.fullmatch(kind) and _NAME.fullmatch(name)) or kind in ("return", "else"):
            continue
        while body[place : place + 1] == ("[",):
            end = closing(body, place)
            yield body[place + 1 : end]
            place = end + 1
