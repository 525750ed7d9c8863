"""Guesses the description of files in a thread of its own: the window goes on meanwhile."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.control.event_loop import EventLoop

if TYPE_CHECKING:  # late: the window's first paint does not wait for modules that few files need
    from gemmviz.catalogue.guessing.cxx import Surroundings
    from gemmviz.catalogue.guessing.guessed_matter import Guess


@dataclass(frozen=True)
class GuessedFile:
    """A file without front matter, as it was read.

    Attributes
    ----------
    path, text
        The file.
    around
        The files around it.
    guess
        The guess of its front matter; its `entry` is empty if the file has no kernel.
    kernel
        The kernel by the guess; None if a point of the guess is missing or in doubt.
    """

    path: Path
    text: str
    around: "Surroundings"
    guess: "Guess"
    kernel: Kernel | None


def guess_file(path: Path, text: str) -> GuessedFile:
    """Guess the front matter of a file. None of its code runs.

    Parameters
    ----------
    path, text
        The file.
    """
    from gemmviz.backends.surroundings import surroundings
    from gemmviz.catalogue.guessing.guess import guess
    from gemmviz.catalogue.guessing.guessed_kernel import guessed_below

    around = surroundings(path, text)
    made = guess(text, path, around=around)
    kernel = None
    if made.entry and not made.doubts:
        with suppress(FrontMatterError):
            kernel = guessed_below(made)
    return GuessedFile(path, text, around, made, kernel)


_Give = Callable[[GuessedFile | Exception], None]


class GuessReader:
    """Guesses one file after the other, and gives each guess to a function in the loop's thread.

    Parameters
    ----------
    loop
        The event loop of the thread that asks.
    """

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._waiting: queue.SimpleQueue[tuple[Path, str, _Give] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._run = 0
        self._closed = False
        self.pending = 0
        """The number of files whose guess has not been given yet."""

    def read(self, path: Path, text: str, then: Callable[[GuessedFile], None]) -> None:
        """Guess a file after those that wait already; `then` gets the guess, unless `cancel` is called before.

        After `close` nothing is guessed.
        """
        if self._closed:
            return
        self.pending += 1
        run = self._run

        def give(made: GuessedFile | Exception) -> None:
            if run != self._run:
                return
            self.pending -= 1
            if isinstance(made, Exception):
                raise made
            then(made)

        self._waiting.put((path, text, give))
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="guesses", daemon=True)
            self._thread.start()

    def cancel(self) -> None:
        """Give no guess of the files that were asked about until now."""
        self._run += 1
        self.pending = 0

    def close(self) -> None:
        """Give no further guess, and end the thread after the guess that it is working on."""
        self.cancel()
        self._closed = True
        self._waiting.put(None)

    def _serve(self) -> None:
        while (item := self._waiting.get()) is not None:
            path, text, give = item
            try:
                made: GuessedFile | Exception = guess_file(path, text)
            except Exception as error:  # raised again in the loop's thread, where it is reported
                made = error
            self._loop.post(partial(give, made))
