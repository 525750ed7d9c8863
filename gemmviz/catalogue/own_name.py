"""The name of a kernel: that of its file. Where another kernel has it, folders of the file are a part of the name.

``/home/me/new/matmul.cu`` is ``matmul``, or ``matmul (new)``, or ``matmul (me-new)``.
"""

import re
from collections.abc import Callable
from pathlib import Path

# Two digits may have a letter behind them, which puts a rung between two others.
_NUMBER = re.compile(r"^(\d+|\d\d[a-z])_")
_CHANGED = "~"


def own_name(path: Path, folders: str = "") -> str:
    """Return the name of the kernel of a file, without the number in front of a shipped file's name.

    Parameters
    ----------
    path
        The file's path.
    folders
        The folders in the name, as in `gemmviz.catalogue.kernel.Kernel`.
    """
    name = _NUMBER.sub("", path.stem)
    if not folders:
        return name
    # The mark stands between a kernel's name and its changes.
    name, mark, change = name.partition(_CHANGED)
    return f"{name} ({folders.replace('/', '-').replace(_CHANGED, '-')}){mark}{change}"


def told_apart(path: Path, taken: Callable[[str], bool]) -> str:
    """Return as many of a file's folders as its kernel's name needs; none if no name is free.

    Parameters
    ----------
    path
        The file's path.
    taken
        Returns whether a name is another kernel's.
    """
    parts = path.parent.relative_to(path.anchor).parts
    ways = ("/".join(parts[len(parts) - count :]) for count in range(len(parts) + 1))
    return next((way for way in ways if not taken(own_name(path, way))), "")
