"""How the program ends when it is asked to from outside, and what it offers when it had to leave texts behind."""

import signal

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.session import drafts as kept
from gemmviz.session.drafts import Drafts
from gemmviz.ui.window.windows import Windows


class Leaving:
    """Ends the program on a signal.

    Parameters
    ----------
    windows
        What to close.
    drafts
        Where texts that are not saved are kept.

    Attributes
    ----------
    at_once
        Whether the program ends without a question: what is not saved is for the next start.
    """

    def __init__(self, windows: Windows, drafts: Drafts) -> None:
        self._windows = windows
        self._drafts = drafts
        self._asked = False
        self.at_once = False

    def on_signal(self, number: int, _: object) -> None:
        """Take note of a signal; what follows is done by the event loop, as the handler may interrupt anything.

        SIGTERM ends the program at once. Ctrl-C closes the window, which asks about edits; the second one asks no more.
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
        # All event loops, that of a question on the screen as well.
        QApplication.exit(0)


def offer(session: Session, drafts: Drafts) -> None:
    """Say which edited texts a program left that is gone, and offer them; nothing where there are none."""
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
