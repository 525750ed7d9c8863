"""Tries a guessed launch that says little: C is wrong with it, or it crashes, or it is right at equal sizes only."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.trial_sizes import less_equal_sizes
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.control.guess_reader import GuessedFile
from gemmviz.language import mark, tr, trn
from gemmviz.session import Answer, Message, Session
from gemmviz.session.models.cursor import Cursor
from gemmviz.ui.connections import listen

if TYPE_CHECKING:  # late: few files need it
    from gemmviz.catalogue.guessing.guessed_matter import Guess
    from gemmviz.ui.source.describe_trial import Trial


class WrongGuesses:
    """Replaces a guess that was not tried, and makes C wrong or crashes, by one that recordings have confirmed.

    Where C is right and two of M, N and K are equal, the guess is tried at sizes that differ: a launch that exchanges M
    and N is right at equal sizes, too. Meanwhile, `Cursor.in_doubt` is set.

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
        self._right_here: Problem | None = None
        listen(window, session.cursor.shown, self._begin)
        listen(window, session.cursor.failed, self._begin)
        self._begin()  # in a second window, as after a change of the language

    def stop(self) -> None:
        """Give up the trial that runs."""
        self.close()
        self._session.cursor.doubt(False)

    def close(self) -> None:
        """Give up the trial that runs, as another window goes on with its own."""
        if self._trial is not None:
            self._trial.done.disconnect(self._on_tried)
            self._trial.stop()
            self._trial.deleteLater()
        self._trial = self._tried = None

    def _begin(self) -> None:
        kernel, guesses = self._session.choice.kernel, self._session.guesses
        file = guesses.file(kernel)
        if not isinstance(file, GuessedFile):
            return
        if file.guess.right:
            guesses.confirm(kernel.path, kernel.text)
        if file.guess.settled or guesses.outcome(kernel) is not None:
            return
        cursor, sizes = self._session.cursor, list[Problem]()
        if not _speaks_against(kernel, cursor):
            if cursor.playable is None or cursor.playable.recording.text != kernel.text or guesses.is_confirmed(kernel):
                return
            recording = cursor.playable.recording
            here = Problem(recording.m, recording.n, recording.k)
            sizes = less_equal_sizes(kernel, here)
            if not sizes:
                return
        if self._tried is not None and self._tried[1] is file:
            self._session.cursor.doubt(True)
            return
        from gemmviz.ui.source.describe_trial import Trial

        self.stop()
        self._tried = kernel, file
        self._right_here = here if sizes else None
        self._trial = Trial(file.guess, alternatives=True, first_at=sizes, parent=self._window)
        self._trial.done.connect(self._on_tried)
        self._trial.start()
        self._session.cursor.doubt(True)

    def _on_tried(self, settled: "Guess") -> None:
        if self._tried is None:
            return
        (kernel, file), choice = self._tried, self._session.choice
        here = self._right_here
        self.close()
        if self._session.guesses.file(kernel) is file and settled.right and not settled.settled:
            self._session.guesses.confirm(kernel.path, kernel.text)
        self._session.cursor.doubt(False)
        if self._session.guesses.file(kernel) is not file or choice.unsaved(kernel) or not settled.settled:
            return  # it was edited, or opened again, in the meantime; or there is nothing to say
        if settled.right and settled.front_matter() == file.guess.front_matter():
            reason = tr("Its launch was guessed, and is right at other sizes: {reason}", reason=settled.settled)
            self._session.guesses.note(kernel, reason)
            return
        if settled.right:
            with suppress(FrontMatterError):
                self._take(file, settled, here)
                return
        reasons = "; ".join([str(flaw) for flaw in settled.flaws] or [settled.settled])
        text = tr("Its launch was guessed, and no other one that was tried is right: {reason}", reason=reasons)
        if settled.wrong_itself:
            text = tr("The launch is the file's own, so the fault is in the kernel: {reason}", reason=reasons)
        self._session.guesses.note(kernel, text)
        if here is not None:
            template = mark("{file}: C is right at {size}, but not where M, N and K differ. {reason}")
            self._tell(tr(template, file=kernel.path.name, size=here, reason=text), "warning")

    def _tell(self, text: str, kind: str) -> None:
        check = Answer(tr("Check the guess…"), self._session.guesses.asked.emit)
        self._session.messages.tell(Message(text, kind, answers=(check,), lasting=True))

    def _take(self, file: GuessedFile, settled: "Guess", here: Problem | None) -> None:
        """Take another guess for a file's launch, and say so. Its code may run, as it has run already."""
        from gemmviz.catalogue.guessing.guessed_kernel import guessed_below

        session = self._session
        found = guessed_below(settled)
        session.permission.trust.allow_here(found.path, found.text)
        session.guesses.keep(found, replace(file, guess=settled, kernel=found), file.text)
        session.choice.renew(found)
        if here is not None and _is_one_launch(settled, file.guess):
            message = tr(
                "{file}: with the launch that was guessed, C is right at some sizes only. The description below the "
                "text names them now. The file stays as it is. {outcome}",
                file=found.path.name,
                outcome=settled.settled,
            )
        else:
            message = tr(
                "{file}: the launch that was guessed first is not right, and another one is, which is shown below the "
                "text. The file stays as it is. {outcome}",
                file=found.path.name,
                outcome=settled.settled,
            )
        self._tell("\n".join(filter(None, (by_columns(found), message))), "info")


def _is_one_launch(one: "Guess", other: "Guess") -> bool:
    """Return whether two guesses differ at most in the sizes that they take."""
    return (one.roles, one.block, one.grid, one.column_major) == (
        *(other.roles, other.block, other.grid, other.column_major),
    )


def by_columns(kernel: Kernel) -> str:
    """Say which matrices a guess takes to be stored by columns: so it is right for a mistake in an index, too."""
    matrices = sorted(kernel.column_major)
    if not matrices:
        return ""
    return trn(
        "The kernel reads {matrices} as a matrix that is stored by columns. If yours is stored by rows, C is wrong.",
        "The kernel reads {matrices} as matrices that are stored by columns. If yours are stored by rows, C is wrong.",
        len(matrices),
        matrices=", ".join(matrices),
    )


def _speaks_against(kernel: Kernel, cursor: Cursor) -> bool:
    """Return whether the last recording of a kernel's text is wrong, or did not come to its end."""
    if cursor.failure is not None:
        text, kind = cursor.failure
        return text == kernel.text and kind in ("crash", "timeout")
    playable = cursor.playable
    return playable is not None and bool(playable.recording.wrong) and playable.recording.text == kernel.text
