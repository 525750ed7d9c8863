"""The fonts of the window. They come with gemmviz, so that each machine draws the same picture.

`docs/fonts.py` makes the files. Letters that they lack, such as Hangul, come from the system's fonts.
"""

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

from gemmviz import data

SANS, MONO = "gemmviz Sans", "gemmviz Mono"
"""Families of texts, and of sources and addresses."""


def load(running: QApplication) -> None:
    """Register the files of the fonts, and let texts use them. More than one call does no harm."""
    if SANS in running.font().families():
        return
    for file in sorted((data.root("resources") / "fonts").glob("*.[ot]tf")):
        QFontDatabase.addApplicationFont(str(file))
    font = QFont(running.font())
    font.setFamilies([SANS, *running.font().families()])
    running.setFont(font)


@cache
def mono_families() -> list[str]:
    """Return the families of sources, ours first."""
    return [MONO, *QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()]


def mono() -> QFont:
    """Return the font of sources and addresses, in the system's size."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies(mono_families())
    return font


def mono_style() -> str:
    """Return the rule of a style sheet for the font of sources and addresses."""
    return "font-family: " + ", ".join(f"'{family}'" for family in mono_families()) + ";"
