"""One stage: its choice, its recording, and its settings."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.catalogue.problem import Problem
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.messages import Messages
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.models.progress import Progress
from gemmviz.trace.motion.gestures import Motion
from gemmviz.trace.playable import Playable


@dataclass(frozen=True)
class Staged:
    """The parts of one stage: there are one or two stages side by side.

    Attributes
    ----------
    choice
        The kernel, size and parameters to show.
    cursor
        The recording on the stage, and the place in it.
    progress
        The progress of the chosen recording: ``"record"``.
    messages
        Messages about the recording.
    preferences
        The display settings.
    trail
        Returns the number of steps for which an access glows.
    motion
        Returns the detail of gestures.
    idea
        Returns the caption at the moment of a demo: the kernel's idea; empty elsewhere.
    """

    choice: Choice
    cursor: Cursor
    progress: Progress
    messages: Messages
    preferences: Preferences
    trail: Callable[[], int]
    motion: Callable[[], Motion]
    idea: Callable[[], str] = str

    @property
    def outdated(self) -> bool:
        """Whether the picture has another text, size, parameters or view than the chosen ones."""
        choice, playable = self.choice, self.cursor.playable
        return playable is not None and not is_of(
            playable, choice.text, choice.problem, choice.params, choice.as_written
        )

    @property
    def current(self) -> Playable | None:
        """The recording on the stage, if it belongs to the current choice, in the chosen order of blocks."""
        playable = self.cursor.playable
        if playable is None or self.outdated or playable.timeline.order_by != self.choice.order:
            return None
        return playable


def is_of(playable: Playable, text: str, problem: Problem, params: dict[str, int], as_written: bool) -> bool:
    """Return whether a recording has this text, size, parameters and view."""
    recording = playable.recording
    size = Problem(recording.m, recording.n, recording.k)
    shown = recording.text, size, recording.params, recording.as_written
    return shown == (text, problem, params, as_written)
