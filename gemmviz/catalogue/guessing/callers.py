"""The callers of a function in the host code, and their arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.tokens import angles, closing, split

Tokens = tuple[str, ...]
_DEEPEST = 4  # functions that call each other
_LONGEST = 60  # tokens of a value


def ways_up(
    function: Function, functions: Sequence[Function], depth: int = 0
) -> Iterator[tuple[dict[str, Tokens], Tokens]]:
    """Yield a function's parameters in the words of who calls it first of all, and the names that take the result.

    Parameters
    ----------
    function
        The called function.
    functions
        Every function that may call it.
    depth
        How many calls are followed already.
    """
    called = False
    for caller in functions:
        if caller is function or depth == _DEEPEST or _means_another(caller, function, functions):
            continue
        for at, given in calls(function, caller):
            called = True
            target = caller.body[at - 2 : at - 1] if caller.body[at - 1 : at] == ("=",) else ()
            for above, targets in ways_up(caller, functions, depth + 1):
                # What a caller passes is in its own words: a name in it that is also a parameter here stays.
                passed = {name: filled(value, above, _DEEPEST - 1) for name, value in given.items()}
                yield passed, (*targets, *target)
    if not called:
        yield {}, ()


def _means_another(caller: Function, function: Function, functions: Sequence[Function]) -> bool:
    """Return whether a plain call means another function of the same name: one of a namespace nearer to the caller."""
    space, plain = space_of(function), function.name.rpartition("::")[2]
    if function.owner or ("::", plain) in zip(caller.body, caller.body[1:], strict=False):
        return False
    here = space_of(caller)
    alike = (space_of(one) for one in functions if one.name.rpartition("::")[2] == plain and not one.owner)
    nearest = max((one for one in alike if here[: len(one)] == one), key=len, default=space)
    return nearest != space


def space_of(function: Function) -> Tokens:
    """Return the namespaces of a function."""
    return tuple(function.name.split("::")[:-1])


def calls(function: Function, caller: Function) -> Iterator[tuple[int, dict[str, Tokens]]]:
    """Yield the place of each call in a function, and the values of the called function's parameters by name."""
    plain, body = function.name.rpartition("::")[2], caller.body
    for at, token in enumerate(body):
        if token == function.owner != "":
            given = _by_owner(function, body, at)
            if given:
                yield at, given
        elif token == plain and (not function.owner or function.owner == caller.owner):
            template, opening = _template_of(body, at + 1)
            if body[opening : opening + 1] == ("(",):
                yield at, _by_arguments(function, body, template, opening)


def _by_arguments(function: Function, body: Tokens, template: list[Tokens], opening: int) -> dict[str, Tokens]:
    given = {name: _tokens(default) for _, name, default in function.template if default}
    given |= dict(zip((name for _, name, _ in function.template), template, strict=False))
    arguments = split(body[opening + 1 : closing(body, opening)])
    return given | dict(zip((p.name for p in function.parameters), arguments, strict=False))


def _by_owner(function: Function, body: Tokens, at: int) -> dict[str, Tokens]:
    """Return a member's template arguments by its structure: ``Gemm<64, 32>::run(m, n)``, ``Gemm<64, 32> op``."""
    of_type, behind = angles(body, at + 1)
    given = dict(zip(function.owner_template, of_type, strict=False))
    if body[behind : behind + 2] == ("::", function.name.rpartition("::")[2]):
        template, opening = _template_of(body, behind + 2)
        if body[opening : opening + 1] == ("(",):
            given |= _by_arguments(function, body, template, opening)
    return given


def filled(tokens: Tokens, values: Mapping[str, Tokens], depth: int = 0) -> Tokens:
    """Return tokens with values in the place of names."""
    out: list[str] = []
    for token in tokens:
        value = values.get(token) if depth < _DEEPEST else None
        if len(out) > _LONGEST:  # nothing that anybody wrote
            break
        if not value or value == (token,) or len(value) > _LONGEST:
            out.append(token)
        else:
            inner = filled(value, {name: v for name, v in values.items() if name != token}, depth + 1)
            out += inner if len(inner) == 1 else ["(", *inner, ")"]
    return tuple(out)


def _template_of(body: Tokens, at: int) -> tuple[list[Tokens], int]:
    """Return the template arguments that begin at a place, and the place behind them."""
    if body[at : at + 1] != ("<",):
        return [], at
    end = next((i for i in range(at, min(at + 200, len(body))) if body[i] == ">" and body[i + 1 : i + 2] == ("(",)), at)
    return split(body[at + 1 : end]), end + 1


def _tokens(text: str) -> Tokens:
    return tuple(re.findall(r"\w+|[^\s\w]", text))
