"""The name of a kernel: that of its file. Where another kernel has it, the folder is a part of the name.

Every process that gets a kernel's path and text makes the same kernel of them. So the path says it: it repeats the
folders of the name. ``/home/me/new/../new/matmul.cu`` is the file ``/home/me/new/matmul.cu``, and its kernel is
``matmul (new)``.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

# Two digits may have a letter behind them, which puts a rung between two others.
_NUMBER = re.compile(r"^(\d+|\d\d[a-z])_")
_UP, _CHANGED = "..", "~"


def own_name(path: Path) -> str:
    """Return the name of the kernel of a file, without the number in front of a shipped file's name."""
    name, folders = _NUMBER.sub("", path.stem), _repeated(path)
    if not folders:
        return name
    # The mark stands between a kernel's name and its changes.
    name, mark, change = name.partition(_CHANGED)
    return f"{name} ({'-'.join(folders).replace(_CHANGED, '-')}){mark}{change}"


def shown_file(path: Path) -> str:
    """Return the name of a file for people, with the folders that are a part of its kernel's name."""
    return "/".join((*_repeated(path), path.name))


def told_apart(path: Path, taken: Callable[[str], bool]) -> Path:
    """Return a path of the same file with as many folders in the kernel's name as it needs.

    Parameters
    ----------
    path
        The file's path, without links.
    taken
        Returns whether a name is another kernel's.
    """
    ways = (_with_folders(path, count) for count in range(len(path.parent.parts)))
    return next((way for way in ways if not taken(own_name(way))), path)


def named_alike(path: Path, other: Path) -> Path:
    """Return a path of the same file with as many folders in its kernel's name as another path has."""
    return _with_folders(path, len(_repeated(other)))


def plain(path: Path) -> Path:
    """Return the path of the same file that does not repeat its folders."""
    return Path(os.path.normpath(path)) if _repeated(path) else path


def _with_folders(path: Path, count: int) -> Path:
    again = path.parent.parts[len(path.parent.parts) - count :]
    return path.parent.joinpath(*[_UP] * count, *again, path.name) if count else path


def _repeated(path: Path) -> tuple[str, ...]:
    """Return the folders that the end of a path repeats."""
    parts = path.parent.parts
    count = parts.count(_UP)
    folders = parts[len(parts) - count :] if count else ()
    before = parts[: len(parts) - 2 * count]
    same = parts == (*before, *[_UP] * count, *folders) and before[len(before) - count :] == folders
    return folders if same else ()
