"""The window of a session, rebuilt when the language changes; Qt's own texts follow."""

from PySide6.QtCore import QObject, QTimer, QTranslator, Signal

from gemmviz.control.controller import Controller
from gemmviz.session import Message, Session
from gemmviz.ui import connections
from gemmviz.ui.discard import discard
from gemmviz.ui.known import qt
from gemmviz.ui.look import korean
from gemmviz.ui.look.open_fonts import open_fonts
from gemmviz.ui.window import window_state
from gemmviz.ui.window.window import Window

_QT_TEXTS = "gemmviz_qt_texts"


class Windows(QObject):
    """Owns the window of a session. The controller and its engines continue while the window is replaced.

    Parameters
    ----------
    session
        The session to show.
    controller
        Records and measures for it.
    """

    exchanged = Signal()
    """`window` was replaced."""

    def __init__(self, session: Session, controller: Controller) -> None:
        super().__init__()
        self.session = session
        self._controller = controller
        self._wanted = QTimer(self)
        self._wanted.setSingleShot(True)
        # Later, because the action that caused the change and the list of listeners are still in use.
        self._wanted.setInterval(0)
        self._wanted.timeout.connect(self._exchange)
        session.preferences.spoken.connect(self._on_spoken)
        speak_qt(session.preferences.language)
        self.window = Window(session, controller)
        self._say_font()

    def _on_spoken(self) -> None:
        self._wanted.start()

    def _exchange(self) -> None:
        old = self.window
        if not old.isVisible():
            return  # the window was closed in the meantime
        open_fonts(qt()).open_all()
        speak_qt(self.session.preferences.language)
        state = window_state.take(old)
        old.retire()
        self.window = new = Window(self.session, self._controller)
        new.setGeometry(state.geometry)
        new.setWindowState(state.screen_state)
        self._tell_all()
        new.rail.go_on(old.rail)
        new.source.adopt(old.source)
        new.show()
        window_state.give(new, state)
        new.activateWindow()
        new.stops.resume()
        new.presenting.resume()
        QTimer.singleShot(0, new, lambda: window_state.give_scrolls(new, state))
        discard(old)
        self.exchanged.emit()
        self._say_font()

    def _say_font(self) -> None:
        if self.session.preferences.language == "ko" and not korean.can_write_korean():
            self.session.messages.tell(Message(korean.NO_FONT, "warning", lasting=True))

    def _tell_all(self) -> None:
        """Update the new window: its widgets were built for a session at its beginning."""
        session, window = self.session, self.window
        cursor, results = session.cursor, session.results
        shown = (session.choice.chosen, cursor.recorded, cursor.stepped, cursor.picked, session.playback.changed)
        changes = (*shown, session.tour.changed)
        for signal in changes:
            connections.tell(window, signal)
        for engine in session.progress:
            connections.tell(window, session.progress.changed, engine)
        for signal in (results.sampled, results.referenced, results.device_changed, session.messages.changed):
            connections.tell(window, signal)


def speak_qt(code: str) -> None:
    """Set the language of Qt's dialogs. The application has one translator, or none for English."""
    application = qt()
    for texts in application.findChildren(QTranslator, _QT_TEXTS):
        application.removeTranslator(texts)
        texts.deleteLater()
    if code == "en":
        return
    from PySide6.QtCore import QLibraryInfo, QLocale  # late: the names of all languages take milliseconds

    texts = QTranslator(application)
    texts.setObjectName(_QT_TEXTS)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if texts.load(QLocale(code), "qtbase", "_", folder):
        application.installTranslator(texts)
