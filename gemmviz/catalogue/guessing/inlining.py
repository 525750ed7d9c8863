"""Replaces calls of device functions by their bodies, so that an index in a helper counts as one of the kernel."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.tokens import closing, split

_NAME = re.compile(r"[A-Za-z_]\w*")
_DEEPEST, _MOST_CALLS, _LONGEST = 3, 12, 20_000


def inlined(function: Function, source: ParsedSource) -> Function:
    """Return a kernel with calls replaced by bodies, where a call is a statement and has a pointer argument.

    Parameters
    ----------
    function
        The kernel.
    source
        Its file.
    """
    known = {f.name.rpartition("::")[2]: f for f in source.functions if any(p.pointer for p in f.parameters)}
    return replace(function, body=tuple(_filled(list(function.body), known, 0)))


def _filled(body: list[str], known: Mapping[str, Function], depth: int) -> list[str]:
    out: list[str] = []
    at = calls = 0
    while at < len(body):
        called = known.get(body[at])
        before = body[at - 1] if at else ";"
        end = _behind(body, at) if called and before in (";", "{", "}", ")", "else") else 0
        if not called or not end or depth >= _DEEPEST or calls >= _MOST_CALLS or len(out) > _LONGEST:
            out.append(body[at])
            at += 1
            continue
        calls += 1
        start = body.index("(", at)
        template = tuple(split(_angles(body, at + 1, start)))
        given = tuple(split(body[start + 1 : end]))
        out += ["{", *_bound(called, template, given, known, depth), "}"]
        at = end + 1 + (body[end + 1 : end + 2] == [";"])
    return out


def _behind(body: Sequence[str], at: int) -> int:
    """Return the position of the closing bracket of a call that a semicolon follows; 0 where there is no such call."""
    start = at + 1
    if body[start : start + 1] == ["<"]:
        depth = 0
        while start < len(body):
            depth += (body[start] == "<") - (body[start] == ">") - 2 * (body[start] == ">>")
            start += 1
            if depth <= 0:
                break
    if list(body[start : start + 1]) != ["("]:
        return 0
    end = closing(list(body), start)
    return end if list(body[end + 1 : end + 2]) == [";"] else 0


def _angles(body: Sequence[str], first: int, last: int) -> list[str]:
    return list(body[first + 1 : last - 1]) if list(body[first : first + 1]) == ["<"] else []


def _bound(
    called: Function,
    template: tuple[tuple[str, ...], ...],
    given: tuple[tuple[str, ...], ...],
    known: Mapping[str, Function],
    depth: int,
) -> list[str]:
    """Return the body of a function with its arguments in the place of its parameters."""
    values: dict[str, list[str]] = {}
    for (_, name, default), argument in zip(called.template, [*template, *[()] * len(called.template)], strict=False):
        value = list(argument) or default.split()
        if value:
            values[name] = value if len(value) == 1 else ["(", *value, ")"]
    head: list[str] = []
    for parameter, argument in zip(called.parameters, given, strict=False):
        if not parameter.name:
            continue
        if len(argument) == 1 and (_NAME.fullmatch(argument[0]) or argument[0].isdecimal()):
            values[parameter.name] = list(argument)
        elif parameter.pointer:
            head += [parameter.type, "*", parameter.name, "=", *argument, ";"]
        else:
            head += ["const", "int", parameter.name, "=", *argument, ";"]
    inner = _filled(list(called.body), {n: f for n, f in known.items() if f is not called}, depth + 1)
    body = [part for word in (*head, *inner) for part in values.get(word, [word])]
    return [word for word in body if word != "return"]
