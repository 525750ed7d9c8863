"""The headers that a compiler may read for a text, with their contents: a change of one makes other code."""

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

_MOST_FILES, _MOST_BYTES = 8000, 16 << 20
# Their files have no size, and some of them never end.
_NO_FILES = ("/dev/", "/proc/", "/sys/")
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_SPACE = rb"[ \t\f\v]*"
_READS = rb"#" + _SPACE + rb"(?:include|include_next|import|embed)\b" + _SPACE
# Also in comments, in branches that are left out, and where it is only asked whether there is such a file.
_ASKS = rb"(?i:has_(?:include|embed))\w*" + _SPACE + rb"\(" + _SPACE
_NAME = re.compile(rb"(?:" + _READS + rb"|" + _ASKS + rb')[<"]([^>"\n]+)')
# The name comes from a macro, or the sign # is written in another way.
_UNKNOWN = re.compile(_READS + rb'(?![ \t\f\v<"])|#' + _SPACE + rb"/[*/]|%:|\?\?=")


def header_files(text: str, folders: Sequence[Path]) -> dict[str, str] | None:
    """Return the SHA-256 of each header that a compiler may read, by its path without links.

    No preprocessor runs, so these are more files than it reads: each file of a name counts, in every folder.

    Parameters
    ----------
    text
        The text that is compiled.
    folders
        The folders in which headers are searched.

    Returns
    -------
    dict or None
        None if the text, or a header, names a file in a way that only a preprocessor understands, or names something
        else than a file.
    """
    places = [str(folder) for folder in folders]
    names = _names(text.encode())
    if names is None:
        return None
    found: dict[str, str] = {}
    tried: set[str] = set()
    looked_into: set[tuple[str, str]] = set()
    waiting = [(name, "") for name in names]  # without a folder: the current one
    while waiting:
        name, beside = waiting.pop()
        for path in (os.path.join(folder, name) for folder in (beside, *places)):  # noqa: PTH118  # thousands of them
            if path in tried:
                continue
            tried.add(path)
            try:
                state = os.stat(path)  # noqa: PTH116
            except (OSError, ValueError):
                continue
            if stat.S_ISDIR(state.st_mode):
                continue
            real, own = os.path.realpath(path), os.path.realpath(os.path.dirname(path))  # noqa: PTH120
            if (real, own) in looked_into:  # a name may lead around a circle of folders
                continue
            looked_into.add((real, own))
            if not _is_header(real, state) or len(found) == _MOST_FILES:
                return None
            found[real], inside = _scanned(real, state.st_mtime_ns, state.st_size)
            if inside is None:
                return None
            waiting += [(one, own) for one in inside]
    return found


def _is_header(path: str, state: os.stat_result) -> bool:
    return stat.S_ISREG(state.st_mode) and state.st_size <= _MOST_BYTES and not path.startswith(_NO_FILES)


@lru_cache(maxsize=8192)
def _scanned(path: str, _changed: int, _size: int) -> tuple[str, tuple[str, ...] | None]:
    """Return the digest of a file and the names in it. The time of its last change is part of the cache's key."""
    content = Path(path).read_bytes()
    return hashlib.sha256(content).hexdigest(), _names(content)


def _names(content: bytes) -> tuple[str, ...] | None:
    joined = _SPLICE.sub(b"", content)
    if _UNKNOWN.search(joined):
        return None
    return tuple(dict.fromkeys(os.fsdecode(name.strip()) for name in _NAME.findall(joined)))
