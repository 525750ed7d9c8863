"""Reads single values of a kernel's front matter, and says what is wrong with one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gemmviz.catalogue import capability
from gemmviz.catalogue.dtypes import ELEMENT_TYPES, MATHS
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.user_file import quoted

SCALARS = ("M", "N", "K", "lda", "ldb", "ldc", "alpha", "beta")
VERSION = 3
"""The newest version of the front matter that is known here."""
_SINCE = {"version": 2, "demo": 2, "code_of": 3}
"""The versions that brought keys; all others were there from the first on."""
FENCE = re.compile(r"^//[ \t]*---gemmviz[ \t]*\n(?P<body>(?://(?![ \t]*---).*\n)*)//[ \t]*---[ \t]*$", re.MULTILINE)
"""Finds the front matter in a kernel's text."""

Matter = Mapping[str, Any]


def needed_version(keys: Iterable[str]) -> int:
    """Return the lowest version of the front matter that knows some keys."""
    return max((_SINCE.get(key, 1) for key in keys), default=1)


def version(matter: Matter) -> int:
    """Return the version that a file is written for; 1 where it does not say."""
    value = matter.get("version", 1)
    if type(value) is not int or value < 1:
        example = f"for example version = {VERSION}"
        raise FrontMatterError(f"version must be a whole number from 1, {example}; not {quoted(value)}")
    return value


def string(matter: Matter, key: str) -> str:
    """Return a text with single spaces; empty where there is none."""
    value = matter.get(key, "")
    if not isinstance(value, str):
        raise FrontMatterError(f"{key} must be a text")
    return " ".join(value.split())


def strings(matter: Matter, key: str) -> list[str]:
    """Return a list of texts, whole numbers among them as texts."""
    value = matter.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str | int) and not isinstance(v, bool) for v in value):
        raise FrontMatterError(f"{key} must be a list of texts")
    return [str(v) for v in value]


def expression(matter: Matter, key: str, default: str) -> Expression:
    """Return an expression, which may be a whole number."""
    value = matter.get(key, default)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise FrontMatterError(f"{key} must be an expression, not {quoted(value)}")
    return Expression(str(value))


def params(matter: Matter) -> dict[str, tuple[int, ...]]:
    """Return the parameters with the values offered."""
    table = matter.get("params", {})
    if not isinstance(table, dict):
        raise FrontMatterError("params must be a table, for example params = { TS = [8, 16, 32] }")
    for name, values in table.items():
        if not (isinstance(values, list) and values and all(type(v) is int for v in values)):
            raise FrontMatterError(f"params.{name} must be a list of at least one whole number")
        if name in SCALARS or name in MATRICES or not name.isidentifier():
            raise FrontMatterError(f"params.{name}: choose another name")
    return {name: tuple(values) for name, values in table.items()}


def dtype(matter: Matter, key: str, default: str) -> str:
    """Return the NumPy name of an element type."""
    value = matter.get(key, default)
    if value not in ELEMENT_TYPES:
        raise FrontMatterError(f"{key} must be one of {', '.join(ELEMENT_TYPES)}, not {quoted(value)}")
    return str(value)


def math(matter: Matter, element_type: str) -> str:
    """Return what operands are rounded to before they are multiplied; empty where they are not."""
    value = string(matter, "math")
    if value not in MATHS or (value and element_type != "float32"):
        where = 'math may be "tf32" where dtype is float32, and is left out elsewhere'
        raise FrontMatterError(f"{where}; not {quoted(value)}")
    return value


def column_major(matter: Matter) -> frozenset[str]:
    """Return the matrices that are stored by columns."""
    layout = matter.get("layout", {})
    if not isinstance(layout, dict) or not all(k in MATRICES and v in ("row", "column") for k, v in layout.items()):
        raise FrontMatterError('layout must give matrices "row" or "column", for example layout = { B = "column" }')
    return frozenset(matrix for matrix, order in layout.items() if order == "column")


def needed_capability(matter: Matter, with_tma: str) -> str:
    """Return the declared capability; what tensor maps and clusters need, which `with_tma` names, is the least."""
    declared = capability.checked(string(matter, "capability"))
    if with_tma and not declared:
        return capability.TMA
    if with_tma and capability.number(declared) < capability.number(capability.TMA):
        raise FrontMatterError(f"capability is {declared}, but {with_tma} needs {capability.TMA} or later")
    return declared
