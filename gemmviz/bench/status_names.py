"""The outcome of a measurement as text for people: names of statuses, and how C was checked."""

from gemmviz.bench.row import Row
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


def bound_text(row: Row) -> str:
    """Return how C was checked if random inputs were not judged by a bound that always holds; else an empty text."""
    verify = row.get("verify")
    bound = verify.get("bound") if verify else None
    if bound == "probabilistic":
        return tr("checked exactly on whole numbers; random inputs within a probabilistic bound")
    if bound == "none":
        return tr("checked exactly on whole numbers; for random inputs no bound is known at this K")
    return ""
