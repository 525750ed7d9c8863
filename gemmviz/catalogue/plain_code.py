"""A source without comments and texts: where a word decides something, it must be one that a compiler reads."""

import re

_COMMENT_OR_TEXT = (
    r'//[^\n\\]*(?:\\.[^\n\\]*)*|/\*.*?(?:\*/|\Z)|\bR"(?P<end>[^()\s\\]{0,16})\(.*?(?:\)(?P=end)"|\Z)'
    r'|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])*\''
)
_QUIET = re.compile(_COMMENT_OR_TEXT, re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def plain_code(text: str, *, directives: bool = True) -> str:
    """Return a source with spaces in place of comments, texts and characters: all else keeps its place.

    Parameters
    ----------
    text
        C, C++ or CUDA, whole or not.
    directives
        Whether ``#include``, ``#define`` and their like stay.
    """
    code = _QUIET.sub(_spaces, text)
    return code if directives else _DIRECTIVE.sub(_spaces, code)


def without_comments(text: str) -> str:
    """Return a source with spaces in place of its comments: texts stay, as inline PTX is one."""
    return _QUIET.sub(lambda found: _spaces(found) if found[0][:2] in ("//", "/*") else found[0], text)


def _spaces(found: re.Match[str]) -> str:
    if "\n" not in found[0]:
        return " " * len(found[0])
    # A text or a comment may go on in the next line: then the sign for it stays, since a macro around it goes on, too.
    goes_on = found[0].startswith(('"', "/*"))
    lines = found[0].split("\n")
    return "\n".join(" " * (len(one) - 1) + "\\" if goes_on and one.endswith("\\") else " " * len(one) for one in lines)
