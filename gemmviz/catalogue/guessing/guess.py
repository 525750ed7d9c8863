"""Guesses the front matter of a kernel that somebody wrote without it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gemmviz.catalogue.dtypes import ElementType, SumType, sums_of
from gemmviz.catalogue.front_matter import SCALARS, needed_version
from gemmviz.catalogue.guessing import cxx, host_launch, indexing
from gemmviz.catalogue.guessing.cxx import Function, ParsedSource, Surroundings
from gemmviz.catalogue.guessing.fourth_matrix import with_fourth
from gemmviz.catalogue.guessing.inlining import inlined
from gemmviz.catalogue.guessing.roles import DTYPES, GuessReason, Roles, assign
from gemmviz.catalogue.guessing.shape import Shape, Shaper
from gemmviz.catalogue.guessing.size_constants import as_parameters, size_constants, without
from gemmviz.catalogue.guessing.tunable import whole_params
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.catalogue.tensor_map import SUFFIX

ROLES = (*MATRICES, D, BIAS, *(matrix + SUFFIX for matrix in MATRICES), *SCALARS, "0")
# Below this a guess is named among the doubts.
SURE = 0.5
_BY_HOST = GuessReason(0.9, "the file's own host code computes it so")


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
    params, constants, block, grid, shared, requires, dtype, accumulate, math
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
    """

    path: Path
    text: str = field(repr=False)
    entries: tuple[str, ...] = ()
    entry: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    roles: tuple[str, ...] = ()
    params: dict[str, tuple[int, ...]] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
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
        if self.constants:
            inside = ", ".join(f"{name} = {json.dumps(said)}" for name, said in self.constants.items())
            keys.append(("constants", f"{{ {inside} }}"))
        if is_cuda(self.path):
            keys += [("block", _texts(self.block)), ("grid", _texts(self.grid))]
        if self.mapped:
            # Nobody can tell from the source how large a box is.
            boxes = ", ".join(f'{matrix} = {{ box = ["?", "?"], swizzle = 0 }}' for matrix in self.mapped)
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
        found += [f"maps has to say how large a box of {m} is, and how it is swizzled." for m in self.mapped]
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
    types = _types(function, source)
    function = _typed(inlined(function, source), types)
    given = size_constants(function, source)
    while True:
        with_sizes, meant = as_parameters(function, given), without(source, given)
        index = indexing.read_indexing(with_sizes, meant.constants_without_tunable())
        roles = assign(with_sizes, index)
        strange = [one for one in given if not one.size_of(roles)]
        if not strange:
            break
        given = [one for one in given if one not in strange]
    function, source = with_sizes, meant
    dtype, stored = (_dtype(function, roles, matrix) for matrix in ("A", "C"))
    stores = sums_of(stored)
    shaper = Shaper(function, source, index, roles, dtype)
    params = whole_params(function, source)
    alone = Shape({name: values[:1] for name, values in params.items()})
    shape = shaper.shape(params) if is_cuda(path) else alone
    shape.requires += [f"{left} == {right}" for left, right in roles.equal]
    _aligned(shape, index, roles)
    shapes, computed = [shape], dict[str, str]()
    if is_cuda(path):
        for one in host_launch.find(source, function):
            by_host = host_launch.shape(one, function, source, roles, shape)
            if by_host:
                computed = host_launch.computed_arguments(one, function, source, roles)
                shapes = [by_host, shape]
                break
    named = with_fourth(function, index, roles)
    own_parameters = function.parameters[: len(function.parameters) - len(given)]
    arguments = [types.get(name) or _argument(name, shape) for _, name, _ in function.template]
    entry = function.name + (f"<{', '.join(arguments)}>" if arguments else "")
    found = [
        Guess(
            path,
            text,
            names,
            entry,
            tuple((p.name, p.type + (" *" if p.pointer else "")) for p in own_parameters),
            tuple(computed.get(p.name) or named.of.get(p.name, "") for p in own_parameters),
            _used(made.params, entry, made, source),
            {one.leaf: one.value(named) for one in given},
            made.block,
            made.grid,
            made.shared,
            tuple(dict.fromkeys([*made.requires, *(condition for one in given for condition in one.requires(named))])),
            dtype,
            _sums(function, stores),
            "tf32" if dtype == "float32" and "tf32" in function.body else "",
            roles.column_major,
            {**named.why, **dict.fromkeys(computed, _BY_HOST), **made.why},
            made.tiles,
            stores=stores,
            epilogue="relu" if any("relu" in word.lower() for word in (function.name, *function.body)) else "",
            adds=roles.parameter("C") in index.pointers and index.pointers[roles.parameter("C")].added,
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


def _types(function: Function, source: ParsedSource) -> dict[str, str]:
    """Return the types that a template is launched with: float where the file launches it so, or says nothing."""
    names = [name for _, name, _ in function.template]
    found = {}
    for kind, name, default in function.template:
        if kind in ("typename", "class"):
            place = names.index(name)
            given = [one.template[place] for one in host_launch.find(source, function) if place < len(one.template)]
            said = [argument[0] for argument in given if len(argument) == 1 and argument[0] in DTYPES]
            said += [default] if default in DTYPES else []
            found[name] = "float" if "float" in said or not said else said[0]
    return found


def _typed(function: Function, types: dict[str, str]) -> Function:
    """Return a function with types in the place of its template's names for them."""
    parameters = tuple(replace(p, type=types.get(p.type, p.type)) for p in function.parameters)
    return replace(function, parameters=parameters, body=tuple(types.get(word, word) for word in function.body))


def _argument(name: str, shape: Shape) -> str:
    return name if name in shape.params else "1"


def _dtype(function: Function, roles: Roles, matrix: str) -> ElementType:
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


def _texts(parts: Iterable[str]) -> str:
    return "[" + ", ".join(json.dumps(str(part)) for part in parts) + "]"


def is_described(text: str) -> bool:
    """Return whether a text has front matter already, be it right or wrong."""
    return re.search(r"^//[ \t]*---gemmviz(?![ \t]+breaks\b)", text, re.MULTILINE) is not None
