"""Replaces the includes of a kernel's own headers by their text, so that a compiler needs only one text."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from gemmviz.catalogue.host_words import header_kind
from gemmviz.catalogue.plain_code import plain_code

VARIABLE = "GEMMVIZ_INCLUDE"
"""Names further folders with headers, with colons between them."""
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"][^\n]*", re.MULTILINE)
"""An include with the rest of its line: the sign in front of the name, and the name."""
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.MULTILINE)
# Files that are included several times on purpose.
_REPEATED = (".inc", ".def", ".inl")
_DEEPEST, _MOST_CHARACTERS = 24, 4_000_000
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc")
_MOST_FILES, _DEEPEST_BEGIN = 200, 4
_CLIMB, _CLIMB_OUTSIDE = 8, 3
# Usual folders for headers in a repository.
_USUAL = ("", "include", "inc", "src", "common", "utils", "csrc")

FindHeader = Callable[[str, Path], Path | None]


def with_headers(
    text: str, path: Path, find: FindHeader, read: Callable[[Path], str], before: Sequence[tuple[Path, str]] = ()
) -> str:
    """Return a source in which the text of each own header replaces its include.

    ``#line`` directives give every line the name and the line number of its own file.

    Parameters
    ----------
    text, path
        The source and its path.
    find
        Returns the file for a name in an include and the folder of the including file; None where there is none.
    read
        Returns the text of such a file.
    before
        Texts to put before the source, for example the start of the file that includes it, and their paths.
    """
    filler = _Filler(find, read)
    parts = [f"{_line(1, file.name)}\n{filler.filled(begin, file.parent, file.name, 1)}\n" for file, begin in before]
    if parts:
        parts = ["\n", *parts, _line(1, path.name), "\n"]
    return "".join([*parts, filler.filled(text, path.parent, path.name, 0)])


def begins(path: Path, files: Iterable[Path], read: Callable[[Path], str]) -> list[tuple[Path, str]]:
    """Return the texts before a header in the files that include it, outermost first, and their files.

    A header with a kernel often uses names from the file that includes it. The list is empty for a source file.

    Parameters
    ----------
    path
        The header.
    files
        The files that may include it, the most likely first.
    read
        Returns the text of such a file.
    """
    texts: dict[Path, str] = {}
    for file in files:
        if len(texts) == _MOST_FILES:
            break
        with suppress(OSError):
            texts.setdefault(file, read(file))
    found: list[tuple[Path, str]] = []
    at = path
    while at.suffix in HEADERS and len(found) < _DEEPEST_BEGIN:
        start = next((s for file, text in texts.items() if (s := _before(at, file, text))), None)
        if start is None or start[0] in (path, *(file for file, _ in found)):
            break
        found.insert(0, start)
        at = start[0]
    return found


def _before(header: Path, file: Path, text: str) -> tuple[Path, str] | None:
    """Return a file and its text before the include of a header; None without an include, or if it is in a bracket."""
    if file == header or header.name not in text:
        return None
    plain = plain_code(text)
    for found in INCLUDE.finditer(text):
        at = found.start() + len(found[0]) - len(found[0].lstrip())
        if Path(found[2]).name != header.name or plain[at : at + 1] != "#":
            continue
        begin = plain[: found.start()]
        ends = Path(os.path.normpath(found[2])).parts
        named = [part for part in ends if part != ".."]
        if begin.count("{") == begin.count("}") and list(header.parts[-len(named) :]) == named:
            return file, text[: found.start()]
    return None


def search_folders(path: Path) -> Iterator[Path]:
    """Yield the folders that may have the headers of a file, the nearest first.

    They are the file's own folder, the folders in `VARIABLE`, and the usual header folders of the folders above: up to
    the top of its repository if it is in one, else three levels.

    Parameters
    ----------
    path
        The file.
    """
    yield path.parent
    yield from (Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder)
    above = [path.parent.absolute(), *path.parent.absolute().parents][:_CLIMB]
    root = next((at for at, folder in enumerate(above) if _is_repository(folder)), _CLIMB_OUTSIDE)
    for folder in above[: root + 1]:
        if len(folder.parts) <= 2 or folder == Path.home():  # these folders are not specific to one project
            return
        yield from (folder / name for name in _USUAL)


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:  # in the sandbox, which has only copies of the files
        return False


def is_own(mark: str, name: str) -> bool:
    """Return whether an include may mean a file of the user.

    Parameters
    ----------
    mark
        The sign before the name: ``"`` or ``<``.
    name
        The name of the file.
    """
    return not header_kind(name) if mark == "<" else header_kind(name) != "device"


class _Filler:
    def __init__(self, find: FindHeader, read: Callable[[Path], str]) -> None:
        self.find, self.read = find, read
        self.numbers: dict[Path, int] = {}
        self.characters = 0

    def filled(self, text: str, folder: Path, name: str, depth: int) -> str:
        plain = plain_code(text)
        parts, end = [], 0
        for found in INCLUDE.finditer(text):
            mark, wanted = found[1], found[2].strip()
            at = found.start() + len(found[0]) - len(found[0].lstrip())
            if plain[at : at + 1] != "#" or not is_own(mark, wanted):
                continue
            header = self.find(wanted, folder) if depth < _DEEPEST else None
            if header is None:
                continue
            line = text.count("\n", 0, found.end()) + 2
            inner = self._guarded(header, depth)
            parts += [text[end : found.start()], inner, f"\n{_line(line, name)}"]
            end = found.end()
        return "".join([*parts, text[end:]])

    def _guarded(self, header: Path, depth: int) -> str:
        body = self.read(header)
        self.characters += len(body)
        if self.characters > _MOST_CHARACTERS:
            return ""
        body = _ONCE.sub(lambda found: " " * len(found[0]), body)
        body = self.filled(body, header.parent, header.name, depth + 1)
        body = f"{_line(1, header.name)}\n{body}"
        if header.suffix in _REPEATED:
            return body
        once = f"GEMMVIZ_HEADER_{self.numbers.setdefault(header, len(self.numbers))}"
        return f"#ifndef {once}\n#define {once}\n{body}\n#endif"


def _line(number: int, name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#line {number} "{escaped}"'
