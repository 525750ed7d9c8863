"""The cache of compiled code: only the engine writes it; each file is checked by its SHA-256 before it is loaded."""

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

NOTE = ".sha256"
"""The suffix of the file beside a kept one, with its name and its SHA-256."""


def keep(made: Path, folder: Path, name: str) -> Path:
    """Keep a file under a name, completely or not at all.

    Parameters
    ----------
    made
        The compiled file.
    folder
        From `gemmviz.data.cache_folder`.
    name
        The key of its content: a hash of the sources and of the compiler's flags.

    Returns
    -------
    Path
        The path of the kept file. Its name is made from its content, so that two processes can keep the same file at
        the same time.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    handle, written = tempfile.mkstemp(dir=folder, prefix=".build-", suffix=made.suffix)
    temporary, note = Path(written), Path(written).with_suffix(NOTE)
    try:
        with os.fdopen(handle, "wb") as target, made.open("rb") as source:
            shutil.copyfileobj(source, target)
        digest = _digest(temporary)
        file = folder / f"{name}-{digest[:16]}{made.suffix}"
        # An older file stays: a process may have access to this file only.
        if not _is(file, digest):
            temporary.replace(file)
        note.write_text(f"{digest} {file.name}", encoding="utf-8")
        note.replace(folder / (name + NOTE))
    finally:
        temporary.unlink(missing_ok=True)
        note.unlink(missing_ok=True)
    return file


def find(folder: Path, name: str) -> Path | None:
    """Return the file that is kept under a name; None if there is none, or if it has changed since."""
    try:
        digest, _, file_name = (folder / (name + NOTE)).read_text(encoding="utf-8").partition(" ")
        file = folder / Path(file_name).name
    except (OSError, ValueError):
        return None
    return file if _is(file, digest) else None


def limit(folder: Path, most: int) -> None:
    """Remove files of a folder until it has at most `most` bytes: first those that were not used for the longest time.

    A process may still use such a file: what it has opened, or loaded, stays.
    """
    found = []
    with suppress(OSError):
        for one in os.scandir(folder):
            with suppress(OSError):  # another process has removed it
                state = one.stat(follow_symlinks=False)
                found.append((state.st_mtime_ns, state.st_size, Path(one.path)))
    size = sum(bytes_ for _, bytes_, _ in found)
    for _, bytes_, file in sorted(found):
        if size <= most:
            return
        with suppress(OSError):
            file.unlink()
            size -= bytes_


def _is(file: Path, digest: str) -> bool:
    try:
        return _digest(file) == digest
    except OSError:
        return False


def _digest(file: Path) -> str:
    # A link cannot be a file that was kept here.
    with os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
