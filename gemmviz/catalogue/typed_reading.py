"""Reads the content of a file (JSON, TOML) as a type, and names the first place and value that do not fit.

The types hold no ``Meta(pattern=...)``: msgspec 0.22 ends the process where one stands in a union with a dict.
"""

import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import msgspec
from msgspec import Meta

from gemmviz.catalogue.user_file import quoted

T = TypeVar("T")
FromZero = Annotated[int, Meta(ge=0)]
NonEmpty = Annotated[str, Meta(min_length=1)]
FromOne = Annotated[int, Meta(ge=1)]
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""Any number but NaN and the infinities, which Python's reader of JSON takes for numbers."""
Quantity = Annotated[float, Meta(ge=0, le=sys.float_info.max)]
"""A finite number from 0 on."""
_PLACE = re.compile(r" - at `\$(?P<steps>.*)`$", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[\.\.\.\]")
_LACKING = re.compile(r"Object missing required field `(\w+)`")


class Misfit(Exception):
    """A value that does not fit its type; its text is for people, such as ``has a stats.median that cannot be: -1``.

    Attributes
    ----------
    place
        Its place in the content, as in ``rounds[0].gflops``; empty: all of it.
    value
        The value at that place, or None.
    lacking
        Whether a required value is missing.
    """

    def __init__(self, place: str, value: Any, lacking: bool = False) -> None:
        if lacking:
            reason = f"lacks {place}"
        else:
            reason = f"has a {place} that cannot be: {quoted(value)}" if place else f"cannot be {quoted(value)}"
        super().__init__(reason)
        self.place, self.value, self.lacking = place, value, lacking


def read_as(content: Any, form: type[T]) -> T:
    """Return a file's content as a type; keys that a table does not know are left out.

    Parameters
    ----------
    content
        As the parser of JSON or TOML returns it.
    form
        Any type that msgspec knows: a TypedDict, a dataclass, ``list[int]``, ``Annotated`` with its limits.

    Raises
    ------
    Misfit
        For the first value that does not fit.
    """
    try:
        return msgspec.convert(content, form)
    except msgspec.ValidationError as error:
        raise _misfit(content, form, str(error)) from None


def fits(content: Any, form: Any) -> bool:
    """Whether a file's content is of a type."""
    try:
        msgspec.convert(content, form)
    except msgspec.ValidationError:
        return False
    return True


def read_parts(table: Mapping[str, object], form: type[T]) -> tuple[T, list[str]]:
    """Return the known parts of a table that are of their types, and the keys of those that are not.

    Parameters
    ----------
    table
        As the parser of JSON or TOML returns it.
    form
        A TypedDict that needs none of its keys (``total=False``).
    """
    good: dict[str, Any] = {}
    bad = []
    for key, its in hints_of(form).items():
        if key in table:
            try:
                good[key] = msgspec.convert(table[key], its)
            except msgspec.ValidationError:
                bad.append(key)
    return cast(T, good), bad


def hints_of(form: Any) -> dict[str, Any]:
    """Return the types of a TypedDict's keys; Python looks them up each time anew."""
    return _kept_hints(form)


@cache
def _kept_hints(form: Any) -> dict[str, Any]:
    return get_type_hints(form, include_extras=True)


def _misfit(content: Any, form: Any, message: str) -> Misfit:
    """Make an error of msgspec's message, which has the place and not the value."""
    found = _PLACE.search(message)
    value, place = content, ""
    path: list[str | int] = []
    for name, number in _STEP.findall(found["steps"]) if found else ():
        key = name or (int(number) if number else _key_at_fault(content, form, message, path))
        value, path = value[key], [*path, key]
        place += f"[{key}]" if number else f".{key}" if place else str(key)
    if lacking := _LACKING.match(message):
        return Misfit(f"{place}.{lacking[1]}".lstrip("."), None, lacking=True)
    return Misfit(place, value)


def _key_at_fault(content: Any, form: Any, message: str, path: list[str | int]) -> Any:
    """Return the key of the table at `path` whose value does not fit: msgspec names the keys of a type only."""
    table = content
    for step in path:
        table = table[step]
    for key in table:
        try:
            msgspec.convert(_with(content, path, {key: table[key]}), form)
        except msgspec.ValidationError as error:
            if str(error) == message:
                return key
    raise AssertionError(message)


def _with(tree: Any, path: list[str | int], value: Any) -> Any:
    """Return a copy of a tree with another value at a place."""
    if not path:
        return value
    copy = tree.copy()
    copy[path[0]] = _with(tree[path[0]], path[1:], value)
    return copy
