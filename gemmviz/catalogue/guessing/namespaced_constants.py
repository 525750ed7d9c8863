"""Constants of namespaces: several may have the same name, with a value for the kernels of their own namespace."""

from collections.abc import Mapping, Sequence

from gemmviz.catalogue.guessing.tokens import closing, split

_CONSTANT = {"constexpr", "const"}
_LONGEST = 40  # tokens of a declaration's head
_Tokens = tuple[str, ...]
_REACHED = {".", "->", "::"}


def with_own_names(tokens: list[str]) -> list[str]:
    """Return tokens in which a namespace's constant has a name of its own, where another one has another value.

    Parameters
    ----------
    tokens
        Of a file; there are as many in the result.
    """
    spans = _spans(tokens)
    within = [_declared(tokens, start, end) for _, start, end in spans]
    everywhere = [_declared(tokens, -1, len(tokens)), *within]
    out = list(tokens)
    for (name, start, end), own in zip(spans, within, strict=True):
        twice = _of_own_value(own, [one for one in everywhere if one is not own])
        for at in range(start, end) if twice else ():
            if tokens[at] in twice and tokens[at - 1] not in _REACHED:
                out[at] = f"{tokens[at]}_of_{name}"
    return out


def _of_own_value(own: Mapping[str, _Tokens], others: Sequence[Mapping[str, _Tokens]]) -> set[str]:
    """Return the names that have another value elsewhere, by their own text or by the names in it."""
    named = {name for name in own if any(name in one for one in others)}
    found = {name for name in named if any(one.get(name, own[name]) != own[name] for one in others)}
    while more := {name for name in named - found if not found.isdisjoint(own[name])}:
        found |= more
    return found


def _spans(tokens: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the outermost namespaces with a name: the name, and the places of their brackets."""
    found: list[tuple[str, int, int]] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == "namespace" and list(tokens[at + 2 : at + 3]) == ["{"] and tokens[at + 1].isidentifier():
            end = closing(tokens, at + 2)
            found.append((tokens[at + 1], at + 2, end))
            at = end
        at += 1
    return found


def _declared(tokens: Sequence[str], start: int, end: int) -> dict[str, _Tokens]:
    """Return the constants that are declared between two brackets, and in no bracket within them, with their values."""
    found: dict[str, _Tokens] = {}
    depth, at = 0, start + 1
    while at < end:
        depth += (tokens[at] in ("{", "(")) - (tokens[at] in ("}", ")"))
        if depth == 0 and tokens[at] in _CONSTANT:
            head = tokens[at : at + _LONGEST]
            cut = next((i for i, word in enumerate(head) if word in ("=", ";", "{", "(")), 0)
            if cut > 1 and head[cut] == "=" and head[cut - 1].isidentifier():
                found[head[cut - 1]] = next(iter(split(head[cut + 1 :], ";")), ())
        at += 1
    return found
