"""The form of a result file: its versions, and the checks on reading.

The types of `gemmviz.bench.document` and `gemmviz.bench.row` define the form. A file is checked against them on
reading, so that all other code can rely on them. A field that is missing in a row of an older gemmviz is unknown.
"""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args, get_type_hints

from gemmviz.bench.document import Document, Host
from gemmviz.bench.row import Counts, Outcome, Profile, Row, Status, Timing
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.typed_reading import Misfit, fits, read_as
from gemmviz.catalogue.user_file import quoted

VERSION: Final = 2
STATUSES = get_args(Status)
_ROWS: Mapping[str, Any] = {"results": Row, "recordings": Counts, "profiles": Profile, "machines": Host}
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
"""The fields of a row without timing."""
UNKNOWN: Outcome = {
    "exhibit": False,
    "source_sha256": None,
    "edited": False,
    "grid": None,
    "block": None,
    "smem": None,
    "regs": None,
    "local_bytes": None,
    "barriers": None,
    "status": "cancelled",
    "message": "",
    "line": None,
    "compile_ms": None,
    "compile_flags": None,
    "verify": {"before": None, "after": None},
    **UNTIMED,
    "flags": [],
}
"""The fields of a row when everything is unknown."""


def checked(content: Any, path: Path) -> Document:
    """Return the content of a result file in the form of the current version.

    Parameters
    ----------
    content
        The file's JSON. Unknown keys are kept: a later gemmviz may have written them.
    path
        For the messages.

    Raises
    ------
    GemmvizError
        When it is not a result file, is damaged, or comes from a newer gemmviz.
    """
    if not isinstance(content, dict) or "schema_version" not in content:
        raise GemmvizError(f"{path} is not a result file of gemmviz: it has no schema_version")
    version = content["schema_version"]
    if not fits(version, Literal[1, 2]):
        newer = isinstance(version, int) and version > VERSION
        raise GemmvizError(
            f"{path} has schema version {quoted(version)}; this gemmviz reads versions 1 to {VERSION}"
            + ("; a newer gemmviz wrote it: use that one" if newer else "")
        )
    for key, form in get_type_hints(Document, include_extras=True).items():
        if key not in _ROWS and key != "schema_version" and (fault := _fault(content.get(key), key, form)):
            raise GemmvizError(f"{path} is damaged: {key} {fault}")
    for key, form in _ROWS.items():
        rows = content.get(key, None if form is Row else [])
        if not isinstance(rows, list):
            raise GemmvizError(f"{path} is damaged: {key} is not a list")
        for number, row in enumerate(rows):
            if form is Row and isinstance(row, dict):
                # New fields are unknown.
                known = {key: row[key] if key in row else deepcopy(value) for key, value in UNKNOWN.items()}
                rows[number] = row = known | row
            if fault := _row_fault(row, form):
                raise GemmvizError(f"{path} is damaged: {'row' if form is Row else key} {number} {fault}")
    content["schema_version"] = VERSION
    return cast(Document, content)


def _fault(part: Any, key: str, form: Any) -> str:
    """Return the fault of a part that a document has; an empty text if it is valid."""
    try:
        read_as(part, form | None)
    except Misfit as misfit:
        # An older gemmviz may write fewer facts about itself and its rules; a device has a name in all versions.
        may_lack = misfit.lacking and "." not in misfit.place and key != "device"
        return "" if may_lack else str(misfit)
    return ""


def _row_fault(row: Any, form: Any) -> str:
    """Return the fault of a row; an empty text if it is valid."""
    if not isinstance(row, dict):
        return "lacks everything"
    try:
        read_as(row, form)
    except Misfit as misfit:
        return str(misfit)
    # A rule between two fields, which a type cannot express.
    return "is ok and has no median" if row.get("status") == "ok" and not (row["stats"] or {}).get("median") else ""
