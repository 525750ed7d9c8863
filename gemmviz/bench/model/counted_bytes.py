"""The traffic of the shipped kernels, recorded once at a small size and kept: it is the same on every machine."""

import json
from functools import cache

from gemmviz import data
from gemmviz.bench.row import Row
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import ArrayTraffic

FILE = "counted_bytes.json"
"""Written to the folder of resources by ``python docs/counted_bytes.py``."""

Key = tuple[str | None, tuple[tuple[str, int], ...]]
"""The digest of a kernel's source, and its parameters."""
Counted = tuple[Problem, tuple[ArrayTraffic, ...]]
"""The recorded size, and the traffic of each array."""


def key_of(row: Row) -> Key:
    """Return the key of a row's launch."""
    return key(row["source_sha256"], row.get("params") or {})


def key(digest: str | None, params: dict[str, int]) -> Key:
    """Return the key of a source and its parameters."""
    return digest, tuple(sorted(params.items()))


@cache
def kept() -> dict[Key, Counted]:
    """Read the kept traffic. A kernel whose code or launch has changed since has another digest, and is not found."""
    entries = json.loads((data.root("resources") / FILE).read_text(encoding="utf-8"))
    return {
        key(one["source_sha256"], one["params"]): (
            Problem.cube(one["size"]),
            tuple(ArrayTraffic(*fields) for fields in one["arrays"]),
        )
        for one in entries
    }
