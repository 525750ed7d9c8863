"""The output of a process that ran a kernel, as it is handed on to the terminal."""

import os
import re
from contextlib import suppress
from typing import Any

_MOST_PRINTED = 64 << 10
# The last words of the C library and the C++ library in a process that ends: the run's own message names the fault.
_OF_THE_LIBRARY = re.compile(
    r"^(?:free\(\)|malloc(?:_\w+)?\(\)|realloc\(\)|calloc\(\)|munmap_chunk\(\)|double free or corruption|corrupted |"
    r"Fatal glibc error|\*\*\* .*\*\*\*:? |terminate called |pure virtual method called)[^\n]*\n?",
    re.MULTILINE,
)


def pass_on(printed: Any) -> None:
    """Hand on a kernel's output, see `plain`.

    Parameters
    ----------
    printed
        A file opened for reading bytes.
    """
    printed.seek(0)
    text = plain(printed.read(_MOST_PRINTED).decode(errors="replace"))
    with suppress(OSError):
        os.write(2, text.encode())


def plain(text: str) -> str:
    """Return a kernel's output without control characters of terminals, and without the libraries' last words.

    Parameters
    ----------
    text
        All that the process printed.
    """
    visible = "".join(c for c in text if c.isprintable() or c in "\n\t")
    return _OF_THE_LIBRARY.sub("", visible)
