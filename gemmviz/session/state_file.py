"""State files (``.gemmviz``): a snapshot as JSON, checked before anything is changed.

The form is published as a JSON Schema, ``resources/schema/state-1.json``; what is read is checked here by hand, so that
the messages name what is wrong and nobody needs a validator. A part that cannot be is left out; the rest is used.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from gemmviz import __version__
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.problem import LARGEST
from gemmviz.catalogue.user_file import STATE_BYTES, parse_json, read_text, write_text
from gemmviz.language import LANGUAGES, tr
from gemmviz.session.comparison import PACES
from gemmviz.session.playback import SPEEDS
from gemmviz.session.preferences import TYPE_SCALES
from gemmviz.session.snapshot_form import Snapshot
from gemmviz.trace.order.stepping_units import UNITS

VERSION = 1
SUFFIX = ".gemmviz"
ZOOMS, FURTHEST_SHIFT = (0.1, 100.0), 100.0
"""How far a view may be zoomed, and shifted (in widths of the stage): further there is nothing to see."""
_SAID = 80  # characters of a value that a message quotes


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_size(value: Any) -> bool:
    return _is_whole(value, 1) and value <= LARGEST


def _is_list_of(value: Any, count: tuple[int, ...], good: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and (not count or len(value) in count) and all(map(good, value))


def _is_step(value: Any) -> bool:
    return _is_whole(value, 1)


def is_kernel(value: Any) -> bool:
    """Say whether a value names a kernel as a snapshot does: by name or path, with or without a text."""
    if not isinstance(value, dict) or not all(map(_is_text, value.values())):
        return False
    return ("name" in value) != ("path" in value) and value.keys() <= {"name", "path", "text"}


def _is_cell(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and _is_text(value[0]) and all(map(_is_whole, value[1:]))


def _is_stop(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_step(value.get("step")):
        return False
    return (
        _is_text(value.get("say", ""))
        and _is_text(value.get("panel", ""))
        and _is_list_of(value.get("cell", [0, 0]), (2,), _is_whole)
        and all(_is_whole(value.get(key, 0)) for key in ("block", "warp"))
        and all(_GOOD[key](value[key]) for key in ("size", "params", "order", "as_written") if key in value)
    )


def _is_beside(value: Any) -> bool:
    return isinstance(value, dict) and _is_text(value.get("kernel")) and value.get("pace", PACES[0]) in PACES


def _is_shift(value: Any) -> bool:
    return _is_number(value) and abs(value) <= FURTHEST_SHIFT


_Checks = dict[str, Callable[[Any], bool]]
_GOOD_VIEW: _Checks = {
    "zoom": lambda v: _is_number(v) and ZOOMS[0] <= v <= ZOOMS[1],
    "shift": lambda v: _is_list_of(v, (2,), _is_shift),
    "page": _is_text,
    "panel": _is_text,
}


_GOOD: _Checks = {
    "kernel": is_kernel,
    "breaks": lambda v: _is_list_of(v, (), _is_text),
    "size": lambda v: _is_list_of(v, (3,), _is_size),
    "params": lambda v: isinstance(v, dict) and all(isinstance(x, int) and not isinstance(x, bool) for x in v.values()),
    "order": lambda v: v in ("grid", "block"),
    "as_written": lambda v: isinstance(v, bool),
    "step": _is_step,
    "loop": lambda v: isinstance(v, bool),
    "loop_range": lambda v: v is None or _is_list_of(v, (2,), _is_step),
    "block": lambda v: _is_list_of(v, (1, 2, 3), _is_whole),
    "warp": _is_whole,
    "lane": _is_whole,
    "frozen": lambda v: isinstance(v, bool),
    "beside": lambda v: v is None or _is_beside(v),
    "cell": lambda v: v is None or _is_cell(v),
    "unit": lambda v: v in UNITS,
    "speed": lambda v: _is_number(v) and v in SPEEDS,
    "theme": lambda v: v in ("dark", "light"),
    "language": lambda v: v in tuple(LANGUAGES),
    "type_scale": lambda v: _is_number(v) and TYPE_SCALES[0] <= v <= TYPE_SCALES[1],
    "calm": lambda v: isinstance(v, bool),
    "view": lambda v: isinstance(v, dict),
    "stops": lambda v: _is_list_of(v, (), _is_stop),
}


def write_state(plain: Snapshot, path: Path) -> None:
    """Write a snapshot to a file.

    Raises
    ------
    GemmvizError
        When it cannot be written; what stood there is then as before.
    """
    document = {"state_version": VERSION, "written_by": f"gemmviz {__version__}", **plain}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def read_state(path: Path) -> tuple[Snapshot, list[str]]:
    """Return the snapshot that a file holds, and a sentence for each part of it that cannot be and is left out.

    Raises
    ------
    GemmvizError
        When it is none, is damaged as a whole, or comes from a newer gemmviz.
    """
    try:
        document = parse_json(read_text(path, STATE_BYTES))
    except OSError as error:
        raise GemmvizError(tr("cannot read {path}: {reason}", path=path, reason=error.strerror or error)) from None
    except ValueError as error:  # no JSON
        raise GemmvizError(tr("{file} is damaged: {reason}", file=path.name, reason=error)) from None
    return checked(document, path.name)


def checked(document: Any, file: str) -> tuple[Snapshot, list[str]]:
    """Return the snapshot in a state file's content, as far as it can be, and what of it cannot.

    Raises
    ------
    GemmvizError
        When it is none, says no kernel, or comes from a newer gemmviz.
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
                version=repr(version)[:_SAID],
                known=VERSION,
            )
        )
    if "kernel" not in document:
        raise GemmvizError(tr("{file} is damaged: it has no {key}", file=file, key="kernel"))
    if not is_kernel(document["kernel"]):
        said = repr(document["kernel"])[:_SAID]
        raise GemmvizError(tr("{file} is damaged: {key} cannot be {value}", file=file, key="kernel", value=said))
    plain, faults = _good_parts(document, _GOOD, file)
    if "view" in plain:
        plain["view"], more = _good_parts(plain["view"], _GOOD_VIEW, file)
        faults += more
    # A file that does not name the view is from when there was one.
    return cast(Snapshot, {"as_written": False} | plain), faults


def _good_parts(document: Plain, good: _Checks, file: str) -> tuple[Plain, list[str]]:
    """Return the known parts that can be, and a sentence for each one that cannot."""
    bad = [key for key in good if key in document and not good[key](document[key])]
    faults = [
        tr("{file}: {key} cannot be {value}, and is left out", file=file, key=key, value=repr(document[key])[:_SAID])
        for key in bad
    ]
    return {key: document[key] for key in good if key in document and key not in bad}, faults
