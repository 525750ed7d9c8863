"""When a kernel is chosen or a recording arrives, the stage follows after the rest of the window.

Together they took longer than an answer to a key may take: here each part has a turn of the event loop of its own.
"""

from PySide6.QtCore import QObject, QTimer

from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.stage.stage import Stage

_BREATH_MS = 1  # in which the window answers to keys and the mouse


class Arrival(QObject):
    """Keeps a stage as it is for a moment, while everything else shows a new choice or a new recording.

    Parameters
    ----------
    session
        The session with the choice. Make this object before the stage: it must notice a choice before that does.
    owner
        The window.
    """

    def __init__(self, session: Session, owner: QObject) -> None:
        super().__init__(owner)
        self._stage: Stage | None = None
        self._prepared = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_BREATH_MS)
        self._timer.timeout.connect(self._go_on)
        for signal in (session.choice.chosen, session.cursor.arriving):
            listen(self, signal, self._hold)

    def keep(self, stage: Stage) -> None:
        """Keep this stage: its painter is made in one turn, and paints in the next one."""
        self._stage = stage

    def _hold(self) -> None:
        if self._stage is not None:
            self._stage.setUpdatesEnabled(False)
            self._prepared = False
            self._timer.start()

    def _go_on(self) -> None:
        if self._stage is None:
            return
        if self._prepared:
            self._stage.setUpdatesEnabled(True)  # this paints all of it
            self._stage.arranged.emit()
        else:
            self._stage.panels()  # a new recording gets its painter
            self._prepared = True
            self._timer.start()
