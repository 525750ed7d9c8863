"""Finds the data folders (``kernels``, ``resources``), in a checkout and in an installed wheel alike."""

import errno
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import platformdirs

# A build takes a few megabytes; a quota is met only by writing.
_ROOM_BYTES, _PROBE_BYTES = 32 << 20, 1 << 16


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
    """Return the user's cache folder for gemmviz, created when missing.

    Raises
    ------
    OSError
        When it can be neither created nor read.
    """
    folder = Path(platformdirs.user_cache_dir("gemmviz", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cache_folder(name: str) -> tuple[Path, str]:
    """Return a folder of that name that can be written, and a note when it is not in the user's cache.

    Parameters
    ----------
    name
        What is kept in there.

    Returns
    -------
    tuple
        The folder (a temporary one of this user's where the cache cannot be written), and why, or an empty text.
    """
    try:
        folder = cache_dir() / name
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
        if shutil.disk_usage(folder).free < _ROOM_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return folder, ""
    except OSError as error:
        folder = Path(tempfile.gettempdir()) / f"gemmviz-{name}-{os.getuid()}"
        folder.mkdir(exist_ok=True, mode=0o700)
        if folder.stat().st_uid != os.getuid():
            folder = Path(tempfile.mkdtemp(prefix=f"gemmviz-{name}-"))
        return folder, f"the cache folder cannot be written ({error.strerror}); compiled into {folder}"
