"""A film that is made while the window goes on: frames are drawn between its events, and encoded in a thread."""

import queue
import threading
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from gemmviz.session.atomic_file import AtomicFile
from gemmviz.session.values.film import Film
from gemmviz.trace.playable import Playable
from gemmviz.ui.export.films import moments, open_writer, samples
from gemmviz.ui.export.frames import Frames, Look, Pixels, pixels
from gemmviz.ui.stage.moment import Moment

_TICK_MS = 10
_AHEAD = 8


class _Cancelled(Exception):
    """The film was cancelled."""


class FilmJob(QObject):
    """Makes one film.

    Parameters
    ----------
    playable
        The recording to draw.
    film
        Which steps.
    look
        Size, theme and size of type.
    moment
        The choice: all that stays.
    path
        The file; its suffix says the format.
    parent
        Its owner.

    Raises
    ------
    GemmvizError
        When the file cannot be written.
    """

    progressed = Signal(int, int)
    """Frames that are drawn, and of how many."""
    finished = Signal()
    """The file stands in its place."""
    failed = Signal(str)
    """No file was written, and why."""

    def __init__(self, playable: Playable, film: Film, look: Look, moment: Moment, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._film, self._look, self._kind = film, look, path.suffix.lower()
        self._frames = Frames(playable, look)
        self._shown = moments(playable, film, moment)
        self._samples = samples(self._shown) if self._kind == ".gif" else []
        self._todo = [*self._samples, *self._shown]
        self._drawn = 0
        self._file = AtomicFile(path)
        self._queue: queue.Queue[Pixels | None] = queue.Queue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._encode, name="encodes", daemon=True)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin."""
        self._thread.start()
        self._timer.start()

    def cancel(self) -> None:
        """Stop, and leave no file; once it is finished this does nothing."""
        if not self._timer.isActive():
            return
        self._timer.stop()
        self._stop_thread()
        self._file.drop()

    def _tick(self) -> None:
        """Draw one frame, unless the encoder is behind."""
        if self._error is not None:
            self._timer.stop()
            self._thread.join()
            self._file.drop()
            self.failed.emit(str(self._error))
        elif self._drawn < len(self._todo):
            if self._queue.qsize() < _AHEAD:
                self._queue.put(pixels(self._frames.image(self._todo[self._drawn])))
                self._drawn += 1
                self.progressed.emit(self._drawn, len(self._todo))
        elif not self._thread.is_alive():
            self._timer.stop()
            self._keep()

    def _keep(self) -> None:
        try:
            self._file.keep()
        except Exception as error:
            self.failed.emit(str(error))
            return
        self.finished.emit()

    def _stop_thread(self) -> None:
        # Never wait here: the encoder may take the last frame at any moment.
        with suppress(queue.Empty):
            while True:
                self._queue.get_nowait()
        self._queue.put(None)
        self._thread.join()

    def _encode(self) -> None:
        """Encode the drawn frames (in the thread)."""
        writer = None
        try:
            sampled = [self._next() for _ in self._samples]
            writer = open_writer(self._kind, self._file.part, self._look.size, self._film.fps, sampled)
            for seconds in self._film.durations():
                writer.add(self._next(), seconds)
            writer.close()
        except Exception as error:
            if writer is not None:
                writer.abandon()
            # Whatever goes wrong here must end as a message, not as a dead thread.
            self._error = None if isinstance(error, _Cancelled) else error

    def _next(self) -> Pixels:
        frame = self._queue.get()
        if frame is None:
            raise _Cancelled
        return frame
