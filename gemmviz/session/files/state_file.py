"""State files (``.gemmviz``): a snapshot as JSON, checked before anything is changed.

The types of `gemmviz.session.files.snapshot_form` are the form. A part that does not fit is left out; the rest is used.
"""

import json
from pathlib import Path
from typing import Any

from gemmviz import __version__
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.typed_reading import fits, read_parts
from gemmviz.catalogue.user_file import STATE_BYTES, parse_json, quoted, read_text, write_text
from gemmviz.language import tr
from gemmviz.session.files.snapshot_form import KernelFields, Snapshot, ViewFields
from gemmviz.session.models.playback import SPEEDS

VERSION = 1
SUFFIX = ".gemmviz"
_KERNEL_KEYS = KernelFields.__annotations__.keys()


def is_kernel(value: object) -> bool:
    """Return whether a value describes a kernel as in a snapshot: by name or path, with or without a text."""
    if not isinstance(value, dict) or not fits(value, KernelFields):
        return False
    # A TypedDict cannot require exactly one of two keys.
    named = ("name" in value) != ("path" in value) and value.keys() <= _KERNEL_KEYS
    return named and "\0" not in value.get("path", "")


def write_state(plain: Snapshot, path: Path) -> None:
    """Write a snapshot to a file.

    Raises
    ------
    GemmvizError
        When it cannot be written; an older file is then unchanged.
    """
    document = {"state_version": VERSION, "written_by": f"gemmviz {__version__}", **plain}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def read_state(path: Path) -> tuple[Snapshot, list[str]]:
    """Return the snapshot of a file, and a sentence for each part that does not fit and is left out.

    Raises
    ------
    GemmvizError
        When it is not a snapshot, is damaged as a whole, or comes from a newer gemmviz.
    """
    try:
        document = parse_json(read_text(path, STATE_BYTES))
    except OSError as error:
        raise GemmvizError(tr("cannot read {path}: {reason}", path=path, reason=error.strerror or error)) from None
    except ValueError as error:  # not JSON
        raise GemmvizError(tr("{file} is damaged: {reason}", file=path.name, reason=error)) from None
    return checked(document, path.name)


def checked(document: Any, file: str) -> tuple[Snapshot, list[str]]:
    """Return the snapshot in a state file's content, and a sentence for each part that does not fit.

    Raises
    ------
    GemmvizError
        When it is not a snapshot, has no kernel, or comes from a newer gemmviz.
    """
    if not isinstance(document, dict) or "state_version" not in document:
        raise GemmvizError(tr("{file} is not a state of gemmviz: it has no {key}", file=file, key="state_version"))
    version = document["state_version"]
    if version != VERSION or isinstance(version, bool):
        raise GemmvizError(
            tr(
                "{file} has state version {version}; this gemmviz reads version {known}: open it with the gemmviz that "
                "wrote it, or with a newer one",
                file=file,
                version=quoted(version),
                known=VERSION,
            )
        )
    if "kernel" not in document:
        raise GemmvizError(tr("{file} is damaged: it has no {key}", file=file, key="kernel"))
    if not is_kernel(document["kernel"]):
        name = quoted(document["kernel"])
        raise GemmvizError(tr("{file} is damaged: {key} cannot be {value}", file=file, key="kernel", value=name))
    plain, bad = read_parts(document, Snapshot)
    wrong = {key: document[key] for key in bad}
    if isinstance(view := document.get("view"), dict):  # invalid parts of it are left out one by one
        plain["view"], bad = read_parts(view, ViewFields)
        wrong = {key: value for key, value in wrong.items() if key != "view"} | {key: view[key] for key in bad}
    if plain.get("speed", SPEEDS[0]) not in SPEEDS:  # msgspec cannot check a choice of fractions
        wrong["speed"] = plain.pop("speed")
    faults = [
        tr("{file}: {key} cannot be {value}, and is left out", file=file, key=key, value=quoted(value))
        for key, value in wrong.items()
    ]
    # A file without the view is from a version that had only one view.
    return {"as_written": False} | plain, faults
