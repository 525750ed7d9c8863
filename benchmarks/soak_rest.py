"""The state in which the memory of the window is compared: one small recording, nothing beside it, the first look."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from soak_dialogs import Somebody, dialogs_shown

from gemmviz.session.values.picture_size import picture_problem
from gemmviz.ui.window.window import Window

_SIZE = 1280, 800  # of the window at rest, in pixels: every page fits


class Restful(Somebody):
    """A user who can return the window to its first state."""

    def __init__(self, session, random, folder):
        super().__init__(session, random, folder)
        self._first = session.choice.base
        self._looks = None  # of the window when it was shown first

    @property
    def window(self):
        """The present window: a new one after the language has changed."""
        return next(w for w in QApplication.topLevelWidgets() if isinstance(w, Window) and w.isVisible())

    def see_first_look(self):
        """Note how the window looks, the first time; its size may still change then, so that another one is taken."""
        self._looks = self._looks or {**self.shown(), "size": [*_SIZE]}

    def rest(self):
        """Put the window into the state in which its memory can be compared: one small recording, nothing beside it.

        It also looks as it did at first: a larger window keeps larger pictures, and each language has its own texts. A
        change of language exchanges the window, so that this has to be called until `looks_as_at_first`.
        """
        window, session = self.window, self.session
        self._look_as_at_first()
        window.presenting.end()
        session.side_by_side.stop()
        if session.tour.active:
            session.guide.leave()
        if session.predict.on:
            session.predict.toggle()
        session.playback.pause()
        window.findChild(QAction, "cancel", Qt.FindChildOption.FindDirectChildrenOnly).trigger()
        for dialog in dialogs_shown():
            dialog.close()
        session.choice.drop_edits(self._first)
        session.choice.choose_kernel(self._first, problem=picture_problem(self._first))
        window.controller.recording.record()

    @property
    def looks_as_at_first(self):
        """Whether the window's size, page, theme, language and type size are the first ones."""
        try:
            return self._looks in (None, self.shown())
        except StopIteration:  # the window is being exchanged
            return False

    def _look_as_at_first(self):
        window, preferences = self.window, self.session.preferences
        if self._looks is None or self.looks_as_at_first:
            return
        width, height = self._looks["size"]
        window.showNormal()  # the size of a window that fills the screen cannot be set
        window.resize(width, height)
        window.pages.turn_to(self._looks["page"])
        preferences.set_theme(self._looks["theme"])
        preferences.set_type_scale(self._looks["type scale"])
        if preferences.language != self._looks["language"]:
            preferences.speak(self._looks["language"])

    @property
    def rested(self):
        """Whether the window is in that state."""
        session, progress = self.session, self.session.progress
        windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, Window)]
        return (
            len(windows) == 1  # the one before a change of language is gone
            and session.choice.base is self._first
            and self.looks_as_at_first
            and session.cursor.playable is not None
            and not session.staged.outdated
            and all(progress[engine] is None for engine in progress)
        )

    def shown(self):
        """Return what the window shows, by name: memory at rest may depend on it."""
        window, preferences = self.window, self.session.preferences
        return {
            "size": [window.width(), window.height()],
            "type scale": preferences.type_scale,
            "theme": preferences.theme,
            "language": preferences.language,
            "page": window.pages.name(),
        }
