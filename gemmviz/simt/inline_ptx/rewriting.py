"""Rewrites a preprocessed source: C++ replaces each asm statement and keeps its line and column."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from gemmviz.catalogue.plain_code import plain_code
from gemmviz.simt.inline_ptx.common_names import NONE, common_names
from gemmviz.simt.inline_ptx.statements import MARKER, Places, statements
from gemmviz.simt.inline_ptx.translation import translated

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_BRACE = re.compile(r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|^#[^\n]*$|[{}]', re.MULTILINE)
_PUSH = "#pragma clang attribute push (__attribute__((always_inline)), apply_to = function)\n"
_POP = "#pragma clang attribute pop\n"


def has_asm(texts: Iterable[str]) -> bool:
    """Return whether one of the sources may have an asm statement."""
    return any(_ASM.search(text) and _ASM.search(plain_code(text)) for text in texts)


def rewritten(text: str, kernel: str, folder: Path | None, ours: Collection[Path]) -> str:
    """Return a preprocessed source with C++ in place of the asm statements of a user's files.

    Parameters
    ----------
    text
        The preprocessor's output, with its line markers.
    kernel
        The name of the user's file in the markers.
    folder
        The folder of this file: a header in it belongs to the user in any form of include. None if no file in it is
        included.
    ours
        Folders with headers of the recorder: statements in them are kept.
    """

    @cache  # thousands of markers name a few files
    def own(file: str, system: bool) -> bool:
        path = Path(file)
        if any(path.is_relative_to(other) for other in ours):
            return False
        # GCC marks a line as a line of the system if it comes from a macro of the system.
        return not system or file == kernel or (folder is not None and path.is_relative_to(folder))

    places = Places(text)
    parts, at = [], 0
    changes = [(place, line, 0) for place, line in _inlined(text, lambda f, system: f != kernel and own(f, system))]
    found = list(statements(text, own))
    common = common_names(text, found)
    for number, statement in enumerate(found):
        # A macro gives its whole expansion the place of its name. After it the line continues at its old column.
        macro = f"GV_ASM_{number}"
        after, line, _ = places.at(statement.end)
        instead = f"\n#define {macro} {translated(statement, number, common.get(number, NONE))}\n"
        instead += f'# {statement.line} "{statement.file}"\n{_blank_before(text, statement.start)}{macro}\n'
        instead += f'# {line} "{after}"\n{_blank_before(text, statement.end)}'
        changes.append((statement.start, instead, statement.end))
    for start, instead, end in sorted(changes):
        parts += [text[at:start], instead]
        at = end or start
    return "".join([*parts, text[at:]])


def _blank_before(text: str, place: int) -> str:
    return " " * (place - text.rfind("\n", 0, place) - 1)


def _inlined(text: str, local: Callable[[str, bool], bool]) -> Iterator[tuple[int, str]]:
    """Yield positions and lines to insert there, so that functions in a user's headers are inlined.

    Then each of their accesses has the line of the call in the kernel's file.
    """
    inside = False
    depth = at = 0
    for mark in MARKER.finditer(text):
        now = local(mark[2], "3" in mark[3].split())
        if now == inside:
            continue
        for brace in _BRACE.finditer(text, at, mark.start()):
            depth += (brace[0] == "{") - (brace[0] == "}")
        at = mark.start()
        if not inside and depth:  # in a function, or a namespace
            continue
        inside = now
        yield at, _PUSH if now else _POP
    if inside:
        yield len(text), _POP
