"""The files around a kernel's file: headers that are compiled with it, and other files that launch it."""

import re
from contextlib import suppress
from pathlib import Path

from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.includes import begins, search_folders
from gemmviz.sandbox import scratch

_HEAD = re.compile(r"__global__([^;{}]*)\{")
_MOST_NEIGHBOURS = 12


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
    launched = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\s*(?:<[^;<]*>)?\s*<<<") if names else None
    others: list[str] = []
    for file in scratch.neighbours(folders) if launched else ():
        if file == path or len(others) == _MOST_NEIGHBOURS:
            continue
        with suppress(OSError):
            body = scratch.text_of(file)
            if launched and "<<<" in body and launched.search(body):
                others.append(body)
    return Surroundings(tuple(headers), tuple(others))
