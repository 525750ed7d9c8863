"""Guesses the front matter of a kernel that has none."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.dtypes import ElementType, SumType, sums_of
from gemmviz.catalogue.guessing import cxx, host_launch, host_maps, indexing, struct_types
from gemmviz.catalogue.guessing.accessors import is_accessor, without_accessors
from gemmviz.catalogue.guessing.asked_values import marked
from gemmviz.catalogue.guessing.block_comments import with_commented_block
from gemmviz.catalogue.guessing.block_steps import with_block_steps
from gemmviz.catalogue.guessing.byte_pitches import in_bytes, in_elements
from gemmviz.catalogue.guessing.c_before import adds
from gemmviz.catalogue.guessing.cxx import ParsedSource, Surroundings
from gemmviz.catalogue.guessing.definitions import definitions_of
from gemmviz.catalogue.guessing.disused import launches_in_comments, values_in_comments
from gemmviz.catalogue.guessing.element_types import differing, element_types, of_bits
from gemmviz.catalogue.guessing.endless_loops import endless
from gemmviz.catalogue.guessing.fourth_matrix import with_fourth
from gemmviz.catalogue.guessing.functions import Function, words_of
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.held_rows import limits
from gemmviz.catalogue.guessing.hindrances import empty_body, hindrance
from gemmviz.catalogue.guessing.host.launched import evaluated, global_constants
from gemmviz.catalogue.guessing.inlining import inlined
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.macros import limited
from gemmviz.catalogue.guessing.needed import needed_capability
from gemmviz.catalogue.guessing.placeholders import placeholders
from gemmviz.catalogue.guessing.roles import DTYPES, GuessReason, Roles, is_map, matrix_called
from gemmviz.catalogue.guessing.run_time_tiles import run_time_tiles, with_tiles
from gemmviz.catalogue.guessing.scale_pointers import as_structures, joined, with_plain_sizes
from gemmviz.catalogue.guessing.shape import Shaper
from gemmviz.catalogue.guessing.size_constants import sizes_in_file
from gemmviz.catalogue.guessing.sized import Sized, sized
from gemmviz.catalogue.guessing.storing import storing_nothing
from gemmviz.catalogue.guessing.struct_parameters import flattened, own_arguments, reasons_of_members
from gemmviz.catalogue.guessing.tokens import tokens_of
from gemmviz.catalogue.guessing.tunable import whole_params
from gemmviz.catalogue.guessing.unused_pointers import with_unused
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import tr

_MOST_SHAPES = 6


def guess(text: str, path: Path, entry: str | None = None, around: Surroundings | None = None) -> Guess:
    """Guess the front matter of a file. No code of the file runs, and no text raises an error.

    Parameters
    ----------
    text
        The whole file.
    path
        Its suffix says whether it is C or CUDA.
    entry
        The function to describe; by default the one that looks most like a GEMM.
    around
        The files around it; their constants and launches are evidence, too.
    """
    try:
        with limited():
            return _guess(text, path, entry, around)
    except RecursionError:  # thousands of nested brackets: no person wrote this
        return Guess(path, text)


def _guess(text: str, path: Path, entry: str | None, around: Surroundings | None) -> Guess:
    source = cxx.read_source(text, around)
    fitting = _candidates(source, path)
    if not is_cuda(path):
        # A function that another function calls computes only a part of the product. Calls by main do not count.
        called = {word for f in source.functions if f.name != "main" for word in f.body if word != f.name}
        fitting = [f for f in fitting if f.name not in called or f.name == entry] or fitting
    ranked = sorted(fitting, key=lambda f: -_likeness(f, source))
    names = tuple(dict.fromkeys(f.name for f in ranked))
    named = [f for f in [*ranked, *source.kernels] if entry in (f.name, f.name.rpartition("::")[2])]
    chosen = next(iter(named or ranked), None)
    if chosen is None:
        return Guess(path, text)
    seen = _evaluated(chosen, source, text, around) if is_cuda(path) else ()
    unknown = words_of(chosen, source.functions) - source.constants.keys()
    computed = global_constants(source.files, source.structs, unknown) if is_cuda(path) else {}
    launches = marked((*seen, *source.launches), source.files)
    source = replace(source, launches=launches, constants=computed | source.constants)
    if is_cuda(path):
        source = replace(source, definitions=definitions_of(chosen, text, around, source.tunable))
    made = _describe(chosen, source, path, text, names)
    made = replace(made, headers=around.headers, missing=around.missing) if around else made
    of_body = (*placeholders(made), *endless(made, chosen), *storing_nothing(made, chosen))
    made = replace(made, hindrance=hindrance(made, around), flaws=of_body if chosen.body else (empty_body(made),))
    whole = "\n".join([*(around.headers if around else ()), text])
    needed = needed_capability(without_comments(device_code(whole, chosen.name.rpartition("::")[2])))
    described = (replace(one, capability=needed) for one in (made, *made.others))
    return replace(next(described), others=tuple(described)) if is_cuda(path) else made


def has_kernel(text: str, path: Path) -> bool:
    """Return whether `guess` finds a function to describe in a file.

    Parameters
    ----------
    text, path
        As for `guess`.
    """
    try:
        with limited():
            return bool(_candidates(cxx.read_source(text), path))
    except RecursionError:
        return False


def _candidates(source: ParsedSource, path: Path) -> list[Function]:
    """Return the functions with three matrices; for CUDA all kernels, if none has three."""
    if is_cuda(path):
        return [f for f in source.kernels if _has_three(f)] or [*source.kernels]
    return [f for f in source.functions if _has_three(f) and f.name != "main"]


def _has_three(function: Function) -> bool:
    return sum(p.pointer or is_map(p) or is_accessor(p) for p in function.parameters) >= 3


def _evaluated(
    chosen: Function, source: ParsedSource, text: str, around: Surroundings | None
) -> tuple[HostLaunch, ...]:
    """Return the launches of a kernel by the host code.

    If none launches it, those in comments, or else those of another kernel with the same parameters.
    """
    found = evaluated(chosen, source.files, source.structs, source.fields)
    if found or host_launch.find(source, chosen):
        return (*values_in_comments(text, chosen, source.functions, found, around), *found)
    if disused := launches_in_comments(text, chosen, around):
        return disused
    plain = chosen.name.rpartition("::")[2]
    for one in source.kernels:
        if one.name != chosen.name and _form(one) == _form(chosen):
            other = evaluated(one, source.files, source.structs, source.fields)
            fit = [launch for launch in other if len(launch.block) > 1 or not _has_two_indices(chosen)]
            found += [replace(launch, name=plain, whole=False, of_another=True) for launch in fit]
    return tuple(found)


def _has_two_indices(kernel: Function) -> bool:
    """Return whether a kernel needs a block with two sides."""
    words = zip(kernel.body, kernel.body[1:], kernel.body[2:], strict=False)
    return ("threadIdx", ".", "y") in words


def _form(kernel: Function) -> tuple[list[str], list[tuple[str, bool]]]:
    return [kind for kind, _, _ in kernel.template], [(p.type, p.pointer) for p in kernel.parameters]


def _likeness(function: Function, source: ParsedSource) -> float:
    """Return a score that is higher the more a function looks like a GEMM."""
    kinds = [p.type for p in function.parameters if p.pointer or is_map(p)]
    score = 3.0 * (len(kinds) == 3) + 2.0 * bool(re.search(r"(?i)gemm|mat_?mul|mm|mult", function.name))
    score += sum(not p.pointer for p in function.parameters) >= 1
    score += function.body.count("for") >= 1
    return score + 0.5 * any(launch.name == function.name for launch in source.launches)


def _describe(function: Function, source: ParsedSource, path: Path, text: str, names: tuple[str, ...]) -> Guess:
    # A parameter hides a constant with the same name elsewhere, such as a default argument: int M = 4096.
    own = {name for _, name, _ in function.template} | {parameter.name for parameter in function.parameters}
    source = replace(source, constants={n: v for n, v in source.constants.items() if n not in own})
    whole = function
    function, accessors = without_accessors(function)
    function, matrices = (function, accessors) if accessors else flattened(function, source.layouts)
    types, undecided = element_types(function, source, text)
    function, pitches = in_elements(with_plain_sizes(_typed(inlined(function, source), types, source)))
    tiles = run_time_tiles(function, source)
    read = sized(function, with_tiles(source, tiles), tiles)
    maps = _maps(read.source, read.function)
    read.roles.column_major |= _by_columns(read.roles, maps)
    dtype, stored = (_dtype(read.function, read.roles, matrix, maps, text) for matrix in ("A", "C"))
    shapes, computed = _shapes(read, dtype, is_cuda(path))
    shapes = with_commented_block(shapes, text, function.name) if is_cuda(path) else shapes
    named = with_fourth(read.function, read.index, with_unused(whole, read.roles))

    def role_of(name: str) -> str:
        role = named.of.get(name, "")
        return in_bytes(role, named, pitches[name]) if name in pitches else computed.get(name) or role

    described, structures = own_arguments(whole.parameters, matrices, role_of)
    scales = as_structures([role for _, _, role in described], [kind for _, kind, _ in described])
    types |= read.arguments
    arguments = [types.get(name) or _argument(name, shapes[-1]) for _, name, _ in whole.template]
    computes = GuessReason(0.9, tr("the file's own host code computes it so"))
    c_name = read.roles.parameter("C")
    made = Guess(
        path,
        text,
        names,
        function.name + (f"<{', '.join(arguments)}>" if arguments else ""),
        tuple((name, kind) for name, kind, _ in described),
        tuple(role for _, _, role in described),
        constants={one.leaf: one.value(named) for one in read.constants},
        dtype=dtype,
        accumulate=_sums(read.function, sums_of(stored)),
        math="tf32" if dtype == "float32" and "tf32" in read.function.body else "",
        column_major=read.roles.column_major,
        why={
            **named.why,
            **undecided,
            **differing(read.function, read.roles),
            **reasons_of_members(matrices, named),
            **dict.fromkeys(computed, computes),
        },
        stores=sums_of(stored),
        epilogue="relu" if any("relu" in word.lower() for word in (function.name, *read.function.body)) else "",
        adds=adds(read.index.pointers.get(c_name), c_name, read.function, read.source, named),
        reads_result=_reads(read.index.pointers.get(c_name), read.roles),
        structs=joined(structures, scales),
    )
    found = [_launched(made, shape, read, named, maps) for shape in shapes]
    return replace(found[0], others=tuple(found[1:]))


def _shapes(read: Sized, dtype: ElementType, is_launched: bool) -> tuple[list[Shape], dict[str, str]]:
    """Return the likely launches of a kernel, the last one from its own code, and the values of the host code.

    A function in C has no launch, but it has parameters and conditions.
    """
    params = whole_params(read.function, read.source)
    alone = Shape({name: values[:1] for name, values in params.items()})
    shaper = Shaper(read.function, read.source, read.index, read.roles, dtype)
    shape = shaper.shape(params) if is_launched else alone
    shape.requires += [f"{left} == {right}" for left, right in read.roles.equal]
    shape.requires += limits(read.index, read.roles)
    _aligned(shape, read.index, read.roles)
    by_host: dict[object, tuple[HostLaunch, Shape]] = {}
    for one in host_launch.find(read.source, read.function) if is_launched else ():
        made_so = host_launch.shape(one, read.function, read.source, read.roles, shape)
        if made_so:
            by_host.setdefault((made_so.block, made_so.grid), (one, made_so))
    if not by_host:
        return [shape], {}
    likely = sorted(by_host.values(), key=lambda pair: _strangeness(pair[1], shape))[:_MOST_SHAPES]
    computed = host_launch.computed_arguments(likely[0][0], read.function, read.source, read.roles)
    made = [one for _, one in likely]
    # A constant grid covers a small C, and leaves out most of a large one: first the grid that the kernel's code shows.
    fixed = [one for one in made if _sized(shape) and _is_constant(one) and {"M", "N"} <= {*read.roles.of.values()}]
    return [*(one for one in made if one not in fixed), shape, *fixed], computed


def _launched(made: Guess, shape: Shape, read: Sized, named: Roles, maps: dict[str, host_maps.HostMap]) -> Guess:
    """Return a guess with a launch."""
    asked = (condition for one in read.constants for condition in one.requires(named))
    boxes = _boxes(read.function, read.source, read.roles, shape, maps)
    shape = with_block_steps(shape, read.function)
    return replace(
        made,
        params=_used(shape.params, made.entry, shape, read.source),
        block=shape.block,
        grid=shape.grid,
        shared=shape.shared,
        requires=tuple(one for one in dict.fromkeys([*shape.requires, *asked]) if re.search("[A-Za-z]", one)),
        why={**made.why, **shape.why},
        tiles=_tiles_of(boxes, made.column_major) | shape.tiles,
        boxes=boxes,
        cluster=_cluster(read, shape),
        own_grid=shape.own_grid,
        size=shape.size or sizes_in_file(read.constants, named, shape.requires),
    )


def _cluster(read: Sized, made: Shape) -> tuple[str, ...]:
    """Return the blocks of a cluster along each axis, as the kernel's own code gives them; nothing without clusters."""
    sides = [
        host_launch.expression(side, read.function, read.source, read.roles, made) for side in read.function.clusters
    ]
    while sides and sides[-1] == "1":
        sides.pop()
    return () if None in sides else tuple(filter(None, sides))


def _reads(result: indexing.Pointer | None, roles: Roles) -> bool:
    """Return whether a kernel reads a C that it has no beta for."""
    return result is not None and bool(result.reads or result.sums) and "beta" not in roles.of.values()


def _strangeness(by_host: Shape, by_code: Shape) -> tuple[bool, ...]:
    """Return a key that is the smaller the better a launch of the host fits the kernel's own code."""
    return by_host.block != by_code.block, len(by_host.block) != len(by_code.block), not _sized(by_host)


def _is_constant(made: Shape) -> bool:
    """Return whether both sides of a grid are numbers, of several blocks; one block may grow with C instead."""
    return len(made.grid) > 1 and set(made.grid) != {"1"} and all(map(str.isdecimal, made.grid))


def _sized(made: Shape) -> bool:
    return any(re.search(r"\b[MNK]\b", text) for text in made.grid)


def _used(
    params: dict[str, tuple[int, ...]], entry: str, made: Shape, source: ParsedSource
) -> dict[str, tuple[int, ...]]:
    """Leave out the parameters that no expression uses any more."""
    words = set(re.findall(r"\w+", " ".join([entry, *made.block, *made.grid, made.shared, *made.requires])))
    return {name: values for name, values in params.items() if name in words | source.words}


def _typed(function: Function, types: dict[str, str], source: ParsedSource) -> Function:
    """Return a function with types in the place of its template's names, and with the constants of structures."""
    parameters = tuple(replace(p, type=types.get(p.type, p.type)) for p in function.parameters)
    given = {name: tokens_of(kind) for name, kind in types.items()}
    body = struct_types.with_members(function.body, source.structs, given)
    return replace(
        function,
        parameters=parameters,
        body=tuple(part for word in body for part in given.get(word, (word,))),
        bounds=tuple(struct_types.with_members(function.bounds, source.structs, given)),
    )


def _argument(name: str, shape: Shape) -> str:
    return name if name in shape.params else "1"


def _maps(source: ParsedSource, kernel: Function) -> dict[str, host_maps.HostMap]:
    """Return the tensor map of each matrix that the file's host code makes; none where two of one matrix differ."""
    found: dict[str, set[host_maps.HostMap]] = {}
    for one in host_maps.find(source, kernel):
        matrix = next(filter(None, map(matrix_called, one.names)), "")
        found.setdefault(matrix, set()).add(replace(one, names=(), space=()))
    return {matrix: next(iter(several)) for matrix, several in found.items() if matrix and len(several) == 1}


def _by_columns(roles: Roles, maps: dict[str, host_maps.HostMap]) -> frozenset[str]:
    """Return the matrices that are stored by columns, according to the host's tensor maps."""
    along = {"A": ("K", "M"), "B": ("N", "K"), "C": ("N", "M")}
    found = set()
    for matrix, one in maps.items():
        row, column = along[matrix]
        sizes = {name.upper() for name in one.inner} & {"M", "N", "K"}
        if matrix + SUFFIX in roles.of.values() and column in sizes and row not in sizes:
            found.add(matrix)
    return frozenset(found)


def _boxes(
    function: Function, source: ParsedSource, roles: Roles, made: Shape, maps: dict[str, host_maps.HostMap]
) -> dict[str, tuple[str, str, int, int]]:
    """Return the boxes of a launch's maps as the front matter gives them: those that its parameters can say."""
    found: dict[str, tuple[str, str, int, int]] = {}
    for matrix, one in maps.items():
        rows, columns = (
            host_launch.expression(side, function, source, roles, made) for side in (one.rows, one.columns)
        )
        if rows and columns:
            found[matrix] = rows, columns, one.swizzle, one.rank
    return found


def _tiles_of(boxes: Mapping[str, tuple[str, str, int, int]], column_major: frozenset[str]) -> dict[str, str]:
    """Return the side of a box along each size: a kernel that reads boxes takes whole ones."""
    found: dict[str, str] = {}
    for matrix, sizes in (("A", "MK"), ("B", "KN")):
        if matrix in boxes:
            found |= zip(sizes[::-1] if matrix in column_major else sizes, boxes[matrix][:2], strict=True)
    return found


def _dtype(function: Function, roles: Roles, matrix: str, maps: dict[str, host_maps.HostMap], text: str) -> ElementType:
    if matrix in maps and matrix + SUFFIX in roles.of.values():
        return maps[matrix].dtype or "int8"
    kind = next((p.type for p in function.parameters if roles.of.get(p.name) == matrix), "float")
    return DTYPES.get(kind) or of_bits(kind, text) or "float32"


def _sums(function: Function, stored: SumType) -> SumType:
    """Return the type of the running sums: the type of C, or float where that is another one and the body names it."""
    wider = np.dtype(stored).itemsize == 2 or stored == "float64"
    return "float32" if wider and "float" in function.body else stored


def _aligned(shape: Shape, index: indexing.Indexing, roles: Roles) -> None:
    """Require row lengths that are a multiple of the widest vector access, unless a tile requires more."""
    for matrix, (row, column) in (("A", ("K", "M")), ("B", ("N", "K")), ("C", ("N", "M"))):
        pointer = index.pointers.get(roles.parameter(matrix))
        size = column if matrix in roles.column_major else row
        if pointer and pointer.vector > 1 and not any(r.startswith(f"{size} % ") for r in shape.requires):
            shape.requires.append(f"{size} % {pointer.vector} == 0")
