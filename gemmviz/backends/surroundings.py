"""The files around a kernel's file: headers that are compiled with it, and other files that launch it."""

import json
import re
from contextlib import suppress
from pathlib import Path

from gemmviz.catalogue.guessing.cxx import Surroundings, given_launches
from gemmviz.catalogue.includes import begins, search_folders
from gemmviz.sandbox import scratch

_HEAD = re.compile(r"__global__([^;{}]*)\{")
_SCRIPTS = (".py", ".ipynb")
_LONG_TEXT = re.compile(r'("""|\'\'\')(.*?)\1', re.DOTALL)
_MOST_NEIGHBOURS = 12
_MOST_ABOVE, _MOST_FOLDERS, _DEEPEST = 4, 60, 3
_PROJECT_FILES = (".git", "README.md", "LICENSE", "CMakeLists.txt", "Makefile", "setup.py", "pyproject.toml")
# Folders that hold no code of the project itself.
_OF_OTHERS = re.compile(r"\..*|build.*|third_?party|3rdparty|external|extern|deps|cutlass|node_modules|venv")


def surroundings(path: Path, text: str) -> Surroundings:
    """Return names and launches of a kernel from the files around its file.

    Parameters
    ----------
    path, text
        The kernel's file.
    """
    folders = tuple(search_folders(path))
    headers = [body.decode("utf-8", "replace") for _, body in scratch.reached(text, path.parent, folders)]
    for file, begin in begins(path, scratch.neighbours(folders), scratch.text_of):
        reached = scratch.reached(begin, file.parent, folders)
        headers = [*(body.decode("utf-8", "replace") for _, body in reached), begin, *headers]
    names = {name for head in _HEAD.findall(text) for name in re.findall(r"(\w+)\s*\(", head)} - {"__launch_bounds__"}
    others = _launching(names, path, folders) or _launching(names, path, project_folders(path)) if names else []
    if names and not others and not _launched(names).search(text):
        others = _in_scripts(names, (path.parent, *project_folders(path)))
    # A template that launches the kernel gets its arguments where it is used.
    if used := given_launches(text).union(*map(given_launches, others)):
        others += [body for body in _using(used, path, project_folders(path)) if body not in others]
    return Surroundings(tuple(headers), tuple(others))


def project_folders(path: Path) -> tuple[Path, ...]:
    """Return the folders of the project that a file belongs to; none where no project is seen.

    A project begins at the highest folder near the file that has a file that projects begin with.

    Parameters
    ----------
    path
        The file.
    """
    begin: Path | None = None
    for folder in list(path.absolute().parents)[:_MOST_ABOVE]:
        if len(folder.parts) <= 2 or folder == Path.home():  # these folders are not specific to one project
            break
        begin = folder if _begins_project(folder) else begin
        if (folder / ".git").exists():
            break
    found: list[Path] = []
    waiting = [(begin, 0)] if begin else []
    while waiting and len(found) < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        found.append(folder)
        if depth < _DEEPEST:
            with suppress(OSError):
                inside = sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
                waiting += [(one, depth + 1) for one in inside if not _OF_OTHERS.fullmatch(one.name)]
    return tuple(found)


def _begins_project(folder: Path) -> bool:
    return any((folder / name).exists() for name in _PROJECT_FILES)


def _launching(names: set[str], path: Path, folders: tuple[Path, ...]) -> list[str]:
    """Return the texts that launch a kernel, then those that hand one on: ``run(gemm, grid, block)``."""
    any_of = "|".join(map(re.escape, sorted(names)))
    launched = _launched(names)
    another = re.compile(rf"__global__[^;{{}}]*\b(?:{any_of})\s*\([^;{{}}]*\)\s*\{{")
    handed_on = re.compile(rf"[(,=&]\s*(?:{any_of})\s*(?:<[^;<]*>)?\s*[,;)]")
    found: list[str] = []
    pointers: list[str] = []
    for file in scratch.neighbours(folders):
        if file == path or len(found) == _MOST_NEIGHBOURS:
            continue
        with suppress(OSError):
            body = scratch.text_of(file)
            if another.search(body):  # it launches its own kernel of this name
                continue
            if "<<<" in body and launched.search(body):
                found.append(body)
            elif "dim3" in body and handed_on.search(body):
                pointers.append(body)
    return (found + pointers)[:_MOST_NEIGHBOURS]


def _launched(names: set[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\s*(?:<[^;<]*>)?\s*<<<")


def _in_scripts(names: set[str], folders: tuple[Path, ...]) -> list[str]:
    """Return the texts inside Python scripts and notebooks that launch a kernel: they are compiled when these run."""
    launched = _launched(names)
    found: list[str] = []
    for file in scratch.neighbours(folders, _SCRIPTS):
        if len(found) == _MOST_NEIGHBOURS:
            break
        with suppress(OSError, ValueError):
            body = scratch.text_of(file)
            if launched.search(body):
                found += [one for one in _code_in(file, body) if launched.search(one)]
    return found[:_MOST_NEIGHBOURS]


def _code_in(file: Path, body: str) -> list[str]:
    """Return the long texts of a script, or the cells of a notebook."""
    if file.suffix == ".ipynb":
        cells = json.loads(body)["cells"] if '"cells"' in body else []
        return ["".join(cell.get("source", ())) for cell in cells]
    return [text[2] for text in _LONG_TEXT.finditer(body)]


def _using(names: frozenset[str], path: Path, folders: tuple[Path, ...]) -> list[str]:
    """Return the texts that use templates or functions: ``Gemm<128, 64>::run(...)``, ``run(grid, block)``."""
    any_of = "|".join(map(re.escape, sorted(names)))
    used = re.compile(rf"\b(?:{any_of})\s*(?:<[^;<>]*\d|(?:<[^;<>]*>)?\s*\([^{{}}]*?;)")
    found: list[str] = []
    for file in scratch.neighbours(folders):
        if file == path or len(found) == _MOST_NEIGHBOURS:
            continue
        with suppress(OSError):
            body = scratch.text_of(file)
            if used.search(body):
                found.append(body)
    return found
