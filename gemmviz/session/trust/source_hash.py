"""The hash of a compilation's input: a source text, its language, and the local headers that it includes."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from gemmviz.catalogue.includes import INCLUDE_ALONE, begins, decoded, readings, search_folders, walk
from gemmviz.sandbox import scratch

# All other directives that read a file: `#include NAME`, `%:include`, `#embed` and `.incbin`.
_READS = re.compile(r"\b(?:include|include_next|import|embed|__has_include|__has_embed)\b|\.incbin")
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_LARGEST = 10_000_000


def source_hash(path: Path, text: str) -> tuple[str, bool]:
    """Return the hexadecimal SHA-256 of a source with its headers, and whether these are all files that it reads.

    The front matter, which determines entry, arguments and macros, is a part of the text. Headers in the folders that
    are searched for the file are included; headers of the compiler or of gemmviz are not.

    Parameters
    ----------
    path
        The file of the text, existing or not.
    text
        Its text.

    Returns
    -------
    tuple
        The hash, and False if the text includes a file that cannot be determined: ``#include NAME``.
    """
    headers, plain = _headers(path, text)
    content = [path.suffix, text, sorted((_name(header, path.parent), held) for header, held in headers)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest(), plain


def own_headers(path: Path, text: str) -> list[str]:
    """Return the names of the files that a text includes from its own folder, directly or not, in their order."""
    return sorted({_name(header, path.parent) for header, _ in _headers(path, text)[0]})


def _headers(path: Path, text: str) -> tuple[list[tuple[Path, str]], bool]:
    """Return a source's own headers, each with the text that is used, and whether these are all files that it reads."""
    folders, closed = tuple(search_folders(path)), []

    usual = scratch.header_places(path, folders)

    def places(name: str, beside: Path) -> Iterator[Path]:
        yield from usual(name, beside)
        # A compiler that is in the folder itself resolves ".." after following a link.
        for place in (beside, *folders) if ".." in name and "\0" not in name else ():
            if (real := (place / name).resolve()) != Path(os.path.normpath(place / name)).resolve():
                yield real

    def read(header: Path) -> bytes | None:
        try:
            if not header.is_file():
                return None
            if header.stat().st_size <= _LARGEST:
                return header.read_bytes()
        except OSError:
            pass
        closed.append(header)
        return None

    # A file comes before the headers that it includes.
    before = begins(path, text, scratch.neighbours(folders), scratch.text_of)
    starts = [(text, path.parent), *((begin, file.parent) for file, begin in before)]
    headers = [*before, *((header, decoded(content)) for header, content in walk(starts, places, read))]
    return headers, not closed and not any(map(_reads_more, (text, *(held for _, held in headers))))


def _name(header: Path, folder: Path) -> str:
    return Path(os.path.relpath(header, folder)).as_posix()


def _reads_more(text: str) -> bool:
    rests = (_COMMENT_OR_STRING.sub(_kept_if_assembly, INCLUDE_ALONE.sub("", body)) for body in readings(text))
    return any(map(_READS.search, rests))


def _kept_if_assembly(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') and ".incbin" in found[0] else " "
