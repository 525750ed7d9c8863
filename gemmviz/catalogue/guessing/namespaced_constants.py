"""Constants of namespaces: several may have the same name, with a value for the kernels of their own namespace."""

from collections.abc import Sequence

from gemmviz.catalogue.guessing.tokens import closing

_CONSTANT = {"constexpr", "const"}
_LONGEST = 40  # tokens of a declaration's head
_REACHED = {".", "->", "::"}


def with_own_names(tokens: list[str]) -> list[str]:
    """Return tokens in which a namespace's constant has a name of its own, where another one is called the same.

    Parameters
    ----------
    tokens
        Of a file; there are as many in the result.
    """
    spans = _spans(tokens)
    within = [_declared(tokens, start, end) for _, start, end in spans]
    outside = _declared(tokens, -1, len(tokens))
    out = list(tokens)
    for number, (name, start, end) in enumerate(spans):
        others = set().union(outside, *(names for at, names in enumerate(within) if at != number))
        twice = within[number] & others
        for at in range(start, end) if twice else ():
            if tokens[at] in twice and tokens[at - 1] not in _REACHED:
                out[at] = f"{tokens[at]}_of_{name}"
    return out


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


def _declared(tokens: Sequence[str], start: int, end: int) -> set[str]:
    """Return the constants that are declared between two brackets, and in no bracket within them."""
    found: set[str] = set()
    depth, at = 0, start + 1
    while at < end:
        depth += (tokens[at] in ("{", "(")) - (tokens[at] in ("}", ")"))
        if depth == 0 and tokens[at] in _CONSTANT:
            head = tokens[at : at + _LONGEST]
            cut = next((i for i, word in enumerate(head) if word in ("=", ";", "{", "(")), 0)
            if cut > 1 and head[cut] == "=" and head[cut - 1].isidentifier():
                found.add(head[cut - 1])
        at += 1
    return found
