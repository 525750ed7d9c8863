"""The changes that a kernel's front matter declares: text for text, line for line."""

import re
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
from msgspec import Meta

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.typed_reading import FromOne, Misfit, read_as
from gemmviz.catalogue.user_file import parse_toml
from gemmviz.language import mark, tr

DEFECTS = (
    mark("out of bounds"),
    mark("race"),
    mark("read of memory nobody wrote"),
    mark("barrier divergence"),
    mark("element of C never written"),
    mark("element of C written by two threads"),
    mark("wrong result"),
)
COSTS = ("uncoalesced", "bank conflicts")
GAINS = ("fewer sectors", "fewer bank conflicts")
NOTHING = "none"
"""No defect, and no better or worse requests than before: only their number or the time changes."""
_EXPECTED = (*DEFECTS, *COSTS, *GAINS, NOTHING)
_FENCE = re.compile(
    r"^\n?//[ \t]*---gemmviz breaks[ \t]*\n(?P<body>(?://(?![ \t]*---).*\n)*)//[ \t]*---[ \t]*(\n|\Z)", re.MULTILINE
)
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
Size = tuple[int, int, int]


class _EditTable(msgspec.Struct, forbid_unknown_fields=True):
    find: str
    replace: str = ""
    nth: FromOne = 1


class _BreakTable(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    find: str = ""
    nth: FromOne = 1
    replace: str = ""
    edits: Annotated[list[_EditTable], Meta(min_length=1)] | None = None
    expect: str | Annotated[list[str], Meta(min_length=1)] = NOTHING
    at: tuple[FromOne, FromOne, FromOne] | None = None
    set: dict[str, int] = {}


@dataclass(frozen=True)
class Edit:
    """One place of the code that is changed: the `nth` occurrence (from 1) of `find` becomes `replace`."""

    find: str
    replace: str = ""
    nth: int = 1


@dataclass(frozen=True)
class Break:
    """One declared change of a kernel.

    Attributes
    ----------
    id
        Its name on the command line, after the kernel's name and a ``~``: ``no-second-barrier``.
    title
        The title for people: "Without the second barrier".
    edits
        The replacements. Each replacement has as many lines as the text that it replaces, so that all lines of the
        file keep their numbers.
    expect
        The checker's findings: classes of `DEFECTS`, `COSTS` and `GAINS`, or `NOTHING` alone.
    at
        (M, N, K) at which that shows, where it does not at 37 x 45 x 41, or the nearest size that the kernel takes.
    params
        Values of the kernel's parameters with which it shows, where it does not with the defaults.
    """

    id: str
    title: str
    edits: tuple[Edit, ...]
    expect: tuple[str, ...] = (NOTHING,)
    at: Size | None = None
    params: dict[str, int] = field(default_factory=dict)

    @property
    def defects(self) -> tuple[str, ...]:
        """The classes of defects that it causes; none for a change that only costs or gains time."""
        return tuple(kind for kind in self.expect if kind in DEFECTS)


def block(text: str) -> tuple[int, int]:
    """Return where a kernel's text has the block of its declared changes; twice its end where it has none."""
    found = _FENCE.search(text)
    return found.span() if found else (len(text), len(text))


def read_breaks(text: str) -> tuple[Break, ...]:
    """Return the changes that a kernel's text declares: a table for each, in a separate block after the code.

    Raises
    ------
    FrontMatterError
        When an entry does not fit `Break`.
    """
    found = _FENCE.search(text)
    if found is None:
        return ()
    first = text[: found.start("body")].count("\n")
    try:
        tables = parse_toml(re.sub(r"^// ?", "", found["body"], flags=re.MULTILINE))
    except ValueError as error:
        at = re.search(r"at line (\d+)", str(error))
        message = tr("breaks are not TOML: {reason}", reason=error)
        raise FrontMatterError(message, first + int(at[1]) if at else None) from None
    changes = []
    for name, table in tables.items():
        try:
            changes.append(_break(name, table))
        except FrontMatterError as error:
            at = re.search(rf"^// ?\[+{re.escape(name)}[\].]", text, re.MULTILINE)
            line = text[: at.start()].count("\n") + 1 if at else None
            raise FrontMatterError(str(error), line, error.about) from None
    return tuple(changes)


def _break(name: str, entry: object) -> Break:
    if not isinstance(entry, dict):
        message = tr(
            "breaks: {name} stands in no table; each begins with a line like {example}",
            name=repr(name),
            example="[no-barrier]",
        )
        raise FrontMatterError(message, about=name)
    if not _ID.fullmatch(name) or name == "edited":
        message = tr("breaks are named in small letters, digits and hyphens, not {name}", name=repr(name))
        raise FrontMatterError(message, about=name)
    known = _BreakTable.__struct_fields__
    unknown = entry.keys() - known
    if unknown:
        raise FrontMatterError(
            tr(
                "breaks: {name} has the unknown key {key}; known are {known}",
                name=repr(name),
                key=repr(min(unknown)),
                known=", ".join(sorted(known)),
            )
        )
    try:
        table = read_as(entry, _BreakTable)
    except Misfit as misfit:
        raise FrontMatterError(_wanted(name, misfit.place)) from None
    if not table.title.strip():
        raise FrontMatterError(_wanted(name, "title"))
    expect = (table.expect,) if isinstance(table.expect, str) else tuple(table.expect)
    if any(kind not in _EXPECTED for kind in expect) or (NOTHING in expect and len(expect) > 1):
        raise FrontMatterError(_wanted(name, "expect"))
    edits = table.edits or [_EditTable(table.find, table.replace, table.nth)]
    return Break(
        name, " ".join(table.title.split()), tuple(_edit(name, edit) for edit in edits), expect, table.at, table.set
    )


def _edit(name: str, table: "_EditTable") -> Edit:
    if not table.find:
        raise FrontMatterError(_wanted(name, "find"))
    if table.find.count("\n") != table.replace.count("\n"):
        raise FrontMatterError(
            tr(
                "breaks: replace of {name} must have as many lines as find, so that lines keep their numbers",
                name=repr(name),
            )
        )
    return Edit(table.find, table.replace, table.nth)


def _wanted(name: str, place: str) -> str:
    """Return the message about a value that is not of its type."""
    first, _, inner = place.partition(".")
    key = inner if inner and first.startswith("edits[") else first.partition("[")[0]
    match key:
        case "find" | "replace":
            return tr("breaks: {name} needs find = the text to change; replace is a text too", name=repr(name))
        case "title":
            return tr("breaks: {name} needs a title", name=repr(name))
        case "nth":
            return tr("breaks: nth of {name} counts from 1", name=repr(name))
        case "expect":
            known = ", ".join(_EXPECTED)
            return tr("breaks: expect of {name} must be one or more of {known}", name=repr(name), known=known)
        case "at":
            return tr("breaks: at of {name} must be [M, N, K]", name=repr(name))
        case "edits":
            form = "{ find, replace, nth }"
            return tr("breaks: edits of {name} must be a list of {form}", name=repr(name), form=form)
    example = "{ TS = 32 }"
    return tr("breaks: set of {name} must be a table, for example {example}", name=repr(name), example=example)
