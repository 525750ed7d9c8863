"""The hash of a compilation's input: a source text, its language, and the local headers that it includes."""

import hashlib
import json
import re
from pathlib import Path

from gemmviz.catalogue.includes import HEADERS, begins, search_folders
from gemmviz.sandbox import scratch

# All other ways to make a compiler read a file: `#include NAME`, `%:include`, `#embed` and `.incbin`.
_READS = re.compile(r"\b(?:include|include_next|import|embed|__has_include|__has_embed)\b|\.incbin")
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_LARGEST = 10_000_000


def source_hash(path: Path, text: str) -> tuple[str, bool]:
    """Return the hexadecimal SHA-256 of a source with its headers, and whether these are all files that it reads.

    The front matter, which decides entry, arguments and macros, is a part of the text. A header counts when it is
    in a folder where headers of the file are looked for; headers of the compiler or of gemmviz do not.

    Parameters
    ----------
    path
        The file of the text, existing or not.
    text
        Its text.

    Returns
    -------
    tuple
        The hash, and False if the text names a file that a reader cannot determine: ``#include NAME``.
    """
    headers, plain = _headers(path, text)
    said = [path.suffix, text, sorted((_name(header, path.parent), held) for header, held in headers.items())]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest(), plain


def own_headers(path: Path, text: str) -> list[str]:
    """Return the names of the files that a text includes from its own folder, directly or not, in their order."""
    return sorted(_name(header, path.parent) for header in _headers(path, text)[0])


def _headers(path: Path, text: str) -> tuple[dict[Path, str], bool]:
    """Return the texts of a source's own headers, and whether those are all that it reads."""
    folder, folders = path.parent, tuple(search_folders(path))
    headers: dict[Path, str] = {}
    waiting, plain = [(text, folder)], True
    if path.suffix in HEADERS:  # what includes it stands in front of it
        for file, begin in begins(path, scratch.neighbours(folders), scratch.text_of):
            headers[file] = begin
            waiting.append((begin, file.parent))
    while waiting:
        body, beside = waiting.pop()
        spliced = body.replace("\\\n", "")
        plain = plain and not _reads_more(spliced)
        for header in {place / name for name in scratch.INCLUDE.findall(spliced) for place in (beside, *folders)}:
            if header in headers:
                continue
            try:
                if not header.is_file():
                    continue
                if header.stat().st_size > _LARGEST:
                    plain = False
                    continue
                headers[header] = header.read_text(encoding="utf-8", errors="replace")
            except OSError:
                plain = False
                continue
            waiting.append((headers[header], header.parent))
    return headers, plain


def _name(header: Path, folder: Path) -> str:
    return header.relative_to(folder).as_posix() if header.is_relative_to(folder) else str(header)


def _reads_more(spliced: str) -> bool:
    rest = _COMMENT_OR_STRING.sub(_kept_if_assembly, scratch.INCLUDE.sub("", spliced))
    return _READS.search(rest) is not None


def _kept_if_assembly(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') and ".incbin" in found[0] else " "
