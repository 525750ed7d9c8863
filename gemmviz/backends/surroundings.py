"""The files around a kernel's file: headers that are compiled with it, and other files that launch it."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypedDict

from gemmviz.catalogue.guessing.cxx import Surroundings, given_launches
from gemmviz.catalogue.guessing.tokens import with_whole_launches
from gemmviz.catalogue.header_places import HeaderPlaces, nearest_first, project_begin, project_folders
from gemmviz.catalogue.host_words import header_kind
from gemmviz.catalogue.includes import INCLUDE_ALONE, begins, search_folders
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.catalogue.user_file import parse_json
from gemmviz.sandbox import scratch

_HEAD = re.compile(r"__global__([^;{}]*)\{")
_BUILD_FILES = (".txt", "", ".mk", ".cmake", ".py", ".sh", ".md", ".toml", ".ipynb")
_MOST_SCRIPTS = 30
_GIVES = re.compile(r"(?<![\w-])-D\s*[A-Za-z_]|_(?i:compile_definitions)\b")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)|\bconst(?:expr)?\b[^;=(){}]*?(\w+)\s*=", re.MULTILINE)
_BY_DEFAULT = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)\s*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]+\S", re.MULTILINE)
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_MAP_PARAMETER = re.compile(r"\b(?:CUtensorMap|tensor_map)\b")
_MAKES_MAPS = re.compile("CU_TENSOR_MAP_DATA_TYPE_")
_SCRIPTS = (".py", ".ipynb")
_LONG_TEXT = re.compile(r'("""|\'\'\')(.*?)\1', re.DOTALL)
_MOST_NEIGHBOURS = 12
_MOST_HEADERS = 4  # of a file that launches a kernel


class _Cell(TypedDict, total=False):
    """A cell of a notebook: its text, in one piece or in lines."""

    source: str | list[str]


class _Notebook(TypedDict, total=False):
    """A Jupyter notebook."""

    cells: list[_Cell]


def surroundings(path: Path, text: str) -> Surroundings:
    """Return names and launches of a kernel from the files around its file.

    Parameters
    ----------
    path, text
        The kernel's file.
    """
    folders = tuple(search_folders(path))
    project, files = project_folders(path), scratch.Files()
    places = scratch.header_places(path, folders)
    headers = [body.decode("utf-8", "replace") for _, body in scratch.reached(text, path.parent, places)]
    for file, begin in begins(path, text, files.neighbours(folders), files.text_of):
        reached = scratch.reached(begin, file.parent, places)
        headers = [*(body.decode("utf-8", "replace") for _, body in reached), begin, *headers]
    names = {name for head in _HEAD.findall(text) for name in re.findall(r"(\w+)\s*\(", head)} - {"__launch_bounds__"}
    near = _launching(names, path, folders, files) or _launching(names, path, project, files) if names else []
    others = [_with_its_constants(file, body, [text, *headers], places) for file, body in near]
    if names and not others and not _launched(names).search(with_whole_launches(text)):
        others = _in_scripts(names, (path.parent, *project), files)
    # A template that launches the kernel gets its arguments where it is used.
    if used := given_launches(text).union(*map(given_launches, others)):
        others += [body for body in _using(used, path, project, files) if body not in others]
    # A kernel that gets a tensor map may have it from a function of another file.
    if _MAP_PARAMETER.search(text) and not any(map(_MAKES_MAPS.search, (text, *headers, *others))):
        others += _with(_MAKES_MAPS, path, nearest_first((path.parent, *project), path), files)
    scripts = _defining(path, [text, *headers], project, files)
    return Surroundings(tuple(headers), tuple(others), tuple(scripts), tuple(_missing(text, path, places)))


def _defining(path: Path, texts: Sequence[str], project: tuple[Path, ...], files: scratch.Files) -> list[str]:
    """Return the texts that may give a compiler a value for a name in capitals that the sources do not define."""
    defined = {name for text in texts for pair in _DEFINED.findall(text) for name in pair}
    defined -= {name for text in texts for name in _BY_DEFAULT.findall(text)}
    if not any(name not in defined for text in texts for name in _CAPITALS.findall(without_comments(text))):
        return []
    found: list[str] = []
    for file in files.neighbours(nearest_first((path.parent, *project), path), _BUILD_FILES):
        if len(found) == _MOST_SCRIPTS:
            break
        if not file.suffix and file.name.lower() not in ("makefile", "gnumakefile", "justfile"):
            continue
        with suppress(OSError):
            body = files.text_of(file)
            found += [body] if _GIVES.search(body) else []
    return found


def _missing(text: str, path: Path, places: HeaderPlaces) -> Iterator[tuple[str, str]]:
    """Yield the headers of a source that are nowhere, and the empty submodule that each may be in."""
    begin = project_begin(path)
    for _, name in INCLUDE_ALONE.findall(without_comments(text)):
        name = name.strip()
        if header_kind(name) or any(one.is_file() for one in places(name, path.parent)):
            continue
        yield name, _submodule(begin, name) if begin else ""


def _submodule(begin: Path, header: str) -> str:
    """Return the path of a project's submodule that is not here and may have a header; empty for none."""
    empty: list[str] = []
    with suppress(OSError):
        for name in re.findall(r"^\s*path\s*=\s*(\S+)", scratch.text_of(begin / ".gitmodules"), re.MULTILINE):
            folder = begin / name
            empty += [] if folder.is_dir() and any(folder.iterdir()) else [name]
    first = re.split(r"[/._-]", header)[0].lower()
    likely = [name for name in empty if first in name.lower()]
    return next(iter(likely or empty), "")


def _with_its_constants(file: Path, body: str, known: Sequence[str], places: HeaderPlaces) -> str:
    """Return the text of a file that launches a kernel, behind its headers with constants that it uses."""
    words = {*re.findall(r"\w+", body)} - {name for text in known for pair in _DEFINED.findall(text) for name in pair}
    headers = (text.decode("utf-8", "replace") for _, text in scratch.reached(body, file.parent, places))
    used = (one for one in headers if words & {name for pair in _DEFINED.findall(one) for name in pair} - {""})
    return "\n".join([*(one for one in islice(used, _MOST_HEADERS) if one not in known), body])


def _launching(names: set[str], path: Path, folders: tuple[Path, ...], files: scratch.Files) -> list[tuple[Path, str]]:
    """Return the files and texts that launch a kernel, then those that hand one on.

    So do ``run(gemm, grid, block)`` and ``auto kernel = gemm<64>; kernel<<<...>>>(...)``.
    """
    any_of = "|".join(map(re.escape, sorted(names)))
    launched = _launched(names)
    another = re.compile(rf"__global__[^;{{}}]*\b(?:{any_of})\s*\([^;{{}}]*\)\s*\{{")
    handed_on = re.compile(rf"[(,=&]\s*(?:{any_of})\s*(?:<[^;<]*>)?\s*[,;)]")
    found: list[tuple[Path, str]] = []
    pointers: list[tuple[Path, str]] = []
    for file in files.neighbours(folders):
        if file == path or len(found) == _MOST_NEIGHBOURS:
            continue
        with suppress(OSError):
            body = with_whole_launches(files.text_of(file))
            if another.search(body):  # it launches its own kernel of this name
                continue
            if ("<<<" in body or "hipLaunch" in body) and launched.search(body):
                found.append((file, body))
            elif ("dim3" in body or "<<<" in body) and handed_on.search(body):
                pointers.append((file, body))
    return (found + pointers)[:_MOST_NEIGHBOURS]


def _launched(names: set[str]) -> re.Pattern[str]:
    any_of = "|".join(map(re.escape, sorted(names)))
    in_hip = rf"\bhipLaunchKernelGGL[\s(]*(?:HIP_KERNEL_NAME)?[\s(]*(?:{any_of})\b"
    return re.compile(rf"\b(?:{any_of})\s*(?:<[^;<]*>)?\s*<<<|{in_hip}")


def _in_scripts(names: set[str], folders: tuple[Path, ...], files: scratch.Files) -> list[str]:
    """Return the texts inside Python scripts and notebooks that launch a kernel: they are compiled when these run."""
    launched = _launched(names)
    found: list[str] = []
    for file in files.neighbours(folders, _SCRIPTS):
        if len(found) == _MOST_NEIGHBOURS:
            break
        with suppress(OSError):
            body = with_whole_launches(files.text_of(file))
            if launched.search(body):
                found += [one for one in _code_in(file, body) if launched.search(one)]
    return found[:_MOST_NEIGHBOURS]


def _code_in(file: Path, body: str) -> list[str]:
    """Return the long texts of a script, or the cells of a notebook."""
    if file.suffix == ".ipynb":
        with suppress(ValueError, Misfit):  # a damaged notebook says nothing
            notebook = read_as(parse_json(body), _Notebook)
            return ["".join(cell.get("source", "")) for cell in notebook.get("cells", [])]
        return []
    return [text[2] for text in _LONG_TEXT.finditer(body)]


def _using(names: frozenset[str], path: Path, folders: tuple[Path, ...], files: scratch.Files) -> list[str]:
    """Return the texts that use templates or functions: ``Gemm<8>::run(...)``, ``run(m, n)``, ``= run<half>;``."""
    any_of = "|".join(map(re.escape, sorted(names)))
    used = re.compile(rf"\b(?:{any_of})\s*(?:<[^;<>]*\d|<[^;<>]+>\s*[,)}};]|(?:<[^;<>]*>)?\s*\([^{{}}]*?;)")
    return _with(used, path, folders, files)


def _with(pattern: re.Pattern[str], path: Path, folders: Sequence[Path], files: scratch.Files) -> list[str]:
    """Return the texts of other files in which a pattern is found, up to a number."""
    found: list[str] = []
    for file in files.neighbours(folders):
        if file == path or len(found) == _MOST_NEIGHBOURS:
            continue
        with suppress(OSError):
            body = files.text_of(file)
            found += [body] if pattern.search(body) else []
    return found
