"""The message about a file without front matter. Front matter can be guessed only if the file has a kernel."""

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.guess import has_kernel
from gemmviz.catalogue.source_files import CUDA
from gemmviz.catalogue.unclosed_body import unclosed_body
from gemmviz.catalogue.user_file import read_source
from gemmviz.language import tr, trn

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MARK = "__global__"
_MOST_READ, _MOST_NAMED = 40, 6  # files


def what_to_do(text: str, path: Path) -> str:
    """Return a message for the user: a file has no front matter, and the remedy.

    Parameters
    ----------
    text, path
        The file.
    """
    if not text.strip():
        return tr("the file is empty: open the file that holds the kernel, or write the kernel here")
    if has_kernel(text, path):
        return tr(
            "no front matter: it starts with a line `// ---gemmviz` and ends with `// ---`; "
            "`gemmviz describe {file}` guesses it",
            file=path,
        )
    if path.suffix == ".c":
        return tr(
            "no front matter, and no kernel in this file: no function in it has three pointers, for A, B and C. "
            "Open the file that holds the kernel, or write it here."
        )
    if _MARK in text:
        unclosed = unclosed_body(text)
        if unclosed is not None:
            return str(unclosed)
        return tr(
            "no front matter, and none can be guessed: it starts with a line `// ---gemmviz` and ends with `// ---`"
        )
    if files := files_instead(text, path):
        files = [*files[:_MOST_NAMED], "…"] if len(files) > _MOST_NAMED else files
        return trn(
            "no front matter, and no kernel in this file. A file beside it has one: open {files}",
            "no front matter, and no kernel in this file. Open one of the files beside it that have kernels: {files}",
            len(files),
            files=", ".join(files),
        )
    return tr(
        "no front matter, and no kernel in this file: nothing in it is marked `__global__`. "
        "Open the file that holds the kernel, or mark the function that is to run on the GPU."
    )


def files_instead(text: str, path: Path) -> list[str]:
    """Return the first files with kernels, by their paths from a file's folder; none for a file with its own kernel.

    Parameters
    ----------
    text, path
        The file.
    """
    has_none = bool(text.strip()) and path.suffix != ".c" and _MARK not in text and not has_kernel(text, path)
    return _with_kernels(text, path) if has_none else []


def _with_kernels(text: str, path: Path) -> list[str]:
    """Return files with kernels, by their names for people: those that a file includes, else those in its folder."""
    named = dict.fromkeys(_INCLUDED.findall(text))
    try:
        beside = sorted(one.name for one in path.parent.iterdir() if one.suffix in CUDA and one != path)
    except OSError:
        beside = []
    return _having(path.parent, named) or _having(path.parent, beside)


def _having(folder: Path, names: Iterable[str]) -> list[str]:
    read = (name for name in islice(names, _MOST_READ) if _MARK in _text(folder / name))
    return list(islice(read, _MOST_NAMED + 1))


def _text(path: Path) -> str:
    try:
        return read_source(path)
    except (OSError, GemmvizError):
        return ""
