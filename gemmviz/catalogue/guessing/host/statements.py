"""Reads statements of C++ into nodes, see `gemmviz.catalogue.guessing.host.expressions`."""

from collections.abc import Sequence
from functools import lru_cache

from gemmviz.catalogue.guessing.host.expressions import (
    WORDS_OF_TYPES,
    Node,
    Reader,
    Tokens,
    end_of_angles,
    is_name,
    read,
    split_types,
)
from gemmviz.catalogue.guessing.tokens import closing, split

_IN_FRONT = {
    *(
        "const",
        "constexpr",
        "static",
        "inline",
        "volatile",
        "extern",
        "register",
        "typename",
        "struct",
        "class",
        "enum",
    ),
    *("thread_local", "mutable", "__restrict__", "__device__", "__constant__", "__host__", "__managed__", "alignas"),
}
_STARTERS = {"if", "for", "while", "do", "switch", "return", "break", "continue", "try", "catch", "case", "default"}
_NO_DECLARATIONS = {"delete", "new", "throw", "goto", "using", "typedef", "template", "public", "private", "else"}
_KEPT, _LONGEST = 512, 20_000
Block = tuple[Node, ...]


@lru_cache(_KEPT)
def statements(tokens: Tokens) -> Block:
    """Return the statements of a function's body."""
    reader = _Reader(tokens[:_LONGEST])
    found = []
    while reader.at < len(reader.tokens):
        before = reader.at
        found.append(reader.statement())
        if reader.at == before:
            reader.at += 1
    return tuple(found)


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens, self.at = tokens, 0

    def next(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def statement(self) -> Node:
        token = self.next()
        if token == "{":
            end = closing(self.tokens, self.at)
            inside = self.tokens[self.at + 1 : end]
            self.at = end + 1
            return ("block", statements(inside))
        if token == ";":
            self.at += 1
            return ("block", ())
        if token in _STARTERS:
            return self._started(token)
        end = self._end()
        whole = self.tokens[self.at : end]
        if token in ("using", "typedef"):
            self.at = end + 1
            return _alias(whole)
        if token in ("struct", "class", "union", "enum") and "{" in whole:
            self.at = end + 1
            return ("block", ())
        if is_name(token) and self.next(1) == ":" and self.next(2) != ":":
            self.at += 2  # a label
            return ("block", ())
        self.at = end + 1
        return declaration(whole) or ("expression", read(whole))

    def _end(self) -> int:
        """Return the place of the semicolon that ends a statement."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at] not in (";", "}"):
            at = closing(self.tokens, at) + 1 if self.tokens[at] in ("(", "[", "{") else at + 1
        return min(at, len(self.tokens))

    def _bracket(self) -> Tokens:
        end = closing(self.tokens, self.at)
        inside = self.tokens[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _body(self) -> Block:
        found = self.statement() if self.at < len(self.tokens) else ("block", ())
        return found[1] if found[0] == "block" else (found,)

    def _started(self, token: str) -> Node:
        self.at += 1
        if token == "if":
            if self.next() == "constexpr":
                self.at += 1
            head = split(self._bracket(), ";")
            then = self._body()
            other: Block = ()
            if self.next() == "else":
                self.at += 1
                other = self._body()
            first = tuple(filter(None, (declaration(part) for part in head[:-1])))
            test = ("if", _condition(head[-1] if head else ()), then, other)
            return ("block", (*first, test)) if first else test
        if token in ("for", "while"):
            inside = self._bracket()
            start = _in_head(inside) if token == "for" else ("expression", _condition(inside))
            return ("loop", start, self._body())
        if token == "do":
            body = self._body()
            if self.next() == "while":
                self.at += 1
                self._bracket()
            if self.next() == ";":
                self.at += 1
            return ("block", body)
        if token == "switch":
            asked = read(self._bracket())
            return ("switch", asked, _cases(self._bracket() if self.next() == "{" else ()))
        if token == "try":
            return ("block", self._body())
        if token == "catch":
            self._bracket()
            self._body()
            return ("block", ())
        if token in ("case", "default"):
            while self.next() not in (":", ""):
                self.at += 1
            self.at += 1
            return ("block", ())
        end = self._end()
        value = self.tokens[self.at : end]
        self.at = end + 1
        return ("return", read(value) if value else ()) if token == "return" else ("leave",)


def _condition(tokens: Tokens) -> Node:
    declared = declaration(tokens)
    return declared[2][0][3][1] if declared and declared[2][0][3][:1] == ("=",) else read(tokens)


def _in_head(head: Tokens) -> Node:
    """Return the declaration in the head of a loop; each name that it declares may have many values."""
    parts = split(head, ";")
    first = parts[0] if parts else ()
    if len(parts) == 1 and ":" in first:
        cut = first.index(":")
        return ("range", declaration(first[:cut]), read(first[cut + 1 :]))
    if not first:
        return ("block", ())
    return declaration(first) or ("expression", read(first))


def _cases(body: Tokens) -> tuple[Block, ...]:
    """Return the statements for each label of a switch, to its ``break``."""
    starts: list[int] = []
    depth = 0
    for at, token in enumerate(body):
        depth += (token in "([{") - (token in ")]}")
        if depth == 0 and token in ("case", "default"):
            starts.append(at)
    blocks = []
    for first, end in zip(starts, [*starts[1:], len(body)], strict=True):
        inside = body[first:end]
        colon = next((i for i in range(len(inside)) if inside[i] == ":" and inside[i - 1 : i] != (":",)), len(inside))
        blocks.append(statements(inside[colon + 1 :]))
    return tuple(block for block in blocks if block)


def _alias(whole: Tokens) -> Node:
    if whole[0] == "using" and whole[2:3] == ("=",):
        return ("alias", whole[1], tuple(word for word in whole[3:] if word != "typename"))
    if whole[0] == "typedef" and len(whole) > 2:
        return ("alias", whole[-1], whole[1:-1])
    return ("block", ())


def declaration(tokens: Sequence[str]) -> Node | None:
    """Return ``("declare", type, names)`` of a declaration; None for another statement.

    Each name is (name, whether it is a pointer or a reference, extents of an array, how it gets its value).
    """
    tokens = tuple(tokens)
    at = 0
    while at < len(tokens) and tokens[at] in _IN_FRONT:
        at = closing(tokens, at + 1) + 1 if tokens[at] == "alignas" else at + 1
    if at >= len(tokens) or not is_name(tokens[at]) or tokens[at] in _NO_DECLARATIONS:
        return None
    start = at
    if tokens[at] in WORDS_OF_TYPES:
        while at < len(tokens) and tokens[at] in WORDS_OF_TYPES:
            at += 1
    else:
        at = _end_of_type(tokens, at)
    kind = tuple(word for word in tokens[start:at] if word not in ("const", "volatile", "constexpr"))
    if not at or at >= len(tokens):
        return None
    if tokens[at] == "(" and tokens[at + 1 : at + 2] == ("*",) and is_name((*tokens[at + 2 : at + 3], "")[0]):
        cut = tokens.index("=") if "=" in tokens else 0  # a pointer to a function
        value = ("=", read(tokens[cut + 1 :])) if cut else ()
        return ("declare", ("auto",), ((tokens[at + 2], "", (), value),))
    if tokens[at] == "[" and kind == ("auto",):
        return None
    names = []
    for part in split_types(tokens[at:]):
        made = _declarator(part)
        if made is None:
            return None
        names.append(made)
    return ("declare", kind, tuple(names)) if names else None


def _end_of_type(tokens: Tokens, at: int) -> int:
    while at < len(tokens) and is_name(tokens[at]):
        at += 1
        if tokens[at : at + 1] == ("<",):
            at = end_of_angles(tokens, at)
            if not at:
                return 0
        if tokens[at : at + 1] != ("::",):
            break
        at += 1
    while tokens[at : at + 1] == ("const",):
        at += 1
    return at


def _declarator(part: Tokens) -> Node | None:
    at = 0
    sign = ""
    while at < len(part) and part[at] in ("*", "&", "&&", "const", "__restrict__", "__restrict", "restrict"):
        sign = part[at] if part[at] in ("*", "&", "&&") else sign
        at += 1
    if at >= len(part) or not is_name(part[at]) or part[at] in WORDS_OF_TYPES:
        return None
    name = part[at]
    at += 1
    extents = []
    while part[at : at + 1] == ("[",):
        end = closing(part, at)
        extents.append(part[at + 1 : end])
        at = end + 1
    rest = part[at:]
    if not rest:
        return (name, sign, tuple(extents), ())
    if rest[0] == "=":
        return (name, sign, tuple(extents), ("=", read(rest[1:])))
    if rest[0] in ("(", "{") and closing(rest, 0) == len(rest) - 1:
        node = Reader(("T", *rest)).whole()
        return (name, sign, tuple(extents), ("made", node))
    return None
