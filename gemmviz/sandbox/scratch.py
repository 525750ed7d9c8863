"""The engine's own folder, with copies of a user's included files: the engine never sees the user's folders.

A copy lies below the scratch folder as the file lies below the root: relative names lead from one to the next.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_COPIES = "sources"
_MOST_BYTES, _MOST_FILES = 4 << 20, 500
# Names that may be included: the compiler's first error could show a line of the file.
_SOURCES = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc", ".def", ".ipp", ".tpp", ".c", ".cc", ".cpp", ".cu")


def make() -> Path:
    """Return a new, empty folder that no other user may look into."""
    return Path(tempfile.mkdtemp(prefix="gemmviz-"))


def remove(folder: Path) -> None:
    """Remove such a folder with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)


def hand_over(scratch: Path, path: Path, text: str) -> None:
    """Copy the files that a source includes from its folder into the scratch folder.

    Parameters
    ----------
    scratch
        From `make`.
    path
        Where the source lies.
    text
        Its text.
    """
    for file, body in reached(text, path.parent):
        copy = _copy_of(scratch, file)
        with suppress(OSError):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(body)


def folder_of(path: Path, scratch: Path | None) -> Path:
    """Return the folder of the files that a source includes: the copies' where there is a scratch folder."""
    return path.parent if scratch is None else _copy_of(scratch, path.parent)


def copies(scratch: Path) -> Path:
    """Return the folder that holds all copies."""
    return scratch / _COPIES


def reached(text: str, folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the files that a text includes, directly or not, each once.

    Left out are files that a source need not read: hidden ones, those that by their name are no sources, those behind
    a link that leads to such, those named from the root, and whatever is no plain file.

    Parameters
    ----------
    text
        A source.
    folder
        Where it lies.

    Yields
    ------
    tuple
        A file, by the name under which it was included, and its content.
    """
    seen: set[Path] = set()
    waiting = [(text, folder)]
    while waiting and len(seen) < _MOST_FILES:
        body, beside = waiting.pop()
        for name in _INCLUDE.findall(body):
            for path in (Path(os.path.normpath(f / name)) for f in (beside, folder)):
                if path in seen or Path(name).is_absolute() or not _may_be_read(path, folder):
                    continue
                seen.add(path)
                try:
                    found = path.read_bytes()
                except OSError:
                    continue
                yield path, found
                waiting.append((found.decode("utf-8", "replace"), path.parent))


def _may_be_read(path: Path, folder: Path) -> bool:
    try:
        real, home = path.resolve(strict=True), folder.resolve()
        if not real.is_file() or real.stat().st_size > _MOST_BYTES:
            return False
    except (OSError, RuntimeError, ValueError):
        return False
    shared = Path(os.path.commonpath((real, home)))
    hidden = any(part.startswith(".") for part in real.relative_to(shared).parts)
    return real.suffix in _SOURCES and not hidden


def _copy_of(scratch: Path, path: Path) -> Path:
    return copies(scratch) / os.path.relpath(os.path.abspath(path), "/")  # noqa: PTH100
