"""Finds the launches in a file's host code."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from gemmviz.catalogue.guessing.tensors import named_sides
from gemmviz.catalogue.guessing.tokens import LONGEST_BRACKET, angles, closing, is_computed, split, split_arguments

_LONGEST_LAUNCH = 300
# The types of casts that say nothing about a value.
_WHOLE = {"int", "unsigned", "uint", "size_t", "long", "uint32_t", "int64_t", "int32_t", "uint64_t", "const"}
# Members that have a meaning for a launch.
_OF_LAUNCH = {"x", "y", "z", "gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs"}
_OF_CONFIG = ("gridDim", "blockDim", "dynamicSmemBytes")
_BEFORE_A_VALUE = {"(", ",", "=", "+", "-", "/", "%", "<<<"}
_CALLS = {"cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC"}
_MOST_LAUNCHES = 64
_BLOCKS = re.compile(r"blocks$|n(um)?_?blocks?|blocks?_?(num|count)")
_MOST_VERSIONS = 8
_Declared = tuple[int, str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class HostLaunch:
    """A launch ``name<...><<<grid, block, shared>>>(...)`` in the file; each part in tokens.

    `constants` are the constants that the host code declares in the scopes around the launch. `whole` says whether all
    parts are there: those of a kernel that is handed to a function may be only its grid and its block. `of_another`
    says whether it is the launch of another kernel of the file, with the same parameters; `disused`, whether it stands
    in a comment; `asked`, whether its block depends on a value that the program asks for.
    """

    name: str
    template: tuple[tuple[str, ...], ...]
    grid: tuple[tuple[str, ...], ...]
    block: tuple[tuple[str, ...], ...]
    shared: tuple[str, ...]
    arguments: tuple[tuple[str, ...], ...]
    constants: dict[str, tuple[str, ...]] = field(default_factory=dict)
    whole: bool = True
    of_another: bool = False
    disused: bool = False
    asked: bool = False


def tidy(tokens: Sequence[str]) -> list[str]:
    """Return host code without casts and ``std::``, and ``sizes.M`` or ``p->M`` as ``M``; a tensor's sides as names."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if (token, *tokens[at + 1 : at + 2]) == ("std", "::"):
            at += 2
        elif token == "static_cast" and ">" in tokens[at : at + 8]:
            at = tokens.index(">", at) + 1
        elif token == "(" and set(tokens[at + 1 : at + 4]) >= {")"} and _is_cast(tokens, at):
            at = tokens.index(")", at) + 1
        elif token == "*" and _is_pointed_at(out, tokens, at):
            at += 1
        elif token == "." and out and out[-1] == tokens[at - 1] and (named := named_sides(tokens, at)):
            out[-1], at = named
        elif token in (".", "->") and out and out[-1].isidentifier() and _is_member(tokens, at):
            out[-1] = tokens[at + 1]
            at += 2
        else:
            out.append(token)
            at += 1
    return out


def _is_pointed_at(before: list[str], tokens: Sequence[str], at: int) -> bool:
    """Return whether a star stands for a value behind a pointer: ``f(*M, *N - 1)``."""
    behind = tokens[at + 1] if at + 1 < len(tokens) else ""
    return bool(before) and before[-1] in _BEFORE_A_VALUE and behind.isidentifier()


def _is_cast(tokens: Sequence[str], at: int) -> bool:
    end = tokens.index(")", at)
    inside = tokens[at + 1 : end]
    behind = tokens[end + 1] if end + 1 < len(tokens) else ""
    before = tokens[at - 1] if at else ""
    is_value = behind == "(" or behind.isidentifier() or behind.isdecimal()
    return bool(inside) and set(inside) <= _WHOLE and is_value and not before.isidentifier() and before != ">"


def _is_member(tokens: Sequence[str], at: int) -> bool:
    """Return whether a member follows that may be a size; not an extent of a ``dim3``, and no call."""
    member, behind = (*tokens[at + 1 : at + 3], "", "")[:2]
    return member.isidentifier() and member not in _OF_LAUNCH and behind not in ("(", "=", ".", "->")


def launches(tokens: list[str], kernels: Set[str] = frozenset()) -> list[HostLaunch]:
    """Return the launches among the tokens of a file, in the order of the file, up to a limit.

    Parameters
    ----------
    tokens
        Of the file, or of one function.
    kernels
        The names of kernels: a launch by another name is one of the kernel that the name stands for.
    """
    declared = _shapes(tokens)
    found: list[HostLaunch] = []
    for at in (i for i, token in enumerate(tokens) if token == "<<<" or token in _CALLS):
        if len(found) == _MOST_LAUNCHES:
            break
        read = _triple(tokens, at) if tokens[at] == "<<<" else _call(tokens, at)
        if read is None:
            continue
        name, template, parts, arguments = read
        if name not in kernels:
            name, template = _meant(tokens[:at], name, template, kernels)
        # If several have the same name, the last one before the launch is meant, or a number in a scope around it.
        near = _around(tokens, at)
        names = {"dim3", *(word for _, word, _ in declared)}
        before = [one for one in declared if one[0] < at]
        inside = _in_scope(tokens, at, before)
        known = {word: sides for _, word, sides in (*before, *inside)}
        shapes = {word: sides for word, sides in known.items() if names & {*near.get(word, names)}}
        shared = parts[2] if len(parts) > 2 else ()
        versions = _in_branches(tokens, before, inside, shapes, parts) or [shapes]
        for one in (*versions, *_other_versions(tokens, inside, shapes, parts)):
            grid, block = (tuple(_parts_filled(p, one) for p in _shape(part, one)) for part in parts[:2])
            found.append(HostLaunch(name, template, grid, block, shared, arguments, near))
    return found


def _other_versions(
    tokens: list[str],
    inside: list[_Declared],
    shapes: dict[str, tuple[tuple[str, ...], ...]],
    parts: list[tuple[str, ...]],
) -> list[dict[str, tuple[tuple[str, ...], ...]]]:
    """Return the other shapes of a launch whose grid and block are declared several times in one scope.

    C++ allows that only in branches of ``#if``, of which each compiler sees one.
    """
    names = [part[0] for part in parts[:2] if len(part) == 1 and part[0] in shapes]
    given = {name: [sides for at, word, sides in inside if word == name and tokens[at] == "dim3"] for name in names}
    counts = {len(several) for several in given.values()}
    if len(given) < 2 or len(counts) != 1 or counts <= {0, 1}:
        return []
    rows = zip(*given.values(), strict=True)
    return [shapes | dict(zip(given, row, strict=True)) for row in rows][-2::-1][:_MOST_VERSIONS]


def _in_branches(
    tokens: list[str],
    before: list[_Declared],
    inside: list[_Declared],
    shapes: dict[str, tuple[tuple[str, ...], ...]],
    parts: list[tuple[str, ...]],
) -> list[dict[str, tuple[tuple[str, ...], ...]]]:
    """Return the shapes of a launch whose grid or block gets its value in the branches of an ``if``, one for each."""
    found: list[dict[str, tuple[tuple[str, ...], ...]]] = []
    for name in [part[0] for part in parts[:2] if len(part) == 1 and part[0] in shapes]:
        last = max((at for at, word, _ in inside if word == name), default=len(tokens))
        given = [sides for at, word, sides in before if word == name and at > last and tokens[at] == "="]
        found = [old | {name: sides} for old in found or [shapes] for sides in given] or found
    return found[:_MOST_VERSIONS]


def _in_scope(tokens: list[str], at: int, declared: list[_Declared]) -> list[_Declared]:
    """Return the declarations whose scope reaches to a place behind them."""
    waiting = {one[0] for one in declared}
    depth = least = 0
    reach: set[int] = set()
    for place in range(at - 1, max(at - LONGEST_BRACKET, -1), -1):
        depth += (tokens[place] == "}") - (tokens[place] == "{")
        least = min(least, depth)
        if place in waiting and depth == least:
            reach.add(place)
    return [one for one in declared if one[0] in reach]


_Launch = tuple[str, tuple[tuple[str, ...], ...], list[tuple[str, ...]], tuple[tuple[str, ...], ...]]


def _triple(tokens: list[str], at: int) -> _Launch | None:
    """Return name, template, grid with block, and arguments of ``name<...><<<grid, block>>>(...)``."""
    end = next((i for i in range(at, min(at + _LONGEST_LAUNCH, len(tokens))) if tokens[i] == ">>>"), at)
    name, template = _called(tokens, at)
    parts = split(tokens[at + 1 : end])
    if not name or len(parts) < 2 or tokens[end + 1 : end + 2] != ["("]:
        return None
    return name, template, parts, tuple(split(tokens[end + 2 : closing(tokens, end + 1)]))


def _call(tokens: list[str], at: int) -> _Launch | None:
    """Return the same of a call of the runtime, such as ``cudaLaunchKernelEx(&config, name<...>, ...)``."""
    if tokens[at + 1 : at + 2] != ["("]:
        return None
    parts = split(tokens[at + 2 : closing(tokens, at + 1)])
    by_config = tokens[at].startswith("cudaLaunchKernelEx")
    if len(parts) < 3:
        return None
    name, template = _function(parts[1 if by_config else 0])
    if not by_config:
        return name, template, [*parts[1:3], *parts[4:5]], ()
    grid, block, shared = (_last(tokens[:at], parts[0][-1], member) for member in _OF_CONFIG)
    return (name, template, [grid, block, shared], tuple(parts[2:])) if grid and block else None


def _last(tokens: list[str], config: str, member: str) -> tuple[str, ...]:
    """Return the last value of a member of a configuration: ``config.gridDim = ...;``, or ``{.gridDim = ..., ...}``."""
    for at in range(len(tokens) - 3, 0, -1):
        if tokens[at : at + 3] == [".", member, "="] and tokens[at - 1] in (config, "{", ","):
            end = next((i for i in range(at, min(at + 80, len(tokens))) if tokens[i] in ";}"), at)
            return next(iter(split(tokens[at + 3 : end])), ())
    return ()


def _function(part: tuple[str, ...]) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the name of a function and its template arguments from ``(void *) name<...>`` or ``&name``."""
    words = list(part)
    while words[:1] == ["("] and ")" in words and words.index(")") + 1 < len(words):
        words = words[words.index(")") + 1 :]
    words = [word for word in words if word != "&"]
    if words[-1:] == [">"]:
        return _called([*words, "<<<"], len(words))
    return (words[-1] if words else ""), ()


def _meant(
    before: list[str], name: str, template: tuple[tuple[str, ...], ...], kernels: Set[str]
) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the kernel that a variable holds, as in ``auto kernel = gemm<128>;``, and its template arguments."""
    for at in range(len(before) - 2, 0, -1):
        if (before[at] == "=" and before[at - 1 : at] == [name]) or before[at - 2 : at + 1] == [name, ")", "="]:
            end = next((i for i in range(at, min(at + 80, len(before))) if before[i] == ";"), at)
            found = _function(tuple(before[at + 1 : end])) if end > at + 1 else ("", ())
            if found[0] in kernels:
                return found
    return name, template


def by_pointer(tokens: list[str], kernels: set[str]) -> list[HostLaunch]:
    """Return launches of kernels that are used as a value, as in ``run(gemm, grid, block)`` or ``pointer = gemm;``.

    Block and grid are those that are handed over with the kernel, or else the nearest variables with such names.
    """
    found: list[HostLaunch] = []
    shapes = _shapes(tokens)
    for at in (i for i, token in enumerate(tokens) if token in kernels):
        if len(found) == _MOST_LAUNCHES or tokens[at - 1] not in ("=", "(", ",", "&"):
            continue
        given = _handed_over(tokens, at, {name: parts for place, name, parts in shapes if place < at})
        if given is not None:
            found.append(given)
            continue
        near: dict[str, tuple[tuple[str, ...], ...]] = {}
        for place, name, parts in sorted(shapes, key=lambda shape: -abs(shape[0] - at)):
            if abs(place - at) < _LONGEST_LAUNCH:
                near["block" if _is_block(name) else "grid"] = parts
        if len(near) == 2:
            end = max(place for place, _, _ in shapes if abs(place - at) < _LONGEST_LAUNCH)
            around = _around(tokens, max(at, end))
            found.append(HostLaunch(tokens[at], (), near["grid"], near["block"], (), (), around, whole=False))
    return found


def _is_block(name: str) -> bool:
    """Return whether a variable is called like the extents of a block: ``threads`` or ``block``, but not ``blocks``."""
    word = name.lower()
    return "thread" in word or ("block" in word and "grid" not in word and not _BLOCKS.search(word))


def _handed_over(tokens: list[str], at: int, shapes: dict[str, tuple[tuple[str, ...], ...]]) -> HostLaunch | None:
    """Return the launch of a kernel that a function gets with its grid and its block, ``run(gemm, a, grid, block)``."""
    start = next((i for i in range(at, max(at - _LONGEST_LAUNCH, -1), -1) if tokens[i] in "(;{}"), at)
    if tokens[start] != "(":
        return None
    named = [part[0] for part in split(tokens[start + 1 : closing(tokens, start)]) if len(part) == 1]
    both = [name for name in named if name in shapes]
    if len(both) != 2:
        return None
    # By their names; where these say nothing, the grid comes first, as in a launch.
    grid, block = both[::-1] if _is_block(both[0]) and not _is_block(both[1]) else both
    template = tuple(angles(tokens[at : at + _LONGEST_LAUNCH], 1)[0])
    blocks, threads = (tuple(_parts_filled(part, shapes) for part in shapes[name]) for name in (grid, block))
    sure = _is_block(block) and not _is_block(grid)
    return HostLaunch(tokens[at], template, blocks, threads, (), (), _around(tokens, at), whole=sure)


def _around(tokens: list[str], at: int) -> dict[str, tuple[str, ...]]:
    """Return the values given to names in the scopes around a place, the nearest value of each."""
    found: dict[str, tuple[str, ...]] = {}
    depth = round_ = 0
    for place in range(at, max(at - LONGEST_BRACKET, -1), -1):
        depth += (tokens[place] == "}") - (tokens[place] == "{")
        depth = max(depth, 0) if tokens[place] == "{" else depth
        round_ += (tokens[place] == ")") - (tokens[place] == "(")
        round_ = 0 if tokens[place] in ("{", "}", ";") and round_ < 0 else round_
        # In round brackets stand the heads of loops and the defaults of parameters.
        if depth or round_ or tokens[place] != "=" or not tokens[place - 1].isidentifier():
            continue
        end = next((i for i in range(place, min(place + 200, at)) if tokens[i] in ";{"), place)
        value = next(iter(split(tokens[place + 1 : end])), ())
        if is_computed(value) and tokens[place - 2 : place - 1] != ["*"]:
            found.setdefault(tokens[place - 1], value)
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
        return (tokens[start - 1] if start > 0 else ""), tuple(split_arguments(tokens[start + 1 : last]))
    return (tokens[last] if last >= 0 else ""), ()


def _shapes(tokens: list[str]) -> list[_Declared]:
    """Return position, name and parts of each ``dim3``, again after each change: ``grid.x = 2``, ``grid = dim3(x, y)``.

    A declaration is ``dim3 name(x, y)``, ``dim3 name{x, y}``, ``dim3 name = dim3(x, y)``, ``auto name = dim3(x, y)``,
    or ``dim3 name``: its first extent is unknown until it gets one, also from a function that has it as a reference.
    """
    found: list[_Declared] = []
    known: dict[str, tuple[tuple[str, ...], ...]] = {}

    def put(at: int, name: str, parts: tuple[tuple[str, ...], ...]) -> None:
        known[name] = parts
        found.append((at, name, parts))

    for at, token in enumerate(tokens):
        if token == "dim3" and tokens[at - 1 : at] != ["="]:
            place = at + 1
            while tokens[place : place + 1] and tokens[place] in ("const", "constexpr"):
                place += 1
            while place + 1 < len(tokens) and tokens[place].isidentifier():
                name, start = tokens[place], _opened(tokens, place + 1)
                if not start:
                    same = tokens[place + 1] == "=" and tokens[place + 3 : place + 4] == [";"]
                    if tokens[place + 1] == ";" or same:
                        put(at, name, known.get(tokens[place + 2], (("1",),)) if same else (("?",),))
                    break
                end = start + closing(tokens[start : start + _LONGEST_LAUNCH], 0)
                put(at, name, tuple(split(tokens[start + 1 : end])))
                place = end + 2 if tokens[end + 1 : end + 2] == [","] else len(tokens)
        elif token == "=" and tokens[at - 2 : at - 1] == ["."] and tokens[at - 1] in ("x", "y", "z"):
            name, axis = tokens[at - 3], "xyz".index(tokens[at - 1])
            end = next((i for i in range(at, min(at + 80, len(tokens))) if tokens[i] == ";"), at)
            if name in known and end > at:
                parts = [*known[name], *[("1",)] * 3][: max(len(known[name]), axis + 1)]
                parts[axis] = tuple(tokens[at + 1 : end])
                put(at, name, tuple(parts))
        elif token == "=" and tokens[at + 1 : at + 2] == ["dim3"] and tokens[at - 2 : at - 1] != ["dim3"]:
            start = _opened(tokens, at)
            if start and tokens[at - 1].isidentifier():
                put(at, tokens[at - 1], tuple(split(tokens[start + 1 : closing(tokens, start)])))
    return found


def _opened(tokens: list[str], at: int) -> int:
    """Return the place of the bracket in ``(``, ``{``, ``= dim3(``, ``= dim3{`` and ``= {``; 0 for none of these."""
    for front in ((), ("=", "dim3"), ("=",)):
        place = at + len(front)
        if tuple(tokens[at:place]) == front and tokens[place : place + 1] in (["("], ["{"]):
            return place if front != ("=",) or tokens[place] == "{" else 0
    return 0


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
