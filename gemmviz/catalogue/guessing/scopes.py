"""Renames local variables so that each has a unique name, where the source uses one name in several scopes."""

import re
from collections.abc import Sequence

from gemmviz.catalogue.guessing.tokens import closing

_TYPES = {
    *(
        "int",
        "unsigned",
        "long",
        "short",
        "size_t",
        "uint",
        "auto",
        "float",
        "double",
        "half",
        "__half",
        "nv_half",
        "__nv_half",
        "bool",
        "char",
    ),
    *("uint32_t", "int32_t", "int64_t", "uint64_t", "float2", "float4", "int2", "int4", "const"),
}
_MOST_DECLARATIONS = 200


def rename(tokens: Sequence[str]) -> list[str]:
    """Return the tokens with the second, third, ... variable of one name called ``name__2``, ``name__3``, ..."""
    words = list(tokens)
    declared = list(_declarations(words))[:_MOST_DECLARATIONS]
    seen: dict[str, int] = {}
    # Inner scopes are renamed later: their variables then no longer have the name of the outer one.
    for at in declared:
        name = tokens[at]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            for place in range(at, min(_scope_end(words, at), len(words))):
                if tokens[place] == name and words[place - 1] not in (".", "->"):
                    words[place] = f"{name}__{seen[name]}"
    return words


def _declarations(tokens: list[str]) -> list[int]:
    found = []
    at = 0
    while at < len(tokens) - 1:
        if tokens[at] in _TYPES and (at == 0 or tokens[at - 1] not in ("<", ",")):
            place = at + 1
            while place < len(tokens) and (tokens[place] in _TYPES or tokens[place] in ("*", "&", "__restrict__")):
                place += 1
            while place + 1 < len(tokens) and re.match(r"[A-Za-z_]\w*$", tokens[place]):
                if tokens[place + 1] not in ("=", ";", ",", "["):
                    break
                found.append(place)
                place = _end(tokens, place + 1)
                if place >= len(tokens) or tokens[place] != ",":
                    break
                place += 1
            at = max(place, at + 1) if found else at + 1
        else:
            at += 1
    return found


def _end(tokens: list[str], at: int) -> int:
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in "([{") - (tokens[place] in ")]}")
        if depth < 0 or (depth == 0 and tokens[place] in ",;"):
            return place
    return len(tokens)


def _scope_end(tokens: list[str], at: int) -> int:
    """Return the end of the scope of a declaration: the end of its block, or of its loop if it is in the head."""
    depth = 0
    for place in range(at, -1, -1):
        depth += (tokens[place] in ")}]") - (tokens[place] in "({[")
        if depth < 0:
            if tokens[place] == "{":
                return closing(tokens, place)
            if tokens[place] == "(" and place and tokens[place - 1] in ("for", "while", "if"):
                return _statement_end(tokens, closing(tokens, place) + 1)
            depth = 0
    return len(tokens)


def _statement_end(tokens: list[str], at: int) -> int:
    while at < len(tokens) and tokens[at] in ("for", "while", "if"):
        at = closing(tokens, at + 1) + 1
    if at < len(tokens) and tokens[at] == "{":
        return closing(tokens, at) + 1
    while at < len(tokens) and tokens[at] != ";":
        at = closing(tokens, at) + 1 if tokens[at] in ("(", "{", "[") else at + 1
    return at + 1
