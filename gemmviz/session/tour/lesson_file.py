"""Reads and writes lesson files: TOML that a teacher writes without Python (see ``docs/lessons.md``)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypedDict, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta

from gemmviz.catalogue import moment, renamed
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.lens_names import LENSES, LensName
from gemmviz.catalogue.moment import Moment
from gemmviz.catalogue.plain import Unread
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.typed_reading import NonEmpty, read_parts
from gemmviz.catalogue.user_file import LESSON_BYTES, parse_toml, read_text
from gemmviz.language import LANGUAGES, tr
from gemmviz.trace.order.timeline import Order

Panel = Literal["counters", "warp", "thread", "origin"]
PANELS = get_args(Panel)
SUFFIX = ".toml"
_NEEDED = {"kernel", "title", "stop", "say"}
_ENGLISH = "en"
DEMO = "demo"
"""The moment of the rung's demo, with its block and its thread."""

Texts = Mapping[str, str]


_Fields = TypeVar("_Fields")
_Text = NonEmpty | Annotated[dict[str, NonEmpty], Meta(min_length=1)]


class _LessonFields(TypedDict, total=False):
    kernel: NonEmpty
    size: int | Annotated[list[int], Meta(min_length=3, max_length=3)]
    params: dict[str, int]
    order: Order
    as_written: bool
    title: _Text
    # Each is read as `_StopFields` by a reader of its own, whose errors have the stop's number.
    stop: Annotated[list[Unread], Meta(min_length=1)]


class _CellFields(msgspec.Struct, forbid_unknown_fields=True):
    array: str
    row: int
    column: int


class _StopFields(TypedDict, total=False):
    at: object
    say: _Text
    cell: _CellFields
    block: tuple[int, int]
    warp: int
    panel: Panel
    lens: LensName
    next: object


@dataclass(frozen=True)
class LessonStop:
    """One stop of the file.

    Attributes
    ----------
    at
        The moment in the recording: see ``docs/lessons.md``.
    say
        The sentence per language.
    cell
        (name of the array, row, column).
    block
        (x, y) of the block.
    warp, panel, lens
        As in `gemmviz.session.tour.stop.OwnStop`.
    """

    at: Moment
    say: Texts
    cell: tuple[str, int, int] | None = None
    block: tuple[int, int] | None = None
    warp: int | None = None
    panel: str | None = None
    lens: LensName | None = None


@dataclass(frozen=True)
class Lesson:
    """A guided path through a rung.

    Attributes
    ----------
    path
        The file that it comes from.
    kernel
        Name or alias of a rung, as ``gputiled`` or ``gputiled~no-second-barrier``, or the path of a kernel file.
    problem, params, order
        The recording; without a problem, that of the kernel's demo (see `gemmviz.session.tour.lessons.recorded_at`).
    titles
        Its title per language.
    stops
        In the order in which people see them.
    next
        The rung whose lesson follows; empty: none.
    as_written
        Whether every access in the text is recorded, or only those that remain after compiling.
    """

    path: Path
    kernel: str
    problem: Problem | None
    titles: Texts
    stops: tuple[LessonStop, ...]
    params: Mapping[str, int] = field(default_factory=dict)
    order: Order = "grid"
    next: str = ""
    as_written: bool = False

    def title(self, code: str) -> str:
        """Return the title in a language."""
        return in_language(self.titles, code)


def in_language(texts: Texts, code: str) -> str:
    """Return a text in a language, else in English, else in any available language."""
    return texts.get(code) or texts.get(_ENGLISH) or next(iter(texts.values()))


def load_lesson(path: Path) -> Lesson:
    """Read a lesson.

    Raises
    ------
    GemmvizError
        When the file cannot be read or is not a lesson; the message has the file, the stop and the remedy.
    """
    try:
        table = parse_toml(read_text(path, LESSON_BYTES))
    except OSError as error:
        raise GemmvizError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise GemmvizError(tr("{file} is not TOML: {error}", file=path.name, error=error)) from error
    return parse_lesson(table, path)


def parse_lesson(table: Mapping[str, object], path: Path) -> Lesson:
    """Read a lesson from a table; see `load`."""
    reader = _Reader(path.name)
    fields = reader.read(table, _LessonFields)
    kernel = fields["kernel"]
    if "\0" in kernel:
        raise reader.error(_wanted("kernel"))
    if Path(kernel).suffix in (".cu", ".c"):
        kernel = str((path.parent / kernel).resolve())
    stops = fields["stop"]
    following = [stop.get("next", "") for stop in stops]
    if any(following[:-1]) or not isinstance(following[-1], str):
        raise reader.error(tr('next = "KERNEL" belongs in the last stop only'))
    read = tuple(_Reader(path.name, number).stop(stop) for number, stop in enumerate(stops, 1))
    return Lesson(
        *(path, renamed.today(kernel), reader.size(fields), reader.texts(fields["title"], "title"), read),
        *(fields.get("params", {}), fields.get("order", "grid"), renamed.today(following[-1])),
        as_written=fields.get("as_written", False),
    )


def _wanted(key: str) -> str:
    """Return the sentence about a required key that is missing, or that has a value of a wrong type."""
    match key:
        case "kernel":
            return tr("say which kernel it is about: {example}", example='kernel = "gputiled"')
        case "size":
            return tr("size is one whole number, or three: {example}", example="size = [M, N, K]")
        case "params":
            return tr("params are whole numbers: {example}", example="params = { TS = 4 }")
        case "order":
            return tr('order is "grid" (all blocks together) or "block" (one after another)')
        case "as_written":
            return tr(
                "as_written is true (every access in the source) or false (the accesses that remain after compilation)"
            )
        case "stop":
            return tr("it has no stops: each begins with a line [[stop]]")
        case "panel":
            return tr("panel is one of {known}", known=", ".join(PANELS))
        case "lens":
            return tr("lens is one of {known}", known=", ".join(LENSES))
        case "warp":
            return tr("warp is a whole number, from 0")
        case "block":
            return tr("block is two whole numbers, from 0: {example}", example="block = [x, y]")
        case "cell":
            return tr("cell is written so: {example}", example='cell = { array = "C", row = 3, column = 4 }')
    example = f'{key} = "text", {key} = {{ en = "text", ko = "…", es = "…" }}'
    return tr("{key} is missing: {example}", key=key, example=example)


class _Reader:
    """Reads a file's tables; its errors name file and stop."""

    def __init__(self, name: str, stop: int = 0) -> None:
        self.name, self.number = name, stop

    def error(self, text: str) -> GemmvizError:
        return GemmvizError(at_stop(self.name, self.number, text) if self.number else f"{self.name}: {text}")

    def read(self, table: Mapping[str, object], form: type[_Fields]) -> _Fields:
        known = get_type_hints(form)
        if unknown := sorted(table.keys() - known.keys()):
            raise self.error(
                tr("{key} is not known here: there are {known}", key=repr(unknown[0]), known=", ".join(sorted(known)))
            )
        good, bad = read_parts(table, form)
        for key in (*sorted(_NEEDED & (known.keys() - table.keys())), *bad):
            raise self.error(_wanted(key))
        return good

    def texts(self, value: str | dict[str, str], key: str) -> Texts:
        if isinstance(value, str):
            if not value.strip():
                raise self.error(_wanted(key))
            return {_ENGLISH: value}
        if unknown := sorted(value.keys() - LANGUAGES.keys()):
            known = ", ".join(LANGUAGES)
            raise self.error(
                tr("{key}: {code} is no language: there are {known}", key=key, code=unknown[0], known=known)
            )
        return value

    def size(self, fields: "_LessonFields") -> Problem | None:
        if "size" not in fields:
            return None
        size = fields["size"]
        try:
            return Problem(*size) if isinstance(size, list) else Problem.cube(size)
        except GemmvizError as error:
            raise self.error(str(error)) from error

    def stop(self, table: Mapping[str, object]) -> LessonStop:
        fields = self.read(table, _StopFields)
        try:
            at = moment.checked(fields.get("at"), DEMO)
        except GemmvizError as error:
            raise self.error(str(error)) from None
        cell = fields.get("cell")
        place = (cell.array, cell.row, cell.column) if cell else None
        say = self.texts(fields["say"], "say")
        return LessonStop(
            at, say, place, fields.get("block"), fields.get("warp"), fields.get("panel"), fields.get("lens")
        )


def at_stop(file: str, number: int, text: str) -> str:
    """Return a message about one stop of a file."""
    return tr("{file}, stop {number}: {text}", file=file, number=number, text=text)


def write_lesson(lesson: Lesson) -> str:
    """Return the text of a lesson's file; `parse` reads it back."""
    problem = lesson.problem
    lines = [
        f"kernel = {_plain(lesson.kernel)}",
        *([f"size = {_plain([problem.m, problem.n, problem.k])}"] if problem is not None else []),
        f"params = {_plain(lesson.params)}",
        f"order = {_plain(lesson.order)}",
        *(["as_written = true"] if lesson.as_written else []),
        f"title = {_plain(lesson.titles)}",
    ]
    for stop in lesson.stops:
        lines += ["", "[[stop]]", f"at = {_plain(stop.at)}", f"say = {_plain(stop.say)}"]
        if stop.cell is not None:
            lines.append(f"cell = {_plain(dict(zip(('array', 'row', 'column'), stop.cell, strict=True)))}")
        if stop.block is not None:
            lines.append(f"block = {_plain(list(stop.block))}")
        rest = (("warp", stop.warp), ("panel", stop.panel), ("lens", stop.lens))
        lines += [f"{key} = {_plain(v)}" for key, v in rest if v is not None]
    if lesson.next:
        lines.append(f"next = {_plain(lesson.next)}")
    return "\n".join(lines) + "\n"


def _plain(value: object) -> str:
    """Write a value as TOML does; texts of JSON are texts of TOML."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {_plain(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(_plain(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)
