"""Guesses the front matter of a kernel that somebody wrote without it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gemmviz.catalogue.dtypes import ElementType, SumType, sums_of
from gemmviz.catalogue.front_matter import SCALARS, needed_version
from gemmviz.catalogue.guessing import cxx, host_launch, host_maps, indexing
from gemmviz.catalogue.guessing.cxx import Function, ParsedSource, Surroundings
from gemmviz.catalogue.guessing.fourth_matrix import with_fourth
from gemmviz.catalogue.guessing.inlining import inlined
from gemmviz.catalogue.guessing.roles import DTYPES, GuessReason, Roles, assign, matrix_called
from gemmviz.catalogue.guessing.shape import Shape, Shaper
from gemmviz.catalogue.guessing.tunable import whole_params
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.catalogue.tensor_map import SUFFIX

ROLES = (*MATRICES, D, BIAS, *(matrix + SUFFIX for matrix in MATRICES), *SCALARS, "0")
# Below this a guess is named among the doubts.
SURE = 0.5


@dataclass(frozen=True)
class Guess:
    """What the front matter of a file should say, and why.

    Attributes
    ----------
    path, text
        The file, which has no front matter.
    entries
        The functions that may be the kernel, the most likely one first.
    entry
        The function with its template arguments; empty when the file has none.
    parameters
        (name, type) of each parameter of the entry.
    roles
        What each parameter is, in their order; ``""`` where nothing fits.
    params, block, grid, shared, requires, dtype, accumulate, math
        As in `gemmviz.catalogue.kernel.Kernel`, expressions as text.
    column_major
        The matrices that are stored by columns.
    why
        Evidence by key of the front matter and by parameter name.
    others
        Launches that are less likely, from the most likely on.
    settled
        What a recording said; empty before one was made.
    adds
        Whether the kernel adds to what C holds before, with atomicAdd.
    stores
        The element type of C.
    epilogue
        The function that the kernel applies to its result, if a name in it says so; else empty.
    boxes
        Rows, columns, swizzle and rank of the boxes of tensor maps, where the file's host code says them.
    """

    path: Path
    text: str = field(repr=False)
    entries: tuple[str, ...] = ()
    entry: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    roles: tuple[str, ...] = ()
    params: dict[str, tuple[int, ...]] = field(default_factory=dict)
    block: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    shared: str = "0"
    requires: tuple[str, ...] = ()
    dtype: ElementType = "float32"
    accumulate: SumType = "float32"
    math: str = ""
    column_major: frozenset[str] = frozenset()
    why: dict[str, GuessReason] = field(default_factory=dict)
    tiles: dict[str, str] = field(default_factory=dict)
    others: tuple["Guess", ...] = field(default=(), repr=False)
    settled: str = ""
    right: bool = False
    adds: bool = False
    stores: SumType = "float32"
    epilogue: str = ""
    boxes: dict[str, tuple[str, str, int, int]] = field(default_factory=dict)

    def front_matter(self) -> str:
        """Return the comment block that describes the kernel, with a line end behind it."""
        title = re.sub(r"[_\s]+", " ", self.path.stem).strip() or "Kernel"
        keys = [
            ("title", json.dumps(title, ensure_ascii=False)),
            ("entry", json.dumps(self.entry)),
        ]
        keys.append(("args", _texts(role or "?" for role in self.roles)))
        if self.params:
            inside = ", ".join(f"{name} = [{', '.join(map(str, values))}]" for name, values in self.params.items())
            keys.append(("params", f"{{ {inside} }}"))
        if is_cuda(self.path):
            keys += [("block", _texts(self.block)), ("grid", _texts(self.grid))]
        if self.mapped:
            boxes = ", ".join(f"{matrix} = {_said(self.boxes.get(matrix))}" for matrix in self.mapped)
            keys.append(("maps", f"{{ {boxes} }}"))
        if self.shared != "0":
            keys.append(("shared", json.dumps(self.shared)))
        if self.requires:
            keys.append(("requires", _texts(self.requires)))
        if self.dtype != "float32":
            keys.append(("dtype", json.dumps(self.dtype)))
        if self.accumulate != sums_of(self.dtype):
            keys.append(("accumulate", json.dumps(self.accumulate)))
        if self.stores != self.accumulate:
            keys.append(("stores", json.dumps(self.stores)))
        if self.adds:
            keys.append(("zero", '["C"]'))
        if self.epilogue:
            keys.append(("epilogue", json.dumps(self.epilogue)))
        if self.math:
            keys.append(("math", json.dumps(self.math)))
        if self.column_major:
            keys.append(("layout", "{ " + ", ".join(f'{m} = "column"' for m in sorted(self.column_major)) + " }"))
        needed = needed_version(name for name, _ in keys)
        if needed > 1:  # a file that does not say is written for the first
            keys.insert(0, ("version", str(needed)))
        width = max(len(name) for name, _ in keys)
        lines = [f"// {name:<{width}} = {value}" for name, value in keys]
        return "\n".join(["// ---gemmviz", *lines, "// ---", ""])

    def described(self) -> str:
        """Return the file's text with the front matter on top."""
        return self.front_matter() + self.text.removeprefix("\ufeff")

    @property
    def mapped(self) -> tuple[str, ...]:
        """The matrices that the kernel is given a tensor map of."""
        return tuple(matrix for matrix in MATRICES if matrix + SUFFIX in self.roles)

    @property
    def doubts(self) -> list[str]:
        """What a person should look at, in sentences."""
        if not self.entry:
            wanted = "function marked __global__" if is_cuda(self.path) else "function with three pointers"
            return [f"{self.path.name} has no {wanted}: there is nothing to run."]
        found = []
        if len(self.entries) > 1 and not self.right:
            found.append(f"The file has {len(self.entries)} kernels; {self.entries[0]} looks most like a GEMM.")
        for (name, kind), role in zip(self.parameters, self.roles, strict=True):
            known = self.why.get(name, GuessReason(0, ""))
            if not role:
                found.append(f"Parameter {name or '(without a name)'} ({kind}) is nothing that a GEMM is given.")
            elif known.confidence < SURE and not self.right:
                found.append(f"Is parameter {name} really {role}? All that is known: {known.why}.")
        found += [f"No parameter is {m}." for m in MATRICES if not {m, m + SUFFIX} & {*self.roles}]
        unknown = [m for m in self.mapped if m not in self.boxes]
        found += [f"maps has to say how large a box of {m} is, and how it is swizzled." for m in unknown]
        if not self.right:
            for key in ("params", "block", "grid", "shared"):
                known = self.why.get(key, GuessReason(1, ""))
                if known.confidence < SURE + 0.05:
                    found.append(f"The {key} may be wrong: {known.why}.")
        return found


def guess(text: str, path: Path, entry: str | None = None, around: Surroundings | None = None) -> Guess:
    """Guess the front matter of a file. Nothing of the file is run, and no text is too strange to be looked at.

    Parameters
    ----------
    text
        The whole file.
    path
        Its suffix says whether it is C or CUDA.
    entry
        Which of its functions to describe; the one that looks most like a GEMM by default.
    around
        The files around it, whose constants and launches count.
    """
    try:
        return _guess(text, path, entry, around)
    except RecursionError:  # brackets without end: nothing that anybody wrote
        return Guess(path, text)


def _guess(text: str, path: Path, entry: str | None, around: Surroundings | None) -> Guess:
    source = cxx.read_source(text, around)
    candidates = source.kernels if is_cuda(path) else source.functions
    fitting = [f for f in candidates if sum(p.pointer for p in f.parameters) >= 3] or [*candidates]
    if not is_cuda(path):
        fitting = [f for f in fitting if sum(p.pointer for p in f.parameters) >= 3 and f.name != "main"]
        # What another function of the file calls is a part of the product; the program around it is none.
        called = {word for f in source.functions if f.name != "main" for word in f.body if word != f.name}
        fitting = [f for f in fitting if f.name not in called or f.name == entry] or fitting
    ranked = sorted(fitting, key=lambda f: -_likeness(f, source))
    names = tuple(dict.fromkeys(f.name for f in ranked))
    named = [f for f in ranked if entry in (f.name, f.name.rpartition("::")[2])]
    chosen = next(iter(named or ranked), None)
    if chosen is None:
        return Guess(path, text)
    return _describe(chosen, source, path, text, names)


def _likeness(function: Function, source: ParsedSource) -> float:
    """Return how much a function looks like a GEMM."""
    kinds = [p.type for p in function.parameters if p.pointer]
    score = 3.0 * (len(kinds) == 3) + 2.0 * bool(re.search(r"(?i)gemm|mat_?mul|mm|mult", function.name))
    score += sum(not p.pointer for p in function.parameters) >= 1
    score += function.body.count("for") >= 1
    return score + 0.5 * any(launch.name == function.name for launch in source.launches)


def _describe(function: Function, source: ParsedSource, path: Path, text: str, names: tuple[str, ...]) -> Guess:
    # A template parameter is no constant of that name in another function.
    own = {name for _, name, _ in function.template}
    source = replace(source, constants={n: v for n, v in source.constants.items() if n not in own})
    function = inlined(function, source)
    index = indexing.read_indexing(function, source.constants_without_tunable())
    roles = assign(function, index)
    maps = _maps(source)
    dtype, stored = (_dtype(function, roles, matrix, maps) for matrix in ("A", "C"))
    roles.column_major |= _by_columns(roles, maps)
    stores = sums_of(stored)
    shaper = Shaper(function, source, index, roles, dtype)
    params = whole_params(function, source)
    alone = Shape({name: values[:1] for name, values in params.items()})
    shape = shaper.shape(params) if is_cuda(path) else alone
    shape.requires += [f"{left} == {right}" for left, right in roles.equal]
    _aligned(shape, index, roles)
    shapes = [shape]
    if is_cuda(path):
        read = (
            host_launch.shape(launch, function, source, roles, shape) for launch in host_launch.find(source, function)
        )
        by_host = next((made for made in read if made), None)
        shapes = [by_host, shape] if by_host else shapes
    named = with_fourth(function, index, roles)
    arguments = [_argument(kind, name, shape) for kind, name, _ in function.template]
    entry = function.name + (f"<{', '.join(arguments)}>" if arguments else "")
    found = [
        Guess(
            path,
            text,
            names,
            entry,
            tuple((p.name, p.type + (" *" if p.pointer else "")) for p in function.parameters),
            tuple(named.of.get(p.name, "") for p in function.parameters),
            _used(made.params, entry, made, source),
            made.block,
            made.grid,
            made.shared,
            tuple(dict.fromkeys(made.requires)),
            dtype,
            _sums(function, stores),
            "tf32" if dtype == "float32" and "tf32" in function.body else "",
            roles.column_major,
            {**named.why, **made.why},
            made.tiles,
            stores=stores,
            epilogue="relu" if any("relu" in word.lower() for word in (function.name, *function.body)) else "",
            adds=roles.parameter("C") in index.pointers and index.pointers[roles.parameter("C")].added,
            boxes=_boxes(function, source, roles, made, maps),
        )
        for made in shapes
    ]
    return replace(found[0], others=tuple(found[1:]))


def _used(
    params: dict[str, tuple[int, ...]], entry: str, made: Shape, source: ParsedSource
) -> dict[str, tuple[int, ...]]:
    """Leave out parameters that nothing names any more."""
    words = set(re.findall(r"\w+", " ".join([entry, *made.block, *made.grid, made.shared, *made.requires])))
    return {name: values for name, values in params.items() if name in words | source.words}


def _argument(kind: str, name: str, shape: Shape) -> str:
    if kind in ("typename", "class"):
        return "float"
    return name if name in shape.params else "1"


def _maps(source: ParsedSource) -> dict[str, host_maps.HostMap]:
    """Return the tensor map of each matrix that the file's host code makes; none where two of one matrix differ."""
    found: dict[str, set[host_maps.HostMap]] = {}
    for one in host_maps.find(source):
        matrix = next(filter(None, map(matrix_called, one.names)), "")
        found.setdefault(matrix, set()).add(replace(one, names=()))
    return {matrix: next(iter(several)) for matrix, several in found.items() if matrix and len(several) == 1}


def _by_columns(roles: Roles, maps: dict[str, host_maps.HostMap]) -> frozenset[str]:
    """Return the matrices of which neighbours in memory, as the host maps them, are in one column."""
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


def _dtype(function: Function, roles: Roles, matrix: str, maps: dict[str, host_maps.HostMap]) -> ElementType:
    if matrix in maps and matrix + SUFFIX in roles.of.values():
        return maps[matrix].dtype or "int8"
    kind = next((p.type for p in function.parameters if roles.of.get(p.name) == matrix), "float")
    return DTYPES.get(kind, "float32")


def _sums(function: Function, stored: SumType) -> SumType:
    """Return the type that sums are kept in: C's, or float where C has 16 bits and the body declares floats."""
    return "float32" if np.dtype(stored).itemsize == 2 and "float" in function.body else stored


def _aligned(shape: Shape, index: indexing.Indexing, roles: Roles) -> None:
    """Ask for rows that begin at a multiple of what one vector access takes, where no tile asks for more."""
    for matrix, (row, column) in (("A", ("K", "M")), ("B", ("N", "K")), ("C", ("N", "M"))):
        pointer = index.pointers.get(roles.parameter(matrix))
        size = column if matrix in roles.column_major else row
        if pointer and pointer.vector > 1 and not any(r.startswith(f"{size} % ") for r in shape.requires):
            shape.requires.append(f"{size} % {pointer.vector} == 0")


def _said(box: tuple[str, str, int, int] | None) -> str:
    """Return a box as front matter has it; nobody can tell from a kernel alone how large it is."""
    rows, columns, swizzle, rank = box or ("?", "?", 0, 2)
    return f"{{ box = {_texts((rows, columns))}, swizzle = {swizzle}{f', rank = {rank}' * (rank > 2)} }}"


def _texts(parts: Iterable[str]) -> str:
    return "[" + ", ".join(json.dumps(str(part)) for part in parts) + "]"


def is_described(text: str) -> bool:
    """Return whether a text has front matter already, be it right or wrong."""
    return re.search(r"^//[ \t]*---gemmviz(?![ \t]+breaks\b)", text, re.MULTILINE) is not None
