"""Finds the data folders (``kernels``, ``resources``), both in a checkout and in an installed wheel."""

import errno
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

# A build takes a few megabytes; an exceeded quota is noticed only by writing.
_ROOM_BYTES, _PROBE_BYTES = 32 << 20, 1 << 16


@cache  # called for each kernel of a list
def root(name: str) -> Path:
    """Return the folder ``name`` that gemmviz ships.

    Parameters
    ----------
    name
        ``"kernels"`` or ``"resources"``.

    Raises
    ------
    FileNotFoundError
        When neither the installed package nor the checkout has it.
    """
    package = Path(__file__).parent
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
    """Return a writable folder of that name, and a note if it is not in the user's cache.

    Parameters
    ----------
    name
        The kind of content.

    Returns
    -------
    tuple
        The folder (a temporary folder of this user if the cache cannot be written), and the reason, or an empty text.
    """
    try:
        folder = _own(cache_dir()) / name
        folder.mkdir(exist_ok=True, mode=0o700)
        _own(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
        if shutil.disk_usage(folder).free < _ROOM_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return folder, ""
    except OSError as error:
        folder = Path(tempfile.gettempdir()) / f"gemmviz-{name}-{os.getuid()}"
        folder.mkdir(exist_ok=True, mode=0o700)
        try:
            _own(folder)
        except OSError:
            folder = Path(tempfile.mkdtemp(prefix=f"gemmviz-{name}-"))
        return folder, f"the cache folder cannot be written ({error.strerror}); compiled into {folder}"


def _own(folder: Path) -> Path:
    """Return a folder that only this user can have filled. Content that others may have put into it is deleted.

    Raises
    ------
    OSError
        When it is a link or belongs to another user, or when another user may replace it.
    """
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it is a link, or belongs to somebody else", str(folder))
    for above in folder.resolve().parents:
        known = above.stat()
        shared = known.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not known.st_mode & stat.S_ISVTX
        if known.st_uid not in (0, os.getuid()) or (shared and not _only_group(known)):
            raise PermissionError(errno.EPERM, "somebody else may write above it", str(folder))
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        folder.chmod(stat.S_IMODE(found.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
        if not _only_group(found):
            for inside in folder.iterdir():
                shutil.rmtree(inside) if inside.is_dir() and not inside.is_symlink() else inside.unlink()
    return folder


def _only_group(found: os.stat_result) -> bool:
    """Return whether only a group may write, and the group is this user's private one, as many systems set it up."""
    return not found.st_mode & stat.S_IWOTH and found.st_gid == os.getuid() == os.getgid()
