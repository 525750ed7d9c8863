"""State files (``.gemmviz``): a snapshot as JSON, checked before anything is changed.

The form is published as a JSON Schema, ``resources/schema/state-1.json``; what is read is checked here by hand, so that
the messages name what is wrong and nobody needs a validator.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemmviz import __version__
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import LANGUAGES, tr
from gemmviz.session.atomic_file import atomic_file
from gemmviz.session.comparison import PACES
from gemmviz.session.playback import SPEEDS
from gemmviz.session.snapshot import Plain
from gemmviz.trace.order.stepping_units import UNITS

VERSION = 1
SUFFIX = ".gemmviz"
_LARGEST_FILE = 10_000_000


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list_of(value: Any, count: tuple[int, ...], good: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and (not count or len(value) in count) and all(map(good, value))


def _is_step(value: Any) -> bool:
    return _is_whole(value, 1)


def _is_kernel(value: Any) -> bool:
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


def _is_view(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return (
        _is_number(value.get("zoom", 1))
        and _is_list_of(value.get("shift", [0, 0]), (2,), _is_number)
        and _is_text(value.get("page", ""))
        and _is_text(value.get("panel", ""))
    )


_GOOD: dict[str, Callable[[Any], bool]] = {
    "kernel": _is_kernel,
    "breaks": lambda v: _is_list_of(v, (), _is_text),
    "size": lambda v: _is_list_of(v, (3,), _is_step),
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
    "type_scale": lambda v: _is_number(v) and 0.5 <= v <= 3,
    "calm": lambda v: isinstance(v, bool),
    "view": _is_view,
    "stops": lambda v: _is_list_of(v, (), _is_stop),
}


def write_state(plain: Plain, path: Path) -> None:
    """Write a snapshot to a file.

    Raises
    ------
    GemmvizError
        When it cannot be written; what stood there is then as before.
    """
    document = {"state_version": VERSION, "written_by": f"gemmviz {__version__}", **plain}
    with atomic_file(path) as part:
        part.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_state(path: Path) -> Plain:
    """Return the snapshot that a file holds.

    Raises
    ------
    GemmvizError
        When it is none, is damaged, or comes from a newer gemmviz.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise GemmvizError(tr("{file} is too large to be a state of gemmviz", file=path.name))
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GemmvizError(tr("cannot read {path}: {reason}", path=path, reason=error.strerror or error)) from None
    except ValueError as error:  # no JSON, or no UTF-8
        raise GemmvizError(tr("{file} is damaged: {reason}", file=path.name, reason=error)) from None
    return checked(document, path.name)


def checked(document: Any, file: str) -> Plain:
    """Return the snapshot in a state file's content, once it is seen to be one.

    Raises
    ------
    GemmvizError
        When it is none, is damaged, or comes from a newer gemmviz.
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
                version=repr(version),
                known=VERSION,
            )
        )
    if "kernel" not in document:
        raise GemmvizError(tr("{file} is damaged: it has no {key}", file=file, key="kernel"))
    for key, good in _GOOD.items():
        if key in document and not good(document[key]):
            said = repr(document[key])
            raise GemmvizError(tr("{file} is damaged: {key} cannot be {value}", file=file, key=key, value=said[:80]))
    # A file that does not name the view is from when there was one.
    return {"as_written": False} | {key: document[key] for key in _GOOD if key in document}
