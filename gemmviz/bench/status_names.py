"""The names of a row's status, for people."""

from gemmviz.language import mark, tr

_STATUSES = {
    "ok": mark("ok"),
    "wrong": mark("wrong"),
    "compile": mark("compile"),
    "launch": mark("launch"),
    "crash": mark("crash"),
    "timeout": mark("timeout"),
    "skipped": mark("skipped"),
    "unsupported": mark("unsupported"),
    "cancelled": mark("cancelled"),
}


def status_name(status: str) -> str:
    """Return the name of a row's status, for people."""
    return tr(_STATUSES[status]) if status in _STATUSES else status
