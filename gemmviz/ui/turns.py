"""While a recording plays, the slow parts of the window follow its steps in turns: one part in each frame."""

from collections.abc import Callable, Hashable
from time import thread_time

from psygnal import SignalInstance
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from gemmviz.session import Session
from gemmviz.ui.connections import listen

_AGAIN_MS = 4  # the next frame may be the part's


class Turns(QObject):
    """Distributes the frames among the parts that want to be drawn anew.

    A part that comes too late for a frame gets one of the next frames. Where steps are slower than frames, the frame of
    a new step is that of the cells. So a part may show an earlier step than the cells for a few frames, and no frame is
    slow because all parts are drawn in it. Without playback each part may be drawn at once.

    Parameters
    ----------
    session
        The session with the playback. Make this object before the widgets: it must notice a step before they do.
    owner
        The window.
    """

    def __init__(self, session: Session, owner: QObject) -> None:
        super().__init__(owner)
        self._playback = session.playback
        self._waiting: list[Hashable] = []
        self._free = True
        self._reserved: Hashable | None = None
        self._rested = False
        self._begun = thread_time()
        listen(self, session.cursor.stepped, self._begin_step)
        listen(self, session.cursor.moved, self._begin_rest)

    @property
    def switched(self) -> SignalInstance:
        """Emitted when turns may have begun or ended."""
        return self._playback.changed

    @property
    def on(self) -> bool:
        """Whether there are turns: while a recording plays."""
        return self._playback.playing

    def _begin_step(self) -> None:
        """Leave the frame to the cells if frames without a step come between: the parts have these."""
        self._begun = thread_time()
        taken, self._rested = self._rested, False
        self._free = not taken
        self._reserved = self._waiting.pop(0) if self._waiting and not taken else None

    def _begin_rest(self) -> None:
        self._begun = thread_time()
        self._free = self._rested = True
        self._reserved = self._waiting.pop(0) if self._waiting else None

    @property
    def between(self) -> bool:
        """Whether it plays, and this frame has no new step."""
        return self.on and self._rested

    @property
    def spent(self) -> float:
        """The processor time of this thread since the frame began, in seconds."""
        return thread_time() - self._begun

    def may(self, part: Hashable, at_once: bool = False) -> bool:
        """Return whether a part may be drawn anew in this frame; if not, it is noted for one of the next frames.

        Parameters
        ----------
        part
            The part: the same object each time.
        at_once
            Whether it comes before the parts that are waiting: for a part that comes seldom.
        """
        if not self.on:
            return True
        if self._free and (at_once or self._reserved in (None, part)):
            self._free = False
            if part in self._waiting:
                self._waiting.remove(part)
            return True
        if part not in self._waiting:
            self._waiting.append(part)
        return False


class InTurn(QObject):
    """Calls a function when the frame is that of a view; at once if there are no turns, or if the view is not visible.

    Parameters
    ----------
    view
        The view that the function changes.
    call
        The function.
    at_once
        See `Turns.may`.

    Attributes
    ----------
    turns
        Distributes the frames; None: there are no turns.
    """

    def __init__(self, view: QWidget, call: Callable[[], object], at_once: bool = False) -> None:
        super().__init__(view)
        self.turns: Turns | None = None
        self._view, self._call, self._at_once = view, call, at_once
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_AGAIN_MS)
        self._timer.timeout.connect(self.ask)

    def ask(self) -> None:
        """Call the function now or in one of the next frames; of several requests until then, one call is made."""
        if self.turns is None or not self._view.isVisible() or self.turns.may(self, self._at_once):
            self._timer.stop()
            self._call()
        elif not self._timer.isActive():
            self._timer.start()
