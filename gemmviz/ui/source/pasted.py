"""Keeps a kernel's text from the clipboard as a file, so that it can be opened, edited and saved like any other."""

import re
from pathlib import Path

import platformdirs

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.user_file import KERNEL_BYTES, write_source
from gemmviz.language import tr

_KERNEL = re.compile(
    r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\))?[^;{}()]*?\b(?!__launch_bounds__\b)(\w+)\s*\("
)
_ON_GPU = re.compile(r"\b__global__\b")
_LONGEST_NAME = 60
_UNNAMED = "pasted"


def folder() -> Path:
    """Return the folder of pasted texts; it need not exist."""
    return Path(platformdirs.user_data_dir("gemmviz", appauthor=False)) / "pasted"


def keep(text: str) -> Path:
    """Write a pasted text to a file that has the name of its first kernel, and return the file.

    The same text gets the same file, and no file with another text is replaced.

    Raises
    ------
    GemmvizError
        When there is no text, when it is too long for a kernel, or when it cannot be written.
    """
    if not text.strip():
        raise GemmvizError(tr("There is no text to paste: copy the source of a kernel first."))
    if len(text.encode(errors="replace")) > KERNEL_BYTES:
        raise GemmvizError(tr("The copied text is too long for a kernel."))
    text = text.replace("\r\n", "\n").rstrip("\n") + "\n"
    found = _KERNEL.search(text)
    name = found[1][:_LONGEST_NAME] if found else _UNNAMED
    suffix = ".cu" if _ON_GPU.search(text) else ".c"
    number = 1
    while True:
        path = folder() / f"{name}{'' if number == 1 else f'_{number}'}{suffix}"
        if not path.exists():
            break
        if path.is_file() and path.read_bytes() == text.encode(errors="replace"):
            return path
        number += 1
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GemmvizError(tr("Cannot save {file}: {reason}", file=path, reason=error.strerror or error)) from None
    write_source(path, text)
    return path
