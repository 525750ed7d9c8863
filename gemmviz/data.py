"""Finds the data folders (``kernels``, ``resources``), in a checkout and in an installed wheel alike."""

from importlib.resources import files
from pathlib import Path

import platformdirs


def root(name: str) -> Path:
    """Return the folder ``name`` that gemmviz ships.

    Parameters
    ----------
    name
        ``"kernels"`` or ``"resources"``.

    Raises
    ------
    FileNotFoundError
        When neither the installed package nor the checkout holds it.
    """
    package = Path(str(files("gemmviz")))
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"gemmviz was installed without its folder {name!r}: install it again")


def cache_dir() -> Path:
    """Return the user's cache folder for gemmviz (compiled kernels), created when missing.

    Raises
    ------
    OSError
        When it can be neither created nor read.
    """
    folder = Path(platformdirs.user_cache_dir("gemmviz", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
