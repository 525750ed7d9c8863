"""The tag of a panel with the origin of its figures. Solid: measured or recorded; dashed: modelled, or a reference."""

from PySide6.QtWidgets import QLabel

from gemmviz.session.models.preferences import Preferences
from gemmviz.ui.look.theme import THEMES


class Tag(QLabel):
    """A short word in a frame; hidden while it is empty.

    Parameters
    ----------
    preferences
        The preferences with the theme.
    """

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.dashed = False
        self.hide()

    def say(self, text: str, dashed: bool = False, tip: str = "") -> None:
        """Show a word; an empty one hides the tag."""
        self.dashed = dashed
        self.setText(text)
        self.setToolTip(tip or text)
        self.setVisible(bool(text))
        self.restyle()

    def restyle(self) -> None:
        """Take the theme's colours."""
        theme = THEMES[self._preferences.theme]
        line, colour = ("dashed", theme.muted) if self.dashed else ("solid", theme.good)
        self.setStyleSheet(f"border: 1px {line} {colour}; border-radius: 4px; padding: 0px 5px; color: {colour};")
