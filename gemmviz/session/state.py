"""What is chosen, playing and measured: observable, and without Qt, so that tests and scripts can drive it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.language import language, set_language
from gemmviz.session.choice import Choice
from gemmviz.session.comparison import Comparison
from gemmviz.session.findings import Findings
from gemmviz.session.frozen_warp import FrozenWarp
from gemmviz.session.inspection import Inspection
from gemmviz.session.permission import Permission
from gemmviz.session.playback import Playback
from gemmviz.session.predict import Predict
from gemmviz.session.preferences import TYPE_SCALES
from gemmviz.session.snapshot import Reopening
from gemmviz.session.tour.demonstration import Demonstration
from gemmviz.session.tour.stops import OwnStop, Tour
from gemmviz.session.trust import Trust
from gemmviz.session.tuning import Tuning
from gemmviz.trace.playable import Playable


@dataclass(frozen=True)
class Answer:
    """Something that a user can do about a message: what the button says, and what it does."""

    title: str
    act: Callable[[], object]


@dataclass(frozen=True)
class Message:
    """Something to tell the user: ``kind`` is ``"error"``, ``"warning"`` or ``"info"``; ``line`` as in the source.

    ``answers`` are what can be done about it. ``lasting``: it is not about the recording, so that a new one leaves it
    standing.
    ``source`` is the (file name, text) that `line` belongs to, where that is not the chosen kernel's.
    ``asks``: it stands until it is answered, whatever is typed meanwhile.
    """

    text: str
    kind: str = "error"
    line: int | None = None
    answers: tuple[Answer, ...] = ()
    lasting: bool = False
    source: tuple[str, str] | None = None
    asks: bool = False


class Session(Choice, Playback):
    """The state of one window.

    Every change is announced by a signal after it happened. What the stage shows is a pure function of
    (`playable`, `step`, `shown_block`, `cell`, `theme`).

    Parameters
    ----------
    kernels
        The ladder: what gemmviz brings, and may run.
    theme
        ``"dark"`` or ``"light"``.
    """

    themed = Signal()
    """Colours, size of type, or how much may move."""
    spoken = Signal()
    """The language: whoever shows texts shows them anew."""
    messaged = Signal()
    progressed = Signal(str)
    panel_wanted = Signal(str)
    """A tab of the inspector should be turned to."""

    def __init__(self, kernels: list[Kernel], theme: str = "dark") -> None:
        super().__init__(kernels)
        Playback.__init__(self)
        self.permission = Permission(self, Trust(kernels))
        self.findings = Findings()
        self.tuning = Tuning(self)
        self.protocol: dict[str, float] = {}
        self.theme = theme
        self.type_scale = 1.0
        self.message: Message | None = None
        self.progress: dict[str, tuple[str, float | None] | None] = {"record": None, "bench": None}
        self.tour = Tour(self)
        self.comparison = Comparison(self)
        self.predict = Predict(self)
        self.reopening = Reopening(self)
        self.demonstration = Demonstration(self)
        self.frozen_warp = FrozenWarp(self)
        self.inspection = Inspection(self)

    @property
    def trust(self) -> Trust:
        """What may run: every engine of the session is asked to keep to it."""
        return self.permission.trust

    # What is on the stage

    @property
    def outdated(self) -> bool:
        """Whether the picture is of another text, size, parameters or view than those that are chosen."""
        recording = self.playable.recording if self.playable else None
        if recording is None:
            return False
        size = Problem(recording.m, recording.n, recording.k)
        shown = recording.text, size, recording.params, recording.as_written
        return shown != (self.text, self.problem, self.params, self.as_written)

    def choose_kernel(
        self, kernel: Kernel, params: dict[str, int] | None = None, problem: Problem | None = None
    ) -> None:
        """Choose a rung as `Choice` does, and say what people should know of its file."""
        super().choose_kernel(kernel, params, problem)
        self._say_notes()

    def add_kernel(self, kernel: Kernel, on_file: str | None = None) -> None:
        """Put a kernel on the ladder as `Choice` does, and say what people should know of its file."""
        super().add_kernel(kernel, on_file)
        self._say_notes()

    def _say_notes(self) -> None:
        if self.kernel.notes:
            self.tell(Message("\n".join(self.kernel.notes), "warning", lasting=True))

    def show(self, playable: Playable | None) -> None:
        """Put a recording on the stage, at its first step, or at the stop of the tour that waits for it."""
        super().show(playable)
        self.tour.arrive()
        self.reopening.arrive()
        self.demonstration.arrive()

    def advance(self, seconds: float) -> None:
        """Let time pass: while playing, go on; where this recording has ended, the one beside may be on its way."""
        if not (self.playing and self.comparison.overtime(seconds)):
            super().advance(seconds)

    def step_by(self, count: int) -> None:
        """Stop, and go some steps on or back; from request to request of a warp that is frozen."""
        if not self.frozen_warp.step(count):
            super().step_by(count)

    def step_unit(self, direction: int) -> None:
        """Stop, and go to the next of the chosen units (1) or the last one (-1); a frozen warp goes by its requests."""
        if not self.frozen_warp.step(direction):
            super().step_unit(direction)

    def point_at(self, stop: OwnStop) -> None:
        """Go to a moment of the recording, with all that a stop there chooses."""
        self.seek(stop.step)
        self.pick(stop.cell, stop.block)
        if stop.warp is not None:
            self.choose_warp(stop.warp)
        if stop.lane is not None:
            self.inspection.choose_lane(stop.lane)
        if stop.panel is not None:
            self.wanted_panel(stop.panel)

    def wanted_panel(self, name: str) -> None:
        """Ask for a tab of the inspector: ``"counters"``, ``"warp"``, ``"thread"`` or ``"origin"``."""
        self.panel_wanted.emit(name)

    # How it is shown

    def set_theme(self, theme: str) -> None:
        """Choose ``"dark"`` or ``"light"``."""
        self.theme = theme
        self.themed.emit()

    def set_type_scale(self, scale: float) -> None:
        """Choose how large type is, relative to what the system asks for; within `TYPE_SCALES`."""
        self.type_scale = float(np.clip(scale, *TYPE_SCALES))
        self.themed.emit()

    def set_calm(self, calm: bool) -> None:
        """Let nothing glow longer than its step, and nothing move by itself but the playing recording."""
        self.calm = calm
        self.themed.emit()

    @property
    def language(self) -> str:
        """The code of the language that is spoken."""
        return language()

    def speak(self, code: str) -> None:
        """Choose one of `gemmviz.language.LANGUAGES`."""
        if code != language():
            set_language(code)
            self.spoken.emit()

    # What is said

    def tell(self, message: Message | None) -> None:
        """Show a message, or take the last one away (None)."""
        self.message = message
        self.messaged.emit()

    def set_progress(self, engine: str, progress: tuple[str, float | None] | None) -> None:
        """Say how far an engine (``"record"`` or ``"bench"``) is: (text, share or None); None when it is idle."""
        self.progress[engine] = progress
        self.progressed.emit(engine)
