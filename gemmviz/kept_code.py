"""Code that is made from texts at each start, kept compiled in the user's cache: it took a tenth of the window's start.

`dataclasses` writes the methods of each class as a text, and PySide6 has modules as texts inside of a library. Python
compiles both anew in each process. Here the text itself is the key, so nothing that is kept can be out of date.
"""

import __future__

import builtins
import dataclasses
import hashlib
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any

from gemmviz import data

_FOLDER, _SUFFIX = "code", ".marshal"
_DIGEST_BYTES = hashlib.sha256().digest_size
_RUNS_TEXT = "exec"
"""The name that `dataclasses` looks up to run a text; where it uses another one, its texts are compiled as usual."""
_FEATURES, _SEARCHES = "shibokensupport.feature", "_mod_uses_pyside"
"""PySide6's module, and its function that reads the source of a module; where there is no such name, it stays so."""
_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag

_compile = compile  # the real one, also while `modules_from_cache` takes its place

Key = tuple[str | bytes, str, int]
"""A text, the name of its file, and the flags of the compiler."""


class KeptCode:
    """Compiles texts, or takes their code from a file.

    Parameters
    ----------
    file
        Where the code is kept; None: nowhere.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._kept = _read(file) if file is not None else {}
        self._used: dict[Key, CodeType] = {}
        self.kept = len(self._kept)
        """How many texts have kept code."""
        self.compiled = 0
        """How many texts had to be compiled."""

    def code(self, text: str | bytes, name: str, flags: int) -> CodeType:
        """Return the code of a text.

        Parameters
        ----------
        text
            A module's statements.
        name
            The name of its file.
        flags
            The compiler's flags, as in `compile`.
        """
        key = text, name, flags
        found = self._used.get(key) or self._kept.get(key)
        if found is None:
            found = _compile(text, name, "exec", flags, dont_inherit=True)
            self.compiled += 1
        self._used[key] = found
        return found

    def keep(self) -> None:
        """Write the code of all texts that were asked for, if one was compiled."""
        if not self.compiled or self._file is None:
            return
        with suppress(OSError):
            handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=".code-")
            try:
                with os.fdopen(handle, "wb") as part:
                    content = marshal.dumps(self._used)
                    part.write(hashlib.sha256(content).digest() + content)
                Path(name).replace(self._file)
            finally:
                Path(name).unlink(missing_ok=True)


@contextmanager
def dataclasses_from_cache() -> Iterator[KeptCode]:
    """Make the methods of all dataclasses that are created meanwhile from kept code."""
    code = KeptCode(_file("dataclasses"))

    def run(text: Any, *names: dict[str, Any], **others: Any) -> None:
        made = code.code(text, "<string>", 0) if isinstance(text, str) else text
        exec(made, *names, **others)  # as `dataclasses` does, also if another version passes something else

    setattr(dataclasses, _RUNS_TEXT, run)
    try:
        yield code
    finally:
        delattr(dataclasses, _RUNS_TEXT)
        code.keep()


@contextmanager
def modules_from_cache() -> Iterator[KeptCode]:
    """Take the code of all modules that are compiled meanwhile, by a call of `compile`, from kept code."""
    code, real = KeptCode(_file("modules")), builtins.compile

    def found(text: Any, name: Any, mode: str, *more: Any, **others: Any) -> Any:
        if mode != "exec" or more or others or not isinstance(text, str | bytes) or not isinstance(name, str):
            return real(text, name, mode, *more, **others)
        return code.code(text, name, sys._getframe(1).f_code.co_flags & _FUTURE)

    builtins.compile = found  # type: ignore[assignment]  # the interpreter has no other place for it
    try:
        yield code
    finally:
        builtins.compile = real
        code.keep()


def skip_feature_search() -> None:
    """Tell PySide6, once it is imported, that no module uses its other names (`from __feature__ import ...`).

    It would read the source of each module that is imported later to find out.
    """
    feature = sys.modules.get(_FEATURES)
    if hasattr(feature, _SEARCHES):
        setattr(feature, _SEARCHES, lambda module: False)


def _file(kind: str) -> Path | None:
    """Return where this version of Python keeps a kind of code for this user; None: nowhere."""
    version = f"{sys.implementation.cache_tag}-{MAGIC_NUMBER.hex()}-{sys.flags.optimize}"
    try:
        return data.cache_folder(_FOLDER)[0] / f"{kind}-{version}{_SUFFIX}"
    except OSError:
        return None


def _read(file: Path) -> dict[Key, CodeType]:
    """Return the code in a file; empty if there is none, or if it is damaged."""
    try:
        content = memoryview(file.read_bytes())
    except OSError:
        return {}
    if hashlib.sha256(content[_DIGEST_BYTES:]).digest() != content[:_DIGEST_BYTES]:
        return {}
    kept: dict[Key, CodeType] = marshal.loads(content[_DIGEST_BYTES:])
    return kept
