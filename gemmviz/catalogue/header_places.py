"""Where a header of the user may lie: in the folders near the file, and else anywhere in its project."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from gemmviz.catalogue.host_words import header_kind

_MOST_ABOVE, _MOST_FOLDERS, _DEEPEST = 4, 60, 3
# The folders of a course's exercises are many, and its common header is in one of them.
_MOST_FOLDERS_FOR_HEADERS = 500
_PROJECT_FILES = (".git", "README.md", "LICENSE", "CMakeLists.txt", "Makefile", "setup.py", "pyproject.toml")
# Folders that hold no code of the project itself.
_OF_OTHERS = ("build", "third_party", "thirdparty", "3rdparty", "external", "extern", "deps", "cutlass", "venv")


class HeaderPlaces:
    """Yields the files that a name in an include may mean, the most likely first.

    A build script may name any folder of the project for headers (``-I``, ``include_directories``), so the folders of
    the project are searched for a name that no near folder has. Names of CUDA's and the compiler's headers are not.
    """

    def __init__(self, near: Iterable[Path], project: Callable[[], Iterable[Path]]) -> None:
        """Take the near folders, and a function that returns the folders of the project."""
        self._near = tuple(near)
        self._project = cache(lambda: tuple(project()))

    def __call__(self, name: str, beside: Path) -> Iterator[Path]:
        """Yield the files of a name in a folder, then in the folders near the kernel, then in the project."""
        yield from (path for path, _ in self.with_folders(name, beside))

    def with_folders(self, name: str, beside: Path) -> Iterator[tuple[Path, Path]]:
        """Yield the same files, each with the folder in which the name is looked up."""
        if Path(name).is_absolute() or "\0" in name:
            return
        found = False
        for folder in (beside, *self._near):
            path = Path(os.path.normpath(folder / name))
            yield path, folder
            found = found or _is_file(path)
        if not found and not header_kind(name):
            yield from ((Path(os.path.normpath(folder / name)), folder) for folder in self._project())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def project_folders(path: Path, most: int = _MOST_FOLDERS) -> tuple[Path, ...]:
    """Return the folders of the project that a file belongs to; none where no project is seen.

    A project begins at the highest folder near the file that has a file that projects begin with.

    Parameters
    ----------
    path
        The file.
    most
        No more folders than these: the highest ones.
    """
    begin = project_begin(path)
    found: list[Path] = []
    waiting = [(begin, 0)] if begin else []
    while waiting and len(found) < most:
        folder, depth = waiting.pop(0)
        found.append(folder)
        if depth < _DEEPEST:
            with suppress(OSError):
                inside = sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
                waiting += [(one, depth + 1) for one in inside if not _is_of_others(one.name)]
    return tuple(found)


def project_begin(path: Path) -> Path | None:
    """Return the folder that a file's project begins with; None where no project is seen."""
    begin: Path | None = None
    for folder in list(path.absolute().parents)[:_MOST_ABOVE]:
        if len(folder.parts) <= 2 or folder == Path.home():  # these folders are not specific to one project
            break
        begin = folder if any((folder / name).exists() for name in _PROJECT_FILES) else begin
        if (folder / ".git").exists():
            break
    return begin


def project_folders_for_headers(path: Path) -> list[Path]:
    """Return the folders of a file's project that may hold its headers, the nearest first."""
    return nearest_first(project_folders(path, _MOST_FOLDERS_FOR_HEADERS), path)


def nearest_first(folders: Iterable[Path], path: Path) -> list[Path]:
    """Return folders in the order of the steps from a file's folder to them, those with equally many by name."""
    return sorted(folders, key=lambda folder: (len(Path(os.path.relpath(folder, path.parent)).parts), folder))


def _is_of_others(name: str) -> bool:
    plain = name.lower().replace("-", "_")
    return name.startswith((".", "build")) or plain in _OF_OTHERS or plain == "node_modules"
