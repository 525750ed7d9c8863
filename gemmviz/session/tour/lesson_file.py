"""The form of a lesson's file: TOML that a teacher writes without Python (see ``docs/lessons.md``)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from gemmviz.catalogue import moment, renamed
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.moment import Moment
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import LESSON_BYTES, parse_toml, read_text
from gemmviz.language import LANGUAGES, tr
from gemmviz.trace.order.timeline import Order

PANELS = ("counters", "warp", "thread", "origin")
SUFFIX = ".toml"
_KEYS = frozenset(("kernel", "size", "params", "order", "as_written", "title", "stop"))
_STOP_KEYS = frozenset(("at", "say", "cell", "block", "warp", "panel", "next"))
_ENGLISH = "en"
DEMO = "demo"
"""The moment that the demo of the rung names, with its block and its thread."""

Texts = Mapping[str, str]


@dataclass(frozen=True)
class LessonStop:
    """One stop as the file describes it.

    Attributes
    ----------
    at
        Where in the recording: see ``docs/lessons.md``.
    say
        The sentence per language.
    cell
        (name of the array, row, column).
    block
        (x, y) of the block.
    warp, panel
        As in `gemmviz.session.tour.stops.Stop`.
    """

    at: Moment
    say: Texts
    cell: tuple[str, int, int] | None = None
    block: tuple[int, int] | None = None
    warp: int | None = None
    panel: str | None = None


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
        What to record; without a problem, the demo of the rung (see `gemmviz.session.tour.lessons.recorded_at`).
    titles
        Its title per language.
    stops
        In the order in which people see them.
    next
        The rung whose lesson follows; empty: none.
    as_written
        Whether every access that the text names is recorded, or those that a compiler leaves.
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
    """Return a text in a language, or else in English, or else in whichever there is."""
    return texts.get(code) or texts.get(_ENGLISH) or next(iter(texts.values()))


def load_lesson(path: Path) -> Lesson:
    """Read a lesson.

    Raises
    ------
    GemmvizError
        When the file cannot be read or is no lesson; the message names the file, the stop and what to do.
    """
    try:
        table = parse_toml(read_text(path, LESSON_BYTES))
    except OSError as error:
        raise GemmvizError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise GemmvizError(tr("{file} is not TOML: {error}", file=path.name, error=error)) from error
    return parse_lesson(table, path)


def parse_lesson(table: Mapping[str, Any], path: Path) -> Lesson:
    """Read a lesson from a table; see `load`."""
    reader = _Reader(path.name)
    reader.only(table, _KEYS)
    kernel = table.get("kernel")
    if not isinstance(kernel, str) or not kernel or "\0" in kernel:
        raise reader.error(tr("say which kernel it is about: {example}", example='kernel = "gputiled"'))
    if Path(kernel).suffix in (".cu", ".c"):
        kernel = str((path.parent / kernel).resolve())
    params = table.get("params", {})
    if not isinstance(params, dict) or not all(_is_int(value) for value in params.values()):
        raise reader.error(tr("params are whole numbers: {example}", example="params = { TS = 4 }"))
    order = table.get("order", "grid")
    if order not in get_args(Order):
        raise reader.error(tr('order is "grid" (all blocks together) or "block" (one after another)'))
    as_written = table.get("as_written", False)
    if not isinstance(as_written, bool):
        raise reader.error(
            tr("as_written is true (every access that the text names) or false (those that a compiler leaves)")
        )
    stops = table.get("stop")
    if not isinstance(stops, list) or not stops or not all(isinstance(stop, dict) for stop in stops):
        raise reader.error(tr("it has no stops: each begins with a line [[stop]]"))
    following = [stop.get("next", "") for stop in stops]
    if any(following[:-1]) or not isinstance(following[-1], str):
        raise reader.error(tr('next = "RUNG" stands in the last stop only'))
    read = tuple(_Reader(path.name, number).stop(stop) for number, stop in enumerate(stops, 1))
    return Lesson(
        *(path, renamed.today(kernel), reader.size(table), reader.texts(table, "title"), read, params, order),
        renamed.today(str(following[-1])),
        as_written=as_written,
    )


class _Reader:
    """Reads a file's tables, and names file and stop where something is wrong."""

    def __init__(self, name: str, stop: int = 0) -> None:
        self.name, self.number = name, stop

    def error(self, text: str) -> GemmvizError:
        return GemmvizError(at_stop(self.name, self.number, text) if self.number else f"{self.name}: {text}")

    def only(self, table: Mapping[str, Any], known: frozenset[str]) -> None:
        unknown = sorted(table.keys() - known)
        if unknown:
            raise self.error(
                tr("{key} is not known here: there are {known}", key=repr(unknown[0]), known=", ".join(sorted(known)))
            )

    def texts(self, table: Mapping[str, Any], key: str) -> Texts:
        value = table.get(key)
        if isinstance(value, str) and value.strip():
            return {_ENGLISH: value}
        if isinstance(value, dict) and value and all(isinstance(text, str) and text for text in value.values()):
            unknown = sorted(value.keys() - LANGUAGES.keys())
            if unknown:
                known = ", ".join(LANGUAGES)
                raise self.error(
                    tr("{key}: {code} is no language: there are {known}", key=key, code=unknown[0], known=known)
                )
            return value
        example = f'{key} = "text", {key} = {{ en = "text", ko = "…", es = "…" }}'
        raise self.error(tr("{key} is missing: {example}", key=key, example=example))

    def size(self, table: Mapping[str, Any]) -> Problem | None:
        if "size" not in table:
            return None
        size = table["size"]
        sizes = size if isinstance(size, list) else [size] * 3
        if len(sizes) != 3 or not all(_is_int(one) for one in sizes):
            raise self.error(tr("size is one whole number, or three: {example}", example="size = [M, N, K]"))
        try:
            return Problem(*sizes)
        except GemmvizError as error:
            raise self.error(str(error)) from error

    def stop(self, table: Mapping[str, Any]) -> LessonStop:
        self.only(table, _STOP_KEYS)
        panel, warp, block = (table.get(key) for key in ("panel", "warp", "block"))
        if panel is not None and panel not in PANELS:
            raise self.error(tr("panel is one of {known}", known=", ".join(PANELS)))
        if warp is not None and not _is_int(warp):
            raise self.error(tr("warp is a whole number, from 0"))
        if block is not None and not (isinstance(block, list) and len(block) == 2 and all(map(_is_int, block))):
            raise self.error(tr("block is two whole numbers, from 0: {example}", example="block = [x, y]"))
        at, say = self.place(table), self.texts(table, "say")
        return LessonStop(at, say, self.cell(table.get("cell")), (block[0], block[1]) if block else None, warp, panel)

    def cell(self, value: Any) -> tuple[str, int, int] | None:
        if value is None:
            return None
        whole = isinstance(value, dict) and value.keys() == {"array", "row", "column"}
        if not whole or not (_is_int(value["row"]) and _is_int(value["column"])):
            example = 'cell = { array = "C", row = 3, column = 4 }'
            raise self.error(tr("cell is written so: {example}", example=example))
        return str(value["array"]), value["row"], value["column"]

    def place(self, table: Mapping[str, Any]) -> Moment:
        try:
            return moment.checked(table.get("at"), DEMO)
        except GemmvizError as error:
            raise self.error(str(error)) from None


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
        lines += [f"{key} = {_plain(v)}" for key, v in (("warp", stop.warp), ("panel", stop.panel)) if v is not None]
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


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
