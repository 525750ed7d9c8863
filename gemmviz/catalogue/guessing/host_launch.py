"""Reads the launch in a file's own host code: the best evidence of the right launch of its kernel."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.allocated_sizes import allocated_sizes
from gemmviz.catalogue.guessing.c_values import c_value
from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.enumerations import ENUM
from gemmviz.catalogue.guessing.folding import bracket
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.grid_sides import (
    fixed_sides,
    has_structures,
    is_quotient,
    least_sizes,
    meant_sides,
    names_of_sides,
)
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.launch_texts import shortened, speaks_of, without_ones
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.literal_sizes import with_names
from gemmviz.catalogue.guessing.open_launches import is_open
from gemmviz.catalogue.guessing.part_sizes import with_parts_named
from gemmviz.catalogue.guessing.plain_values import plain
from gemmviz.catalogue.guessing.polynomial import Polynomial, looked_up, parse
from gemmviz.catalogue.guessing.quotients import exact, rounded_text
from gemmviz.catalogue.guessing.roles import WHOLE, GuessReason, Roles
from gemmviz.catalogue.guessing.struct_parameters import sizes_of_members
from gemmviz.catalogue.guessing.tensors import usual_sides

# Names of the block's extents where the source leaves them open.
_OF_BLOCK = re.compile(r"(BLOCK_|GV_BLOCK_|B)[XYZ]")
_DEEPEST, _LONGEST_VALUE = 4, 150
_MOST_THREADS = 1024
# These parameters are chosen here, and do not depend on the values that the host code passes.
_GIVEN = ("M", "N", "K", "alpha", "beta")
_DISTANCES = ("lda", "ldb", "ldc")
_FIXED = re.compile(r"[MNK] == \d+")


def find(source: ParsedSource, function: Function) -> list[HostLaunch]:
    """Return the launches of a kernel, those in its own file first."""
    plain = function.name.rpartition("::")[2]
    found = [launch for launch in source.launches if launch.name == plain]
    # Another function may have the same name in another file: it is another one if it has more parameters.
    found = [launch for launch in found if len(launch.arguments) <= len(function.parameters)]
    fitting = [one for one in found if len(one.arguments) in (0, len(function.parameters))]
    return [with_parts_named(with_names(one, function), function) for one in fitting or found]


def shape(launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles, made: Shape) -> Shape | None:
    """Return the launch in the form of front matter; None where the host code uses names of unknown meaning.

    Parameters
    ----------
    launch, function, source
        From `gemmviz.catalogue.guessing.cxx.read_source`.
    roles
        The roles of the parameters. They give the meaning of the names in the host code.
    made
        The launch that was guessed from the kernel's own code; its constraints are kept.
    """
    given = _given(launch, function, source, roles, made)

    def expression(tokens: tuple[str, ...], meant: Mapping[str, str] = given.names) -> str:
        return rounded_text(str(parse(plain(tokens), lambda word: _local(launch, source, word, meant))))

    block = tuple(expression(part) for part in launch.block)

    def value(word: str) -> Polynomial | None:
        return _local(launch, source, word, {})

    sides = meant_sides(launch, function, roles, made, given.names, value)
    grid = tuple(expression(part, given.names | sides[axis]) for axis, part in enumerate(launch.grid))
    shared = expression(launch.shared) if launch.shared else made.shared
    block, grid = (tuple(shortened(part, given.params) for part in parts) for parts in (block, grid))
    shared = shortened(shared, given.params)
    allowed = {"M", "N", "K", *given.params}
    if len(grid) > 2 and not speaks_of(grid[2], allowed):
        grid = grid[:2]  # one product of many
    if not all(speaks_of(text, allowed) for text in (*block, *grid)):
        return None
    chosen = bool(launch.shared) and not speaks_of(shared, allowed)
    number = c_value(_filled(plain(launch.shared), launch, source), {}) if chosen else None
    shared = str(int(number)) if number is not None else shared
    shared_is_stated = bool(launch.shared) and speaks_of(shared, allowed)
    if not shared_is_stated:
        shared = made.shared
    block, grid = (without_ones(part) for part in (block, grid))
    tiles = {size: _extents(text, made, given.params, block) for size, text in made.tiles.items()}
    in_grid = {name for text in grid for name in Expression(text).names()}
    # One block has all rows, or all columns, only where the host's launch says the same.
    grows = in_grid.union(*(Expression(side).names() for side in block))
    asked = (text for text in made.requires if not (_FIXED.fullmatch(text) and text[0] in grows))
    kept = [_extents(text, made, given.params, block) for text in asked]
    requires = [text for text in kept if not re.search(rf"\b{_OF_BLOCK.pattern}\b", text)] + _together(given.offered)
    requires += [*exact(grid, requires), *least_sizes(grid, {**made.params, **given.params})]
    if any(re.search(r"\b[MNK]\b", side) for side in block):
        requires.append(f"{' * '.join(map(bracket, block))} <= {_MOST_THREADS}")
    of_kernel = tuple(_extents(text, made, given.params, block) for text in made.grid)
    folded = {at for at, one in fixed_sides(grid, block, of_kernel, function).items() if speaks_of(one, allowed)}
    of_sizes = {at for at in folded if is_quotient(launch, at)}
    grid = tuple(of_kernel[at] if at in of_sizes else side for at, side in enumerate(grid))
    requires += [f"{of_kernel[at]} <= {dict(enumerate(grid)).get(at, 1)}" for at in sorted(folded - of_sizes)]
    square = "M" not in roles.of.values() and "M" not in in_grid and "N" in in_grid
    # The host code has square matrices only: C, or A if the rows of C are counted with K.
    rows = "K" if "K" in in_grid and sum("N" in Expression(side).names() for side in grid) == 1 else "N"
    requires += [f"M == {rows}"] if square else []
    why = dict(made.why)
    if given.offered or (given.whole and given.params):
        why["params"] = GuessReason(0.95, "the file's own host code gives these values")
    by_letters = has_structures(launch, function) and {"m", "n", "k"} & {word for side in launch.grid for word in side}
    open_ = of_sizes or by_letters or is_open(launch, function, roles, sides, value)
    sure = 0.95 if launch.whole and not open_ else 0.92
    why["block"] = why["grid"] = GuessReason(sure, "the file launches the kernel like this itself")
    if launch.disused:
        why["block"] = why["grid"] = GuessReason(0.8, "a comment in the file launches the kernel like this")
    elif launch.asked:
        why["block"] = why["grid"] = GuessReason(
            0.92, "the launch depends on an argument of the file's program: it may be like this"
        )
    elif launch.of_another:
        why["block"] = why["grid"] = GuessReason(0.6, "another kernel with these parameters is launched like this")
    if shared_is_stated:
        # A choice may depend on an argument of the host program: then other launches are tried, too.
        why["shared"] = GuessReason(0.7, why["block"].why) if chosen or launch.asked else why["block"]
    own = _sizes_at(launch, function, source, roles, requires)
    numbers = [c_value(_filled(plain(side), launch, source), {}) for side in launch.grid]
    own_grid = tuple(str(number) for number in numbers if isinstance(number, int) and number > 0)
    own_grid = own_grid if len(own_grid) == len(grid) else ()
    params = _with_numbers_of(block, grid, given)
    return Shape(params, block, grid, shared, requires, why, tiles, own, own_grid)


def _with_numbers_of(block: tuple[str, ...], grid: tuple[str, ...], given: "_Given") -> dict[str, tuple[int, ...]]:
    """Return the parameters; one whose value is a number of block or grid, too, has no other value.

    ``tiled<16><<<blocks, dim3(16, 16)>>>`` says 16 twice: with another tile, the block would have the wrong size.
    """
    numbers = {int(number) for side in (*block, *grid) for number in re.findall(r"\b\d+\b", side)} - {0, 1}
    named = {name for side in (*block, *grid) for name in Expression(side).names()}
    fixed = {name for name, values in given.params.items() if values and values[0] in numbers} - named
    return {name: values[:1] if name in fixed - {*given.offered} else values for name, values in given.params.items()}


def _sizes_at(
    launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles, requires: list[str]
) -> tuple[int, int, int] | None:
    """Return M, N and K of a launch whose sizes are numbers in the host code; None where one of them is not known.

    Without arguments for the sizes the arrays that the host code allocates show them.
    """
    if launch.asked or launch.disused or launch.of_another:
        return None
    places = {parameter.name: place for place, parameter in enumerate(function.parameters)}
    m, n, k = (number_at(launch, source, places.get(roles.parameter(size), -1)) for size in "MNK")
    alone = {"M", "N", "K"} & {*roles.of.values()} == {"N"}
    m = n if m is None and (alone or "M == N" in requires) else m
    k = n if k is None and (alone or "K == N" in requires) else k
    if m and n and k:
        return m, n, k
    return allocated_sizes(launch, function, source, roles) if {*roles.of.values()}.isdisjoint("MNK") else None


def expression(
    tokens: tuple[str, ...], function: Function, source: ParsedSource, roles: Roles, made: Shape
) -> str | None:
    """Return an expression of the function that launches a kernel as front matter gives it; None where it cannot.

    Parameters
    ----------
    tokens
        The expression.
    function, source
        From `gemmviz.catalogue.guessing.cxx.read_source`.
    roles
        The roles of the parameters.
    made
        The launch as it is described.
    """
    launch = next(iter(find(source, function)), None)
    names = _given(launch, function, source, roles, made).names if launch else {}

    def meaning(word: str) -> Polynomial | None:
        if word in made.params and word not in names:
            return None
        return _local(launch, source, word, names) if launch else _constant(source, word)

    text = rounded_text(str(parse(plain(tokens), meaning)))
    return text if speaks_of(text, {"M", "N", "K", *made.params}) else None


def computed_arguments(launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles) -> dict[str, str]:
    """Return the arguments of whole numbers and flags that are more than a size, such as ``4 * N``, by parameter.

    The scales of the product, alpha and beta, are left out.

    Parameters
    ----------
    launch, function, source, roles
        As for `shape`.
    """
    names = {**_names(launch, function, source, roles), **_own_sizes(source, roles)}
    places = {parameter.name: place for place, parameter in enumerate(function.parameters)}
    found = {}
    for parameter, argument in zip(function.parameters, launch.arguments, strict=False):
        role = roles.of.get(parameter.name, "")
        # Of two parameters that seem to be one size, the second may be a part of it: the number of vectors, of tiles.
        first = roles.parameter(role) or parameter.name
        whole = parameter.type in WHOLE or parameter.type in ("bool", ENUM)
        if parameter.pointer or not whole or (role in _GIVEN and parameter.name == first):
            continue
        own, same = (number_at(launch, source, places[one]) for one in (parameter.name, first))
        if role and own is not None and own == same and first != parameter.name:
            continue
        text = rounded_text(str(parse(plain(argument), lambda word: _local(launch, source, word, names))))
        # The distance between rows follows from the sizes, whatever number it has at the sizes of the program.
        if text.isdecimal() and role in _DISTANCES:
            continue
        if not text.isidentifier() and speaks_of(text, {"M", "N", "K"}):
            found[parameter.name] = text
    return found


def _filled(tokens: tuple[str, ...], launch: HostLaunch, source: ParsedSource, depth: int = 0) -> tuple[str, ...]:
    """Return an expression in which the names that have a value at a launch are replaced by it."""
    out: list[str] = []
    for word in tokens:
        value = launch.constants.get(word) or source.constants.get(word)
        if value is None or depth > _DEEPEST or len(out) > _LONGEST_VALUE:
            out.append(word)
        else:
            out += ["(", *_filled(plain(value), launch, source, depth + 1), ")"]
    return tuple(out)


def number_at(launch: HostLaunch, source: ParsedSource, place: int) -> int | None:
    """Return the number that a launch gives to the parameter at a place; None where it gives another value."""
    if not 0 <= place < len(launch.arguments):
        return None
    return parse(plain(launch.arguments[place]), lambda word: _local(launch, source, word, {})).value


def _extents(text: str, made: Shape, params: Mapping[str, object], block: tuple[str, ...]) -> str:
    """Return an expression in which the host's extents of the block replace the placeholder names."""
    for axis, extent in zip("XYZ", (*block, "1", "1"), strict=False):
        for name in (f"BLOCK_{axis}", f"GV_BLOCK_{axis}", f"B{axis}"):
            if name in made.params and name not in params:
                text = re.sub(rf"\b{name}\b", bracket(extent), text)
    return text


@dataclass(frozen=True)
class _Given:
    """The values that a launch gives to a kernel.

    Attributes
    ----------
    params
        Values of the kernel's parameters.
    offered
        The values that come from constants of the host code.
    names
        The meaning of the names in the host code: a size or a parameter.
    whole
        Whether the launch gives every parameter its value.
    """

    params: dict[str, tuple[int, ...]]
    offered: dict[str, tuple[int, ...]]
    names: dict[str, str]
    whole: bool = False


def _given(launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles, made: Shape) -> _Given:
    names = {**_names(launch, function, source, roles), **_own_sizes(source, roles)}
    params = dict(made.params)
    template = [name for kind, name, _ in function.template]
    arguments = dict(zip(template, launch.template, strict=False))
    offered = _offered(launch, function, source, [name for name in template if name in params])
    if offered:
        plain = [(argument[0], name) for name, argument in arguments.items() if _is_name(argument)]
        named = dict(plain) if len(dict(plain)) == len(plain) else {}
        names |= named
        if any(len(values) > 1 and name not in named.values() for name, values in offered.items()):
            # Block and grid are then numbers, and the numbers are right for the first launch only.
            offered = {name: values[:1] for name, values in offered.items()}
        params |= offered
    # A macro that has a value unless the build gives another one: ``#ifndef TILE``.
    has_value = source.tunable & (source.constants.keys() | source.definitions.keys())
    unknown = {name for name, values in params.items() if len(values) > 1 or name not in has_value} - {*offered}
    for name in [name for name in arguments if name in params and name not in offered]:
        argument = arguments[name]
        value = parse(argument, lambda word: _constant(source, word)).value
        if value is not None:
            rest = tuple(v for v in params[name] if v != value) if len(params[name]) > 1 else ()
            params[name] = (value, *rest)
            unknown.discard(name)
        elif len(argument) == 1:
            names[argument[0]] = name
    used = {name for name in params if not _OF_BLOCK.fullmatch(name) or name in template or name in source.words}
    whole = unknown.isdisjoint(used)
    return _Given({name: values for name, values in params.items() if name in used}, offered, names, whole)


def _is_name(argument: tuple[str, ...]) -> bool:
    return len(argument) == 1 and argument[0].isidentifier()


def _names(launch: HostLaunch, function: Function, source: ParsedSource, roles: Roles) -> dict[str, str]:
    names = {}
    for parameter, argument in zip(function.parameters, launch.arguments, strict=False):
        role = roles.of.get(parameter.name, "")
        if len(argument) == 1 and role in ("M", "N", "K"):
            names[argument[0]] = role
            given = launch.constants.get(argument[0], ())
            if len(given) == 1 and given[0].isidentifier():  # ``int M = a.size(0)``
                names.setdefault(given[0], role)
        elif len(argument) == 1 and role == "1" and parameter.type in WHOLE:  # one product of many
            names.setdefault(argument[0], role)
    if not launch.arguments:  # called by a pointer: the host has a size under the name of the parameter that takes it
        sizes = {one.name: roles.of.get(one.name, "") for one in function.parameters}
        names |= {name: role for name, role in sizes.items() if role in ("M", "N", "K")}
    if has_structures(launch, function):
        names |= sizes_of_members(source.callers, source.layouts)
    # A constant of the kernel's own is a number, also where it is called like a size: #define K 32.
    own = {name: source.constants[name] for name in source.constants.keys() & {*function.body} - source.tunable}
    fixed = {name for name, value in own.items() if launch.constants.get(name, value) == value}
    for role in ("M", "N", "K"):
        if role not in names.values() and role not in fixed:
            names.setdefault(role, role)
            if not launch.arguments or has_structures(launch, function):  # called by a pointer, or with matrices
                names.setdefault(role.lower(), role)
    for side, size in usual_sides(function.parameters, launch.arguments, roles):
        names.setdefault(side, size)
    return names_of_sides(launch, function, roles, source.constants) | names


def _own_sizes(source: ParsedSource, roles: Roles) -> dict[str, str]:
    """Return the meaning of the file's constants that stand for sizes."""
    return {name: roles.of[name] for name in source.sizes if roles.of.get(name) in ("M", "N", "K")}


def _constant(source: ParsedSource, word: str) -> Polynomial | None:
    return looked_up(lambda inner: None if inner in source.tunable else source.constants.get(inner))(word)


def _local(launch: HostLaunch, source: ParsedSource, word: str, names: Mapping[str, str]) -> Polynomial | None:
    """Return the value of a name at a launch: a size or parameter, a constant around the launch, or one of the file."""

    def value(inner: str) -> tuple[str, ...] | None:
        if inner in launch.constants:
            return plain(launch.constants[inner])
        known = inner in source.constants and inner not in source.tunable
        return plain(source.constants[inner]) if known else None

    one = Polynomial.number(1)
    known = {name: None if name == it else one if it == "1" else Polynomial.name(it) for name, it in names.items()}
    return looked_up(value, known)(word)


def _offered(
    first: HostLaunch, function: Function, source: ParsedSource, wanted: list[str]
) -> dict[str, tuple[int, ...]]:
    """Return the template arguments that constants of the host code give, over all launches; empty where unclear."""
    if not wanted or not first.constants.keys() & {word for argument in first.template for word in argument}:
        return {}
    names = [name for _, name, _ in function.template]
    wanted = [name for name in wanted if name in names[: len(first.template)]]  # the others have a default
    rows: list[list[int]] = []
    for launch in (one for one in source.launches if one.name == first.name):

        def look(word: str, launch: HostLaunch = launch) -> Polynomial | None:
            return _local(launch, source, word, {})

        given = dict(zip(names, launch.template, strict=False))
        if launch is first:  # an argument that the kernel does not use may be unknown
            idle = {name for name in wanted if name not in function.body and name not in function.bounds}
            wanted = [name for name in wanted if name not in idle or parse(given[name], look).value is not None]
        row = [value for name in wanted if name in given and (value := parse(given[name], look).value) is not None]
        if len(row) == len(wanted):
            rows.append(row)
        elif launch is first:
            return {}
    columns = [tuple(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    several = [i for i, values in enumerate(columns) if len(values) > 1]
    # Values of different launches must not be mixed. Several are offered only if a condition ties them together.
    if any([row[i] for row in rows] != [row[several[0]] for row in rows] for i in several):
        columns = [values[:1] for values in columns]
    return dict(zip(wanted, columns, strict=True))


def _together(offered: dict[str, tuple[int, ...]]) -> list[str]:
    several = [name for name, values in offered.items() if len(values) > 1]
    return [f"{several[0]} == {name}" for name in several[1:]]
