"""Begins and ends presenter mode for a window, and follows the screens that come and go."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.models.predict import Predict
from gemmviz.ui import connections
from gemmviz.ui.discard import discard
from gemmviz.ui.known import qt
from gemmviz.ui.present import screens
from gemmviz.ui.window.actions import Action

if TYPE_CHECKING:
    from gemmviz.ui.present.presenter import Presenter


class Presenting(QObject):
    """Presenter mode of one window, which stays where it is: the teacher's console, where there are two screens.

    Parameters
    ----------
    window
        The window.
    session
        The session that it shows.
    """

    def __init__(self, window: QWidget, session: Session) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self.presenter: Presenter | None = None
        self._focus: QWidget | None = None
        qt().screenAdded.connect(self._on_screens)
        qt().screenRemoved.connect(self._on_screens)

    @property
    def on(self) -> bool:
        """Whether it is on."""
        return self.presenter is not None and not self.presenter.isHidden()

    def toggle(self) -> None:
        """Begin it, or end it."""
        if self.on:
            self.end()
        else:
            self.start()

    def resume(self) -> None:
        """Begin it if it was on in the previous window."""
        if self._session.sight.presented:
            self.start()

    def start(self) -> None:
        """Show the picture on the audience's screen, with type as large as it was there last."""
        if self.on:
            return
        if self.presenter is None:
            from gemmviz.ui.present.presenter import Presenter  # late: few windows are presented

            self.presenter = Presenter(self._session)
            self.presenter.left.connect(self.end)
        self._session.sight.presented = True
        self._focus = self._window.focusWidget()
        self._place()

    def end(self) -> None:
        """Go back to the window, with the focus where it was."""
        if self.presenter is None or self.presenter.isHidden():
            return
        self._session.sight.presented = False
        self.presenter.hide()
        self._window.activateWindow()
        if self._focus is not None:
            self._focus.setFocus(Qt.FocusReason.OtherFocusReason)
            self._focus = None

    def close(self) -> None:
        """End it for good: the window is closed, or another one takes its place."""
        presenter, self.presenter = self.presenter, None
        if presenter is not None:
            connections.close(presenter)
            discard(presenter)

    def _place(self) -> None:
        presenter, screen = self.presenter, screens.for_audience(self._window.screen())
        if presenter is None or screen is None:
            return
        if presenter.isVisible():
            # Some window managers move a window between screens only while it does not fill one.
            presenter.showNormal()
        presenter.setScreen(screen)
        presenter.setGeometry(screen.geometry())
        presenter.showFullScreen()
        presenter.activateWindow()

    def _on_screens(self, *_: object) -> None:
        """Move to the screen that came, or away from the one that is gone, once Qt has moved the windows on it."""
        if self.on:
            QTimer.singleShot(0, self, self._place)


def present_actions(presenting: Presenting, predict: Predict) -> list[Action]:
    """Return the window's actions for classes."""
    return [
        Action(
            "present",
            "View",
            tr("Present: the picture alone fills a screen"),
            ("F11", "Shift+F5"),
            presenting.toggle,
        ),
        Action("predict", "Play", tr("Predict: guess what comes next (1 to 4, Enter)"), ("P",), predict.toggle),
    ]
