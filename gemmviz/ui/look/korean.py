"""Whether Korean texts can be read here: the window's own fonts have no Korean letters."""

from PySide6.QtGui import QFontDatabase

NO_FONT = "Korean needs a font that is not installed here: sudo apt-get install fonts-noto-cjk, then start again."
"""In English on purpose: without the font the Korean text would be unreadable."""


def can_write_korean() -> bool:
    """Return whether a font with Korean letters is installed. The application must exist."""
    return bool(QFontDatabase.families(QFontDatabase.WritingSystem.Korean))
