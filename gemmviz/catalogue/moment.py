"""The form of a moment of a recording in a file, such as ``{ line = "As[ty][tx]", nth = 2 }``."""

from typing import Annotated, TypedDict

from msgspec import Meta

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.typed_reading import FromOne, NonEmpty, read_parts
from gemmviz.language import tr

KINDS = ("line", "phase", "tile", "share", "step", "end")
"""The words that name a moment: one of these. ``docs/lessons.md`` gives the meaning of each."""
_WITH_LINE = frozenset(("line", "nth", "array", "write"))
_WITH_ALL = frozenset(("fraction",))


class Moment(TypedDict, total=False):
    """A moment of a recording: one of `KINDS`, or that of the rung's demo.

    ``nth``, ``array`` and ``write`` narrow a line; ``fraction`` is the share of the way to the next step.
    """

    line: NonEmpty
    phase: FromOne
    tile: FromOne
    share: Annotated[float, Meta(ge=0, le=1)]
    step: FromOne
    end: bool
    demo: bool
    nth: FromOne
    array: str
    write: bool
    fraction: Annotated[float, Meta(ge=0, lt=1)]


def checked(value: object, *others: str) -> Moment:
    """Return a moment whose form is checked; whether a recording has it is checked later.

    Parameters
    ----------
    value
        As a TOML file gives it.
    others
        Further words that may replace one of `KINDS`, with the value true.

    Raises
    ------
    GemmvizError
        When it is no moment; the message names the missing or wrong part.
    """
    known = (*KINDS, *others)
    named = [key for key in known if isinstance(value, dict) and key in value]
    if not isinstance(value, dict) or len(named) != 1:
        raise GemmvizError(tr("at has one of {known}: {example}", known=", ".join(known), example="at = { phase = 2 }"))
    key, allowed = named[0], _WITH_LINE if named[0] == "line" else frozenset(named)
    if unknown := sorted(value.keys() - allowed - _WITH_ALL):
        names = ", ".join(sorted(allowed | _WITH_ALL))
        raise GemmvizError(tr("{key} is not known here: there are {known}", key=repr(unknown[0]), known=names))
    read, wrong = read_parts(value, Moment)
    if wrong or not str(value[key]).strip() or value[key] is False:
        raise GemmvizError(_wanted(wrong[0] if wrong else key))
    return read


def lines_with(part: str, text: str) -> list[int]:
    """Return the lines of code, from 1, with a part of a line; comments that repeat the code are none."""
    lines = enumerate(text.splitlines(), 1)
    return [number for number, line in lines if part in line and not line.lstrip().startswith("//")]


def line_of(part: str, text: str) -> int:
    """Return the only line of code, from 1, of a kernel's text with a part of a line.

    Raises
    ------
    GemmvizError
        When no line has it, or several have.
    """
    lines = lines_with(part, text)
    if len(lines) == 1:
        return lines[0]
    if not lines:
        raise GemmvizError(tr("{text} is in no line of the source", text=repr(part)))
    where = ", ".join(map(str, lines[:5]))
    raise GemmvizError(
        tr(
            "{text} is in lines {where} of the source: give a text that is in only one line",
            text=repr(part),
            where=where,
        )
    )


def _wanted(key: str) -> str:
    """Return the sentence about a key whose value is not allowed."""
    match key:
        case "line":
            return tr("at: line is a text that is in exactly one line of the source")
        case "share":
            return tr("at: share is a number from 0 to 1")
        case "fraction":
            return tr("at: fraction is a number from 0 to less than 1")
        case "array" | "write":
            example = 'array = "As", write = true'
            return tr("at: array is a name, and write is true or false: {example}", example=example)
        case "end" | "demo":
            return tr("at: {key} is true", key=key)
    return tr("at: {name} is a whole number, from 1", name=key)
