"""The file of the user's consent: texts by their hash, and folders."""

import json
import os
import re
import stat
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal, TypedDict

import platformdirs

from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.catalogue.user_file import cannot_write
from gemmviz.language import tr
from gemmviz.session.atomic_file import atomic_file

_VERSION: Literal[1] = 1
_LARGEST_FILE = 10_000_000
_HASH = re.compile(r"[0-9a-f]{64}")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class AllowedText:
    """A text that may run: its hash (see `source_hash`), its file at that time, and the day of the consent."""

    sha256: str
    file: str
    date: str


@dataclass(frozen=True)
class Kept:
    """The content of the file.

    Attributes
    ----------
    texts
        The texts that were allowed.
    folders
        Folders whose files may run.
    fault
        The reason why the file is ignored, as text; empty if the file is valid, or does not exist.
    """

    texts: tuple[AllowedText, ...] = ()
    folders: tuple[Path, ...] = ()
    fault: str = ""


class _TrustFields(TypedDict):
    """The file, as it is written."""

    trust_version: Literal[1]
    texts: list[AllowedText]
    folders: list[str]


class TrustStore:
    """Reads and writes the file.

    Parameters
    ----------
    path
        Its path; by default in the user's folder for settings.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path(platformdirs.user_config_dir("gemmviz", appauthor=False)) / "trusted.json"
        self._stamp: tuple[int, int, int, int] | None = None
        self._kept = Kept()

    def read(self) -> Kept:
        """Return the content of the file; empty if the file is damaged, or if others could have written it."""
        try:
            found = self.path.stat()
        except OSError:
            self._stamp, self._kept = None, Kept()
            return self._kept
        stamp = found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode
        if stamp != self._stamp:
            self._stamp, self._kept = stamp, self._read(found)
        return self._kept

    def add_text(self, sha256: str, file: str) -> None:
        """Keep a text.

        Raises
        ------
        GemmvizError
            When the file cannot be written.
        """
        kept = self.read()
        if sha256 not in {text.sha256 for text in kept.texts}:
            self._write(replace(kept, texts=(*kept.texts, AllowedText(sha256, file, date.today().isoformat()))))

    def add_folder(self, folder: Path) -> None:
        """Keep a folder.

        Raises
        ------
        GemmvizError
            When the file cannot be written.
        """
        kept = self.read()
        if folder not in kept.folders:
            self._write(replace(kept, folders=(*kept.folders, folder)))

    def forget(self, name: str | None = None) -> int:
        """Drop a folder, a file, or the text whose hash begins with `name`; None: everything. Return their number.

        Raises
        ------
        GemmvizError
            When the file cannot be written.
        """
        kept = self.read()
        at = "" if name is None else str(Path(name).resolve())
        texts = tuple(t for t in kept.texts if name and t.file not in (name, at) and not _begins(t.sha256, name))
        folders = tuple(folder for folder in kept.folders if name and str(folder) not in (name, at))
        gone = len(kept.texts) + len(kept.folders) - len(texts) - len(folders)
        if gone or kept.fault:
            self._write(Kept(texts, folders))
        return gone

    def _read(self, found: os.stat_result) -> Kept:
        try:
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_FILE:
                raise ValueError(tr("it is not a settings file"))
            if found.st_uid != os.getuid() or found.st_mode & _WRITABLE_BY_OTHERS:
                raise ValueError(tr("other users can write it"))
            return _checked(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            fault = tr(
                "{path} is ignored, so no text and no folder is trusted: {reason}. It is written again when you next "
                "allow a text.",
                path=self.path,
                reason=error,
            )
            return Kept(fault=fault)

    def _write(self, kept: Kept) -> None:
        plain = {
            "trust_version": _VERSION,
            "texts": [asdict(text) for text in kept.texts],
            "folders": [str(folder) for folder in kept.folders],
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.read().fault:
                # Otherwise the new file would inherit its permissions.
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        with atomic_file(self.path) as part:
            part.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _begins(sha256: str, name: str) -> bool:
    return len(name) >= 8 and sha256.startswith(name.lower())


def _checked(document: object) -> Kept:
    """Return a file's content, with each field checked.

    Raises
    ------
    ValueError
        When it is not a file of this version.
    """
    try:
        fields = read_as(document, _TrustFields)
    except Misfit as misfit:
        raise ValueError(_wanted(misfit.place)) from None
    if not all(Path(folder).is_absolute() and "\0" not in folder for folder in fields["folders"]):
        raise ValueError(_wanted("folders[]"))
    if not all(_HASH.fullmatch(text.sha256) and _is_day(text.date) for text in fields["texts"]):
        raise ValueError(_wanted("texts[]"))
    return Kept(tuple(fields["texts"]), tuple(map(Path, fields["folders"])))


def _wanted(place: str) -> str:
    """Return the sentence about a place whose value is missing or of a wrong form."""
    if place in ("texts", "folders"):
        return tr("{key} is not a list", key=place)
    if place.startswith("texts"):
        return tr("an entry of {key} is not one", key="texts")
    if place.startswith("folders"):
        return tr("a folder is not named by its full path")
    return tr("it has no {key} of {version}", key="trust_version", version=_VERSION)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
