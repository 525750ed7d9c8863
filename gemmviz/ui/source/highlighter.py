"""Colours CUDA and C, line by line: a keystroke costs one line, however long the file is."""

from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypedDict

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from gemmviz.ui.look.theme import Theme

if TYPE_CHECKING:
    from pygments.lexers.c_cpp import CppLexer

# Pygments is imported with the first text. If it is missing, the program has to end before it shows a window.
if find_spec("pygments") is None:
    raise ModuleNotFoundError("No module named 'pygments'", name="pygments")

_CUDA_WORDS = frozenset(
    (
        "__global__",
        "__device__",
        "__shared__",
        "__restrict__",
        "__launch_bounds__",
        "__syncthreads",
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
    )
)
_CODE, _IN_COMMENT = 0, 1
_LINES_KEPT = 2048
_AFTER_PAINT_MS = 500  # the first recording comes before
AFTER_RECORDING_MS = 30
"""From the first recording until colouring begins: its first frame comes before."""


class _Style(TypedDict):
    color: str | None
    bold: bool
    italic: bool


class Highlighter(QSyntaxHighlighter):
    """Colours a document with Pygments. A line's only state for the next one is whether a comment is open.

    It begins a moment after the first recording, or later after the text is first painted if there is none: Pygments
    takes as long to begin as a third of the window.
    """

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[object, QTextCharFormat] = {}
        self.begun = False
        """Whether it colours."""
        self._begin = QTimer(self)
        self._begin.setSingleShot(True)
        self._begin.timeout.connect(self.begin)

    def begin_soon(self, wait_ms: int = _AFTER_PAINT_MS) -> None:
        """Colour the text after some milliseconds, or when it was to be coloured anyway, and from then on at once."""
        if not self.begun and (not self._begin.isActive() or self._begin.remainingTime() > wait_ms):
            self._begin.start(wait_ms)

    def begin(self) -> None:
        """Colour the text now, and from now on each line that changes."""
        if not self.begun:
            self.begun = True
            self.rehighlight()

    def set_theme(self, theme: Theme) -> None:
        """Colour again, for another theme."""
        self._theme, self._formats = theme, {}
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if not self.begun:
            return
        tokens, state = _tokens(text, self.previousBlockState() == _IN_COMMENT)
        for start, length, token in tokens:
            self.setFormat(start, length, self._format(token))
        self.setCurrentBlockState(state)

    def _format(self, token: object) -> QTextCharFormat:
        if token not in self._formats:
            from pygments.styles import get_style_by_name  # late: the first paint does not wait for it

            style = get_style_by_name(self._theme.pygments)
            plain = _Style(color=None, bold=True, italic=False)
            self._formats[token] = _format(plain if token == "cuda" else style.style_for_token(token), self._theme)
        return self._formats[token]


@cache
def _lexer() -> "CppLexer":
    """Return the lexer; Pygments is imported when the first line is coloured, after the window's first paint."""
    from pygments.lexers.c_cpp import CppLexer  # late: the first paint does not wait for it

    return CppLexer(stripnl=False, ensurenl=False)


@lru_cache(_LINES_KEPT)
def _tokens(line: str, in_comment: bool) -> tuple[tuple[tuple[int, int, object], ...], int]:
    """Return (column, length, token) of each part of a line, and whether a comment is open behind it."""
    from pygments.token import Comment  # late: the first paint does not wait for it

    found: list[tuple[int, int, object]] = []
    start = 0
    if in_comment:
        end = line.find("*/")
        start = len(line) if end < 0 else end + 2
        found.append((0, start, Comment.Multiline))
        if end < 0:
            return tuple(found), _IN_COMMENT
    last: tuple[object, str] = (None, "")
    for at, token, text in _lexer().get_tokens_unprocessed(line[start:] + "\n"):
        found.append((start + at, len(text.rstrip("\n")), "cuda" if text in _CUDA_WORDS else token))
        last = (token, text)
    # An unclosed comment is lexed up to the end of the text.
    is_open = last[0] is Comment.Multiline and not last[1].rstrip().endswith("*/")
    return tuple(found), _IN_COMMENT if is_open else _CODE


def _format(style: _Style, theme: Theme) -> QTextCharFormat:
    form = QTextCharFormat()
    if style["color"]:
        colour = QColor("#" + style["color"])
        # Comments of many styles are too faint for a projector.
        if theme.name == "dark" and colour.lightness() < 130:
            colour = QColor(theme.muted)
        form.setForeground(colour)
    else:
        form.setForeground(QColor(theme.text))
    form.setFontItalic(style["italic"])
    if style["bold"]:
        form.setFontWeight(QFont.Weight.Bold)
    return form
