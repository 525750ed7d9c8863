"""A kernel: its source, and the description of its launch from the front matter."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from gemmviz.catalogue import demo, front_matter, switches
from gemmviz.catalogue.batch import BatchForm
from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.division import Division
from gemmviz.catalogue.dtypes import ElementType, SumType
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.fault_line import line_of_key
from gemmviz.catalogue.front_matter import FENCE
from gemmviz.catalogue.hidden_registers import hidden_registers
from gemmviz.catalogue.matrices import BIAS, D
from gemmviz.catalogue.schedule import Schedule
from gemmviz.catalogue.switches import Break
from gemmviz.catalogue.tensor_map import Box

Backend = Literal["c", "cuda", "numpy", "openblas", "cublas"]


@dataclass(frozen=True)
class Kernel:
    """One rung of the ladder.

    Attributes
    ----------
    name
        The name for the command line: the file's name without number and suffix.
    path, text
        The file, and all of its text, front matter included; the code may be another file's (see `read`).
    folders
        The folders of the file that are a part of the name, as another kernel has the file's name: ``"new"``,
        ``"me/new"``. Empty for most kernels.
    backend
        ``"c"`` and ``"cuda"`` are kernels with a source; the others are library references.
    title, idea, source, alias
        Texts for people: a title, one sentence, the document that the kernel comes from, its name in there.
    entry
        The function that is launched, with template arguments by name: ``"gputiled<TS>"``.
    args
        The role of each parameter of the entry, in order: matrices A, B, C, their tensor maps ``"A.map"``, scalars
        (M, N, K, lda, alpha, ...), D if the result is not stored in C, and a bias.
    params
        The tunable parameters, each with the values offered; the first is the default. One that `entry` does not
        name is given to the compiler as a macro.
    constants
        Constants of the source that stand for sizes: each gets the value of an expression.
    block, grid
        The launch shape: up to three expressions (x, y, z). Empty for the CPU.
    shared
        Bytes of dynamic shared memory.
    requires
        The conditions on sizes and parameters.
    capability
        The compute capability that it needs, ``"8.0"`` (or later) or ``"9.0a"`` (exactly); empty if any will do.
    maps
        By matrix, the box that a copy of the copy engine (TMA) moves.
    cluster
        Blocks of a cluster: none, or up to three expressions. The kernel itself has ``__cluster_dims__``.
    dtype, accumulate
        NumPy names of the element type of A and B and of the type that sums are kept in.
    stores
        NumPy name of the element type of C where it is another than that of the sums; else None. See `dtype_out`.
    zeroed, epilogue
        Whether C is set to zero before each launch, as the kernel adds to it; ``"relu"`` if it cuts negative elements.
    unaligned
        The matrices whose rows may have any length although the copy engine takes multiples of 16 bytes only. Where
        they have another, a matrix that the kernel also takes as a pointer is reached without its map, and another is
        copied to longer rows before each launch.
    copied
        Those of them that are copied although the kernel takes them as pointers, too.
    schedule
        How parameters follow from the size, where the user gives none; None: they are the defaults at every size.
    math
        ``"tf32"``, ``"fp16"``, ``"bf16"``: the operands of products are rounded to this type before. ``"promoted"``:
        sums of `gemmviz.catalogue.dtypes.PROMOTED_AFTER` products of 8-bit floats are added in the type of the sums.
    column_major
        The matrices that are stored by columns.
    exhibit
        The fault or waste of a printed text, if the kernel exists to show it: it is run and explained, and
        never ranked.
    breaks
        The declared changes, to try their effects: see `gemmviz.catalogue.breaks.broken`.
    version
        The version of the front matter that the file is written for.
    demo
        The size, parameters and step that show its idea; None if the file gives none.
    batch
        The products of one launch; None where it is one.
    division
        How several GPUs compute the product together; None where one GPU does.
    structs
        The arguments that are members of one parameter, a structure: the first of them, and the one after the last.
    struct_pointers
        For each structure, whether the parameter is a pointer to it.
    unknown
        Keys of a newer version of the front matter that mean nothing here; see `notes`.
    """

    name: str
    path: Path
    text: str = field(repr=False)
    backend: Backend
    title: str
    idea: str = ""
    source: str = ""
    alias: str = ""
    entry: str = ""
    args: tuple[str, ...] = ()
    params: dict[str, tuple[int, ...]] = field(default_factory=dict)
    constants: dict[str, Expression] = field(default_factory=dict)
    block: tuple[Expression, ...] = ()
    grid: tuple[Expression, ...] = ()
    shared: Expression = Expression("0")  # noqa: RUF009 (frozen)
    requires: tuple[Expression, ...] = ()
    dtype: ElementType = "float32"
    accumulate: SumType = "float32"
    stores: SumType | None = None
    zeroed: bool = False
    unaligned: frozenset[str] = frozenset()
    copied: frozenset[str] = frozenset()
    schedule: Schedule | None = None
    epilogue: Literal["", "relu"] = ""
    math: str = ""
    column_major: frozenset[str] = frozenset()
    exhibit: str = ""
    capability: str = ""
    maps: dict[str, Box] = field(default_factory=dict)
    cluster: tuple[Expression, ...] = ()
    breaks: tuple[Break, ...] = ()
    version: int = 1
    demo: Demo | None = None
    unknown: tuple[str, ...] = ()
    batch: BatchForm | None = None
    division: Division | None = None
    structs: tuple[tuple[int, int], ...] = ()
    struct_pointers: tuple[bool, ...] = ()
    folders: str = ""

    @cached_property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the code, and of the front matter that decides the launch.

        Not included are texts for people (title, idea, demo, ...), the offered values of parameters, the conditions
        on sizes, and the declared changes: figures and proofs stay valid when these change.
        """
        fence, (start, end) = FENCE.search(self.text), switches.block(self.text)
        before = self.text[: fence.start()] if fence else ""
        code = before + self.text[front_matter.code_start(self.text) : start] + self.text[end:]
        if fence and fence.end() >= len(self.text.rstrip()):
            code = f"\n{before}"  # the front matter is below the code: as if it were on top
        return _digest(code if self.recordable else "", _decides(self))

    @property
    def code_line(self) -> int:
        """The line of the file, from 1, on which the code begins: behind the front matter."""
        start = front_matter.code_start(self.text)
        return self.text[:start].count("\n") + (2 if start else 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for people who open the file, in sentences.

        They name keys that only a newer gemmviz knows, a demo whose line is not in the source, and registers of inline
        PTX that may hide those of the compiler. A variant has another text than its demo is written for, so its demo is
        not checked.
        """
        left_out = front_matter.left_out(self.unknown, self.version, self.path.name)
        of_demo = demo.not_found(self.demo, self.text, self.path.name) if not self.changes else ()
        return (*left_out, *of_demo, *hidden_registers(self.text, self.path.name))

    @property
    def shown_file(self) -> str:
        """The name of the file for people, with the folders that are a part of the kernel's name."""
        return f"{self.folders}/{self.path.name}".lstrip("/")

    @property
    def base_name(self) -> str:
        """The name of the kernel that this is a variant of; its own where it is none."""
        return self.name.partition("~")[0]

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes to the kernel on file, for people: empty, or for example "without the second barrier"."""
        suffix = self.name.partition("~")[2]
        if not suffix:  # lists and charts ask each kernel
            return ()
        titles = {change.id: change.title[:1].lower() + change.title[1:] for change in self.breaks}
        return tuple(titles.get(part, part) for part in suffix.split("+"))

    @property
    def defects(self) -> tuple[str, ...]:
        """The classes of defects that its changes are known to cause."""
        made = self.name.partition("~")[2].split("+")
        return tuple(dict.fromkeys(kind for change in self.breaks if change.id in made for kind in change.defects))

    def dtype_of(self, matrix: str) -> ElementType:
        """Return the NumPy name of the element type of matrix ``"A"``, ``"B"`` or ``"C"``."""
        return self.dtype_out if matrix == "C" else self.dtype

    @property
    def dtype_out(self) -> SumType:
        """The NumPy name of C's element type: that of the sums, unless the front matter says another."""
        return self.stores or self.accumulate

    @property
    def padded(self) -> frozenset[str]:
        """Those of A and B that are copied to longer rows where theirs are no multiples of 16 bytes."""
        return self.unaligned & {"A", "B"} & (self.copied | (self.unaligned - {*self.args}))

    @property
    def has_d(self) -> bool:
        """Whether the kernel reads C and writes its result to D, a matrix of its own."""
        return D in self.args

    @property
    def has_bias(self) -> bool:
        """Whether the kernel adds a bias to each row of its result."""
        return BIAS in self.args

    @property
    def reads_result(self) -> bool:
        """Whether the kernel may read the matrix of its result before it writes it."""
        return self.zeroed or ("beta" in self.args and not self.has_d)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of A and B, of sums and of C, and `math`: figures of kernels with other types are not compared."""
        return self.dtype, self.accumulate, self.dtype_out, self.math

    @property
    def recordable(self) -> bool:
        """Whether there is a source to record; a library call has none."""
        return self.backend in ("c", "cuda")

    def line_of(self, key: str) -> int | None:
        """Return the line of the file, from 1, on which the front matter gives a key; None when it does not."""
        return line_of_key(key, self.text)

    @property
    def defaults(self) -> dict[str, int]:
        """Each parameter's default value."""
        return {name: values[0] for name, values in self.params.items()}


def _digest(code: str, decides: Mapping[str, object]) -> str:
    """Return a hexadecimal SHA-256.

    Parameters
    ----------
    code
        The file's text without front matter.
    decides
        The other inputs that decide the execution, by name: texts, lists and mappings. Empty ones are left out, so
        that a new key changes no digest of a kernel that does not use it.
    """
    given = {name: value for name, value in decides.items() if value}
    return hashlib.sha256(json.dumps([code, given], sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _decides(kernel: Kernel) -> dict[str, object]:
    """Return all that decides the execution of a kernel beside its code, for `_digest`."""
    batch, division = kernel.batch, kernel.division
    return {
        "backend": kernel.backend,
        "entry": kernel.entry,
        "args": kernel.args,
        # Their values are part of a launch.
        "params": sorted(kernel.params),
        "constants": {name: _texts([value])[0] for name, value in kernel.constants.items()},
        "block": _texts(kernel.block),
        "grid": _texts(kernel.grid),
        "cluster": _texts(kernel.cluster),
        "shared": _texts([kernel.shared]),
        "dtype": kernel.dtype,
        "accumulate": kernel.accumulate,
        "stores": kernel.stores or "",
        "zero": ["C"] if kernel.zeroed else [],
        "unaligned": sorted(kernel.unaligned),
        **({"copied": sorted(kernel.copied)} if kernel.copied else {}),
        "epilogue": kernel.epilogue,
        "math": kernel.math,
        "by columns": sorted(kernel.column_major),
        "capability": kernel.capability,
        "structs": kernel.structs,
        "pointers to structs": [at for at, pointer in enumerate(kernel.struct_pointers) if pointer],
        "batch": [batch.count.text, *sorted((m, e.text) for m, e in batch.strides.items())] if batch else [],
        "division": [*_texts([division.devices]), division.crossing] if division else [],
        "maps": {
            matrix: [*_texts([box.rows, box.columns, box.swizzle]), *[str(box.rank)] * (box.rank > 2)]
            for matrix, box in kernel.maps.items()
        },
    }


def _texts(expressions: Iterable[Expression]) -> list[str]:
    return [" ".join(e.text.split()) for e in expressions]
