"""Reads files from users, with limits, and writes files for them, whole or not at all.

A path from a user may be a pipe, a device or far too large. All code that opens a kernel, a lesson, a state, a result
file or the preferences reads it here.
"""

import errno
import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gemmviz.catalogue.encodings import decoded, encoded
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Unread
from gemmviz.language import tr

KERNEL_BYTES = LESSON_BYTES = PREFERENCES_BYTES = 1_000_000
STATE_BYTES = 10_000_000
RESULT_BYTES = 200_000_000
"""The largest file of each kind that is read, in bytes."""
_DEEPEST = 64
"""Most tables or lists within each other: no file of ours comes near, and Python's own limit is never met."""
_QUOTED = 80  # characters of a value that a message quotes
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_LARGEST_INTEGER = 2**63 - 1
_SHORT = 18  # characters that are an integer of 64 bits, whichever they are


class UnreadableFile(GemmvizError):
    """A file that is there and is not read: no regular file, too large, or no text."""


def read_text(path: Path, most_bytes: int) -> str:
    """Return the text of a file in UTF-8, without a byte order mark and with ends of lines as on Linux.

    Parameters
    ----------
    path
        The file. A pipe, a device or a folder is refused without waiting for it.
    most_bytes
        The largest file to read, in bytes.

    Raises
    ------
    OSError
        When it cannot be opened or read.
    UnreadableFile
        When it is no regular file, is larger than `most_bytes`, or is no text in UTF-8.
    """
    raw = _bytes(path, most_bytes)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise UnreadableFile(tr("{file}: not a text file in UTF-8 (line {line})", file=path.name, line=line)) from None
    return _with_plain_ends(text)


def read_source(path: Path) -> str:
    """Return the text of a kernel's file in any of the encodings of `gemmviz.catalogue.encodings`, see `read_text`.

    Raises
    ------
    OSError
        When it cannot be opened or read.
    UnreadableFile
        When it is no regular file, is larger than `KERNEL_BYTES`, or is no text.
    """
    found = decoded(_bytes(path, KERNEL_BYTES))
    if found is None:
        raise UnreadableFile(tr("{file}: not a text file in UTF-8, UTF-16, GBK or Latin-1", file=path.name))
    return _with_plain_ends(found[0])


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bytes(path: Path, most_bytes: int) -> bytes:
    if "\0" in str(path):  # which no file's name has; `os.open` would raise a ValueError
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    # Without O_NONBLOCK, opening a pipe waits until another process writes to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise UnreadableFile(tr("{file} is a folder: open a file in it", file=path.name))
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableFile(tr("{file} is a pipe or a device, not a regular file", file=path.name))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # No more than the file has: memory is taken for the requested length.
            raw = file.read(min(found.st_size, most_bytes) + 1)
    finally:
        os.close(descriptor)
    if len(raw) > most_bytes:
        limit = f"{most_bytes / 1e6:g} MB"
        raise UnreadableFile(tr("{file} is larger than {limit}, the most that is read", file=path.name, limit=limit))
    return raw


def parse_toml(text: str) -> Unread:
    """Return the table in a TOML text.

    Raises
    ------
    ValueError
        When it is no TOML (a `tomllib.TOMLDecodeError`, with the place), is nested too deeply, or holds an integer
        of more than 64 bits.
    """
    table: Unread = _parsed(lambda: tomllib.loads(text))
    for value in _leaves(table):
        if isinstance(value, int) and not -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER:
            raise ValueError(_too_many_digits())
    return table


def parse_json(text: str) -> Any:
    """Return the value in a JSON text; an integer of more than 64 bits becomes the nearest float, or infinity.

    Raises
    ------
    ValueError
        When it is no JSON (a `json.JSONDecodeError`, with the place), is nested too deeply, or spells half a
        character, which no text can hold.
    """
    value = _parsed(lambda: json.loads(text, parse_int=_integer))
    _check_depth(value)
    if _HALF_CHARACTER.search(text):  # or one of a pair
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])[1:-1]
            raise ValueError(tr("{half}, which is half a character", half=half)) from None
    return value


def quoted(value: Any) -> str:
    """Return a value as a file has it (JSON or TOML), for a message: a long one is cut short."""
    text = json.dumps(value, ensure_ascii=False, default=str)  # TOML has dates, too
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, see `write_source` for the rest."""
    _write(path, lambda old: text.encode())


def write_source(path: Path, text: str) -> None:
    """Write a kernel's text as the old file was written; that is replaced only when the new one is whole.

    A file keeps its encoding, its line ends and its permissions, and a link still leads to its file. A target that is
    no regular file (``/dev/stdout``, a pipe) is written directly.

    Raises
    ------
    GemmvizError
        When it cannot be written, as on a full disk; an old file is then unchanged.
    """
    _write(path, lambda old: encoded(text, old))


def _write(path: Path, content: Callable[[bytes], bytes]) -> None:
    """Write the content that a function makes of the old file's."""
    part: Path | None = None
    try:
        place = real(path)
        if place.is_symlink():  # in a circle of links
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if place.exists() and not place.is_file():
            place.write_bytes(content(b""))
            return
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}-")
        part = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content(place.read_bytes() if place.exists() else b""))
            file.flush()
            os.fsync(file.fileno())  # otherwise a power failure may leave the name without the text
        part.chmod(place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask())
        part.replace(place)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def real(path: Path) -> Path:
    """Return the absolute place of a file behind all links; unlike `Path.resolve`, also of links in a circle."""
    return Path(os.path.realpath(path))


def why_no_file(path: Path) -> str:
    """Return for people that there is no file, or that it is a link to a file that there is not."""
    if path.is_symlink():
        target = real(path)
        if target.is_symlink():
            return tr("{file} is a link that leads back to itself", file=path)
        return tr("{file} is a link to {target}, which does not exist", file=path, target=target)
    return tr("no file {name}", name=path)


def cannot_write(path: Path, error: OSError) -> GemmvizError:
    """Return the error of a file that cannot be written, with the system's reason."""
    return GemmvizError(tr("cannot write {path}: {reason}", path=path, reason=error.strerror or error))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _integer(digits: str) -> int | float:
    if len(digits) <= _SHORT:
        return int(digits)
    short = len(digits) <= len(str(-_LARGEST_INTEGER)) and -_LARGEST_INTEGER <= int(digits) <= _LARGEST_INTEGER
    return int(digits) if short else float(digits)


def _parsed(parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except RecursionError:
        raise ValueError(_too_deep()) from None
    except ValueError as error:
        # Python itself refuses to read an integer of thousands of digits, with a message without a place.
        if isinstance(error, tomllib.TOMLDecodeError | json.JSONDecodeError):
            raise
        raise ValueError(_too_many_digits()) from None


def _leaves(tree: Any) -> Iterable[Any]:
    """Yield the values in a tree that are neither table nor list, without recursion; refuse one that is too deep."""
    level = [tree]
    for _ in range(_DEEPEST):
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                deeper.extend(value.values())
            elif isinstance(value, list):
                deeper.extend(value)
            else:
                yield value
        if not deeper:
            return
        level = deeper
    raise ValueError(_too_deep())


def _check_depth(tree: Any) -> None:
    """Refuse a tree with more than `_DEEPEST` tables and lists within each other."""
    level = [tree] if isinstance(tree, dict | list) else []
    for _ in range(_DEEPEST):
        containers = [value.values() if isinstance(value, dict) else value for value in level]
        level = [part for parts in containers for part in parts if isinstance(part, dict | list)]
        if not level:
            return
    raise ValueError(_too_deep())


def _too_deep() -> str:
    return tr("more than {count} lists or tables within each other", count=_DEEPEST)


def _too_many_digits() -> str:
    return tr("an integer of more than 64 bits")
