"""Macros, and small functions that can be read as macros: their definitions, and their calls filled in."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from gemmviz.catalogue.guessing.c_values import rounds_up
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.tokens import MOST_TOKENS, closing, is_whole, split, tokens_of

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)$", re.MULTILINE)
_DEFINE = re.compile(r"\s*(\w+)(\([^)]*\))?(.*)", re.DOTALL)
DEEPEST = 8
_LONGEST = 60  # tokens of a function that is read as a macro
_MOST_WORK = 1_000_000  # tokens
Macro = tuple[list[str], tuple[str, ...]]
"""The parameters of a macro, and the tokens of its text."""


def macros(plain: str) -> tuple[dict[str, tuple[str, ...]], dict[str, Macro], frozenset[str], frozenset[str]]:
    """Return the macros of a text: objects, functions, those behind ``#ifndef``, and the names of all.

    Parameters
    ----------
    plain
        The text, without comments.
    """
    objects: dict[str, tuple[str, ...]] = {}
    functions: dict[str, Macro] = {}
    tunable: set[str] = set()
    asked, names = "", set[str]()
    branches: list[bool | None] = []
    for found in DIRECTIVE.finditer(plain):
        what, rest = found[1], found[2].replace("\\\n", " ")
        _follow(branches, what, rest.strip(), names)
        if what == "ifndef":
            asked = rest.strip()
        define = _DEFINE.fullmatch(rest) if what == "define" else None
        if define:
            name, parameters, value = define[1], define[2], tokens_of(define[3])
            if False in branches and name in names:
                continue
            names.add(name)
            if parameters:
                functions[name] = ([p.strip() for p in parameters[1:-1].split(",")], value)
            elif name == asked and is_whole(value):
                tunable.add(name)
                objects[name] = value
            elif value:
                objects[name] = value
    return objects, functions, frozenset(tunable), frozenset(names)


def _follow(branches: list[bool | None], what: str, rest: str, names: set[str]) -> None:
    """Take note of a condition: each branch is compiled, is not, or nobody knows."""
    if what in ("ifdef", "ifndef"):
        # A compiler defines names that begin so.
        known = None if rest.startswith("__") else (rest in names) == (what == "ifdef")
        branches.append(known)
    elif what == "if":
        branches.append(None)
    elif what in ("else", "elif") and branches:
        branches[-1] = None if what == "elif" or branches[-1] is None else not branches[-1]
    elif what == "endif" and branches:
        branches.pop()


_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def limited() -> Iterator[None]:
    """Within this, all calls of `expand` together look at a limited number of tokens: less than a second of work.

    Functions that call each other several times make a text that grows with each level.
    """
    before = _left.set([_MOST_WORK])
    try:
        yield
    finally:
        _left.reset(before)


def expand(
    tokens: list[str] | tuple[str, ...],
    objects: dict[str, tuple[str, ...]],
    functions: dict[str, Macro],
    busy: frozenset[str] = frozenset(),
) -> list[str]:
    """Expand the macros, except those that are whole numbers: their names are clearer than their values.

    Texts beyond the limit of `limited`, or of one text, are dropped.
    """
    return _expand(tokens, objects, functions, busy, _left.get() or [_MOST_WORK])


def _expand(
    tokens: list[str] | tuple[str, ...],
    objects: dict[str, tuple[str, ...]],
    functions: dict[str, Macro],
    busy: frozenset[str],
    left: list[int],
) -> list[str]:
    """Expand macros; `left` has the number of tokens that may still be looked at, and is counted down."""
    out: list[str] = []
    at = 0
    while at < len(tokens) and len(out) < MOST_TOKENS and left[0] > 0:
        left[0] -= 1
        token = tokens[at]
        start = _opening(tokens, at + 1) if token in functions and token not in busy and len(busy) < DEEPEST else 0
        if start:
            names, value = functions[token]
            while out[-1:] == ["::"]:  # the namespace of a small function: ``utils::ceil_div(n, 16)``
                del out[-2 if len(out) > 1 and out[-2].isidentifier() else -1 :]
            end = closing(tokens, start)
            inner = [_expand(list(part), objects, functions, busy, left) for part in split(tokens[start + 1 : end])]
            given = dict(zip(names, inner, strict=False))
            if names[-1] == "...":
                rest = [word for part in inner[len(names) - 1 :] for word in (*part, ",")]
                given["__VA_ARGS__"] = rest[:-1]
            filled = [word for name in value for word in given.get(name, [name])]
            out += _expand(_pasted(filled[:MOST_TOKENS]), objects, functions, busy | {token}, left)
            at = end + 1
        elif token in objects and token not in busy and not is_whole(objects[token]) and len(busy) < DEEPEST:
            out += _expand(list(objects[token]), objects, functions, busy | {token}, left)
            at += 1
        else:
            out.append(token)
            at += 1
    return out


def _pasted(tokens: list[str]) -> list[str]:
    """Return tokens with one name in the place of two with ``##`` between them."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at : at + 2] == ["#", "#"] and out and at + 2 < len(tokens):
            out[-1] += tokens[at + 2]
            at += 3
        else:
            out.append(tokens[at])
            at += 1
    return out


def launching(tokens: list[str], lines: list[int], functions: Mapping[str, Macro]) -> tuple[list[str], list[int]]:
    """Return a file's tokens and their lines with the functions that macros make: kernels, and those that launch them.

    Parameters
    ----------
    tokens, lines
        Of the file.
    functions
        The macros with parameters.
    """
    makers = {name for name, (_, text) in functions.items() if "{" in text and {"<<<", "__global__"} & {*text}}
    if makers.isdisjoint(tokens):
        return tokens, lines
    out: list[str] = []
    kept: list[int] = []
    depth = at = 0
    while at < len(tokens):
        depth += (tokens[at] == "{") - (tokens[at] == "}")
        if depth == 0 and tokens[at] in makers and tokens[at + 1 : at + 2] == ["("]:
            end = closing(tokens, at + 1) + 1
            made = expand(tokens[at:end], {}, {tokens[at]: functions[tokens[at]]})
            out += made
            kept += [lines[at]] * len(made)
            at = end
        else:
            out.append(tokens[at])
            kept.append(lines[at])
            at += 1
    return out, kept


def _opening(tokens: list[str] | tuple[str, ...], at: int) -> int:
    """Return the place of the bracket of a call whose name ends at a place, ``name<int>(`` too; 0 for no call."""
    if at < len(tokens) and tokens[at] == "<" and ">" in tokens[at : at + 6]:
        at = tokens.index(">", at) + 1
    return at if at < len(tokens) and tokens[at] == "(" else 0


def small(functions: Iterable[Function]) -> dict[str, Macro]:
    """Return functions that only compute a whole number from whole numbers, as macros.

    Parameters
    ----------
    functions
        Functions with a body: the one statement of it returns a value.
    """
    found: dict[str, Macro] = {}
    for one in functions:
        body = one.body
        if body[:1] != ("return",) or body[-1:] != (";",) or body.count(";") > 1 or len(body) > _LONGEST:
            continue
        names = [p.name for p in one.parameters]
        if names and all(names) and not any(p.pointer for p in one.parameters):
            value = tuple(word for name in body[1:-1] for word in (("(", name, ")") if name in names else (name,)))
            found[one.name.rpartition("::")[2]] = (names, ("(", *value, ")"))
    return found


def rounded(functions: Mapping[str, Macro]) -> dict[str, Macro]:
    """Return macros of two parameters that round a quotient up, written as ``(a + b - 1) / b``."""
    return {
        name: (names, tuple(f"( ( ( {names[0]} ) + ( {names[1]} ) - 1 ) / ( {names[1]} ) )".split()))
        for name, (names, value) in functions.items()
        if len(names) == 2 and rounds_up(value, *names)
    }
