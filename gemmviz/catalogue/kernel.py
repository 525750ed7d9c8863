"""A kernel: one source file that describes itself in a TOML front matter."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from gemmviz.catalogue import batch, demo, front_matter, launch_checks, shared_code, switches, tensor_map, what_runs
from gemmviz.catalogue.batch import BatchForm
from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.division import Division, read_division
from gemmviz.catalogue.dtypes import ElementType, SumType
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.fault_line import line_of_key, located
from gemmviz.catalogue.front_matter import FENCE, expressions, one_line
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.matter_table import matter_table
from gemmviz.catalogue.schedule import Schedule, read_schedule
from gemmviz.catalogue.shared_code import read
from gemmviz.catalogue.source_files import CUDA, C
from gemmviz.catalogue.switches import Break
from gemmviz.catalogue.tensor_map import Box

__all__ = ["Backend", "Kernel", "code", "load", "parse", "read"]

Backend = Literal["c", "cuda", "numpy", "openblas", "cublas"]
_BACKEND_OF: dict[str, Backend] = {**dict.fromkeys(C, "c"), **dict.fromkeys(CUDA, "cuda")}
_LIBRARIES: dict[str, Backend] = {"numpy": "numpy", "openblas": "openblas", "cublas": "cublas"}
# Two digits may have a letter behind them, which puts a rung between two others.
_NUMBER = re.compile(r"^(\d+|\d\d[a-z])_")
_KEYS = front_matter.Matter.__annotations__.keys()


@dataclass(frozen=True)
class Kernel:
    """One rung of the ladder.

    Attributes
    ----------
    name
        The name for the command line: the file's name without number and suffix.
    path, text
        The file, and all of its text, front matter included; the code may be another file's (see `read`).
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
    schedule
        How parameters follow from the size, where the user gives none; None: they are the defaults at every size.
    math
        ``"tf32"``: products are made of operands that are rounded to tf32 before. ``"promoted"``: sums of
        `gemmviz.catalogue.dtypes.PROMOTED_AFTER` products of 8-bit floats are added in the type of the sums.
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

    @cached_property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the code, and of the front matter that decides the launch.

        Not included are texts for people (title, idea, demo, ...), the offered values of parameters, the conditions
        on sizes, and the declared changes: figures and proofs stay valid when these change.
        """
        fence, (start, end) = FENCE.search(self.text), switches.block(self.text)
        before = self.text[: fence.start()] if fence else ""
        code = before + self.text[front_matter.code_start(self.text) : start] + self.text[end:]
        return what_runs.digest(code if self.recordable else "", what_runs.decides(self))

    @property
    def code_line(self) -> int:
        """The line of the file, from 1, on which the code begins: behind the front matter."""
        start = front_matter.code_start(self.text)
        return self.text[:start].count("\n") + (2 if start else 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for people who open the file, in sentences.

        They name keys that only a newer gemmviz knows, and a demo whose line is not in the source. A variant has
        another text than its demo is written for, so its demo is not checked.
        """
        left_out = front_matter.left_out(self.unknown, self.version, self.path.name)
        return (*left_out, *(demo.not_found(self.demo, self.text, self.path.name) if not self.changes else ()))

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


def code(text: str) -> tuple[int, int]:
    """Return where a kernel's code begins and ends: between its front matter and the changes that it declares."""
    return front_matter.code_start(text), switches.block(text)[0]


def load(path: Path) -> Kernel:
    """Read a kernel file.

    Raises
    ------
    FrontMatterError
        When the front matter is missing, incomplete or wrong; the message names file and key.
    OSError, UnreadableFile
        When the file cannot be read.
    """
    return _located(_of_file, read(path), path)


def parse(text: str, path: Path) -> Kernel:
    """Make a kernel of a file's text, as `load` does.

    Parameters
    ----------
    text
        The whole file.
    path
        Its path; the suffix decides the backend (``.c``, ``.cu``, or ``.toml`` for a reference).

    Raises
    ------
    FrontMatterError
        As `load` does.
    """
    return _located(_of_text, text, path)


def _located(build: Callable[[str, Path], Kernel], text: str, path: Path) -> Kernel:
    try:
        return build(text, path)
    except FrontMatterError as error:
        raise located(error, text, path) from None


def _build(text: str, path: Path) -> Kernel:
    table = matter_table(text, path)
    matter = front_matter.read_matter(table)
    version = matter.get("version", 1)
    params = {name: tuple(values) for name, values in matter.get("params", {}).items()}
    shown, strange = (
        demo.read_demo(matter["demo"], params, version > front_matter.VERSION) if "demo" in matter else (None, [])
    )
    unknown = (*sorted(table.keys() - _KEYS), *(f"demo.{key}" for key in strange))
    if unknown and version <= front_matter.VERSION:
        known = demo.KEYS if unknown[0].startswith("demo.") else _KEYS
        raise FrontMatterError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    if "code_of" in matter:
        raise FrontMatterError(shared_code.ALONE)
    name = _NUMBER.sub("", path.stem)
    backend = _BACKEND_OF.get(path.suffix) or _LIBRARIES.get(str(matter.get("library")))
    if backend is None:
        raise FrontMatterError(f"a {path.suffix} file needs library = one of {', '.join(_LIBRARIES)}")
    dtype = matter.get("dtype", "float32")
    maps = tensor_map.read_tensor_maps(matter.get("maps", {}), MATRICES)
    cluster = expressions(matter.get("cluster", []))
    args, structs, struct_pointers = front_matter.arguments(matter)
    alias = one_line(matter.get("alias", ""))  # the document's name; that of a variant has its changes, too
    kernel = Kernel(
        name=name,
        path=path,
        text=text,
        backend=backend,
        title=one_line(matter.get("title", "")) or name,
        idea=one_line(matter.get("idea", "")),
        source=one_line(matter.get("source", "")),
        alias=alias + "".join(name.partition("~")[1:]) if alias else name,
        entry=one_line(matter.get("entry", "")),
        exhibit=one_line(matter.get("exhibit", "")),
        args=args,
        structs=structs,
        struct_pointers=struct_pointers,
        batch=front_matter.batch_form(matter),
        division=read_division(matter),
        params=params,
        constants={name: Expression(str(formula)) for name, formula in matter.get("constants", {}).items()},
        block=expressions(matter.get("block", [])),
        grid=expressions(matter.get("grid", [])),
        shared=Expression(str(matter.get("shared", 0))),
        requires=expressions(matter.get("requires", [])),
        dtype=dtype,
        accumulate=front_matter.sums(matter),
        stores=front_matter.stores(matter),
        zeroed=bool(matter.get("zero")),
        unaligned=frozenset(matter.get("unaligned", ())),
        schedule=read_schedule(matter["schedule"], params) if "schedule" in matter else None,
        epilogue=matter.get("epilogue", ""),
        math=front_matter.math(matter),
        column_major=front_matter.column_major(matter),
        capability=front_matter.needed_capability(matter, "maps" if maps else "cluster" if cluster else ""),
        maps=maps,
        cluster=cluster,
        breaks=switches.read_breaks(text),
        version=version,
        demo=shown,
        unknown=unknown,
    )
    if kernel.recordable:
        _check(kernel)
    return kernel


_of_file = lru_cache(maxsize=128)(_build)  # the ladder is read more often than it changes
_of_text = lru_cache(maxsize=16)(_build)  # each key that is typed makes a new text


def _check(kernel: Kernel) -> None:
    """Refuse a kernel whose launch cannot be made from its front matter."""
    launch_checks.check_entry(kernel.entry, kernel.text)
    launch_checks.check_arguments(kernel.args, kernel.maps)
    if kernel.structs or kernel.batch or ({*kernel.args} & {*batch.ROLES} and not kernel.division):
        launch_checks.check_cuda_forms(kernel.backend, kernel.args, kernel.maps, bool(kernel.structs), kernel.batch)
    if kernel.division:
        launch_checks.check_divided(kernel)
    if kernel.backend == "cuda":
        launch_checks.check_shapes(block=kernel.block, grid=kernel.grid, cluster=kernel.cluster or (Expression("1"),))
    elif kernel.capability:
        raise FrontMatterError("capability, maps and cluster are for CUDA kernels")
    sides = (side for box in kernel.maps.values() for side in (box.rows, box.columns))
    of_batch = (kernel.batch.count, *kernel.batch.strides.values()) if kernel.batch else ()
    shapes = (*kernel.block, *kernel.grid, *kernel.cluster, *([kernel.division.devices] if kernel.division else []))
    launch_checks.check_names(
        (*shapes, *kernel.requires, kernel.shared, *sides, *kernel.constants.values(), *of_batch), kernel.params
    )
