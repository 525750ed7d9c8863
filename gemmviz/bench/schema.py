"""The form of a result file: what a row holds, which versions there are, and the checks of one that is read.

The form is published as a JSON Schema in ``resources/schema``. What is read is checked here by hand: the messages name
row and field, and nobody needs a validator to read a file.
"""

import math
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from gemmviz.bench.row import Outcome, Timing
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Plain

VERSION = 2
STATUSES = ("ok", "wrong", "compile", "launch", "crash", "timeout", "oom", "unsupported", "skipped", "cancelled")
_READABLE = (1, 2)
_NUMBER = (int, float)
_NOTHING = type(None)
_REQUIRED: Mapping[str, tuple[type, ...]] = {
    "kernel": (str,),
    "backend": (str,),
    "M": (int,),
    "N": (int,),
    "K": (int,),
    "status": (str,),
    "message": (str,),
    "gflops": (*_NUMBER, _NOTHING),
}
_OPTIONAL: Mapping[str, tuple[type, ...]] = {
    "label": (str,),
    "params": (dict,),
    "flags": (list,),
    "samples_s": (list,),
    "rounds": (list,),
    "stats": (dict, _NOTHING),
    "hot": (dict, _NOTHING),
    "verify": (dict,),
    "telemetry": (dict, _NOTHING),
    "transfer": (dict, _NOTHING),
    **dict.fromkeys(("gbps", "peak_fraction", "first_launch_s", "host_launch_s"), (*_NUMBER, _NOTHING)),
}
_SAID = 80  # characters of a value that a message quotes
UNTIMED: Timing = {
    "first_launch_s": None,
    "host_launch_s": None,
    "samples_s": [],
    "rounds": [],
    "stats": None,
    "stop_reason": None,
    "hot": None,
    "gflops": None,
    "gbps": None,
    "peak_gflops": None,
    "peak_fraction": None,
    "peak_kind": None,
    "telemetry": None,
    "transfer": None,
}
"""What a row holds without timing."""
UNKNOWN: Outcome = {
    "exhibit": False,
    "source_sha256": None,
    "edited": False,
    "grid": None,
    "block": None,
    "smem": None,
    "regs": None,
    "local_bytes": None,
    "status": "cancelled",
    "message": "",
    "line": None,
    "compile_ms": None,
    "compile_flags": None,
    "verify": {"before": None, "after": None},
    **UNTIMED,
    "flags": [],
}
"""What a row holds while nothing is known."""


def checked(content: Any, path: Path) -> Plain:
    """Return what a file holds in the form of the present version, once it is seen to be a result file.

    Parameters
    ----------
    content
        The file's JSON.
    path
        For the messages.

    Raises
    ------
    GemmvizError
        When it is none, is damaged, or comes from a newer gemmviz.
    """
    if not isinstance(content, dict) or "schema_version" not in content:
        raise GemmvizError(f"{path} is not a result file of gemmviz: it has no schema_version")
    version = content["schema_version"]
    if version not in _READABLE or isinstance(version, bool):
        newer = isinstance(version, int) and version > VERSION
        raise GemmvizError(
            f"{path} has schema version {version!r}; this gemmviz reads versions {_READABLE[0]} to {_READABLE[-1]}"
            + ("; a newer gemmviz wrote it: use that one" if newer else "")
        )
    for key, kinds in (("results", (list,)), ("device", (dict, _NOTHING)), ("env", (dict, _NOTHING))):
        if not isinstance(content.get(key), kinds):
            raise GemmvizError(f"{path} is damaged: {key} is not a {kinds[0].__name__}")
    for number, row in enumerate(content["results"]):
        fault = _fault(row)
        if fault:
            raise GemmvizError(f"{path} is damaged: row {number} {fault}")
    if version < VERSION:
        # What nobody measured then stays unknown.
        content["results"] = [{**deepcopy(UNKNOWN), **row} for row in content["results"]]
        content["schema_version"] = VERSION
    return content


def _finite(value: Any) -> bool:
    """Whether there is no NaN and no infinity in a value, nor in what it is made of: no result file has any."""
    if isinstance(value, dict | list):
        return all(map(_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _fault(row: Any) -> str:
    """Say what is wrong with a row; an empty text when nothing is."""
    lacking = sorted(_REQUIRED.keys() - row.keys()) if isinstance(row, dict) else ["everything"]
    if lacking:
        return f"lacks {lacking[0]}"
    for key, kinds in {**_REQUIRED, **_OPTIONAL}.items():
        fits = key not in row or (isinstance(row[key], kinds) and not isinstance(row[key], bool) and _finite(row[key]))
        if not fits:
            return f"has a {key} that cannot be: {repr(row[key])[:_SAID]}"
    if row["status"] not in STATUSES:
        return f"has the status {row['status'][:_SAID]!r}"
    if row["status"] == "ok" and not isinstance((row.get("stats") or {}).get("median"), _NUMBER):
        return "is ok and has no median"
    return ""
