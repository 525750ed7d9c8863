"""Font files that stay open as long as the program runs, so that Qt opens each of them once.

Qt shares one open face of a font file between all sizes. When the last font of one face goes out of use, Qt 6.10
forgets all other faces, too, even those in use: each font that is made from then on opens its file again, with tables
of its own, and the face before stays as long as its fonts do. When that one goes, Qt forgets all of them again. This
never starts if each face is in use from the first window to the end of the program.
"""

from collections.abc import Iterator

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

from gemmviz.ui.look.fonts import mono
from gemmviz.ui.look.style import NARROWED

SAMPLE = (
    "Aa0 가 áéíñóúÍÓÚ¿«»‹›“”–… ×÷·−≠≤≥≈∞°²³⁶⁹½µ ←↑→↓↳↶ ✓✗✕ ■□○●◇┃ ▶◀▸▾ ⚠⚑☰\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
)
"""The marks and letters of the texts on the screen; those that a font lacks open the fonts that stand in for it."""


class OpenFonts(QObject):
    """Holds a font of each face that the window uses.

    The faces of letters and digits are opened at once, which takes some 5 ms for all that the first window would not
    open by itself. Those that stand in for them, for the marks and letters of `SAMPLE`, are opened by `open_next`, and
    those of other scripts by `keep` when a text has them.

    Parameters
    ----------
    application
        It lives as long as the application.
    """

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._held = [QFontMetricsF(font) for font in _faces(application.font())]
        for held in self._held:
            held.horizontalAdvance("A")  # a font opens its files when it measures a text
        self._left = [*self._held]
        self._blocks = {_block(mark) for mark in SAMPLE}

    def open_next(self) -> bool:
        """Open the fonts that stand in for a further face; return whether there was one left."""
        if not self._left:
            return False
        self._left.pop(0).horizontalAdvance(SAMPLE)
        return True

    def open_all(self) -> None:
        """Open the fonts that are not open yet, before fonts of the window go out of use."""
        while self.open_next():
            pass

    def keep(self, text: str) -> None:
        """Open the fonts that stand in for the letters of a text, such as a comment in another script.

        One letter of each block of Unicode is enough: the letters of a block stand in one font as a rule.
        """
        if text.isascii():
            return
        new = {_block(letter): letter for letter in set(text) if _block(letter) not in self._blocks}
        self._blocks |= new.keys()
        for held in self._held if new else ():
            held.horizontalAdvance("".join(new.values()))


def _block(letter: str) -> int:
    return ord(letter) >> 7


def open_fonts(application: QApplication) -> OpenFonts:
    """Return the fonts of an application that stay open; the first call opens them."""
    return application.findChild(OpenFonts) or OpenFonts(application)


def _faces(base: QFont) -> Iterator[QFont]:
    """Return a font of each face: upright and slanted, of usual weight and bold; and the list's narrow ones."""
    for family in (base, mono()):
        for bold in (False, True):
            for italic in (False, True):
                font = QFont(family)
                font.setBold(bold)
                font.setItalic(italic)
                yield font
    for bold in (False, True):
        font = QFont(base)
        font.setBold(bold)
        font.setStretch(NARROWED)
        yield font
