"""Finds the line of a file that an error about its front matter is about."""

import re
from pathlib import Path

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.front_matter import FENCE


def located(error: FrontMatterError, text: str, path: Path) -> FrontMatterError:
    """Return an error about a file's front matter with the file's name and the line in its message.

    Parameters
    ----------
    error
        The error; its message begins with the key at fault, or quotes a part of the file.
    text, path
        The file.
    """
    line = error.line or _line_at_fault(str(error), text)
    where = path.name if line is None else f"{path.name}:{line}"
    return type(error)(f"{where}: {error}", line)


def line_of_key(key: str, text: str) -> int | None:
    """Return the line of a file, from 1, on which the front matter gives a key; None if it does not."""
    found = re.search(rf"^(//)?\s*{re.escape(key)}\s*=", text, re.MULTILINE)
    return text[: found.start()].count("\n") + 1 if found else None


def _line_at_fault(message: str, text: str) -> int | None:
    """Return the line of the file that a message about its front matter is about, or None."""
    quoted = re.search(r"'([^']+)'", message)
    return line_of_key(re.split(r"[ .]", message)[0], text) or _line_with(quoted[1] if quoted else "", text)


def _line_with(part: str, text: str) -> int | None:
    """Return the line of the front matter that contains a text, or None."""
    matter = FENCE.search(text)
    end = matter.end() if matter else len(text)
    at = text.find(part, 0, end) if part else -1
    return text[:at].count("\n") + 1 if at >= 0 else None
