"""Records the kernel that the form describes, off the window's thread, to see whether C is right."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QThread, Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
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
    first_at
        Sizes at which the guess is tried before: if it is right there, it is the outcome, and nothing else is tried.
    """

    done = Signal(object)

    def __init__(
        self, guess: Guess, *, alternatives: bool, first_at: Sequence[Problem] = (), parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._first_at = first_at
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
            if self._first_at and _is_right(self._guess, self._first_at, try_one):
                settled = replace(self._guess, right=True)
            else:
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


def _is_right(guess: Guess, sizes: Sequence[Problem], try_one: Callable[[Kernel, Problem], Verdict]) -> bool:
    """Return whether a guess is right at each of some sizes, but for those that the recorder refuses."""
    try:
        verdicts = [try_one(guessed_kernel(guess), size) for size in sizes]
    except GemmvizError:
        return False
    return all(not verdict or verdict.refused for verdict in verdicts)
