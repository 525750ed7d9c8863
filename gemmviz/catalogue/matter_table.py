"""Reads the front matter of a file as a TOML table."""

import re
from pathlib import Path

from gemmviz.catalogue.errors import FrontMatterError, NoFrontMatter
from gemmviz.catalogue.front_matter import FENCE
from gemmviz.catalogue.plain import Unread
from gemmviz.catalogue.user_file import parse_toml
from gemmviz.language import tr


def matter_table(text: str, path: Path) -> Unread:
    """Return the front matter of a file, its values as TOML has them.

    Parameters
    ----------
    text, path
        The file. A ``.toml`` file is front matter as a whole; in others it is a comment.

    Raises
    ------
    FrontMatterError
        When there is none, or it is not TOML.
    """
    body, found = text, None
    if path.suffix != ".toml":
        found = FENCE.search(text)
        if found is None:
            from gemmviz.catalogue.guessing.undescribed import what_to_do  # late: few files need it

            raise NoFrontMatter(what_to_do(text, path))
        body = re.sub(r"^// ?", "", found["body"], flags=re.MULTILINE)
    try:
        return parse_toml(body)
    except ValueError as error:
        # Its own line counts from the front matter's first: the message has the file's.
        reason = re.sub(r" \(at line \d+, column \d+\)", "", str(error))
        at = re.search(r"at line (\d+)", str(error))
        first = text[: found.start("body")].count("\n") if found else 0
        raise FrontMatterError(
            tr("the front matter is not TOML: {reason}", reason=reason), int(at[1]) + first if at else None
        ) from None


def is_described(text: str) -> bool:
    """Return whether a text has front matter already, valid or not."""
    return re.search(r"^//[ \t]*---gemmviz(?![ \t]+breaks\b)", text, re.MULTILINE) is not None
