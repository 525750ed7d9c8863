"""Names that kernels had before: in a file or a command line they mean the present kernel.

``resources/renamed.toml`` holds them. It also has the digests of texts that changed only in names and comments.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, TypedDict, TypeVar, cast

from gemmviz import data
from gemmviz.catalogue.typed_reading import read_as

Named = TypeVar("Named", bound=Mapping[str, Any])


class _Renamed(TypedDict):
    names: dict[str, str]
    texts: dict[str, str]


def today(name: str) -> str:
    """Return the name that a kernel has now, with its changes behind a ``~``; a name that is no former one stays."""
    base, mark, changes = name.partition("~")
    return _table()["names"].get(base, base) + mark + changes


def before(name: str) -> tuple[str, ...]:
    """Return the names that the kernel called `name` had before."""
    return tuple(old for old, new in _table()["names"].items() if new == name)


def same_code(sha256: str | None) -> str | None:
    """Return the present digest of a kernel's text if only names and comments have changed; else `sha256`.

    Parameters
    ----------
    sha256
        `Kernel.sha256` as it was; None, that of no kernel, stays None.
    """
    return _table()["texts"].get(sha256, sha256) if sha256 else sha256


def row_of_today(row: Named) -> Named:
    """Return a row of a result file, or another record with a kernel's name and digest, with the present ones.

    Parameters
    ----------
    row
        With ``kernel``, and ``alias`` and ``source_sha256`` where there are such; its other fields stay.
    """
    name: str = row["kernel"]
    new: dict[str, Any] = {**row, "kernel": today(name)}
    if row.get("alias") == name:
        new["alias"] = new["kernel"]
    if "source_sha256" in row:
        new["source_sha256"] = same_code(row["source_sha256"])
    return cast(Named, new)


@cache
def _table() -> _Renamed:
    table = tomllib.loads((data.root("resources") / "renamed.toml").read_text(encoding="utf-8"))
    return read_as(table, _Renamed)
