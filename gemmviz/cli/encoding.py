"""Lets the terminal's encoding lack some letters: a command then prints others in their place, and does not fail."""

import codecs
import io
import sys

_NAME = "gemmviz-plainer"


def accept_all_letters() -> None:
    """Let standard output and errors replace letters that they cannot write: spaces by a space, others by ``?``."""
    codecs.register_error(_NAME, _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def _plainer(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(" " if letter.isspace() else "?" for letter in lacking), error.end
