"""Font files that stay open as long as the program runs, so that Qt opens each of them once.

Qt shares one open face of a font file between all sizes. When the last font of one face goes out of use, Qt 6.10
forgets all other faces, too, even those in use: each font that is made from then on opens its file again, with tables
of its own, and the face before stays as long as its fonts do. A face that is always in use never starts that.
"""

from collections.abc import Iterator

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

from gemmviz.ui.look.fonts import mono
from gemmviz.ui.look.style import NARROWED

SAMPLE = (
    "Aa0 가 áéíñóúÍÓÚ¿«»‹›“”–… ×·−≠≤≥≈∞°²³⁶⁹½µ ←↑→↓↳↶ ✓✗✕ ■□○●◇┃ ▶◀▸▾ ⚠⚑☰\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
)
"""The marks and letters of the texts on the screen; those that a font lacks open the fonts that stand in for it."""


class OpenFonts(QObject):
    """Holds a font of each face that the window uses.

    Parameters
    ----------
    application
        It lives as long as the application.
    """

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._held: list[QFontMetricsF] = []

    def open(self, font: QFont) -> None:
        """Open a font with those that stand in for it, and hold them."""
        held = QFontMetricsF(font)
        held.horizontalAdvance(SAMPLE)  # a font opens its files when it measures a text
        self._held.append(held)


def keep_fonts_open(application: QApplication) -> Iterator[None]:
    """Open the fonts of widgets and of source texts one by one, which takes some milliseconds each, and hold them.

    Done once in each application.
    """
    if application.findChild(OpenFonts) is not None:
        return
    held = OpenFonts(application)
    for font in _faces(application.font()):
        held.open(font)
        yield


def _faces(base: QFont) -> Iterator[QFont]:
    """Return each face: upright and slanted, of usual weight and bold; and narrow, as the list of kernels has it."""
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
