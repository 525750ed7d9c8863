"""The form of a result file: what a row holds, which versions there are, and the checks of one that is read.

The form is published as a JSON Schema in ``resources/schema``, and what is read is compared with that: everything that
shows results may rely on it. What a row of an older gemmviz does not have counts as unknown.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

from gemmviz.bench import form
from gemmviz.bench.row import Outcome, Timing
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.user_file import quoted

VERSION = 2
STATUSES = ("ok", "wrong", "compile", "launch", "crash", "timeout", "oom", "unsupported", "skipped", "cancelled")
_READABLE = (1, 2)
_TABLES = (("results", "row"), ("recordings", "recording"), ("profiles", "profile"))
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
        known = f"{_READABLE[0]} to {_READABLE[-1]}"
        raise GemmvizError(
            f"{path} has schema version {quoted(version)}; this gemmviz reads versions {known}"
            + ("; a newer gemmviz wrote it: use that one" if newer else "")
        )
    whole = form.published(f"result-{VERSION}")
    for key in ("results", "device", "env"):
        given = content.get(key)
        if not form.is_kind(given, whole["properties"][key]) and not (given is None and key == "env"):
            raise GemmvizError(f"{path} is damaged: {key} is not a {'list' if key == 'results' else 'table'}")
    for key, its in whole["properties"].items():
        if key not in dict(_TABLES) and content.get(key) is not None and key != "schema_version":
            # What a machine says of itself may be less than today.
            fault = form.fault(content[key], {name: its[name] for name in its if name != "required"}, whole)
            if fault:
                raise GemmvizError(f"{path} is damaged: {key} {fault}")
    # What nobody measured then stays unknown.
    content["results"] = [deepcopy(dict(UNKNOWN)) | row if isinstance(row, dict) else row for row in content["results"]]
    for key, definition in _TABLES:
        if not isinstance(content.get(key, []), list):
            raise GemmvizError(f"{path} is damaged: {key} is not a list")
        for number, row in enumerate(content.get(key, [])):
            fault = _fault(row, whole["$defs"][definition], whole)
            if fault:
                raise GemmvizError(f"{path} is damaged: {'row' if key == 'results' else key} {number} {fault}")
    content["schema_version"] = VERSION
    return content


def _fault(row: Any, definition: form.Schema, whole: form.Schema) -> str:
    """Say what is wrong with a row; an empty text when nothing is."""
    if not isinstance(row, dict):
        return "lacks everything"
    fault = form.fault(row, definition, whole)
    if not fault and row.get("status") == "ok" and not (row["stats"] or {}).get("median"):
        return "is ok and has no median"
    return fault
