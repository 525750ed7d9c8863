"""Predict mode: the audience guesses the next event before it is shown."""

from psygnal import Signal

from gemmviz.catalogue.lens_names import LensName
from gemmviz.session.cursor import Cursor
from gemmviz.session.inspection import Inspection
from gemmviz.session.lens_choice import LensChoice
from gemmviz.session.playback import Playback
from gemmviz.session.preferences import Preferences
from gemmviz.trace.quiz.question_kinds import Cell
from gemmviz.trace.quiz.questions import Question, question

_ABOUT: dict[LensName | None, tuple[str, ...]] = {"banks": ("bank", "cost"), "coalescing": ("cost",)}
"""The kinds of questions about a lens's picture."""


class Predict:
    """Makes a question about the event after the shown step, takes the answer, and then goes to the event's step.

    While the session plays, there is no question, because playing shows the next event.

    Parameters
    ----------
    cursor, playback
        The recording, and its playback.
    inspection
        The tabs: the tab *Warp* would show the next request.
    preferences
        The language of the question.
    lens
        The chosen lens: the questions are about its picture, if it shows banks or sectors.
    """

    changed = Signal()
    """The question, the answer, or its reveal."""

    def __init__(
        self,
        cursor: Cursor,
        playback: Playback,
        inspection: Inspection,
        preferences: Preferences,
        lens: LensChoice,
    ) -> None:
        self._cursor, self._playback, self._inspection, self._lens = cursor, playback, inspection, lens
        self.on = False
        self.question: Question | None = None
        """The question; None while the session plays, and if no suitable event follows."""
        self.chosen: int | None = None
        """The answer that was chosen, from 0."""
        self.revealed = False
        self.right = self.answered = 0
        """Counts since the mode was turned on. They are not kept."""
        self._seed = 0
        self._asked: tuple[int, int, int, Cell | None] = (0, 0, 0, None)
        cursor.recorded.connect(self._on_recorded)
        cursor.stepped.connect(self._on_stepped)
        playback.changed.connect(self._on_playback)
        cursor.picked.connect(self._on_picked)
        preferences.spoken.connect(self._on_spoken)

    def toggle(self) -> None:
        """Start the questions, with counts from 0, or end them."""
        self.on = not self.on
        if self.on:
            self.right = self.answered = 0
            self._playback.pause()
            # The inspector of a warp shows its next request.
            self._inspection.turn_to("source")
            self._ask()
        else:
            self._drop()

    def answer(self, index: int) -> None:
        """Choose an answer, from 0; another one may be chosen until it is revealed."""
        if self.question is not None and not self.revealed and 0 <= index < len(self.question.answers):
            self.chosen = index
            self.changed.emit()

    def reveal(self) -> None:
        """Go to the question's step and show the right answer; if it is shown already, make a new question."""
        if self.question is None:
            return
        if self.revealed:
            self._ask()
            return
        self.revealed = True
        if self.chosen is not None:
            self.answered += 1
            self.right += self.chosen == self.question.right
        self._playback.pause()
        self._cursor.seek(self.question.step)
        self.changed.emit()

    def _moment(self) -> tuple[int, int, int, Cell | None]:
        return self._cursor.step, self._cursor.shown_block, self._cursor.warp, self._cursor.cell

    def _ask(self) -> None:
        """Make a question about the next event."""
        self._seed += 1
        self._put()

    def _put(self) -> None:
        playable, self._asked = self._cursor.playable, self._moment()
        self.chosen, self.revealed = None, False
        self.question = self._question() if playable is not None and not self._playback.playing else None
        self.changed.emit()

    def _question(self) -> Question | None:
        playable = self._cursor.playable
        step, block, warp, cell = self._asked
        if playable is None:
            return None
        return question(playable, step, block, warp, self._seed, cell, _ABOUT.get(self._lens.name, ()))

    def _drop(self) -> None:
        self.question, self.chosen, self.revealed = None, None, False
        self.changed.emit()

    def _on_recorded(self) -> None:
        if self.on:
            self._ask()

    def _on_stepped(self) -> None:
        if not self.on or (self.revealed and self.question and self._cursor.step == self.question.step):
            return
        if not self._playback.playing:
            self._ask()
        elif self.question is not None:
            self._drop()

    def _on_playback(self) -> None:
        if not self.on:
            return
        if self._playback.playing:
            self._drop()
        elif self.question is None:
            self._ask()

    def _on_picked(self) -> None:
        """Make a question about another block or warp when it is chosen; a click on a cell alone makes no new one."""
        if self.on and not self.revealed and self._asked != self._moment():
            self._put()

    def _on_spoken(self) -> None:
        """Ask the same question in another language."""
        if self.on and self.question is not None:
            self.question = self._question()
            self.changed.emit()
