"""Macros whose value is a placeholder, such as ``%%B`` or ``@BM@``: a program has to put a number there first."""

import re
from pathlib import Path

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.kernel_text import kernel_line, kernel_text
from gemmviz.catalogue.includes import INCLUDE_ALONE
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.catalogue.user_file import read_source
from gemmviz.language import tr

# None of these is an expression of C++.
_PLACEHOLDER = r"(?:%%?\w+%{0,2}|@\w+@|\$\{\w+\}|\$\w+|\{\{\s*\w+\s*\}\}|<%=?\s*\w+\s*%>)"
_DEFINE = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+({_PLACEHOLDER})[ \t\r]*$", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if", re.MULTILINE)


def placeholders(made: Guess) -> tuple[Flaw, ...]:
    """Return the flaw of a kernel that uses macros whose only values are placeholders: no compiler takes it.

    Parameters
    ----------
    made
        The guess.
    """
    texts = [without_comments(text) for text in (made.text, *made.headers)]
    found = {name: value for text in texts for name, value in _DEFINE.findall(text)}
    own = kernel_text(made)
    plain = without_comments(own)
    if not found or _CONDITION.search(plain):
        return ()
    used = [name for name in found if re.search(rf"\b{name}\b", plain) and _is_all(name, texts)]
    if not used:
        return ()
    name = used[0]
    line = next(at for at, text in enumerate(plain.splitlines()) if re.search(rf"\b{name}\b", text))
    said = tr(
        "no compiler takes it: {name} is {value} in {file}, a placeholder that a program has to replace: write a "
        "number there, such as `#define {name} 64`",
        name=name,
        value=found[name],
        file=_file(made, name),
    )
    return (Flaw("not compiled", kernel_line(made) + line, said),)


def _is_all(name: str, texts: list[str]) -> bool:
    """Return whether a macro has no other value, and none that a build may give it."""
    asked = re.compile(rf"^[ \t]*#[ \t]*(?:ifn?def[ \t]+{name}\b|(?:el)?if\b.*\bdefined\b.*\b{name}\b)", re.MULTILINE)
    every = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b", re.MULTILINE)
    defined = sum(len(every.findall(text)) for text in texts)
    replaced = sum(one == name for text in texts for one, _ in _DEFINE.findall(text))
    return defined == replaced and not any(asked.search(text) for text in texts)


def _file(made: Guess, name: str) -> str:
    """Return the name of the file that defines a macro: the kernel's own, or a header beside it."""
    if any(one == name for one, _ in _DEFINE.findall(without_comments(made.text))):
        return made.path.name
    for sign, header in INCLUDE_ALONE.findall(made.text):
        place = made.path.parent / header
        if sign == '"' and _defines(place, name):
            return Path(header).name
    return tr("a header")


def _defines(place: Path, name: str) -> bool:
    try:
        return any(one == name for one, _ in _DEFINE.findall(without_comments(read_source(place))))
    except (OSError, GemmvizError):
        return False
