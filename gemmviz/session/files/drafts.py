"""Unsaved edited texts, kept on disk while the program runs, so that they survive a crash.

Each running program has its own file, and holds a lock next to it while it runs. If the lock of a file is free, its
program crashed or was killed, and the file has lost texts.
"""

import fcntl
import json
import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import platformdirs

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.catalogue.user_file import KERNEL_BYTES, parse_json, read_text, real, write_text
from gemmviz.language import tr
from gemmviz.session.files import snapshot
from gemmviz.session.files.snapshot_form import KernelFields
from gemmviz.session.files.state_file import is_kernel
from gemmviz.session.models.choice import Choice

_VERSION = 1
_KEPT, _LOCK = ".json", ".lock"
MOST_TEXTS, MOST_FILES = 20, 10
"""The largest number of texts that a program keeps, and of files of ended programs; the oldest files are deleted."""
_FILE_BYTES = 2 * MOST_TEXTS * KERNEL_BYTES  # JSON writes a line break as two characters


class _DraftsFields(TypedDict):
    draft_version: Literal[1]
    kernels: list[Any]


def folder() -> Path:
    """Return the folder of the texts; it need not exist."""
    return Path(platformdirs.user_state_dir("gemmviz", appauthor=False)) / "drafts"


@dataclass(frozen=True)
class Lost:
    """The unsaved texts of an ended program.

    Attributes
    ----------
    path
        Its file.
    kernels
        The kernels with their edited texts, in the form of a snapshot.
    lock
        The descriptor of the lock, which keeps other programs away.
    """

    path: Path
    kernels: tuple[KernelFields, ...]
    lock: int


class Drafts:
    """Keeps the unsaved texts of a session, and restores those of ended programs.

    Parameters
    ----------
    session
        The session with the texts.

    Attributes
    ----------
    fault
        The reason why no text can be kept; empty if texts can be kept.
    """

    def __init__(self, session: snapshot.OnScreen) -> None:
        self._session = session
        self._written: list[KernelFields] = []
        self._path: Path | None = None
        self._lock: int | None = None
        self.lost: list[Lost] = []
        """The result of `find` that is neither restored nor discarded yet."""
        self.fault = ""
        self._signals = (session.choice.chosen, session.choice.drafted, session.choice.kernels_changed)
        for signal in self._signals:
            signal.connect(self.keep)

    def keep(self) -> None:
        """Write the unsaved texts to the file; remove the file if there are none."""
        session = self._session
        texts = [_plain(session.choice, base) for base in session.choice.all_unsaved()][-MOST_TEXTS:]
        texts = [text for text in texts if len(text["text"].encode()) <= KERNEL_BYTES]
        if texts == self._written:
            return
        try:
            if texts:
                write_text(self._own(), json.dumps({"draft_version": _VERSION, "kernels": texts}))
            elif self._path is not None:
                self._path.unlink(missing_ok=True)
        except (OSError, GemmvizError) as error:
            self.fault = str(error)
            return
        self._written, self.fault = texts, ""

    def find(self) -> list[Lost]:
        """Find the files of ended programs, newest first, and lock them for this one."""
        place = folder()
        with suppress(OSError):
            files = sorted(place.glob(f"*{_KEPT}"), key=_age, reverse=True)
            taken = {lost.path for lost in self.lost}
            for number, path in enumerate(file for file in files if file != self._path and file not in taken):
                lock = _locked(path.with_suffix(_LOCK))
                if lock is None:
                    continue  # its program runs
                kernels = _read(path) if number < MOST_FILES else ()
                if kernels:
                    self.lost.append(Lost(path, kernels, lock))
                else:
                    _remove(path, lock)
        return self.lost

    def restore(self) -> None:
        """Restore the lost texts in the session, for each kernel the newest text.

        Raises
        ------
        GemmvizError
            When some cannot be restored, or were edited here in the meantime; the others are restored, and the file is
            kept.
        """
        done: set[str] = set()
        faults = []
        for lost in tuple(self.lost):
            whole = True
            for plain in lost.kernels:
                name = plain.get("name") or str(real(Path(plain["path"])))
                if name in done:
                    continue
                try:
                    self._restore(name, plain)
                    done.add(name)
                except GemmvizError as error:
                    faults.append(str(error))
                    whole = False
            self.keep()
            if whole:
                self._forget(lost)
        if faults:
            raise GemmvizError("\n".join(faults))

    def _restore(self, name: str, plain: KernelFields) -> None:
        for base in self._session.choice.all_unsaved():
            if name in (base.name, str(base.path)):
                raise GemmvizError(tr("{file} has edits that are not saved.", file=base.path.name))
        snapshot.apply(self._session, {"kernel": plain})

    def discard(self) -> None:
        """Delete the lost texts."""
        for lost in tuple(self.lost):
            self._forget(lost)

    def close(self, keep: bool) -> None:
        """Release everything; `keep` leaves unsaved texts for the next start."""
        for signal in self._signals:
            signal.disconnect(self.keep)
        if keep:
            self.keep()
        elif self._path is not None and self._lock is not None:
            _remove(self._path, self._lock)
            self._lock = None
        for lock in (self._lock, *(lost.lock for lost in self.lost)):
            if lock is not None:
                os.close(lock)
        self._lock, self.lost = None, []

    def _forget(self, lost: Lost) -> None:
        _remove(lost.path, lost.lock)
        self.lost.remove(lost)

    def _own(self) -> Path:
        """Return this program's file, with its lock held."""
        if self._path is None or self._lock is None:
            place = folder()
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = place / f"{uuid.uuid4().hex}{_KEPT}"
            self._lock = _locked(path.with_suffix(_LOCK), make=True)
            if self._lock is None:
                raise OSError(f"{path.with_suffix(_LOCK)} cannot be locked")
            self._path = path
        return self._path


def names(lost: Sequence[Lost]) -> list[str]:
    """Return the names of the kernels whose texts were lost, each once."""
    names = (plain.get("name") or Path(plain["path"]).name for one in lost for plain in one.kernels)
    return list(dict.fromkeys(names))


def _plain(choice: Choice, base: Kernel) -> KernelFields:
    fields: KernelFields = {"text": choice.text_of(base)}
    return {"name": base.name, **fields} if choice.is_shipped_file(base) else {"path": str(base.path), **fields}


def _read(path: Path) -> tuple[KernelFields, ...]:
    try:
        document = read_as(parse_json(read_text(path, _FILE_BYTES)), _DraftsFields)
    except (OSError, ValueError, GemmvizError, Misfit):
        return ()
    found: list[KernelFields] = [plain for plain in document["kernels"] if is_kernel(plain) and "text" in plain]
    return tuple(found[:MOST_TEXTS])


def _age(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


def _locked(path: Path, make: bool = False) -> int | None:
    """Return a descriptor that holds a lock while this process runs; None if another process holds it."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_CREAT | (os.O_EXCL if make else 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove(path: Path, lock: int) -> None:
    for file in (path, path.with_suffix(_LOCK)):
        with suppress(OSError):
            file.unlink()
    os.close(lock)
