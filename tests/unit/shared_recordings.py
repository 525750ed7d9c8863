"""What is recorded once for all processes of tests: the first one that needs it leaves it in the run's folder."""

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

VARIABLE = "GEMMVIZ_TESTS_RECORDINGS"
"""Names the folder, which is the run's own: the code of gemmviz cannot be another one."""
Made = TypeVar("Made")


def once(make: Callable[[], Made], *key: object) -> Made:
    """Return what is kept under a key; made now if no process has made it yet.

    Parameters
    ----------
    make
        Makes it: the same in each process.
    key
        All that it depends on, with a text that says so.
    """
    found: Made | None = kept(*key)
    if found is None:
        found = make()
        keep(found, *key)
    return found


def kept(*key: object) -> Any:
    """Return what any process has kept under a key; None if there is nothing."""
    file = _file(key)
    return pickle.loads(file.read_bytes()) if file is not None and file.exists() else None


def keep(made: object, *key: object) -> None:
    """Leave something to all processes, under a key."""
    file = _file(key)
    if file is None:
        return
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as written:
        pickle.dump(made, written, protocol=pickle.HIGHEST_PROTOCOL)
    Path(written.name).replace(file)


def _file(key: tuple[object, ...]) -> Path | None:
    folder = os.environ.get(VARIABLE)
    return None if folder is None else Path(folder) / hashlib.sha256(repr(key).encode()).hexdigest()[:24]


def forget(module: ModuleType) -> None:
    """Empty the caches of a file's own functions: no later file can ask for what they hold."""
    for value in vars(module).values():
        if getattr(value, "__module__", None) == module.__name__ and hasattr(value, "cache_clear"):
            value.cache_clear()
