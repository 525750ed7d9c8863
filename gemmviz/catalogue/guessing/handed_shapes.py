"""Functions that get the grid and the block of a launch from their callers: ``run(a, b, c, grid, block)``."""

from collections.abc import Sequence

from gemmviz.catalogue.guessing.callers import calls
from gemmviz.catalogue.guessing.functions import Function

Tokens = tuple[str, ...]
_DEEPEST = 3
_LONGEST = 20_000


def with_shapes_of_callers(function: Function, functions: Sequence[Function], depth: int = 0) -> Tokens:
    """Return a function's body; if it gets a ``dim3``, after the declarations of its first caller before the call.

    Parameters
    ----------
    function
        The function.
    functions
        Every function that may call it.
    depth
        How many calls are followed already.
    """
    shapes = [p.name for p in function.parameters if p.type == "dim3" and not p.pointer]
    if not shapes or depth == _DEEPEST:
        return function.body
    for caller in functions:
        for at, given in calls(function, caller) if caller is not function else ():
            before = with_shapes_of_callers(caller, functions, depth + 1)
            before = before[: len(before) - len(caller.body) + at]
            if len(before) > _LONGEST:
                return function.body
            return (*_in_the_words_of(function, given, before), *_declared(shapes, given), *function.body)
    return function.body


def _in_the_words_of(function: Function, given: dict[str, Tokens], before: Tokens) -> Tokens:
    """Return a caller's code without launches, and with the names of a function's parameters for its arguments."""
    names = {
        given[p.name][0]: p.name
        for p in function.parameters
        if p.type != "dim3" and len(given.get(p.name, ())) == 1
        if p.name not in before and given[p.name][0].isidentifier()
    }
    return tuple(";" if word == "<<<" else names.get(word, word) for word in before)


def _declared(shapes: list[str], given: dict[str, Tokens]) -> Tokens:
    found: list[str] = []
    for name in shapes:
        value = given.get(name, ())
        if value == (name,) or not value:
            continue
        plain = value[0] == "dim3" or (len(value) == 1 and value[0].isidentifier())
        found += ["dim3", name, "=", *value, ";"] if plain else ["dim3", name, "(", *value, ")", ";"]
    return tuple(found)
