"""Finds the launches in a file's host code."""

import re
from dataclasses import dataclass, field

from gemmviz.catalogue.guessing.tokens import LONGEST_BRACKET, closing, is_whole, split

_LONGEST_LAUNCH = 300
# Words at the start of the declaration of a host constant.
_TYPES = {"const", "constexpr", "int", "unsigned", "uint", "size_t", "auto", "long", "uint32_t", "int64_t"}
_MOST_LAUNCHES = 64


@dataclass(frozen=True)
class HostLaunch:
    """A launch ``name<...><<<grid, block, shared>>>(...)`` in the file; each part in tokens.

    `constants` are the constants that the host code declares in the scopes around the launch.
    """

    name: str
    template: tuple[tuple[str, ...], ...]
    grid: tuple[tuple[str, ...], ...]
    block: tuple[tuple[str, ...], ...]
    shared: tuple[str, ...]
    arguments: tuple[tuple[str, ...], ...]
    constants: dict[str, tuple[str, ...]] = field(default_factory=dict)


def launches(tokens: list[str]) -> list[HostLaunch]:
    """Return the launches among the tokens of a file, in the order of the file, up to a limit."""
    declared = _shapes(tokens)
    found: list[HostLaunch] = []
    for at in (i for i, token in enumerate(tokens) if token == "<<<"):
        if len(found) == _MOST_LAUNCHES:
            break
        end = next((i for i in range(at, min(at + _LONGEST_LAUNCH, len(tokens))) if tokens[i] == ">>>"), at)
        name, template = _called(tokens, at)
        # If several have the same name, the last one before the launch is meant.
        shapes = {word: parts for place, word, parts in declared if place < at}
        parts = split(tokens[at + 1 : end])
        if name and len(parts) >= 2 and tokens[end + 1 : end + 2] == ["("]:
            grid, block = (tuple(_parts_filled(p, shapes) for p in _shape(part, shapes)) for part in parts[:2])
            arguments = split(tokens[end + 2 : closing(tokens, end + 1)])
            shared = parts[2] if len(parts) > 2 else ()
            found.append(HostLaunch(name, template, grid, block, shared, tuple(arguments), _around(tokens, at)))
    return found


def by_pointer(tokens: list[str], kernels: set[str]) -> list[HostLaunch]:
    """Return launches of kernels that are used as a value, as in ``run(gemm, grid, block)`` or ``pointer = gemm;``.

    Block and grid are the nearest variables with such names.
    """
    found: list[HostLaunch] = []
    shapes = _shapes(tokens)
    for at in (i for i, token in enumerate(tokens) if token in kernels):
        if len(found) == _MOST_LAUNCHES or tokens[at - 1] not in ("=", "(", ",", "&"):
            continue
        near: dict[str, tuple[tuple[str, ...], ...]] = {}
        for place, name, parts in sorted(shapes, key=lambda shape: -abs(shape[0] - at)):
            if abs(place - at) < _LONGEST_LAUNCH:
                near["grid" if "grid" in name.lower() else "block"] = parts
        if len(near) == 2:
            end = max(place for place, _, _ in shapes if abs(place - at) < _LONGEST_LAUNCH)
            found.append(HostLaunch(tokens[at], (), near["grid"], near["block"], (), (), _around(tokens, max(at, end))))
    return found


def _around(tokens: list[str], at: int) -> dict[str, tuple[str, ...]]:
    """Return the constants that are declared in the scopes around a place, the nearest declaration of each."""
    found: dict[str, tuple[str, ...]] = {}
    depth = 0
    for place in range(at, max(at - LONGEST_BRACKET, -1), -1):
        depth += (tokens[place] == "}") - (tokens[place] == "{")
        depth = max(depth, 0) if tokens[place] == "{" else depth
        # After a bracket or a comma the word belongs to a parameter.
        if depth == 0 and tokens[place] in _TYPES and tokens[max(place - 1, 0)] not in ("<", ",", "("):
            end = next((i for i in range(place, min(place + 200, at)) if tokens[i] in ";{"), place)
            for part in split(tokens[place:end]):
                cut = part.index("=") if "=" in part else 0
                if cut and is_whole(part[cut + 1 :]) and "*" not in part[:cut]:
                    found.setdefault(part[cut - 1], part[cut + 1 :])
    return found


def _called(tokens: list[str], at: int) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the name and the template arguments of the call before position `at`."""
    last = at - 1
    if last >= 0 and tokens[last] == ">":
        start, depth = last, 0
        while start >= 0:
            depth += (tokens[start] == ">") - (tokens[start] == "<")
            if depth == 0:
                break
            start -= 1
        return (tokens[start - 1] if start > 0 else ""), tuple(split(tokens[start + 1 : last]))
    return (tokens[last] if last >= 0 else ""), ()


def _shapes(tokens: list[str]) -> list[tuple[int, str, tuple[tuple[str, ...], ...]]]:
    """Return position, name, parts of each ``dim3 name(x, y)``, ``dim3 name{x, y}`` and ``dim3 name = dim3(x, y)``."""
    found: list[tuple[int, str, tuple[tuple[str, ...], ...]]] = []
    for at in (i for i, token in enumerate(tokens) if token == "dim3"):
        place = at + 1 + (tokens[at + 1 : at + 2] == ["const"])
        while place + 1 < len(tokens) and re.match(r"[A-Za-z_]", tokens[place]):
            name = tokens[place]
            start = place + 1 + 2 * (tokens[place + 1 : place + 3] == ["=", "dim3"])
            if start >= len(tokens) or tokens[start] not in ("(", "{"):
                break
            end = start + closing(tokens[start : start + _LONGEST_LAUNCH], 0)
            found.append((at, name, tuple(split(tokens[start + 1 : end]))))
            place = end + 2 if tokens[end + 1 : end + 2] == [","] else len(tokens)
    return found


def _parts_filled(part: tuple[str, ...], shapes: dict[str, tuple[tuple[str, ...], ...]]) -> tuple[str, ...]:
    """Replace ``block.x``, ``grid.y`` and similar members by their values."""
    out: list[str] = []
    at = 0
    while at < len(part):
        axis = "xyz".find(part[at + 2]) if part[at + 1 : at + 2] == (".",) and at + 2 < len(part) else -1
        if part[at] in shapes and axis >= 0:
            shape = shapes[part[at]]
            out += ["(", *(shape[axis] if axis < len(shape) else ("1",)), ")"]
            at += 3
        else:
            out.append(part[at])
            at += 1
    return tuple(out)


def _shape(part: tuple[str, ...], shapes: dict[str, tuple[tuple[str, ...], ...]]) -> tuple[tuple[str, ...], ...]:
    if len(part) == 1 and part[0] in shapes:
        return shapes[part[0]]
    if part[:1] == ("dim3",):
        return tuple(split(part[2:-1]))
    if part[:1] == ("{",):
        return tuple(split(part[1:-1]))
    return (part,)
