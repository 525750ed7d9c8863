"""What is recorded once for all processes of tests: the first one that needs it leaves it in the run's folder."""

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

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
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return make()
    file = Path(folder) / hashlib.sha256(repr(key).encode()).hexdigest()[:24]
    if file.exists():
        found: Made = pickle.loads(file.read_bytes())
        return found
    made = make()
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as written:
        pickle.dump(made, written, protocol=pickle.HIGHEST_PROTOCOL)
    Path(written.name).replace(file)
    return made
