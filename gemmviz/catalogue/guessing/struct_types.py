"""Structures that hold constants, such as ``Shape<128, 64>::rows``, and the names that a file gives to such types."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gemmviz.catalogue.guessing.tokens import closing, is_computed, split, split_arguments

Tokens = tuple[str, ...]
_DEEPEST = 6
_LONGEST = 400  # tokens of a type or of a head


@dataclass(frozen=True)
class StructType:
    """A structure with whole constants.

    Attributes
    ----------
    parameters
        The names of its template's parameters.
    members
        The value of each constant, in terms of the parameters and of the other constants.
    types
        The type that each other name in it stands for, in terms of the parameters.
    """

    parameters: Tokens
    members: Mapping[str, Tokens]
    types: Mapping[str, Tokens] = field(default_factory=dict)

    def meant(self, name: str, arguments: Sequence[Tokens]) -> Tokens:
        """Return the type that a name in it stands for, where its template has some arguments; nothing if unknown."""
        found = self.types.get(name, ())
        given = dict(zip(self.parameters, arguments, strict=False))
        return given.get(found[0], found) if len(found) == 1 else found


def structs(tokens: Sequence[str]) -> dict[str, StructType]:
    """Return the structures of a file that have whole constants, by name."""
    found: dict[str, StructType] = {}
    for name, parameters, opens, end in bodies(tokens):
        members = _inherited(tokens, opens, found) | _members(tuple(tokens[opens + 1 : end]))
        if members:
            found[name] = StructType(parameters, members, aliases(tokens[opens + 1 : end]))
    return found


def _inherited(tokens: Sequence[str], opens: int, known: Mapping[str, StructType]) -> dict[str, Tokens]:
    """Return the constants that a structure has from those before it: ``struct Half : Tile<64> {``."""
    found: dict[str, Tokens] = {}
    head = next((i for i in range(opens, max(opens - _LONGEST, 0), -1) if tokens[i] in ("struct", "class")), opens)
    for base in split(tuple(tokens[head + 3 : opens])) if tuple(tokens[head + 2 : head + 3]) == (":",) else ():
        kind = base[next((i for i, word in enumerate(base) if word in known), len(base)) :]
        for member in known[kind[0]].members if kind else ():
            found[member] = _value(kind, member, known, {}, 0)
    return found


def bodies(tokens: Sequence[str]) -> Iterator[tuple[str, Tokens, int, int]]:
    """Yield name, names of the template's parameters, and the places of the brackets of each structure of a file.

    One with a ``typedef`` has the name behind it, too.
    """
    for at in (i for i, token in enumerate(tokens) if token in ("struct", "class")):
        is_derived = tuple(tokens[at + 2 : at + 3]) == (":",)
        ends = "{;" if is_derived else "{;()=>,"
        opens = next((i for i in range(at, min(at + _LONGEST, len(tokens))) if tokens[i] in ends), at)
        if tokens[opens] != "{" or opens == at:
            continue
        end = closing(tokens, opens)
        if opens >= at + 2:
            yield tokens[at + 1], _parameters(tokens, at), opens, end
        if tuple(tokens[at - 1 : at]) == ("typedef",) and end + 1 < len(tokens):
            yield tokens[end + 1], (), opens, end


def specialised(tokens: Sequence[str]) -> list[tuple[Tokens, StructType]]:
    """Return the structures with whole constants that a template has for some arguments, and these arguments.

    ``template <> struct Tile<2> { static constexpr int rows = 64; };``
    """
    found: list[tuple[Tokens, StructType]] = []
    for at in (i for i, token in enumerate(tokens) if token in ("struct", "class")):
        if tuple(tokens[at + 2 : at + 3]) != ("<",) or tuple(tokens[at - 1 : at]) != (">",):
            continue
        ends = next((i for i in range(at, min(at + _LONGEST, len(tokens))) if tokens[i] in "{;("), at)
        if tokens[ends] == "{" and tokens[ends - 1] == ">":
            members = _members(tuple(tokens[ends + 1 : closing(tokens, ends)]))
            found += [(tuple(tokens[at + 1 : ends]), StructType((), members))] if members else []
    return found


def _members(body: Tokens) -> dict[str, Tokens]:
    found: dict[str, Tokens] = {}
    for statement in split(body, ";"):
        if "enum" in statement and "{" in statement:
            opens = statement.index("{")
            parts = split(statement[opens + 1 : closing(statement, opens)])
        else:
            parts = split(statement) if {"static", "constexpr"} & set(statement) else []
        for part in parts:
            cut = part.index("=") if "=" in part else 0
            if cut and part[cut - 1].isidentifier() and is_computed(part[cut + 1 :]):
                found[part[cut - 1]] = part[cut + 1 :]
    return found


def _parameters(tokens: Sequence[str], at: int) -> Tokens:
    """Return the names of the template's parameters that stand in front of a structure."""
    if tuple(tokens[at - 1 : at]) != (">",):
        return ()
    start = next((i for i in range(at, max(at - _LONGEST, -1), -1) if tokens[i] == "template"), at)
    heads = (part[: part.index("=")] if "=" in part else part for part in split(tokens[start + 2 : at - 1]))
    return tuple(head[-1] for head in heads if head)


def aliases(tokens: Sequence[str]) -> dict[str, Tokens]:
    """Return the types that a text names: ``using Tile = Shape<128, 64>;`` and ``typedef Shape<128, 64> Tile;``."""
    found: dict[str, Tokens] = {}
    for at, token in enumerate(tokens):
        if token not in ("using", "typedef"):
            continue
        end = next((i for i in range(at, min(at + _LONGEST, len(tokens))) if tokens[i] == ";"), at)
        if token == "using" and tuple(tokens[at + 2 : at + 3]) == ("=",):
            found[tokens[at + 1]] = tuple(word for word in tokens[at + 3 : end] if word != "typename")
        elif token == "typedef" and end > at + 2:
            found[tokens[end - 1]] = tuple(tokens[at + 1 : end - 1])
    return found


def with_members(
    tokens: Sequence[str], known: Mapping[str, StructType], named: Mapping[str, Tokens], depth: int = 0
) -> list[str]:
    """Return tokens with the value in the place of each constant of a structure.

    Parameters
    ----------
    tokens
        Code.
    known
        From `structs`.
    named
        Further names of such types, from `aliases`.
    """
    if not known:
        return list(tokens)
    out: list[str] = []
    at = 0
    while at < len(tokens):
        kind, behind = _type_at(tokens, at, known, named)
        member = tokens[behind + 1] if kind and behind + 1 < len(tokens) and tokens[behind] == "::" else ""
        value = _value(kind, member, known, named, depth) if member else ()
        if value:
            out += ["(", *value, ")"]
            at = behind + 2
        else:
            out.append(tokens[at])
            at += 1
    return out


def spelled(tokens: Sequence[str]) -> str:
    """Return a type as people write it."""
    return " ".join(tokens).replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::")


def space_of(name: str, tokens: Sequence[str]) -> str:
    """Return the namespaces around the definition of a structure: ``outer::inner``; empty where there are none."""
    around: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "namespace":
            end = next((i for i in range(at, len(tokens)) if tokens[i] in ("{", ";", "=")), len(tokens))
            around += ["".join(tokens[at + 1 : end])] if tokens[end : end + 1] and tokens[end] == "{" else []
            at = end
        elif token == "{":
            around.append("")
        elif token == "}":
            del around[-1:]
        elif token == name and tokens[at - 1] in ("struct", "class") and tokens[at + 1 : at + 2] != [";"]:
            return "::".join(filter(None, around))
        at += 1
    return ""


def full_type(argument: Tokens, known: Mapping[str, StructType], named: Mapping[str, Tokens]) -> Tokens:
    """Return a type without further names for it and its arguments; nothing where it is none of the structures."""
    for _ in range(_DEEPEST):
        if len(argument) != 1 or argument[0] not in named:
            break
        argument = named[argument[0]]
    return _without_names(argument, named) if argument and argument[0] in known else ()


def _without_names(tokens: Tokens, named: Mapping[str, Tokens], depth: int = 0) -> Tokens:
    """Return a type with the meaning of each further name among its arguments."""
    out: list[str] = []
    for at, word in enumerate(tokens):
        alone = "::" not in (*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2])
        meant = named.get(word) if alone and depth < _DEEPEST else None
        out += _without_names(meant, named, depth + 1) if meant else (word,)
        if len(out) > _LONGEST:
            return tokens
    return tuple(out)


def _type_at(
    tokens: Sequence[str], at: int, known: Mapping[str, StructType], named: Mapping[str, Tokens]
) -> tuple[Tokens, int]:
    """Return the structure that is named at a place, and the place behind it; nothing where none is."""
    if tokens[at] in named:
        return full_type((tokens[at],), known, named), at + 1
    if tokens[at] not in known:
        return (), at
    if tuple(tokens[at + 1 : at + 2]) != ("<",):
        return (tokens[at],), at + 1
    depth = 0
    for end in range(at + 1, min(at + _LONGEST, len(tokens))):
        depth += (tokens[end] == "<") - (tokens[end] == ">")
        if depth == 0:
            return tuple(tokens[at : end + 1]), end + 1
    return (), at


def _value(
    kind: Tokens, member: str, known: Mapping[str, StructType], named: Mapping[str, Tokens], depth: int
) -> Tokens:
    struct = known[kind[0]]
    tokens = struct.members.get(member)
    if tokens is None or depth > _DEEPEST:
        return ()
    given = dict(zip(struct.parameters, split_arguments(kind[2:-1]), strict=False))
    out: list[str] = []
    for word in tokens:
        of_another = out[-1:] == ["::"]  # ``Block::rows``
        own = given.get(word) or (_value(kind, word, known, named, depth + 1) if word != member else ())
        inner = () if of_another else own
        out += inner if inner and inner[0] in known else ["(", *inner, ")"] if inner else [word]
    return tuple(with_members(out, known, named, depth + 1))
