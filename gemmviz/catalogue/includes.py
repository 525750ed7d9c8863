"""Replaces the includes of a kernel's own headers by their text, so that a compiler needs only one text."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from gemmviz.catalogue.host_words import header_kind
from gemmviz.catalogue.plain_code import plain_code

VARIABLE = "GEMMVIZ_INCLUDE"
"""The environment variable with further header folders, separated by colons."""
_DIRECTIVE = r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]"
INCLUDE = re.compile(_DIRECTIVE + r"[^\n]*", re.MULTILINE)
"""An include with the rest of its line. Its groups are the sign before the name, and the name."""
INCLUDE_ALONE = re.compile(_DIRECTIVE, re.MULTILINE)
"""The same without the rest of its line, in which a comment may end."""
_HEADS = re.compile(r"__global__[^;{}()]*\(([^;{}]*?)\)\s*\{")
_ELEMENTS = re.compile(r"\b(\w+)\s*(?:const\s*)?\*")
_PLAIN_TYPE = re.compile(
    r"const|float[1-4]?|double[1-4]?|u?(?:int|char|short|long|longlong)[1-4]?|unsigned|signed|bool|void|size_t|u?int\d+_t|"
    r"(?:__|nv_)?half2?|(?:__nv_|nv_)\w+|__restrict__|restrict"
)
_SPLICE = re.compile(r"\\[ \t]*\n")
_BRANCH = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.MULTILINE)
# Files that are included several times on purpose.
_REPEATED = (".inc", ".def", ".inl")
_DEEPEST, _MOST_CHARACTERS = 24, 4_000_000
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc")
# A device function that is declared here, and whose body is in another file.
_DECLARED = re.compile(r"\b__device__\b[^;{}()=]*\b\w+\s*\([^;{}]*\)\s*;")
# Names of headers. A source that has one, and includes no header of a library, is itself included elsewhere.
_OF_LIBRARY = re.compile(r"\b(?:cuda|nvcuda|wmma|std)\s*::|\b(?:__)?half2?\b|\b__nv_\w+|\bCUtensorMap\b")
# A macro or constant by its name, and where a text may declare one: behind a type, or behind ``#define``.
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")
_DECLARES = re.compile(r"\b(?!return\b|else\b|case\b)[A-Za-z_]\w*[\s*&]+([A-Z][A-Z0-9_]{2,})\b")
_MOST_FILES, _DEEPEST_BEGIN = 200, 4
_CLIMB, _CLIMB_OUTSIDE = 8, 3
# Usual folders for headers in a repository.
_USUAL = ("", "include", "inc", "src", "common", "utils", "csrc")

FindHeader = Callable[[str, Path], Path | None]


def walk(
    starts: Iterable[tuple[str, Path]],
    places: Callable[[str, Path], Iterable[Path]],
    read: Callable[[Path], bytes | None],
    most: int | None = None,
) -> Iterator[tuple[Path, bytes]]:
    """Yield the files that texts may include, directly or not, each once.

    Includes in comments count, and all files of a name: so none is missed that `with_headers` or a compiler reads. So
    does the source of a header that only declares functions of the device.

    Parameters
    ----------
    starts
        The texts, and the folder of each.
    places
        Returns all files that a name may mean in a folder.
    read
        Returns the content of a file; None where there is none, or where it may not be read.
    most
        No further file is looked into after so many.

    Yields
    ------
    tuple
        A file, and its content.
    """
    tried: set[Path] = set()
    waiting, count = [(_names(text), folder) for text, folder in starts], 0
    while waiting and (most is None or count < most):
        names, beside = waiting.pop()
        for name in names:
            for path in places(name, beside):
                if path in tried:
                    continue
                tried.add(path)
                content = read(path)
                if content is None:
                    continue
                count += 1
                yield path, content
                inside = decoded(content)
                waiting.append((_names(inside) + _with_bodies(path, inside), path.parent))


def decoded(content: bytes) -> str:
    """Return the text of a file in which includes are looked for; bytes that are not UTF-8 are replaced."""
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def readings(text: str) -> tuple[str, ...]:
    """Return a text as it stands, and with lines joined that end in a backslash, with spaces after it or without."""
    return tuple(dict.fromkeys([text, text.replace("\\\n", ""), _SPLICE.sub("", text)]))


def _names(text: str) -> list[str]:
    """Return the names in all lines that are includes in any reading, each once."""
    lines = (found for body in readings(text) for found in INCLUDE.finditer(body))
    return list(dict.fromkeys(map(_name, lines)))


def _with_bodies(header: Path, text: str) -> list[str]:
    """Return the name of the source that may have the bodies of functions which a header only declares, if any."""
    declares = header.suffix in HEADERS and _DECLARED.search(text)
    return [header.with_suffix(".cu").name] if declares else []


def _name(found: re.Match[str]) -> str:
    return found[2].strip()


def _in_code(text: str, plain: str) -> Iterator[re.Match[str]]:
    """Yield the includes of a text that stand neither in a comment nor in a string."""
    for found in INCLUDE.finditer(text):
        at = found.start() + len(found[0]) - len(found[0].lstrip())
        if plain[at : at + 1] == "#":
            yield found


def with_headers(
    text: str, path: Path, find: FindHeader, read: Callable[[Path], str], before: Sequence[tuple[Path, str]] = ()
) -> str:
    """Return a source in which the text of each own header replaces its include.

    ``#line`` directives give every line the name and the line number of its own file. Where a header only declares
    functions of the device, the source of the same name follows it: these functions are compiled together.

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
    filler = _Filler(find, read, path)
    parts = [f"{_line(1, file.name)}\n{filler.filled(begin, file.parent, file.name, 1)}\n" for file, begin in before]
    if parts:
        parts = ["\n", *parts, _line(1, path.name), "\n"]
    return "".join([*parts, filler.filled(text, path.parent, path.name, 0)])


def begins(path: Path, source: str, files: Iterable[Path], read: Callable[[Path], str]) -> list[tuple[Path, str]]:
    """Return the texts before a header in the files that include it, outermost first, and their files.

    A header with a kernel often uses names from the file that includes it, and so does a source that another one
    includes. The list is empty for other sources.

    Parameters
    ----------
    path, source
        The header or source, and its text.
    files
        The files that may include it, the most likely first.
    read
        Returns the text of such a file.
    """
    if path.suffix not in HEADERS and not _is_part(path, source):
        return []
    texts: dict[Path, str] = {}
    for file in files:
        if len(texts) == _MOST_FILES:
            break
        with suppress(OSError):
            texts.setdefault(file, read(file))
    found: list[tuple[Path, str]] = []
    at = path
    while (at == path or at.suffix in HEADERS) and len(found) < _DEEPEST_BEGIN:
        start = next((s for file, text in texts.items() if (s := _before(at, file, text))), None)
        if start is None or start[0] in (path, *(file for file, _ in found)):
            break
        found.insert(0, start)
        at = start[0]
    return found


def _is_part(path: Path, source: str) -> bool:
    """Return whether a CUDA source cannot be compiled alone.

    It includes nothing and has kernels of unknown types, or uses a library whose header it does not include. Or it
    launches no kernel, includes no header of its own, and uses names in capitals that it does not declare.
    """
    if path.suffix != ".cu":
        return False
    plain = plain_code(source)
    signs = {found[1] for found in _in_code(source, plain)}
    if ("<" not in signs and _OF_LIBRARY.search(plain)) or (not signs and _has_unknown_type(plain)):
        return True
    return '"' not in signs and "<<<" not in plain and not {*_CAPITALS.findall(plain)} <= {*_DECLARES.findall(plain)}


def _has_unknown_type(plain: str) -> bool:
    """Return whether a kernel has a pointer to elements of a type that the text does not declare: ``f32 *a``."""
    types = {name for head in _HEADS.findall(plain) for name in _ELEMENTS.findall(head)}
    declares = r"\b(?:typename|class|struct|enum|union|using|typedef|define)\b[^;{}\n]*\b%s\b"
    return any(not _PLAIN_TYPE.fullmatch(name) and not re.search(declares % name, plain) for name in types)


def _before(header: Path, file: Path, text: str) -> tuple[Path, str] | None:
    """Return a file and its text before the include of a header; None without an include, or if it is in a bracket."""
    if file == header or header.name not in text:
        return None
    plain = plain_code(text)
    for found in _in_code(text, plain):
        if Path(_name(found)).name != header.name:
            continue
        begin = plain[: found.start()]
        ends = Path(os.path.normpath(_name(found))).parts
        named = [part for part in ends if part != ".."]
        if begin.count("{") == begin.count("}") and list(header.parts[-len(named) :]) == named:
            return file, text[: found.start()] + "\n#endif" * _open_branches(begin)
    return None


def _open_branches(begin: str) -> int:
    """Return how many ``#if`` and ``#ifndef`` a text leaves open, such as the guard of a header."""
    words = [found[1] for found in _BRANCH.finditer(begin)]
    return max(0, len(words) - 2 * words.count("endif"))


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
    def __init__(self, find: FindHeader, read: Callable[[Path], str], source: Path) -> None:
        self.find, self.read, self.source = find, read, source
        self.numbers: dict[Path, int] = {}
        self.bodies: set[Path | None] = {None, source}  # sources whose functions are in the text
        self.characters = 0

    def filled(self, text: str, folder: Path, name: str, depth: int) -> str:
        parts, end = [], 0
        for found in _in_code(text, plain_code(text)):
            own = depth < _DEEPEST and is_own(found[1], _name(found))
            header = self.find(_name(found), folder) if own else None
            if header is None:
                continue
            line = text.count("\n", 0, found.end()) + 2
            # Other headers of the file that includes the source may include it, too: its text stands at the end.
            inner = "" if header == self.source else self._guarded(header, depth)
            parts += [text[end : found.start()], inner, f"\n{_line(line, name)}"]
            end = found.end()
        return "".join([*parts, text[end:]])

    def _guarded(self, header: Path, depth: int) -> str:
        body = self.read(header)
        self.characters += len(body)
        if self.characters > _MOST_CHARACTERS:
            return ""
        body = _ONCE.sub(lambda found: " " * len(found[0]), body)
        bodies = {self.find(name, header.parent) for name in _with_bodies(header, plain_code(body))} - self.bodies
        self.bodies |= bodies
        body = self.filled(body, header.parent, header.name, depth + 1)
        body = f"{_line(1, header.name)}\n{body}"
        for source in filter(None, bodies):
            body += f"\n{self._guarded(source, depth + 1)}"
        if header.suffix in _REPEATED:
            return body
        once = f"GEMMVIZ_HEADER_{self.numbers.setdefault(header, len(self.numbers))}"
        return f"#ifndef {once}\n#define {once}\n{body}\n#endif"


def _line(number: int, name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#line {number} "{escaped}"'
