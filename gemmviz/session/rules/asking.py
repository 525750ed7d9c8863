"""Asks the questions of predict mode about the recording on the stage."""

from gemmviz.catalogue.lens_names import LensName
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.predict import Predict
from gemmviz.session.models.preferences import Preferences
from gemmviz.trace.quiz.question_kinds import Cell
from gemmviz.trace.quiz.questions import Question, question

_ABOUT: dict[LensName | None, tuple[str, ...]] = {"banks": ("bank", "cost"), "coalescing": ("cost",)}
"""The kinds of questions about a lens's picture."""


class Asking:
    """Makes a question about the event after the shown step, and goes to the event's step when the answer is revealed.

    While the session plays, there is no question, because playing shows the next event.

    Parameters
    ----------
    predict
        The question and its answer.
    cursor, playback
        The recording, and its playback.
    inspection
        The tabs: the tab *Warp* would show the next request.
    preferences
        The language of the question.
    lens
        The chosen lens: the questions are about its picture, if it shows banks or sectors.
    """

    def __init__(
        self,
        predict: Predict,
        cursor: Cursor,
        playback: Playback,
        inspection: Inspection,
        preferences: Preferences,
        lens: LensChoice,
    ) -> None:
        self._predict, self._cursor, self._playback = predict, cursor, playback
        self._inspection, self._lens = inspection, lens
        self._seed = 0
        self._asked: tuple[int, int, int, Cell | None] = (0, 0, 0, None)
        predict.toggled.connect(self._on_toggled)
        predict.wanted.connect(self._ask)
        predict.revealing.connect(self._on_revealing)
        cursor.recorded.connect(self._on_recorded)
        cursor.stepped.connect(self._on_stepped)
        playback.changed.connect(self._on_playback)
        cursor.picked.connect(self._on_picked)
        preferences.spoken.connect(self._on_spoken)

    def _on_toggled(self) -> None:
        if self._predict.on:
            self._playback.pause()
            # The inspector of a warp shows its next request.
            self._inspection.turn_to("source")
            self._ask()

    def _on_revealing(self, step: int) -> None:
        self._playback.pause()
        self._cursor.seek(step)

    def _moment(self) -> tuple[int, int, int, Cell | None]:
        return self._cursor.step, self._cursor.shown_block, self._cursor.warp, self._cursor.cell

    def _ask(self) -> None:
        """Make a question about the next event."""
        self._seed += 1
        self._put()

    def _put(self) -> None:
        self._asked = self._moment()
        self._predict.put(None if self._playback.playing else self._question())

    def _question(self) -> Question | None:
        playable = self._cursor.playable
        step, block, warp, cell = self._asked
        if playable is None:
            return None
        return question(playable, step, block, warp, self._seed, cell, _ABOUT.get(self._lens.name, ()))

    def _on_recorded(self) -> None:
        if self._predict.on:
            self._ask()

    def _on_stepped(self) -> None:
        predict = self._predict
        if not predict.on or (predict.revealed and predict.question and self._cursor.step == predict.question.step):
            return
        if not self._playback.playing:
            self._ask()
        elif predict.question is not None:
            predict.put(None)

    def _on_playback(self) -> None:
        if not self._predict.on:
            return
        if self._playback.playing:
            self._predict.put(None)
        elif self._predict.question is None:
            self._ask()

    def _on_picked(self) -> None:
        """Make a question about another block or warp when it is chosen; a click on a cell alone makes no new one."""
        if self._predict.on and not self._predict.revealed and self._asked != self._moment():
            self._put()

    def _on_spoken(self) -> None:
        """Ask the same question in another language."""
        if self._predict.on and self._predict.question is not None:
            self._predict.translate(self._question())
