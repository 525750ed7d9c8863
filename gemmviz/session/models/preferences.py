"""The user's preferences: language, theme, text size, reduced motion; and the lessons that the user has finished."""

from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from psygnal import Signal

from gemmviz.cluster.piece import Scheduler
from gemmviz.language import Language, language, set_language

ThemeName = Literal["dark", "light"]
TYPE_SCALES = (0.5, 3.0)
"""The smallest and the largest text size, relative to the system's."""
TypeScale = Annotated[float, Meta(ge=TYPE_SCALES[0], le=TYPE_SCALES[1])]


class Preferences:
    """The user's preferences for the appearance.

    Parameters
    ----------
    theme
        ``"dark"`` or ``"light"``.
    """

    themed = Signal()
    """Colours, text size, or reduced motion have changed."""
    spoken = Signal()
    """The language has changed: all texts must be shown again."""

    learned = Signal()
    """A finished lesson, the last shown kernel, the named cluster, or whether the doors are shown, has changed."""

    def __init__(self, theme: ThemeName = "dark") -> None:
        self.theme = theme
        self.type_scale = 1.0
        self.calm = False
        """Whether motion is reduced: playing shows whole units, at most twice a second, and nothing glows."""
        self.spoken_before: Language = "en"
        """The language before the last change."""
        self.finished: frozenset[str] = frozenset()
        """The names of the kernels whose lessons were finished."""

        self.doors = True
        """Whether the doors are shown when the window opens."""
        self.last_kernel = ""
        """The name of the kernel that was chosen last; empty: none yet."""
        self.last_file = ""
        """The path of the user's own file with that kernel; empty: it comes with gemmviz."""
        self.cluster: Scheduler | None = None
        """The cluster that was named last."""

    def show_doors(self, shown: bool) -> None:
        """Choose whether the doors are shown when the window opens."""
        self.doors = shown
        self.learned.emit()

    def note_kernel(self, name: str, file: str = "") -> None:
        """Keep the name of the chosen kernel, and the path of the user's file that it is from."""
        if (name, file) != (self.last_kernel, self.last_file):
            self.last_kernel, self.last_file = name, file
            self.learned.emit()

    def note_cluster(self, cluster: Scheduler | None) -> None:
        """Keep the cluster whose devices may measure; None: there is none."""
        if cluster != self.cluster:
            self.cluster = cluster
            self.learned.emit()

    def finish(self, *kernels: str) -> None:
        """Keep the names of kernels whose lessons were finished."""
        if not self.finished.issuperset(kernels):
            self.finished |= set(kernels)
            self.learned.emit()

    def set_theme(self, theme: ThemeName) -> None:
        """Choose ``"dark"`` or ``"light"``."""
        if theme != self.theme:
            self.theme = theme
            self.themed.emit()

    def set_type_scale(self, scale: float) -> None:
        """Choose the text size, relative to the system's; within `TYPE_SCALES`."""
        scale = float(np.clip(scale, *TYPE_SCALES))
        if scale != self.type_scale:
            self.type_scale = scale
            self.themed.emit()

    def set_calm(self, calm: bool) -> None:
        """Reduce motion: nothing glows longer than its step, and only the playing recording moves."""
        if calm != self.calm:
            self.calm = calm
            self.themed.emit()

    @property
    def language(self) -> Language:
        """The code of the current language."""
        return language()

    def speak(self, code: str) -> None:
        """Choose the language: one of `gemmviz.language.LANGUAGES`."""
        if code != language():
            self.spoken_before = language()
            set_language(code)
            self.spoken.emit()
