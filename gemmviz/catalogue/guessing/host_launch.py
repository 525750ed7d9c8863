"""Reads the launch in a file's own host code: the best evidence of how its kernel is to be launched."""

import re
from collections.abc import Mapping

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.cxx import Function, ParsedSource
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.polynomial import Polynomial, parse
from gemmviz.catalogue.guessing.roles import GuessReason, Roles
from gemmviz.catalogue.guessing.shape import Shape

_CEIL = re.compile(r"\(([^()]*|\([^()]*\)) / (\w+|\([^()]*\))\)")


def find(source: ParsedSource, function: Function) -> HostLaunch | None:
    """Return the first launch of a kernel in its file, or None."""
    plain = function.name.rpartition("::")[2]
    return next((launch for launch in source.launches if launch.name == plain), None)


def shape(launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles, made: Shape) -> Shape | None:
    """Return the launch as front matter gives it; None where the host code uses names that say nothing here.

    Parameters
    ----------
    launch, function, source
        From `gemmviz.catalogue.guessing.cxx.read_source`.
    roles
        What the parameters are: this tells what the host's own names stand for.
    made
        What the kernel itself says; its constraints are kept.
    """
    names = _names(launch, function, roles)
    params = dict(made.params)
    template = [name for kind, name, _ in function.template]
    offered = _offered(launch, function, source, [name for name in template if name in params])
    if offered:
        params |= offered
        given = zip(template, launch.template, strict=False)
        pairs = [(a[0], name) for name, a in given if len(a) == 1 and a[0].isidentifier()]
        unique = len(dict(pairs)) == len(pairs)
        named = dict(pairs) if unique else {}
        names |= named
        if any(len(values) > 1 and name not in named.values() for name, values in offered.items()):
            # Block and grid are numbers then, which hold for the first launch only.
            offered = {name: values[:1] for name, values in offered.items()}
            params |= offered
    for name, argument in zip(template, launch.template, strict=False):
        if name in offered:
            continue
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
            return _local(launch, source, word, names)

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
    requires += _together(offered)
    in_grid = {name for text in grid for name in Expression(text).names()}
    if "M" not in roles.of.values() and "M" not in in_grid and "N" in in_grid:
        requires.append("M == N")  # the host knows square matrices only
    why = dict(made.why)
    if offered:
        why["params"] = GuessReason(0.95, "the file's own host code gives these values")
    why["block"] = why["grid"] = GuessReason(0.95, "the file launches the kernel like this itself")
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


def _constant(source: ParsedSource, word: str, depth: int = 0) -> Polynomial | None:
    tokens = source.constants.get(word)
    if tokens is None or word in source.tunable or depth > 8:
        return None
    return parse(tokens, lambda inner: _constant(source, inner, depth + 1))


def _local(
    launch: HostLaunch, source: ParsedSource, word: str, names: Mapping[str, str], depth: int = 0
) -> Polynomial | None:
    """Return what a name means at a launch: a size or parameter first, then a constant around it, then the file's."""
    if word in names:
        return Polynomial.name(names[word]) if names[word] != word else None
    if word in launch.constants and depth <= 8:
        return parse(launch.constants[word], lambda inner: _local(launch, source, inner, names, depth + 1))
    return _constant(source, word)


def _offered(
    first: HostLaunch, function: Function, source: ParsedSource, wanted: list[str]
) -> dict[str, tuple[int, ...]]:
    """Return the template arguments that the host code's own constants give, of all launches; nothing where unclear."""
    if not wanted or not first.constants.keys() & {word for argument in first.template for word in argument}:
        return {}
    names = [name for _, name, _ in function.template]
    rows: list[list[int]] = []
    for launch in (one for one in source.launches if one.name == first.name):

        def look(word: str, launch: HostLaunch = launch) -> Polynomial | None:
            return _local(launch, source, word, {})

        given = dict(zip(names, launch.template, strict=False))
        row = [value for name in wanted if name in given and (value := parse(given[name], look).value) is not None]
        if len(row) == len(wanted):
            rows.append(row)
        elif launch is first:
            return {}
    columns = [tuple(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    several = [i for i, values in enumerate(columns) if len(values) > 1]
    # Values of different launches may not be mixed: several are offered only where one condition keeps them together.
    if any([row[i] for row in rows] != [row[several[0]] for row in rows] for i in several):
        columns = [values[:1] for values in columns]
    return dict(zip(wanted, columns, strict=True))


def _together(offered: dict[str, tuple[int, ...]]) -> list[str]:
    several = [name for name, values in offered.items() if len(values) > 1]
    return [f"{several[0]} == {name}" for name in several[1:]]


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
