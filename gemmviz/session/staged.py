"""One stage: what is wanted on it, the recording that is on it, and how it is shown."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.catalogue.problem import Problem
from gemmviz.session.choice import Choice
from gemmviz.session.cursor import Cursor
from gemmviz.session.messages import Messages
from gemmviz.session.preferences import Preferences
from gemmviz.session.progress import Progress
from gemmviz.trace.playable import Playable


@dataclass(frozen=True)
class Staged:
    """What belongs to one stage: there is one, or two side by side.

    Attributes
    ----------
    choice
        What is wanted on it.
    cursor
        The recording that is on it, and the place in it.
    progress
        How far the recording of what is wanted is: ``"record"``.
    messages
        What is said about it.
    preferences
        How it is shown.
    trail
        Returns for how many steps an access glows.
    """

    choice: Choice
    cursor: Cursor
    progress: Progress
    messages: Messages
    preferences: Preferences
    trail: Callable[[], int]

    @property
    def outdated(self) -> bool:
        """Whether the picture is of another text, size, parameters or view than those that are chosen."""
        choice, playable = self.choice, self.cursor.playable
        return playable is not None and not is_of(
            playable, choice.text, choice.problem, choice.params, choice.as_written
        )

    @property
    def current(self) -> Playable | None:
        """The recording on the stage, if it is of what is chosen, in the chosen order of blocks."""
        playable = self.cursor.playable
        if playable is None or self.outdated or playable.timeline.order_by != self.choice.order:
            return None
        return playable


def is_of(playable: Playable, text: str, problem: Problem, params: dict[str, int], as_written: bool) -> bool:
    """Say whether a recording is of a text at a size with parameters, in a view."""
    recording = playable.recording
    size = Problem(recording.m, recording.n, recording.k)
    shown = recording.text, size, recording.params, recording.as_written
    return shown == (text, problem, params, as_written)
