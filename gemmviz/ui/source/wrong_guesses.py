"""Tries other launches of a file whose recording is wrong with the guessed one: the file need not be at fault."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.control.guess_reader import GuessedFile
from gemmviz.control.recording_notes import about
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.ui.connections import listen

if TYPE_CHECKING:  # late: few files need it
    from gemmviz.catalogue.guessing.guessed_matter import Guess
    from gemmviz.ui.source.describe_trial import Trial


class WrongGuesses:
    """Replaces a guess that was not tried, and makes C wrong, by one that recordings have confirmed.

    Parameters
    ----------
    window
        The window of the session.
    session
        The session with the kernels.
    """

    def __init__(self, window: QWidget, session: Session) -> None:
        self._window, self._session = window, session
        self._trial: Trial | None = None
        self._tried: tuple[Kernel, GuessedFile] | None = None
        listen(window, session.cursor.shown, self._on_shown)

    def stop(self) -> None:
        """Give up the trial that runs."""
        if self._trial is not None:
            self._trial.done.disconnect(self._on_tried)
            self._trial.stop()
            self._trial.deleteLater()
        self._trial = self._tried = None

    def _on_shown(self) -> None:
        kernel, playable = self._session.choice.kernel, self._session.cursor.playable
        guesses = self._session.guesses
        file = guesses.file(kernel)
        if playable is None or not playable.recording.wrong or playable.recording.text != kernel.text:
            return
        if not isinstance(file, GuessedFile) or file.guess.settled or guesses.outcome(kernel) is not None:
            return
        if self._tried is not None and self._tried[1] is file:
            return
        from gemmviz.ui.source.describe_trial import Trial

        self.stop()
        self._tried = kernel, file
        self._trial = Trial(file.guess, alternatives=True, parent=self._window)
        self._trial.done.connect(self._on_tried)
        self._trial.start()

    def _on_tried(self, settled: "Guess") -> None:
        if self._tried is None:
            return
        (kernel, file), choice = self._tried, self._session.choice
        self.stop()
        if self._session.guesses.file(kernel) is not file or choice.unsaved(kernel):
            return  # it was edited, or opened again, in the meantime
        if settled.right:
            with suppress(FrontMatterError):
                self._take(file, settled)
                return
        reasons = [str(flaw) for flaw in settled.flaws] or [settled.settled]
        self._session.guesses.note(kernel, "; ".join(reasons))
        playable = self._session.cursor.playable
        if playable is not None and choice.kernel is kernel and playable.recording.wrong:
            self._session.messages.tell(about(playable, self._session))

    def _take(self, file: GuessedFile, settled: "Guess") -> None:
        """Take another guess for a file's launch, and say so. Its code may run, as it has run already."""
        from gemmviz.catalogue.guessing.guessed_kernel import guessed_below

        session = self._session
        found = guessed_below(settled)
        session.permission.trust.allow_here(found.path, found.text)
        session.guesses.keep(found, replace(file, guess=settled, kernel=found), file.text)
        session.choice.renew(found)
        message = tr(
            "{file}: C was wrong with the launch that was guessed first, and is right with another one, which is "
            "shown below the text. The file stays as it is. {outcome}",
            file=found.path.name,
            outcome=settled.settled,
        )
        check = Answer(tr("Check the guess…"), session.guesses.asked.emit)
        session.messages.tell(Message(message, "info", answers=(check,), lasting=True))
