"""Constant structures, such as ``constexpr Tiles tiles = {128, 64}``: their members are constants, too."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.struct_types import bodies
from gemmviz.catalogue.guessing.tokens import closing, is_whole, split

Tokens = tuple[str, ...]
_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_MEMBERS = {"static", "using", "typedef", "template", "enum", "friend", "struct", "operator", "return"}
# With one of these in front of it a brace opens a body.
_NO_VALUE = {"(", "=", "struct", "class", "union", "enum", "namespace", "operator"}
Fields = dict[str, Tokens]
"""The names of a structure's members, each with its default value; an empty one without a default."""


@dataclass(frozen=True)
class Objects:
    """The structures that a text declares, and its constant objects outside functions: members by object."""

    types: Mapping[str, Fields] = field(default_factory=dict)
    values: Mapping[str, Fields] = field(default_factory=dict)

    def and_those_of(self, tokens: Sequence[str]) -> "Objects":
        """Return these and those of a further text."""
        types = {**self.types, **fields(tokens)}
        return Objects(types, {**self.values, **_values(tokens, types)})

    def filled(self, function: Function) -> Function:
        """Return a function in which the members of constant objects are replaced by their values."""
        if not self.types:
            return function
        known = {**self.values, **_values(function.body, self.types)}
        return replace(function, body=_filled(function.body, known)) if known else function


def fields(tokens: Sequence[str]) -> dict[str, Fields]:
    """Return the members of each structure of a text that has only plain members and functions."""
    found: dict[str, Fields] = {}
    for name, _, opens, end in bodies(tokens):
        members: Fields = {}
        for statement in _statements(tokens[opens + 1 : end]):
            head = statement[: statement.index("=")] if "=" in statement else statement
            if not _NO_MEMBERS.isdisjoint(statement) or "(" in head:
                continue
            for number, part in enumerate(split(statement)):
                cut = part.index("=") if "=" in part else len(part)
                words = [word for word in part[:cut] if _NAME.fullmatch(word)]
                if len(words) > (number == 0) and "[" not in part[:cut]:
                    members[words[-1]] = part[cut + 1 :]
        if members:
            found[name] = members
    return found


def _statements(tokens: Sequence[str]) -> list[Tokens]:
    """Return the declarations of a structure without those that have a body."""
    found: list[Tokens] = []
    part: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == "{":
            inside, at = tokens[at + 1 : closing(tokens, at)], closing(tokens, at)
            if len(part) > 1 and _NO_VALUE.isdisjoint(part) and _NAME.fullmatch(part[-1]):
                part += ["=", *inside]  # ``int rows{16}``
            elif "=" not in part:
                part = []
        elif tokens[at] == ";" or (tokens[at] == ":" and part[-1:] in (["public"], ["private"])):
            found += [tuple(part)] if tokens[at] == ";" and part else []
            part = []
        else:
            part.append(tokens[at])
        at += 1
    return found


def _values(tokens: Sequence[str], types: Mapping[str, Fields]) -> dict[str, Fields]:
    """Return the members of the objects that are declared with values of their members, or with their defaults."""
    found: dict[str, Fields] = {}
    for at, token in enumerate(tokens):
        if token not in types or tokens[at - 1] not in ("const", "constexpr", "static"):
            continue
        name = tokens[at + 1] if at + 1 < len(tokens) else ""
        opens = at + 2
        while tokens[opens : opens + 1] and tokens[opens] in ("=", token):
            opens += 1
        if not _NAME.fullmatch(name) or opens >= len(tokens) or _is_parameter(tokens, at):
            continue
        members = types[token]
        if tokens[opens] == "{":
            found[name] = _given(tuple(tokens[opens + 1 : closing(tokens, opens)]), members)
        elif tokens[opens] == ";" and opens == at + 2:
            found[name] = {key: value for key, value in members.items() if is_whole(value)}
    return {name: values for name, values in found.items() if values}


def _is_parameter(tokens: Sequence[str], at: int) -> bool:
    """Return whether a type stands in a list of parameters, whose defaults are no constants."""
    while at and tokens[at - 1] in ("const", "constexpr", "static"):
        at -= 1
    return tokens[at - 1] in ("(", ",")


def _given(inside: Tokens, members: Fields) -> Fields:
    given = {key: value for key, value in members.items() if value}
    names = list(members)
    for place, part in enumerate(split(inside)):
        if part[:1] == (".",) and "=" in part:
            given[part[1]] = part[part.index("=") + 1 :]
        elif place < len(names):
            given[names[place]] = part
    return {name: value for name, value in given.items() if is_whole(value)}


def _filled(body: Tokens, known: Mapping[str, Fields]) -> Tokens:
    out: list[str] = []
    at = 0
    while at < len(body):
        name, dot, member = (*body[at : at + 3], "", "")[:3]
        value = known.get(name, {}).get(member, ()) if dot == "." else ()
        if value and body[at + 3 : at + 4] not in (("=",), ("(",)):
            while len(out) > 1 and out[-1] == "::" and _NAME.fullmatch(out[-2]):  # ``sm80::tiles.rows``
                del out[-2:]
            out += value if len(value) == 1 else ["(", *value, ")"]
            at += 3
        else:
            out.append(body[at])
            at += 1
    return tuple(out)
