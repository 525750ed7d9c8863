"""The tunable parameters of a kernel, and their usual values."""

import re

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.instantiations import instantiations
from gemmviz.catalogue.guessing.polynomial import parse

_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+|(?:block|tile|thread|work)_size(?:_\w+)?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NOT_PARAMS = re.compile(r"FIXME|TODO|NULL|INFINITY|NAN|(INT|FLT|DBL|CUDART|CHAR)_\w+|EXIT_\w+|CUDA\w*|CUBLAS\w*")
THREADS = r"(NUM_?)?THREADS|NT|THREAD_?COUNT"
# Usual names of tile sizes, and their usual values, the most common first.
_VALUES: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"k?WARP_?SIZE", (32,)),
    (THREADS, (256, 128, 64, 512, 32)),
    (r"(BLOCK(_?SIZE)?_?|TILE(_?SIZE)?_?|B|T?B)_?[MN]", (64, 128, 32, 16)),
    (r"(BLOCK(_?SIZE)?_?|TILE(_?SIZE)?_?|B)_?K|BK|KTILE|K_?STEP", (8, 16, 32, 4)),
    (r"WARP(_?TILE)?_?[MN]|WARP_[MN]_?TILE", (32, 64, 16, 8)),
    (r"(THREAD(_?SIZE)?_?|REG_?|T|W)_?[MNXY]|W?P?T|WPT|TT|(THREAD_?)?WORK|COARSE\w*|CF", (8, 4, 2, 16, 1)),
    (r"W[MN]_?ITERS?|WSUB[MN]|W[MN]_?(TILES|SUB)", (4, 2, 1, 8)),
    (r"TILE_SIZE_[XY]", (16, 4, 2, 8)),
    (r"PAD\w*|SKEW\w*|EXTRA\w*", (1, 4, 8, 0)),
    (r"WARPS_?[MNXY]|[MN]_?WARPS|(NUM_?)?WARPS\w*", (2, 4, 1, 8)),
    (r"ROUND\w*|MODE|VARIANT|VERSION|FLAG\w*|LAYOUT\w*", (0, 1)),
    (r"STAGES?|BUFFERS?", (2, 3, 4)),
    (r"VEC\w*|VW|UNROLL\w*|WIDTH", (4, 2, 8, 1)),
)
_LONGEST_TYPE = 80
_TILES = (16, 8, 32)
# The sides of a warp's tile, in elements where the tiles of a block or a thread are parameters, too; else in fragments.
_OF_WARP, _WARP_TILES = re.compile(r"(?i)W[MN]"), (32, 64, 16, 8)
_OTHER_TILE = re.compile(r"(?i)[BT][MN]")


def whole_params(function: Function, source: ParsedSource) -> dict[str, tuple[int, ...]]:
    """Return the tunable parameters (template arguments, macros without a fixed value), with usual values of each."""
    names = [name for kind, name, _ in function.template if kind != "typename" and kind not in source.enums]
    names += [word for word in dict.fromkeys(function.body) if word in source.tunable]
    others = (
        {f.name for f in source.functions}
        | {p.name for p in function.parameters}
        | {n for one in (function, *source.functions) for _, n, _ in one.template}
    )
    others |= {member for struct in source.structs.values() for member in struct.members}
    declared = _declared(function.body) | source.variables
    for before, word, after in zip(("", *function.body), function.body, (*function.body[1:], ""), strict=False):
        is_open = _CAPITALS.fullmatch(word) and word not in source.constants and word not in others
        if (
            is_open
            and not _NOT_PARAMS.fullmatch(word)
            and after not in ("(", "::", "=")
            and before not in ("::", ".", "->")
            and word not in declared
        ):
            names.append(word)
    switches = {name for kind, name, _ in function.template if kind == "bool"}
    defaults = {name: default for _, name, default in function.template if default} | _instantiated(function, source)
    found: dict[str, tuple[int, ...]] = {}
    tiled = any(map(_OTHER_TILE.fullmatch, names))
    for name in dict.fromkeys(names):
        given = defaults.get(name) or " ".join(source.constants.get(name, ()))
        value = parse(given.split()).value if given else None
        if value is not None:
            found[name] = (value,)
        elif name in switches:
            found[name] = (0, 1)
        else:
            found[name] = _WARP_TILES if tiled and _OF_WARP.fullmatch(name) else _usual(name)
    own = others | declared | (source.constants.keys() - source.tunable)
    return found | {name: values for name, values in source.definitions.items() if name not in own}


def _instantiated(function: Function, source: ParsedSource) -> dict[str, str]:
    """Return the template arguments of a kernel's first explicit instantiation, by their names."""
    first = next(iter(instantiations(source.files).get(function.name.rpartition("::")[2], [])), ())
    return {name: " ".join(argument) for (_, name, _), argument in zip(function.template, first, strict=False)}


def _declared(body: tuple[str, ...]) -> set[str]:
    """Return the names of the local variables of a function.

    A type stands before the first name of a declaration. A comma, outside the brackets of a value, stands before each
    of the others. A value or the end of the declaration follows each name.
    """
    found: set[str] = set()
    has_value: dict[int, bool] = {}  # whether an open declaration has a value already, by its depth in brackets
    depth = 0
    for at in range(1, len(body) - 1):
        before, word, after = body[at - 1 : at + 2]
        if word in ("(", "[", "{"):
            depth += 1
        elif word in (")", "]", "}"):
            has_value.pop(depth, None)
            depth -= 1
        elif word == ";":
            has_value.pop(depth, None)
        elif word == "=" and depth in has_value:
            has_value[depth] = True
        if not _NAME.fullmatch(word):
            continue
        ends = after in ("=", "[", ";")
        # `half *first = ...`, `half *both[] = {...}`: no expression has a value assigned behind a product.
        assigned = after == "=" or body[at + 1 : at + 3] == ("[", "]")
        if (
            before in ("*", "&")
            and assigned
            and at > 1
            and (_NAME.fullmatch(body[at - 2]) or body[at - 2] in (">", ","))
        ):
            found |= {word}
        if _NAME.fullmatch(before) and before not in ("return", "else") and (ends or after == ","):
            has_value[depth] = False
            found |= {word}
        behind_type = before == ">" and after in ("(", "{", "=", ";", "[") and _ends_type(body, at - 1)
        # A name between two commas may also be a template argument, but only inside a value.
        if behind_type or (before == "," and depth in has_value and (ends or (after == "," and not has_value[depth]))):
            found |= {word}
    return found


def _ends_type(body: tuple[str, ...], at: int) -> bool:
    """Return whether a bracket ends the type at the begin of a statement: ``Tile<64, 8> a(b);``."""
    depth = 0
    for place in range(at, max(at - _LONGEST_TYPE, 0), -1):
        depth += (body[place] == ">") - (body[place] == "<")
        if depth == 0:
            start = place - 1
            while start > 1 and (body[start - 1] == "::" or body[start] == "::"):
                start -= 1
            return bool(_NAME.fullmatch(body[place - 1])) and (start == 0 or body[start - 1] in ";{}")
    return False


def _usual(name: str) -> tuple[int, ...]:
    for pattern, values in _VALUES:
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return values
    return _TILES
