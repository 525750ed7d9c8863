"""Records the kernel that the form describes, off the window's thread, to see whether C is right."""

import threading

from PySide6.QtCore import QObject, QThread, Signal

from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.engine.consent import Described
from gemmviz.engine.race_trials import race_trier
from gemmviz.engine.spending import Spending
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import device_trier, trier


class Trial(QThread):
    """One trial of a guess, whose text the user has allowed to run.

    Parameters
    ----------
    guess
        The guess to try.
    alternatives
        Whether to go on with guesses that are nearly as likely where the guess is wrong.
    """

    done = Signal(object)

    def __init__(self, guess: Guess, *, alternatives: bool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._guess, self._alternatives = guess, alternatives
        self._cancel = threading.Event()

    def stop(self) -> None:
        """Give up, and wait until the thread has ended."""
        self._cancel.set()
        self.wait()

    def run(self) -> None:
        """Try, and announce the outcome unless the trial was given up."""
        engine = Engine(Described(self._guess.path, self._guess.text))
        try:
            try_one, try_random = (trier(engine, self._cancel, random=random) for random in (False, True))
            settled = settle(
                self._guess,
                try_one,
                try_random=try_random,
                try_device=device_trier(engine, self._cancel),
                try_race=race_trier(engine, self._cancel),
                alternatives=self._alternatives,
                spent=Spending(engine),
            )
        finally:
            engine.close()
        if not self._cancel.is_set():
            self.done.emit(settled)
