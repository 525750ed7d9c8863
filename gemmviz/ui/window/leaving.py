"""The end of the program after a signal, and the offer to restore unsaved texts of an earlier run."""

import signal

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.session.files import drafts as kept
from gemmviz.session.files.drafts import Drafts
from gemmviz.ui.window.windows import Windows


class Leaving:
    """Ends the program after a signal.

    Parameters
    ----------
    windows
        The windows to close.
    drafts
        The store of unsaved texts.

    Attributes
    ----------
    at_once
        Whether the program ends without a question; the next start offers the unsaved texts.
    """

    def __init__(self, windows: Windows, drafts: Drafts) -> None:
        self._windows = windows
        self._drafts = drafts
        self._asked = False
        self.at_once = False

    def on_signal(self, number: int, _: object) -> None:
        """Note a signal. The event loop acts on it, because the handler may interrupt any code.

        SIGTERM ends the program at once. Ctrl-C closes the window after a question about edits; a second Ctrl-C skips
        the question.
        """
        self.at_once = self.at_once or self._asked or number == signal.SIGTERM
        self._asked = True
        QTimer.singleShot(0, self._leave)

    def _leave(self) -> None:
        window = self._windows.window
        if not self.at_once:
            window.close()
            return
        self._drafts.keep()
        window.end()
        # All event loops end, also the loop of a question on the screen.
        QApplication.exit(0)


def offer(session: Session, drafts: Drafts) -> None:
    """Offer to restore the unsaved texts of an earlier run; show no message if there are none."""
    lost = drafts.find()
    if not lost:
        return

    def restore() -> None:
        try:
            drafts.restore()
        except GemmvizError as error:
            session.messages.tell(Message(str(error), "warning", lasting=True))

    names = ", ".join(kept.names(lost))
    text = tr("Edits that were not saved when gemmviz ended last are still there: {files}.", files=names)
    answers = (Answer(tr("Restore"), restore), Answer(tr("Discard"), drafts.discard))
    session.messages.tell(Message(text, "warning", answers=answers, lasting=True, asks=True))
