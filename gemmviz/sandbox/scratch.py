"""The engine's own folder, with copies of a user's included files: the engine never sees the user's folders.

A copy has the same path below the scratch folder as the file below the root, so that relative includes still work.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gemmviz.catalogue.encodings import decoded
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.header_places import HeaderPlaces, project_folders_for_headers
from gemmviz.catalogue.includes import begins, search_folders, walk
from gemmviz.language import tr
from gemmviz.sandbox import owned_folders

_COPIES = "sources"
_MOST_BYTES, _MOST_FILES = 4 << 20, 500
# Names that may be included: the compiler's first error could show a line of the file.
_ORDER = (".cu", ".cuh", ".h", ".hpp")
_SOURCES = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc", ".def", ".ipp", ".tpp", ".c", ".cc", ".cpp", ".cu")


def make() -> Path:
    """Return a new, empty folder that no other user may read, see `gemmviz.sandbox.owned_folders`.

    Raises
    ------
    Unavailable
        When there is none: the disk is full, or the folder for temporary files is missing.
    """
    try:
        return owned_folders.make()
    except FileNotFoundError:  # Python tries to write into each folder that it knows
        text = tr("no temporary file can be written: the disk is full, or TMPDIR names a folder that is missing")
        raise Unavailable(text) from None


def remove(folder: Path) -> None:
    """Remove such a folder with its content."""
    owned_folders.remove(folder)


def hand_over(scratch: Path, path: Path, text: str) -> None:
    """Copy the files that a source includes from its folder into the scratch folder.

    Parameters
    ----------
    scratch
        From `make`.
    path
        The path of the source.
    text
        Its text.
    """
    for file, body in needed(path, text):
        copy = _copy_of(scratch, file)
        with suppress(OSError):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(body)


def needed(path: Path, text: str) -> list[tuple[Path, bytes]]:
    """Return the files that a source needs to compile, and their contents.

    Parameters
    ----------
    path
        The path of the source.
    text
        Its text.
    """
    folders = tuple(search_folders(path))
    places = header_places(path, folders)
    found = list(reached(text, path.parent, places))
    for file, begin in begins(path, text, neighbours(folders), text_of):
        found += [(file, text_of(file).encode()), *reached(begin, file.parent, places)]
    return found


def header_places(path: Path, folders: Iterable[Path]) -> HeaderPlaces:
    """Return the places of a source's headers.

    Parameters
    ----------
    path
        The path of the source.
    folders
        The folders that are searched first.
    """
    return HeaderPlaces((path.parent, *folders), lambda: project_folders_for_headers(path))


def copied_folders(scratch: Path) -> list[Path]:
    """Return the folders that have copies of files."""
    return [Path(folder) for folder, _, files in os.walk(copies(scratch)) if files]


def folder_of(path: Path, scratch: Path | None) -> Path:
    """Return the folder of the files that a source includes: that of the copies if there is a scratch folder."""
    return path.parent if scratch is None else _copy_of(scratch, path.parent)


def copies(scratch: Path) -> Path:
    """Return the folder with all copies."""
    return scratch / _COPIES


def copy_of(folder: Path, scratch: Path | None) -> Path:
    """Return the folder with the copies of a folder's files; without a scratch folder, the folder itself."""
    return folder if scratch is None else _copy_of(scratch, folder)


def own_header(name: str, beside: Path, places: HeaderPlaces) -> Path | None:
    """Return the file of an include: the first one of that name that a source may read, or None.

    Parameters
    ----------
    name
        The name as written.
    beside
        The folder of the file that includes it.
    places
        The files that a name may mean.
    """
    found = places.with_folders(name, beside)
    return next((path for path, folder in found if _may_be_read(path, folder)), None)


class Files:
    """The files in some folders: each folder is listed once, and each file read once, for all that look there."""

    def __init__(self) -> None:
        self._names: dict[Path, list[str]] = {}
        self._allowed: dict[tuple[Path, tuple[str, ...]], bool] = {}
        self._texts: dict[Path, str] = {}

    def neighbours(self, folders: Iterable[Path], suffixes: tuple[str, ...] = _SOURCES) -> Iterator[Path]:
        """Yield the sources that may be read, CUDA's first, then headers; or files with other suffixes."""
        found: dict[Path, None] = {}
        for folder in folders:
            names = (name for name in self._listed(folder) if _suffix(name) in suffixes)
            found |= dict.fromkeys(folder / name for name in names)
        for file in sorted(found, key=lambda file: _ORDER.index(file.suffix) if file.suffix in _ORDER else len(_ORDER)):
            if (file, suffixes) not in self._allowed:
                self._allowed[file, suffixes] = _listed_may_be_read(file, suffixes)
            if self._allowed[file, suffixes]:
                yield file

    def text_of(self, file: Path) -> str:
        """Return the text of a file as the compiler reads it.

        Raises
        ------
        OSError
            When it cannot be read.
        """
        if file not in self._texts:
            self._texts[file] = text_of(file)
        return self._texts[file]

    def _listed(self, folder: Path) -> list[str]:
        if folder not in self._names:
            self._names[folder] = []
            with suppress(OSError):
                self._names[folder] = sorted(os.listdir(folder))  # noqa: PTH208
        return self._names[folder]


def neighbours(folders: Iterable[Path], suffixes: tuple[str, ...] = _SOURCES) -> Iterator[Path]:
    """Yield the sources in some folders that may be read, see `Files.neighbours`."""
    return Files().neighbours(folders, suffixes)


def text_of(file: Path) -> str:
    """Return the text of a header or source as the compiler reads it."""
    raw = file.read_bytes()
    text, _ = decoded(raw) or (raw.decode("utf-8", "replace"), "")
    return text.replace("\r\n", "\n")


def reached(
    text: str, folder: Path, places: Callable[[str, Path], Iterable[Path]] | None = None
) -> Iterator[tuple[Path, bytes]]:
    """Return the files that a text includes, directly or not, each once.

    Files that a source need not read are left out: hidden files, files whose name is not that of a source, links to
    such files, absolute names, and anything that is not a regular file.

    Parameters
    ----------
    text
        A source.
    folder
        The folder of the source.
    places
        Returns the files that a name may mean in a folder; by default the one in that folder, and in the source's own.

    Returns
    -------
    iterator of tuple
        A file, by the name under which it was included, and its content.
    """

    def read(path: Path) -> bytes | None:
        with suppress(OSError):
            return path.read_bytes() if _may_be_read(path, folder) else None
        return None

    return walk([(text, folder)], places or HeaderPlaces((folder,), tuple), read, _MOST_FILES)


def _may_be_read(path: Path, folder: Path, suffixes: tuple[str, ...] = _SOURCES) -> bool:
    try:
        path.lstat()  # most names that an include may mean are no files: this is the quickest answer
        real, home = path.resolve(strict=True), folder.resolve()
        if not real.is_file() or real.stat().st_size > _MOST_BYTES:
            return False
    except (OSError, RuntimeError, ValueError):
        return False
    shared = Path(os.path.commonpath((real, home)))
    hidden = any(part.startswith(".") for part in real.relative_to(shared).parts)
    return real.suffix in suffixes and not hidden


def _listed_may_be_read(file: Path, suffixes: tuple[str, ...]) -> bool:
    """Return the result of `_may_be_read` for a file and its own folder; only a link has to be resolved for it."""
    try:
        found = file.lstat()
    except (OSError, ValueError):
        return False
    if stat.S_ISLNK(found.st_mode):
        return _may_be_read(file, file.parent, suffixes)
    fits = file.suffix in suffixes and not file.name.startswith(".")
    return fits and stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES


def _suffix(name: str) -> str:
    """Return the same as `Path.suffix`."""
    stem, dot, end = name.rpartition(".")
    return dot + end if stem and end else ""


def _copy_of(scratch: Path, path: Path) -> Path:
    return copies(scratch) / os.path.relpath(os.path.abspath(path), "/")  # noqa: PTH100
