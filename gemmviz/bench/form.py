"""Compares what a file holds with a JSON Schema of ours, and says in a few words what does not fit.

It knows the keywords that the schemas in ``resources/schema`` use for types, limits, choices, tables and lists. Keys
that a schema does not know are let through: a later gemmviz may have written them.
"""

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from gemmviz import data
from gemmviz.catalogue.user_file import quoted

Schema = Mapping[str, Any]
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


@cache
def published(name: str) -> Schema:
    """Return a schema that gemmviz ships, by the name of its file without the suffix."""
    path = data.root("resources") / "schema" / f"{name}.json"
    schema: Schema = json.loads(path.read_text(encoding="utf-8"))
    return schema


def fault(value: Any, part: Schema, whole: Schema) -> str:
    """Say what is wrong with a value, as in ``"has a stats.median that cannot be: -1"``; empty where nothing is.

    Parameters
    ----------
    value
        From a JSON text.
    part
        What it must be.
    whole
        The schema whose ``$defs`` it refers to.
    """
    place, wrong = next(_faults(value, part, whole, ""), ("", None))
    if wrong is None:
        return ""
    if isinstance(wrong, _Lacking):
        return f"lacks {place}"
    return f"has a {place} that cannot be: {quoted(wrong.value)}" if place else f"cannot be {quoted(wrong.value)}"


def is_kind(value: Any, part: Schema) -> bool:
    """Whether a value is of a schema's type, whatever is in it."""
    names = part["type"]
    return any(_is(value, name) for name in ([names] if isinstance(names, str) else names))


class _Wrong:
    """A value that does not fit."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Lacking(_Wrong):
    """A table that lacks a key."""


def _faults(value: Any, part: Schema, whole: Schema, place: str) -> Iterator[tuple[str, _Wrong]]:
    """Yield (place, what is wrong there)."""
    part = _referred(part, whole)
    if not _fits(value, part):
        yield place, _Wrong(value)
    elif "anyOf" in part:
        found = [list(_faults(value, one, whole, place)) for one in part["anyOf"]]
        if all(found):
            # The one that is of its type says best what is wrong.
            yield max(found, key=lambda faults: len(faults[0][0]))[0]
    elif isinstance(value, dict):
        yield from ((_inner(place, key), _Lacking(value)) for key in part.get("required", ()) if key not in value)
        known, others = part.get("properties", {}), part.get("additionalProperties")
        for key, one in value.items():
            its = known.get(key, others if isinstance(others, dict) else None)
            if its is not None:
                yield from _faults(one, its, whole, _inner(place, key))
    elif isinstance(value, list) and "items" in part:
        its = _referred(part["items"], whole)
        if its.keys() <= {"type", "minimum", "description"} and all(_fits(one, its) for one in value):
            return  # thousands of samples
        for number, one in enumerate(value):
            yield from _faults(one, its, whole, f"{place}[{number}]")


def _inner(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _referred(part: Schema, whole: Schema) -> Schema:
    name = part.get("$ref", "")
    referred: Schema = whole["$defs"][name.rpartition("/")[2]] if name else part
    return referred


def _fits(value: Any, part: Schema) -> bool:
    """Whether a value is of its type, within its limits, and one of its choices."""
    if "enum" in part or "const" in part:
        choices = part.get("enum", [part.get("const")])
        return any(value == one and type(value) is type(one) for one in choices)
    if "type" in part and not is_kind(value, part):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if isinstance(value, int | float) and not part.get("minimum", value) <= value <= part.get("maximum", value):
        return False
    return not isinstance(value, list) or part.get("minItems", 0) <= len(value) <= part.get("maxItems", len(value))


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
