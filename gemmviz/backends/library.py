"""Loads a kernel's compiled library, and names missing symbols."""

import ctypes
import re
from pathlib import Path

from gemmviz.backends import unsupported
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr

_UNDEFINED = re.compile(r"undefined symbol: (\S+)")
# A C++ name with the types of its arguments begins so: the length of the name, then the name.
_MANGLED = re.compile(r"_Z(\d+)(\w+)")
_OPERATORS = {"_Zn": "new", "_Zd": "delete"}


def load(library: Path, launch: Launch) -> ctypes.CDLL:
    """Load the shared library of a launch into this process.

    Raises
    ------
    BuildError
        When it cannot be loaded because the kernel calls a function that is declared but not defined. ``line`` is its
        line in the kernel's file.
    """
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        file = launch.kernel.path.name
        found = _UNDEFINED.search(str(error))
        if found is None:
            raise BuildError(tr("{file} cannot be loaded: {why}", file=file, why=error)) from None
        name = _plain(found[1])
        line = _line_of(name, launch)
        where = f"{file}:{line}" if line else file
        text = tr("{name} is used and defined nowhere: define it in this file", name=name)
        missing = BuildError(f"{where}: {text}", line)
        raise (unsupported.explain(missing, launch.kernel) if launch.kernel.backend == "cuda" else missing) from None


def _plain(symbol: str) -> str:
    found = _MANGLED.match(symbol)
    if not found and symbol[: len("_Zn")] in _OPERATORS:
        return _OPERATORS[symbol[: len("_Zn")]]
    return found[2][: int(found[1])] if found else symbol


def _line_of(name: str, launch: Launch) -> int | None:
    """Return the last line that contains a symbol: declarations come earlier."""
    lines = plain_code(launch.kernel.text).split("\n")
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    named = [number for number, line in enumerate(lines, 1) if pattern.search(line)]
    return named[-1] if named else None
