"""A guessed front matter: its text, the evidence for it, and its doubts."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.catalogue.dtypes import ElementType, SumType, sums_of
from gemmviz.catalogue.front_matter import POINTER, SCALARS, VERSION_OF_STRUCTS, needed_version
from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.roles import WHOLE, GuessReason
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.catalogue.unclosed_body import unclosed_body
from gemmviz.language import tr

ROLES = (*MATRICES, D, BIAS, *(matrix + SUFFIX for matrix in MATRICES), *SCALARS, "0")
_NUMBERS = (*SCALARS, "0", "1")
# A guess with a lower confidence is listed among the doubts.
SURE = 0.5
_SAID = 0.9


@dataclass(frozen=True)
class Guess:
    """The guessed front matter of a file, with the evidence for it.

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
        The role of each parameter, in the order of the parameters; ``""`` where no role fits.
    params, constants, block, grid, shared, requires, dtype, accumulate, math
        As in `gemmviz.catalogue.kernel.Kernel`, expressions as text.
    column_major
        The matrices that are stored by columns.
    why
        Evidence by key of the front matter and by parameter name.
    others
        Less likely launches, the most likely of them first.
    settled
        The result of the recordings that tested the guess; empty before the first recording.
    right
        Whether C was right in these recordings.
    wrong_itself
        Whether the launch is known to be right and the kernel computes a wrong C: then the checker says where.
    adds
        Whether C is zero before the launch: the kernel adds its result to the old values.
    reads_result
        Whether the kernel reads C, or adds to it.
    stores
        The element type of C.
    epilogue
        The function that the kernel applies to its result, if a name in the kernel shows it; else empty.
    boxes
        Rows, columns, swizzle and rank of the boxes of tensor maps that the file's host code makes.
    cluster
        Blocks of a cluster, as in `gemmviz.catalogue.kernel.Kernel`; empty without clusters.
    capability
        The compute capability that its instructions need; empty where every GPU has them.
    structs
        The parameters that are members of a structure: the first, the one behind the last, and whether it is a pointer.
    hindrance
        Why no launch can be right, where the files show it.
    headers, missing
        The texts of the file's headers, and those that are nowhere: see `gemmviz.catalogue.guessing.cxx.Surroundings`.
    flaws
        What trials have shown to be wrong with the kernel itself, whatever its launch.
    size
        M, N and K of the launch in the file, where its host code has numbers for them.
    own_grid
        The grid at that size, where it has numbers for that, too.
    demo
        M, N and K at which the kernel opens, where it is wrong at the size that is usual.
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
    wrong_itself: bool = False
    adds: bool = False
    reads_result: bool = False
    stores: SumType = "float32"
    epilogue: str = ""
    boxes: dict[str, tuple[str, str, int, int]] = field(default_factory=dict)
    cluster: tuple[str, ...] = ()
    capability: str = ""
    structs: tuple[tuple[int, int, bool], ...] = ()
    hindrance: str = ""
    headers: tuple[str, ...] = field(default=(), repr=False)
    missing: tuple[tuple[str, str], ...] = ()
    flaws: tuple[Flaw, ...] = ()
    size: tuple[int, int, int] | None = None
    own_grid: tuple[str, ...] = ()
    demo: tuple[int, int, int] | None = None

    @property
    def arguments(self) -> list[tuple[tuple[str, str], str]]:
        """The parameters, each with its name, its type and its role."""
        return list(zip(self.parameters, self.roles, strict=True))

    def front_matter(self) -> str:
        """Return the comment block that describes the kernel, with a line end after it."""
        title = re.sub(r"[_\s]+", " ", self.path.stem).strip() or "Kernel"
        keys = [
            ("title", json.dumps(title, ensure_ascii=False)),
            ("entry", json.dumps(self.entry)),
        ]
        keys.append(("args", self._arguments()))
        if self.params:
            inside = ", ".join(f"{name} = [{', '.join(map(str, values))}]" for name, values in self.params.items())
            keys.append(("params", f"{{ {inside} }}"))
        if self.constants:
            inside = ", ".join(f"{name} = {json.dumps(constant)}" for name, constant in self.constants.items())
            keys.append(("constants", f"{{ {inside} }}"))
        if is_cuda(self.path):
            keys += [("block", _texts(self.block)), ("grid", _texts(self.grid))]
        if self.cluster:
            keys.append(("cluster", _texts(self.cluster)))
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
        if self.capability:
            keys.append(("capability", json.dumps(self.capability)))
        if self.math:
            keys.append(("math", json.dumps(self.math)))
        if self.column_major:
            keys.append(("layout", "{ " + ", ".join(f'{m} = "column"' for m in sorted(self.column_major)) + " }"))
        if self.demo:
            keys.append(("demo", f"{{ size = {list(self.demo)} }}"))
        in_entry = {"M", "N", "K"} & {*re.findall(r"\w+", self.entry.partition("<")[2])}
        needed = max(needed_version(name for name, _ in keys), VERSION_OF_STRUCTS * bool(self.structs or in_entry))
        if needed > 1:  # the default of front matter is version 1
            keys.insert(0, ("version", str(needed)))
        width = max(len(name) for name, _ in keys)
        lines = [f"// {name:<{width}} = {value}" for name, value in keys]
        return "\n".join(["// ---gemmviz", *lines, "// ---", ""])

    def _arguments(self) -> str:
        """Return the roles as the front matter has them: those of a structure's members in a list of their own."""
        texts = [json.dumps(role or "?") for role in self.roles]
        for first, end, pointer in reversed(self.structs):
            texts[first:end] = [f"[{', '.join([json.dumps(POINTER)] * pointer + texts[first:end])}]"]
        return f"[{', '.join(texts)}]"

    def described(self) -> str:
        """Return the file's text with the front matter on top."""
        return self.front_matter() + self.text.removeprefix("\ufeff")

    @property
    def mapped(self) -> tuple[str, ...]:
        """The matrices that the kernel reads or writes through a tensor map."""
        return tuple(matrix for matrix in MATRICES if matrix + SUFFIX in self.roles)

    @property
    def doubts(self) -> list[str]:
        """The points that a person should check, as sentences."""
        if not self.entry:
            unclosed = unclosed_body(self.text)
            if unclosed is not None:
                return [f"{self.path.name}:{unclosed.line}: {unclosed}"]
            if is_cuda(self.path):
                return [tr("{file} has no function marked __global__: there is nothing to run.", file=self.path.name)]
            return [tr("{file} has no function with three pointers: there is nothing to run.", file=self.path.name)]
        found = []
        likeliest = self.entries[:1] == (self.entry.partition("<")[0],)  # else a person chose another one
        if len(self.entries) > 1 and likeliest and not self.right:
            found.append(
                tr(
                    "The file has {count} kernels; {name} looks most like a GEMM.",
                    count=len(self.entries),
                    name=self.entries[0],
                )
            )
        for (name, kind), role in zip(self.parameters, self.roles, strict=True):
            known = self.why.get(name, GuessReason(0, ""))
            if not role:
                named = name or tr("(without a name)")
                found.append(tr("Parameter {name} ({type}) has no role in a GEMM.", name=named, type=kind))
            elif known.confidence < SURE and not self.right:
                found.append(
                    tr(
                        "Is parameter {name} really {role}? The only evidence: {why}.",
                        name=name,
                        role=role,
                        why=known.why,
                    )
                )
        found += [tr("No parameter is {matrix}.", matrix=m) for m in MATRICES if not {m, m + SUFFIX} & {*self.roles}]
        unknown = [m for m in self.mapped if m not in self.boxes]
        found += [tr("maps must give the size of a box of {matrix} and its swizzle.", matrix=m) for m in unknown]
        if not self.right:
            for key in ("elements", "params", "block", "grid", "shared"):
                known = self.why.get(key, GuessReason(1, ""))
                if known.confidence < SURE + 0.05:
                    found.append(tr("{key} may be wrong: {why}.", key=key, why=known.why))
        return found


def _said(box: tuple[str, str, int, int] | None) -> str:
    """Return a box as front matter has it; nobody can tell from a kernel alone how large it is."""
    rows, columns, swizzle, rank = box or ("?", "?", 0, 2)
    return f"{{ box = {_texts((rows, columns))}, swizzle = {swizzle}{f', rank = {rank}' * (rank > 2)} }}"


def _texts(parts: Iterable[str]) -> str:
    return "[" + ", ".join(json.dumps(str(part)) for part in parts) + "]"


def is_stated(made: Guess, key: str) -> bool:
    """Return whether the host code gives a part of the launch: ``"block"``, ``"shared"``."""
    return made.why.get(key, GuessReason(1, "")).confidence >= _SAID


def roles_for(kind: str) -> tuple[str, ...]:
    """Return what an argument of a type may be: a whole number or a flag is neither a matrix nor a map."""
    return _NUMBERS if kind in WHOLE or kind == "bool" else ROLES
