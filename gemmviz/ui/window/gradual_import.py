"""Imports modules in small pieces, so that the window can paint between two of them."""

import importlib
import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import gemmviz

_PACKAGE = gemmviz.__name__
_IMPORT = re.compile(rf"^(?:from|import) ({_PACKAGE}[\w.]*)(?: import ([\w, ]+))?", re.MULTILINE)
_PIECE_S = 0.003


def gradually(name: str, begun: set[str] | None = None) -> Iterator[str]:
    """Import one of our modules; before it, each module of ours that it needs, in a piece of its own.

    Parameters
    ----------
    name
        The full name of the module.
    begun
        Modules that have their turn already.

    Yields
    ------
    str
        The name of the module that was imported: the caller may pause here.
    """
    begun = set() if begun is None else begun
    if name in sys.modules or name in begun:
        return
    begun.add(name)
    package = name.rpartition(".")[0]
    yield from gradually(package, begun)
    file = _file(name)
    for needed in _needed(file.read_text(encoding="utf-8")) if file is not None else ():
        yield from gradually(needed, begun)
    if package in sys.modules:  # otherwise the package imports this module itself, and is about to do so
        importlib.import_module(name)
        yield name


@cache
def _file(name: str) -> Path | None:
    """Return the source file of one of our modules; None: it has none."""
    stem = Path(gemmviz.__file__).parent.joinpath(*name.split(".")[1:])
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


def _needed(text: str) -> Iterator[str]:
    """Yield our modules that a text imports at its top level."""
    for module, names in _IMPORT.findall(text):
        if _file(module) is not None:
            yield module
        parts = (f"{module}.{one.strip()}" for one in names.split(",") if one.strip())
        yield from (part for part in parts if _file(part) is not None)


def resolve(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Let PySide make the classes of its modules, which it otherwise does when each is first used.

    pyqtgraph uses all of them when it is imported, which takes long if none is there yet.

    Yields
    ------
    None
        After some milliseconds of work: the caller may pause here.
    """
    begin = time.perf_counter()
    for module in modules:
        for name in dir(module):
            getattr(module, name, None)  # it lists classes inside of classes, too, and does not always find them
            if time.perf_counter() - begin > _PIECE_S:
                yield
                begin = time.perf_counter()
