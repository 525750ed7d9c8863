"""Reads expressions of C++ into nodes: tuples of a kind and its parts."""

from collections.abc import Sequence
from typing import Any

from gemmviz.catalogue.guessing.tokens import closing, split

Node = tuple[Any, ...]
Tokens = tuple[str, ...]
UNREAD: Node = ("unread",)
"""Stands for code that could not be read."""
WORDS_OF_TYPES = frozenset(
    (
        *("void", "int", "unsigned", "signed", "long", "short", "char", "bool", "float", "double", "auto", "const"),
        *(
            "volatile",
            "constexpr",
            "size_t",
            "uint",
            "ptrdiff_t",
            "half",
            "__half",
            "nv_half",
            "__nv_half",
            "__nv_bfloat16",
        ),
        *("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"),
        *("uintptr_t", "intptr_t"),
    )
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<=", ">>=")
_BEFORE_ARGUMENTS = ("(", "::", "<<<", "{", ";", ")", ",", ">", "]", "}", "")
_CASTS = ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast")
_LONGEST_ANGLES = 200
_DEEPEST = 60


def is_name(token: str) -> bool:
    """Return whether a token is an identifier."""
    return token.isidentifier()


def end_of_angles(tokens: Sequence[str], at: int) -> int:
    """Return the place behind template arguments that begin at a place; 0 where none do."""
    depth = 0
    place = at
    while place < min(at + _LONGEST_ANGLES, len(tokens)):
        token = tokens[place]
        if token in ("(", "[", "{"):
            place = closing(tokens, place)
        elif token in (")", "]", "}", ";", "&&", "||", "<<<", "==", "!=", "+=", "="):
            return 0
        depth += (token == "<") - (token == ">") - 2 * (token == ">>") - 3 * (token == ">>>")
        place += 1
        if depth <= 0:
            return place
    return 0


class Reader:
    """Reads the expressions of one list of tokens."""

    def __init__(self, tokens: Sequence[str], depth: int = 0) -> None:
        self.tokens, self.at, self.depth = tuple(tokens), 0, depth

    def next(self, ahead: int = 0) -> str:
        """Return a token that was not read yet; an empty text behind the last one."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def whole(self) -> Node:
        """Return the node of all tokens."""
        if self.depth > _DEEPEST:
            return UNREAD
        found = self.assignment()
        while self.next() == ",":
            self.at += 1
            found = ("comma", found, self.assignment())
        return found if self.at >= len(self.tokens) else UNREAD

    def assignment(self) -> Node:
        """Return the node of an expression without commas."""
        left = self.choice()
        if self.next() in _ASSIGN:
            sign = self.next()
            self.at += 1
            return ("assign", sign, left, self.assignment())
        return left

    def choice(self) -> Node:
        """Return the node of an expression that may be a choice, ``a ? b : c``."""
        asked = self.level(0)
        if self.next() != "?":
            return asked
        self.at += 1
        one = self.assignment()
        if self.next() != ":":
            return UNREAD
        self.at += 1
        return ("choice", asked, one, self.assignment())

    def level(self, number: int) -> Node:
        """Return the node of an expression of operators of a rank and higher ones."""
        if number == len(_LEVELS):
            return self.unary()
        left = self.level(number + 1)
        while self.next() in _LEVELS[number]:
            sign = self.next()
            self.at += 1
            left = ("binary", sign, left, self.level(number + 1))
        return left

    def unary(self) -> Node:
        """Return the node of an operand, with the operators in front of it."""
        token = self.next()
        if token in ("-", "+", "!", "~", "*", "&", "++", "--"):
            self.at += 1
            return ("unary", token, self.unary())
        if token == "(":
            end = closing(self.tokens, self.at)
            inside = self.tokens[self.at + 1 : end]
            behind = self.tokens[end + 1] if end + 1 < len(self.tokens) else ""
            if self._is_cast(inside, behind):
                self.at = end + 1
                return ("cast", inside, self.unary())
        if token in ("new", "delete", "throw", "co_await"):
            self.at = len(self.tokens)
            return UNREAD
        if token == "sizeof":
            self.at += 1
            if self.next() == "...":
                self.at += 1
            end = closing(self.tokens, self.at) if self.next() == "(" else self.at + 1
            inside = self.tokens[self.at + 1 : end] if self.next() == "(" else self.tokens[self.at : end]
            self.at = end + (self.next() == "(")
            return ("sizeof", inside)
        return self.behind(self.single())

    def _is_cast(self, inside: Tokens, behind: str) -> bool:
        if not inside or not (
            behind and (is_name(behind) or behind[0].isdigit() or behind in ('"', "(", "&", "*", "-"))
        ):
            return False
        words = {word for word in inside if word not in ("*", "&", "&&", "::", "std")}
        if words and words <= WORDS_OF_TYPES:
            return True
        pointed = inside[-1] in ("*", "&&") and all(is_name(w) or w in ("*", "::", "<", ">", ",") for w in inside)
        plain = all(is_name(word) or word == "::" for word in inside)
        return pointed or (plain and (is_name(behind) or behind[0].isdigit()))

    def single(self) -> Node:
        """Return the node of an operand without operators."""
        token = self.next()
        if token == "(":
            end = closing(self.tokens, self.at)
            inside = Reader(self.tokens[self.at + 1 : end], self.depth + 1).whole()
            self.at = end + 1
            return inside
        if token == "{":
            return ("braces", (), self._items())
        if token == "[":
            return self._lambda()
        if token == '"':
            while self.next() == '"':
                self.at += 2
            return ("text",)
        if token and (token[0].isdigit() or (token == "." and self.next(1)[:1].isdigit())):
            self.at += 1
            while self.next().startswith("'") or (self.tokens[self.at - 1] == "'" and self.next()[:1].isdigit()):
                self.at += 1
            return ("number", token)
        if token in _CASTS and self.next(1) == "<":
            end = end_of_angles(self.tokens, self.at + 1)
            kind = self.tokens[self.at + 2 : end - 1]
            self.at = end or len(self.tokens)
            return ("cast", kind, self.single())
        if token == "::" or is_name(token):
            return self._named()
        self.at = len(self.tokens) + 1
        return UNREAD

    def _named(self) -> Node:
        path: list[str] = []
        given: tuple[Tokens, ...] | None = None
        of_owner: tuple[Tokens, ...] | None = None
        while True:
            if self.next() == "::":
                self.at += 1
                of_owner, given = given if given is not None else of_owner, None
            if self.next() == "template":
                self.at += 1
            if not is_name(self.next()):
                break
            path.append(self.next())
            self.at += 1
            if self.next() == "<":
                end = end_of_angles(self.tokens, self.at)
                behind = self.tokens[end] if end and end < len(self.tokens) else ""
                if end and behind in _BEFORE_ARGUMENTS:
                    given = tuple(split_types(self.tokens[self.at + 1 : end - 1]))
                    self.at = end
            if self.next() != "::":
                break
        path = path[1:] if path[:1] == ["std"] and len(path) > 1 else path
        while len(path) == 1 and path[0] in WORDS_OF_TYPES and self.next() in WORDS_OF_TYPES:
            self.at += 1
        return ("name", tuple(path), given, of_owner)

    def behind(self, node: Node) -> Node:
        """Return a node with the calls, members and indices that stand behind it."""
        while True:
            token = self.next()
            if token == "(":
                end = closing(self.tokens, self.at)
                node = ("call", node, self._list(self.at, end))
                self.at = end + 1
            elif token == "<<<":
                end = next((i for i in range(self.at, len(self.tokens)) if self.tokens[i] == ">>>"), 0)
                if not end or self.tokens[end + 1 : end + 2] != ("(",):
                    return UNREAD
                parts = tuple(Reader(part, self.depth + 1).whole() for part in split(self.tokens[self.at + 1 : end]))
                last = closing(self.tokens, end + 1)
                node = ("launch", node, parts, self._list(end + 1, last))
                self.at = last + 1
            elif token == "{" and node[0] == "name":
                node = ("braces", node, self._items())
            elif token == "[":
                end = closing(self.tokens, self.at)
                node = ("index", node, Reader(self.tokens[self.at + 1 : end], self.depth + 1).whole())
                self.at = end + 1
            elif token in (".", "->") and is_name(self.next(1)):
                self.at += 1 + (self.next(1) == "template")
                node = ("member", node, self.next())
                self.at += 1
                if self.next() == "<":
                    end = end_of_angles(self.tokens, self.at)
                    if end and self.tokens[end : end + 1] == ("(",):
                        self.at = end
            elif token in ("++", "--"):
                self.at += 1
                node = ("unary", token, node)
            else:
                return node

    def _list(self, start: int, end: int) -> tuple[Node, ...]:
        found: list[Node] = []
        for part in split_types(self.tokens[start + 1 : end]):
            expands = part[-3:] == (".", ".", ".")
            node = Reader(part[:-3] if expands else part, self.depth + 1).whole()
            found.append(("expand", node) if expands else node)
        return tuple(found)

    def _items(self) -> tuple[tuple[str, Node], ...]:
        """Return the values in braces, each with the member that it names, or an empty text."""
        end = closing(self.tokens, self.at)
        items = []
        for part in split_types(self.tokens[self.at + 1 : end]):
            named = part[:1] == (".",) and part[2:3] in (("=",), ("{",))
            value = part[3 if part[2:3] == ("=",) else 2 :] if named else part
            items.append((part[1] if named else "", Reader(value, self.depth + 1).whole()))
        self.at = end + 1
        return tuple(items)

    def _lambda(self) -> Node:
        self.at = closing(self.tokens, self.at) + 1
        parameters: tuple[Tokens, ...] = ()
        if self.next() == "(":
            end = closing(self.tokens, self.at)
            parameters = tuple(split_types(self.tokens[self.at + 1 : end]))
            self.at = end + 1
        while self.next() and self.next() != "{":
            self.at += 1
        end = closing(self.tokens, self.at)
        body = self.tokens[self.at + 1 : end]
        self.at = end + 1
        return ("lambda", parameters, body)


def split_types(tokens: Sequence[str]) -> list[Tokens]:
    """Split tokens at the commas outside all brackets; the commas of template arguments do not count."""
    parts: list[Tokens] = []
    waiting: list[str] = []
    for part in split(tokens):
        waiting += ([","] if waiting else []) + list(part)
        opened = sum((w == "<") - (w == ">") - 2 * (w == ">>") for w in waiting)
        first = waiting.index("<") if "<" in waiting else 0
        template = opened > 0 and first > 0 and is_name(waiting[first - 1])
        if not (template and _closes_later(tokens, waiting)):
            parts.append(tuple(waiting))
            waiting = []
    return [*parts, tuple(waiting)] if waiting else parts


def _closes_later(tokens: Sequence[str], waiting: Sequence[str]) -> bool:
    start = list(waiting).index("<")
    joined = list(tokens)
    # The brackets that are open here close in the rest of the list, or this is a comparison.
    for at in range(len(joined) - start):
        if joined[at : at + start + 1] == list(waiting[: start + 1]):
            return bool(end_of_angles(joined, at + start))
    return False


def read(tokens: Sequence[str]) -> Node:
    """Return the node of an expression."""
    return Reader(tokens).whole()
