"""What a kernel's front matter declares that can be taken away from it, or put in: text for text, line for line."""

import re
from dataclasses import dataclass, field
from typing import Any

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.user_file import parse_toml
from gemmviz.language import mark

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
"""No defect, and no request that is better or worse than before: what changes is their number, or the time alone."""
_EXPECTED = (*DEFECTS, *COSTS, *GAINS, NOTHING)
_KEYS = frozenset({"title", "find", "nth", "replace", "edits", "expect", "at", "set"})
_FENCE = re.compile(
    r"^\n?//[ \t]*---gemmviz breaks[ \t]*\n(?P<body>(?://(?![ \t]*---).*\n)*)//[ \t]*---[ \t]*(\n|\Z)", re.MULTILINE
)
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
Size = tuple[int, int, int]


@dataclass(frozen=True)
class Edit:
    """One place of the code that is changed: the `nth` place (from 1) where `find` stands becomes `replace`."""

    find: str
    replace: str = ""
    nth: int = 1


@dataclass(frozen=True)
class Break:
    """One declared change of a kernel.

    Attributes
    ----------
    id
        What people type behind the kernel's name and a ``~``: ``no-second-barrier``.
    title
        What people read: "Without the second barrier".
    edits
        What is replaced. Each replacement has as many lines as what it takes the place of, so that all lines of the
        file keep their numbers.
    expect
        What the checker makes of it: classes of `DEFECTS`, `COSTS` and `GAINS`, or `NOTHING` alone.
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
        """The classes of defects that it leads to; none for what costs or gains time only."""
        return tuple(kind for kind in self.expect if kind in DEFECTS)


def block(text: str) -> tuple[int, int]:
    """Return where a kernel's text has the block of its declared changes; twice its end where it has none."""
    found = _FENCE.search(text)
    return found.span() if found else (len(text), len(text))


def read_breaks(text: str) -> tuple[Break, ...]:
    """Return what a kernel's text declares: a table for each change, in a block of its own behind the code.

    Raises
    ------
    FrontMatterError
        When an entry is not as `Break` says.
    """
    found = _FENCE.search(text)
    if found is None:
        return ()
    first = text[: found.start("body")].count("\n")
    try:
        tables = parse_toml(re.sub(r"^// ?", "", found["body"], flags=re.MULTILINE))
    except ValueError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise FrontMatterError(f"breaks are not TOML: {error}", first + int(at[1]) if at else None) from None
    changes = []
    for name, table in tables.items():
        try:
            changes.append(_break(name, table))
        except FrontMatterError as error:
            at = re.search(rf"^// ?\[+{re.escape(name)}[\].]", text, re.MULTILINE)
            line = text[: at.start()].count("\n") + 1 if at else None
            raise FrontMatterError(str(error), line) from None
    return tuple(changes)


def _break(name: str, entry: Any) -> Break:
    if not isinstance(entry, dict):
        raise FrontMatterError(f"breaks: {name!r} stands in no table; each begins with a line like [no-barrier]")
    if not _ID.fullmatch(name) or name == "edited":
        raise FrontMatterError(f"breaks are named in small letters, digits and hyphens, not {name!r}")
    unknown = entry.keys() - _KEYS
    if unknown:
        raise FrontMatterError(
            f"breaks: {name!r} has the unknown key {sorted(unknown)[0]!r}; known are {', '.join(sorted(_KEYS))}"
        )
    title = entry.get("title")
    if not isinstance(title, str) or not title.strip():
        raise FrontMatterError(f"breaks: {name!r} needs a title")
    edits = entry.get("edits", [{key: entry[key] for key in ("find", "replace", "nth") if key in entry}])
    if not isinstance(edits, list) or not edits:
        raise FrontMatterError(f"breaks: edits of {name!r} must be a list of {{ find, replace, nth }}")
    return Break(
        name,
        " ".join(title.split()),
        tuple(_edit(name, edit) for edit in edits),
        _expected(name, entry.get("expect", NOTHING)),
        _size(name, entry.get("at")),
        _settings(name, entry.get("set", {})),
    )


def _edit(name: str, edit: Any) -> Edit:
    if not isinstance(edit, dict) or edit.keys() - {"find", "replace", "nth"}:
        raise FrontMatterError(f"breaks: an edit of {name!r} holds find, replace and nth, and nothing else")
    find, replace, nth = edit.get("find"), edit.get("replace", ""), edit.get("nth", 1)
    if not isinstance(find, str) or not find or not isinstance(replace, str):
        raise FrontMatterError(f"breaks: {name!r} needs find = the text to change; replace is a text too")
    if type(nth) is not int or nth < 1:
        raise FrontMatterError(f"breaks: nth of {name!r} counts from 1")
    if find.count("\n") != replace.count("\n"):
        raise FrontMatterError(
            f"breaks: replace of {name!r} must have as many lines as find, so that lines keep their numbers"
        )
    return Edit(find, replace, nth)


def _expected(name: str, value: object) -> tuple[str, ...]:
    kinds = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else ()
    if not kinds or any(kind not in _EXPECTED for kind in kinds) or (NOTHING in kinds and len(kinds) > 1):
        raise FrontMatterError(f"breaks: expect of {name!r} must be one or more of {', '.join(_EXPECTED)}")
    return tuple(map(str, kinds))


def _size(name: str, value: object) -> Size | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 3 or not all(type(side) is int and side > 0 for side in value):
        raise FrontMatterError(f"breaks: at of {name!r} must be [M, N, K]")
    m, n, k = value
    return m, n, k


def _settings(name: str, value: object) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(number) is int for number in value.values()):
        raise FrontMatterError(f"breaks: set of {name!r} must be a table, for example {{ TS = 32 }}")
    return dict(value)
