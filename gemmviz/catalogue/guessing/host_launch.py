"""Reads the launch in a file's own host code: the best evidence of how its kernel is to be launched."""

import re

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.cxx import Function, HostLaunch, Source
from gemmviz.catalogue.guessing.polynomial import Polynomial, parse
from gemmviz.catalogue.guessing.roles import Evidence, Roles
from gemmviz.catalogue.guessing.shape import Shape

_CEIL = re.compile(r"\(([^()]*|\([^()]*\)) / (\w+|\([^()]*\))\)")


def find(source: Source, function: Function) -> HostLaunch | None:
    """Return the first launch of a kernel in its file, or None."""
    plain = function.name.rpartition("::")[2]
    return next((launch for launch in source.launches if launch.name == plain), None)


def shape(launch: HostLaunch, function: Function, source: Source, roles: Roles, made: Shape) -> Shape | None:
    """Return the launch as front matter gives it; None where the host code uses names that say nothing here.

    Parameters
    ----------
    launch, function, source
        From `gemmviz.catalogue.guessing.cxx.read`.
    roles
        What the parameters are: this tells what the host's own names stand for.
    made
        What the kernel itself says; its constraints are kept.
    """
    names = _names(launch, function, roles)
    params = dict(made.params)
    template = [name for kind, name, _ in function.template]
    for name, argument in zip(template, launch.template, strict=False):
        value = parse(argument, lambda word: _constant(source, word)).value
        if name in params and value is not None:
            params[name] = (value, *(v for v in params[name] if v != value)) if len(params[name]) > 1 else (value,)
        if value is None and len(argument) == 1 and name in params:
            names[argument[0]] = name
    params = {
        name: values
        for name, values in params.items()
        if not re.fullmatch(r"(BLOCK_|GV_BLOCK_|B)[XYZ]", name) or name in template or name in source.words
    }

    def expression(tokens: tuple[str, ...]) -> str:
        def look(word: str) -> Polynomial | None:
            known = names.get(word)
            return Polynomial.name(known) if known and known != word else _constant(source, word) if not known else None

        return _ceilings(str(parse(_plain(tokens), look)))

    allowed = {"M", "N", "K", *params}
    block, grid = (tuple(expression(part) for part in parts) for parts in (launch.block, launch.grid))
    shared = expression(launch.shared) if launch.shared else made.shared
    for text in (*block, *grid, shared):
        try:
            if Expression(text).names() - allowed:
                return None
        except FrontMatterError:
            return None
    block, grid = (_short(part) for part in (block, grid))
    requires = list(made.requires)
    named = {name for text in grid for name in Expression(text).names()}
    if "M" not in roles.of.values() and "M" not in named and "N" in named:
        requires.append("M == N")  # the host knows square matrices only
    why = dict(made.why)
    why["block"] = why["grid"] = Evidence(0.95, "the file launches the kernel like this itself")
    if launch.shared:
        why["shared"] = why["block"]
    return Shape(params, block, grid, shared, requires, why, made.tiles)


def _names(launch: HostLaunch, function: Function, roles: Roles) -> dict[str, str]:
    names = {}
    for parameter, argument in zip(function.parameters, launch.arguments, strict=False):
        role = roles.of.get(parameter.name, "")
        if len(argument) == 1 and role in ("M", "N", "K"):
            names[argument[0]] = role
    for role in ("M", "N", "K"):
        if role not in names.values():
            names.setdefault(role, role)
    return names


def _plain(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Drop what only makes a number a float: ``ceil(N / 16.0f)``, ``ceil((float) N / 16)``."""
    out: list[str] = []
    for token in tokens:
        number = re.fullmatch(r"(\d+)\.0*[fF]?", token)
        out.append(number[1] if number else token)
    text = " ".join(out).replace("( float )", "").replace("( double )", "").replace("sizeof ( float )", "4")
    return tuple(text.replace("sizeof ( double )", "8").replace("std :: ", "").replace("ceilf", "ceil").split())


def _constant(source: Source, word: str, depth: int = 0) -> Polynomial | None:
    tokens = source.constants.get(word)
    if tokens is None or word in source.tunable or depth > 8:
        return None
    return parse(tokens, lambda inner: _constant(source, inner, depth + 1))


def _ceilings(text: str) -> str:
    """Write C's way to round a quotient up as ``ceil``, and any other quotient as ``floor``."""

    def put(found: re.Match[str]) -> str:
        above, below = found[1], found[2]
        above = above[1:-1] if above.startswith("(") and above.endswith(")") else above
        value = parse(re.findall(r"\w+|[^\s\w]", above))
        rest = value + -parse(re.findall(r"\w+|[^\s\w]", below)) + Polynomial.number(1)
        if text[max(found.start() - 4, 0) : found.start()] == "ceil":
            return found[0]
        return (
            f"ceil({rest} / {below})"
            if len(rest.terms) < len(value.terms) and rest.terms
            else f"floor({above} / {below})"
        )

    text = _CEIL.sub(put, text)
    return re.sub(r"ceil\(\(([^()]*)\)\)", r"ceil(\1)", text)


def _short(parts: tuple[str, ...]) -> tuple[str, ...]:
    while len(parts) > 1 and parts[-1] == "1":
        parts = parts[:-1]
    return parts
