"""Finds the line of a file that an error about its front matter is about."""

import re
from pathlib import Path

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.front_matter import FENCE, Matter


def located(error: FrontMatterError, text: str, path: Path) -> FrontMatterError:
    """Return an error about a file's front matter with the file's name and the line in its message.

    Parameters
    ----------
    error
        The error, with its line, or with what it is about.
    text, path
        The file.
    """
    key = error.about in Matter.__annotations__  # one that is lacking stands nowhere
    line = error.line or line_of_key(error.about, text) or (None if key else _line_with(error.about, text))
    where = path.name if line is None else f"{path.name}:{line}"
    return type(error)(f"{where}: {error}", line)


def line_of_key(key: str, text: str) -> int | None:
    """Return the line of a file, from 1, on which the front matter gives a key; None if it does not."""
    found = re.search(rf"^(//)?\s*{re.escape(key)}\s*=", text, re.MULTILINE) if key else None
    return text[: found.start()].count("\n") + 1 if found else None


def _line_with(part: str, text: str) -> int | None:
    """Return the line of the front matter that contains a text, or None."""
    matter = FENCE.search(text)
    end = matter.end() if matter else len(text)
    at = text.find(part, 0, end) if part else -1
    return text[:at].count("\n") + 1 if at >= 0 else None
