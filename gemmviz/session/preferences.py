"""The user's preferences: language, theme, size of type, calm; and the lessons that the user has finished."""

from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from psygnal import Signal

from gemmviz.language import Language, language, set_language

ThemeName = Literal["dark", "light"]
TYPE_SCALES = (0.5, 3.0)
"""The smallest and the largest size of type, relative to the system's."""
TypeScale = Annotated[float, Meta(ge=TYPE_SCALES[0], le=TYPE_SCALES[1])]


class Preferences:
    """How everything is shown.

    Parameters
    ----------
    theme
        ``"dark"`` or ``"light"``.
    """

    themed = Signal()
    """Colours, size of type, or how much may move."""
    spoken = Signal()
    """The language has changed: all texts must be shown anew."""

    learned = Signal()
    """A lesson was finished for the first time, another kernel was shown last, or the doors are to be shown or not."""

    def __init__(self, theme: ThemeName = "dark") -> None:
        self.theme = theme
        self.type_scale = 1.0
        self.calm = False
        """Whether motion is reduced: playing shows whole units, twice a second at most, and nothing glows."""
        self.finished: frozenset[str] = frozenset()
        """The names of the kernels whose lessons were finished."""

        self.doors = True
        """Whether the doors are shown when the window opens."""
        self.last_kernel = ""
        """The name of the kernel that was chosen last; empty: none yet."""

    def show_doors(self, shown: bool) -> None:
        """Choose whether the doors are shown when the window opens."""
        self.doors = shown
        self.learned.emit()

    def note_kernel(self, name: str) -> None:
        """Take note of the chosen kernel, by its name."""
        if name != self.last_kernel:
            self.last_kernel = name
            self.learned.emit()

    def finish(self, *kernels: str) -> None:
        """Take note that the lessons of kernels, by name, were finished."""
        if not self.finished.issuperset(kernels):
            self.finished |= set(kernels)
            self.learned.emit()

    def set_theme(self, theme: ThemeName) -> None:
        """Choose ``"dark"`` or ``"light"``."""
        self.theme = theme
        self.themed.emit()

    def set_type_scale(self, scale: float) -> None:
        """Choose the size of type, relative to the system's; within `TYPE_SCALES`."""
        self.type_scale = float(np.clip(scale, *TYPE_SCALES))
        self.themed.emit()

    def set_calm(self, calm: bool) -> None:
        """Reduce motion: nothing glows longer than its step, and only the playing recording moves."""
        self.calm = calm
        self.themed.emit()

    @property
    def language(self) -> Language:
        """The code of the language that is spoken."""
        return language()

    def speak(self, code: str) -> None:
        """Choose one of `gemmviz.language.LANGUAGES`."""
        if code != language():
            set_language(code)
            self.spoken.emit()
