"""Folders for temporary files. Those of a process that was killed are removed by a later one.

Each process that uses such a folder holds a shared lock on it, which Linux releases when the process has ended, however
it ended. A folder on which no process holds a lock has no owner any more.
"""

import fcntl
import hashlib
import os
import shutil
import socket
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_held: dict[Path, int] = {}
"""The locked folders of this process, with the descriptors that hold the locks."""


def make() -> Path:
    """Return a new, empty folder that no other user may read. It belongs to this process until `remove`.

    The first call also removes the folders of processes that were killed.
    """
    remove_abandoned(Path(tempfile.gettempdir()))
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix()))
        if hold(folder):
            return folder


def hold(folder: Path) -> bool:
    """Let such a folder belong to this process, too: it stays as long as one of its processes lives.

    Returns
    -------
    bool
        False if the folder is gone: another process has removed it before this one could take the lock.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:  # then the folder has no lock, and nobody but its owner removes it
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # another process removes it just now
        os.close(descriptor)
        return False
    except OSError:  # this file system has no locks: no other process can take one either
        os.close(descriptor)
        return True
    _held[folder] = descriptor
    if folder.exists():
        return True
    release(folder)
    return False


def release(folder: Path) -> None:
    """Close this process's lock of a folder."""
    descriptor = _held.pop(folder, None)
    if descriptor is not None:
        os.close(descriptor)


def remove(folder: Path) -> None:
    """Remove such a folder with its content."""
    shutil.rmtree(folder, ignore_errors=True)
    release(folder)


@cache
def remove_abandoned(place: Path) -> None:
    """Remove the folders in `place` that belong to nobody any more; in each process, once for each place."""
    with suppress(OSError):
        for entry in list(os.scandir(place)):
            if entry.name.startswith(_prefix()):
                _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            found = os.fstat(descriptor)
            if found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


@cache
def _prefix() -> str:
    """Return the begin of the names of this machine's folders.

    Several machines may share a place for temporary files, and some file systems do not show them each other's locks.
    """
    return f"gemmviz-{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}-"
