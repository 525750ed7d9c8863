"""Folds away the comments in which a kernel describes itself, so that its code is visible."""

import re

from PySide6.QtGui import QTextBlock
from PySide6.QtWidgets import QPlainTextEdit

_BEGIN = re.compile(r"\s*(?://|#)\s*---\s*gemmviz\b")
_END = re.compile(r"\s*(?://|#)\s*---\s*$")
_COMMENT = re.compile(r"\s*(?://|#)")


def regions(text: str) -> list[tuple[int, int]]:
    """Return the first and the last line, from 1, of each description in a text.

    A description begins with ``// ---gemmviz`` and ends with ``// ---``, or where the comments end.
    """
    found, begin = [], 0
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if begin and (_END.match(line) or not _COMMENT.match(line)):
            last = number if _END.match(line) else number - 1
            found.append((begin, last))
            begin = 0
        if not begin and _BEGIN.match(line):
            begin = number
    if begin:
        found.append((begin, len(lines)))
    return [(first, last) for first, last in found if last > first]


class Folding:
    """Folds the descriptions of a text: their first line stays, with a sign beside it.

    Parameters
    ----------
    editor
        Shows the text.
    """

    def __init__(self, editor: QPlainTextEdit) -> None:
        self._editor = editor
        self.folded: dict[int, int] = {}
        """The last line of each folded description, by its first line, from 1."""
        self._open: set[int] = set()
        editor.cursorPositionChanged.connect(self._follow_cursor)

    def fold_all(self) -> None:
        """Fold every description of the present text."""
        self._open = set()
        self._show(dict(regions(self._editor.toPlainText())))

    def open_all(self) -> None:
        """Show every line."""
        self._show({})

    def sign(self, line: int) -> str:
        """Return the sign of a line: that of a folded or of an open description, or none."""
        return "▸" if line in self.folded else "▾" if line in self._open else ""

    def toggle(self, line: int) -> bool:
        """Fold or open the description that begins at a line; say whether there is one."""
        if line in self.folded:
            self._open.add(line)
            self._show({first: last for first, last in self.folded.items() if first != line})
            return True
        if line in self._open:
            self._open.discard(line)
            self._show(self.folded | {line: dict(regions(self._editor.toPlainText()))[line]})
            return True
        return False

    def reveal(self, line: int) -> None:
        """Open the description that holds a line."""
        for first, last in list(self.folded.items()):
            if first < line <= last:
                self.toggle(first)

    def _follow_cursor(self) -> None:
        self.reveal(self._editor.textCursor().blockNumber() + 1)

    def _show(self, folded: dict[int, int]) -> None:
        """Hide the lines of these descriptions but their first, and show all others."""
        if folded == self.folded and not folded:
            return
        self.folded = folded
        document = self._editor.document()
        block: QTextBlock = document.begin()
        while block.isValid():
            number = block.blockNumber() + 1
            shown = not any(first < number <= last for first, last in folded.items())
            if block.isVisible() != shown:
                block.setVisible(shown)
                block.setLineCount(1 if shown else 0)
            block = block.next()
        document.markContentsDirty(0, document.characterCount())
        self._editor.viewport().update()
