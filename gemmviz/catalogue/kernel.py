"""A kernel: one source file that describes itself in a TOML front matter."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from gemmviz.catalogue import demo, front_matter, shared_code, switches, tensor_map, what_runs
from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError, NoFrontMatter
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.front_matter import FENCE, SCALARS, Matter, Words, one_line
from gemmviz.catalogue.guessing.undescribed import what_to_do
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.moment import line_of
from gemmviz.catalogue.source_files import CUDA, C
from gemmviz.catalogue.switches import Break
from gemmviz.catalogue.tensor_map import Box
from gemmviz.catalogue.user_file import KERNEL_BYTES, parse_toml, read_text
from gemmviz.language import tr

__all__ = ["SCALARS", "Backend", "Kernel", "code", "load", "parse", "read"]

Backend = Literal["c", "cuda", "numpy", "openblas", "cublas"]
_BACKEND_OF: dict[str, Backend] = {**dict.fromkeys(C, "c"), **dict.fromkeys(CUDA, "cuda")}
_LIBRARIES: dict[str, Backend] = {"numpy": "numpy", "openblas": "openblas", "cublas": "cublas"}
# Two digits may have a letter behind them, which puts a rung between two others.
_NUMBER = re.compile(r"^(\d+|\d\d[a-z])_")
_KEYS = Matter.__annotations__.keys()


@dataclass(frozen=True)
class Kernel:
    """One rung of the ladder.

    Attributes
    ----------
    name
        What people type: the file's name without number and suffix.
    path, text
        The file, and all of its text, front matter included; the code may be another file's (see `read`).
    backend
        ``"c"`` and ``"cuda"`` are kernels with a source; the others are library references.
    title, idea, source, alias
        What people read: a title, one sentence, the document that the kernel comes from, its name in there.
    entry
        The function that is launched, with template arguments by name: ``"gputiled<TS>"``.
    args
        What each parameter of the entry is, in order: matrices A, B, C, their tensor maps ``"A.map"``, and scalars
        (M, N, K, lda, alpha, ...).
    params
        The tunable parameters, each with the values offered; the first is the default. One that `entry` does not
        name is given to the compiler as a macro.
    block, grid
        The launch shape: up to three expressions (x, y, z). Empty for the CPU.
    shared
        Bytes of dynamic shared memory.
    requires
        What must hold of sizes and parameters.
    capability
        The compute capability that it needs, ``"8.0"`` (or later) or ``"9.0a"`` (exactly); empty where any will do.
    maps
        By matrix, which box of it a copy of the copy engine (TMA) moves.
    cluster
        Blocks of a cluster: none, or up to three expressions. The kernel itself says ``__cluster_dims__``.
    dtype, accumulate
        NumPy names of the element type and of the type that sums are kept in.
    math
        ``"tf32"``: products are made of operands that are rounded to tf32 before.
    column_major
        The matrices that are stored by columns.
    exhibit
        What the kernel shows, where its purpose is a fault of a printed text, or what that wastes: it is run and
        explained, and never ranked.
    breaks
        What can be taken away from it, or put in, to see what happens: see `gemmviz.catalogue.breaks.broken`.
    version
        Of the front matter that the file is written for.
    demo
        The size, parameters and step that show its idea; None where the file does not say.
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
    block: tuple[Expression, ...] = ()
    grid: tuple[Expression, ...] = ()
    shared: Expression = Expression("0")  # noqa: RUF009 (frozen)
    requires: tuple[Expression, ...] = ()
    dtype: ElementType = "float32"
    accumulate: ElementType = "float32"
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

    @cached_property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of what runs: the code, and the front matter that decides the launch.

        What is for people (title, idea, demo, ...), which values of a parameter are offered and first, what sizes must
        fulfil, and the declared changes have no part in it: a figure or proof stays one of this source.
        """
        fence, (start, end) = FENCE.search(self.text), switches.block(self.text)
        before = self.text[: fence.start()] if fence else ""
        return what_runs.digest(
            before + self.text[_code_start(self.text) : start] + self.text[end:] if self.recordable else "",
            {
                "backend": self.backend,
                "entry": self.entry,
                "args": self.args,
                # Their values are part of a launch.
                "params": sorted(self.params),
                "block": _texts(self.block),
                "grid": _texts(self.grid),
                "cluster": _texts(self.cluster),
                "shared": _texts([self.shared]),
                "dtype": self.dtype,
                "accumulate": self.accumulate,
                "math": self.math,
                "by columns": sorted(self.column_major),
                "capability": self.capability,
                "maps": {matrix: _texts([box.rows, box.columns, box.swizzle]) for matrix, box in self.maps.items()},
            },
        )

    @property
    def code_line(self) -> int:
        """The line of the file, from 1, on which the code begins: behind the front matter."""
        start = _code_start(self.text)
        return self.text[:start].count("\n") + (2 if start else 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know who open the file, in sentences.

        Keys that only a newer gemmviz knows, and a demo whose line is not in the source. A variant is another text
        than the one that its demo is written for: of it that is not said.
        """
        return (*self._left_out(), *(self._lost_demo() if not self.changes else ()))

    def _left_out(self) -> tuple[str, ...]:
        if not self.unknown:
            return ()
        keys = ", ".join(map(repr, self.unknown))
        said = tr(
            "{file} is written for version {version} of the front matter, and this gemmviz knows version {known}: "
            "it leaves out {keys}.",
            file=self.path.name,
            version=self.version,
            known=front_matter.VERSION,
            keys=keys,
        )
        return (said,)

    def _lost_demo(self) -> tuple[str, ...]:
        stop = self.demo.stop if self.demo is not None else None
        if stop is None or "line" not in stop:
            return ()
        try:
            line_of(stop["line"], self.text)
        except GemmvizError as error:
            return (tr("{file}: the demo's step is not found: {reason}.", file=self.path.name, reason=error),)
        return ()

    @property
    def base_name(self) -> str:
        """The name of the kernel that this is a variant of; its own where it is none."""
        return self.name.partition("~")[0]

    @property
    def changes(self) -> tuple[str, ...]:
        """What was done to the kernel on file, for people: empty, or for example "without the second barrier"."""
        suffix = self.name.partition("~")[2]
        titles = {change.id: change.title[:1].lower() + change.title[1:] for change in self.breaks}
        return tuple(titles.get(part, part) for part in suffix.split("+")) if suffix else ()

    @property
    def defects(self) -> tuple[str, ...]:
        """The classes of defects that the changes made to it are known to lead to."""
        made = self.name.partition("~")[2].split("+")
        return tuple(dict.fromkeys(kind for change in self.breaks if change.id in made for kind in change.defects))

    def dtype_of(self, matrix: str) -> ElementType:
        """Return the NumPy name of the element type of matrix ``"A"``, ``"B"`` or ``"C"``."""
        return self.accumulate if matrix == "C" else self.dtype

    @property
    def recordable(self) -> bool:
        """Whether there is a source to record; a library call has none."""
        return self.backend in ("c", "cuda")

    def line_of(self, key: str) -> int | None:
        """Return the line of the file, from 1, on which the front matter gives a key; None when it does not."""
        return _line_of_key(key, self.text)

    @property
    def defaults(self) -> dict[str, int]:
        """Each parameter's default value."""
        return {name: values[0] for name, values in self.params.items()}


def code(text: str) -> tuple[int, int]:
    """Return where a kernel's code begins and ends: between its front matter and the changes that it declares."""
    return _code_start(text), switches.block(text)[0]


def _code_start(text: str) -> int:
    found = FENCE.search(text)
    return found.end() if found else 0


def _texts(expressions: Iterable[Expression]) -> list[str]:
    return [" ".join(e.text.split()) for e in expressions]


def load(path: Path) -> Kernel:
    """Read a kernel file.

    Raises
    ------
    FrontMatterError
        When the file has no front matter, or one that does not say what it must; the message names file and key.
    OSError, UnreadableFile
        When the file cannot be read.
    """
    return parse(read(path), path)


def read(path: Path) -> str:
    """Return the text of a kernel file: with the code of another file where it says so (``code_of``).

    Raises
    ------
    FrontMatterError
        When its code cannot be found.
    OSError, UnreadableFile
        When the file cannot be read.
    """
    return shared_code.whole(read_text(path, KERNEL_BYTES), path)


def parse(text: str, path: Path) -> Kernel:
    """Make a kernel of a file's text, as `load` does.

    Parameters
    ----------
    text
        The whole file.
    path
        Where it stands; its suffix says which backend runs it (``.c``, ``.cu``, or ``.toml`` for a reference).

    Raises
    ------
    FrontMatterError
        As `load` does.
    """
    try:
        return _parsed(text, path)
    except FrontMatterError as error:
        raise located(error, text, path) from None


@lru_cache(maxsize=512)  # the ladder is read more often than it changes
def _parsed(text: str, path: Path) -> Kernel:
    return _build(_front_matter(text, path), text, path)


def located(error: FrontMatterError, text: str, path: Path) -> FrontMatterError:
    """Return an error about a file's front matter with the file's name and the line in its message.

    Parameters
    ----------
    error
        What is wrong.
    text, path
        The file.
    """
    line = error.line or _line_at_fault(str(error), text)
    where = path.name if line is None else f"{path.name}:{line}"
    return type(error)(f"{where}: {error}", line)


def _line_at_fault(message: str, text: str) -> int | None:
    """Return the line of the file that a message about its front matter is about, or None."""
    # A message begins with the key that it is about, or with what it quotes from the file.
    quoted = re.search(r"'([^']+)'", message)
    return _line_of_key(re.split(r"[ .]", message)[0], text) or _line_with(quoted[1] if quoted else "", text)


def _line_of_key(key: str, text: str) -> int | None:
    found = re.search(rf"^(//)?\s*{re.escape(key)}\s*=", text, re.MULTILINE)
    return text[: found.start()].count("\n") + 1 if found else None


def _line_with(part: str, text: str) -> int | None:
    matter = FENCE.search(text)
    end = matter.end() if matter else len(text)
    at = text.find(part, 0, end) if part else -1
    return text[:at].count("\n") + 1 if at >= 0 else None


def _front_matter(text: str, path: Path) -> dict[str, object]:
    body, found = text, None
    if path.suffix != ".toml":
        found = FENCE.search(text)
        if found is None:
            raise NoFrontMatter(what_to_do(text, path))
        body = re.sub(r"^// ?", "", found["body"], flags=re.MULTILINE)
    try:
        return parse_toml(body)
    except ValueError as error:
        # Its own line counts from the front matter's first: the message has the file's.
        said = re.sub(r" \(at line \d+, column \d+\)", "", str(error))
        at = re.search(r"at line (\d+)", str(error))
        first = text[: found.start("body")].count("\n") if found else 0
        raise FrontMatterError(f"the front matter is not TOML: {said}", int(at[1]) + first if at else None) from None


def _build(table: Mapping[str, object], text: str, path: Path) -> Kernel:
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
    cluster = _expressions(matter.get("cluster", []))
    kernel = Kernel(
        name=name,
        path=path,
        text=text,
        backend=backend,
        title=one_line(matter.get("title", "")) or name,
        idea=one_line(matter.get("idea", "")),
        source=one_line(matter.get("source", "")),
        alias=_alias(one_line(matter.get("alias", "")), name),
        entry=one_line(matter.get("entry", "")),
        exhibit=one_line(matter.get("exhibit", "")),
        args=tuple(map(str, matter.get("args", []))),
        params=params,
        block=_expressions(matter.get("block", [])),
        grid=_expressions(matter.get("grid", [])),
        shared=Expression(str(matter.get("shared", 0))),
        requires=_expressions(matter.get("requires", [])),
        dtype=dtype,
        accumulate=matter.get("accumulate", dtype),
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
        _check_entry(kernel)
    return kernel


def _expressions(words: Iterable[Words]) -> tuple[Expression, ...]:
    return tuple(Expression(str(one)) for one in words)


def _alias(alias: str, name: str) -> str:
    """Return what the document calls the kernel; a variant is not in there, and its alias says so."""
    return alias + "".join(name.partition("~")[1:]) if alias else name


def _check_entry(kernel: Kernel) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*(\s*<[\w\s,:<>]+>)?", kernel.entry):
        raise FrontMatterError('entry must name the function, for example entry = "gputiled<TS>"')
    function = re.split(r"[\s<]", kernel.entry)[0].rpartition("::")[2]
    if not re.search(rf"\b{function}\s*\(", kernel.text):
        raise FrontMatterError(f"entry names {function!r}, but the file defines no such function")
    if not kernel.args:
        raise FrontMatterError('args must say what each parameter of the entry is, for example ["C", "A", "B", "N"]')
    by_map = tuple(matrix + tensor_map.SUFFIX for matrix in MATRICES)
    for argument in kernel.args:
        if argument not in (*MATRICES, *SCALARS, *by_map) and not argument.isdecimal():
            raise FrontMatterError(f"args names {argument!r}; known are {', '.join((*MATRICES, *SCALARS, *by_map))}")
    missing = [m for m, mapped in zip(MATRICES, by_map, strict=True) if not {m, mapped} & {*kernel.args}]
    if missing:
        raise FrontMatterError(f"args lacks {missing[0]}: a GEMM needs A, B and C")
    _check_maps(kernel, by_map)
    if kernel.backend == "cuda":
        for key, shape in (("block", kernel.block), ("grid", kernel.grid), ("cluster", kernel.cluster or ("1",))):
            if not 1 <= len(shape) <= 3:
                raise FrontMatterError(f"{key} must hold one to three expressions (x, y, z)")
    elif kernel.capability:
        raise FrontMatterError("capability, maps and cluster are for CUDA kernels")
    known = {"M", "N", "K", *kernel.params}
    sides = (side for box in kernel.maps.values() for side in (box.rows, box.columns))
    for expression in (*kernel.block, *kernel.grid, *kernel.cluster, *kernel.requires, kernel.shared, *sides):
        strange = expression.names() - known
        if strange:
            raise FrontMatterError(f"{expression.text!r} names {sorted(strange)[0]!r}, which is not declared")


def _check_maps(kernel: Kernel, by_map: tuple[str, ...]) -> None:
    for matrix, mapped in zip(MATRICES, by_map, strict=True):
        if mapped in kernel.args and matrix not in kernel.maps:
            raise FrontMatterError(f"args names {mapped!r}, but maps says nothing of {matrix}: how large is a box?")
        if matrix in kernel.maps and mapped not in kernel.args:
            raise FrontMatterError(f"maps describes {matrix}, but args has no {mapped!r}: nobody is given that map")
