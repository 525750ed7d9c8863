"""What is chosen, playing and measured: observable, and without Qt, so that tests and scripts can drive it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.language import language, set_language
from gemmviz.session.choice import Choice
from gemmviz.session.found import Found
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording import WARP

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
# At speed 1 a recording should last about this long, but never crawl and never be too fast to follow.
_PLAY_SECONDS = 30.0
_SLOWEST, _FASTEST = 3.0, 120.0
_TRAIL = 4
_TYPE_SCALES = (0.5, 3.0)
# One trip of a CPU's inner loop reads A and B and touches C: a trail of K trips shows the row and the column it walks.
_ACCESSES_PER_TRIP = 3


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
    """

    text: str
    kind: str = "error"
    line: int | None = None
    answers: tuple[Answer, ...] = ()
    lasting: bool = False
    source: tuple[str, str] | None = None


class Session(Choice):
    """The state of one window.

    Every change is announced by a signal after it happened. What the stage shows is a pure function of
    (`playable`, `step`, `shown_block`, `cell`, `theme`).

    Parameters
    ----------
    kernels
        The ladder.
    theme
        ``"dark"`` or ``"light"``.
    """

    recorded = Signal()
    stepped = Signal()
    playback = Signal()
    """Playing, speed or loop."""
    picked = Signal()
    """The chosen block, warp or cell."""
    themed = Signal()
    """Colours, size of type, or how much may move."""
    spoken = Signal()
    """The language: whoever shows texts shows them anew."""
    messaged = Signal()
    progressed = Signal(str)

    def __init__(self, kernels: list[Kernel], theme: str = "dark") -> None:
        super().__init__(kernels)
        self.found = Found()
        self.protocol: dict[str, float] = {}
        self.playable: Playable | None = None
        self.step = 0
        self.playing = False
        self.speed = 1.0
        self.loop = True
        self.block = 0
        self.warp = 0
        self.cell: tuple[int, int] | None = None
        self.theme = theme
        self.type_scale = 1.0
        self.calm = False
        self.message: Message | None = None
        self.progress: dict[str, tuple[str, float | None] | None] = {"record": None, "bench": None}
        self._position = 0.0

    # What is on the stage

    @property
    def steps(self) -> int:
        """Steps of the recording; 0 without one."""
        return self.playable.timeline.steps if self.playable else 0

    @property
    def outdated(self) -> bool:
        """Whether the picture is of another text, size or parameters than those that are chosen."""
        recording = self.playable.recording if self.playable else None
        if recording is None:
            return False
        shown = recording.text, Problem(recording.m, recording.n, recording.k), recording.params
        return shown != (self.text, self.problem, self.params)

    @property
    def line(self) -> int:
        """The source line that executes now; 0 where unknown."""
        return self.playable.line(self.step) if self.playable else 0

    @property
    def shown_block(self) -> int:
        """The block whose tiles are shown: the one that plays when blocks go one by one, unless a cell is picked."""
        if self.playable is None or self.cell is not None or self.playable.timeline.order_by != "block":
            return self.block
        rows = self.playable.timeline.rows(self.step)
        return int(self.playable.recording.accesses.block[rows[0]]) if len(rows) else self.block

    def show(self, playable: Playable | None) -> None:
        """Put a recording on the stage, at its first step."""
        self.playable = playable
        self.block = self.warp = 0
        self.cell = None
        self.step = 0
        self._position = 0.0
        self.recorded.emit()
        self.stepped.emit()

    @property
    def rate(self) -> float:
        """Steps per second at the chosen speed."""
        # A CPU makes one access per step: hundreds of thousands, which nobody watches one by one.
        fastest = np.inf if self._is_loop else _FASTEST
        return self.speed * float(np.clip(self.steps / _PLAY_SECONDS, _SLOWEST, fastest))

    @property
    def _is_loop(self) -> bool:
        return self.playable is not None and self.playable.recording.backend != "cuda"

    @property
    def trail(self) -> int:
        """For how many steps an access glows: some, and always those that passed since the last picture."""
        if self.calm:
            return 1
        trip = _ACCESSES_PER_TRIP * self.playable.recording.k if self.playable and self._is_loop else 0
        return max(_TRAIL, trip, int(np.ceil(self.rate / 30)))

    def seek(self, step: int) -> None:
        """Go to a step; a step outside the recording means its nearest end."""
        step = int(np.clip(step, 0, max(self.steps - 1, 0)))
        self._position = float(step)
        if step != self.step:
            self.step = step
            self.stepped.emit()

    def step_by(self, count: int) -> None:
        """Stop, and go some steps on or back."""
        self.pause()
        self.seek(self.step + count)

    def seek_phase(self, direction: int) -> None:
        """Go to the next phase (1), or back to the start of this one or the last (-1)."""
        if self.playable:
            self.seek(self.playable.timeline.next_phase(self.step, direction))

    def seek_line(self, line: int) -> bool:
        """Go to the next step that executes a line of the source; False when none does."""
        if self.playable is None:
            return False
        sites = np.flatnonzero([s.line == line for s in self.playable.recording.sites])
        step = self.playable.timeline.next_on_line(self.step, sites)
        if step is None:
            return False
        self.pause()
        self.seek(step)
        return True

    def play(self) -> None:
        """Play; from the start, when at the end."""
        if not self.steps or self.playing:
            return
        if self.step >= self.steps - 1:
            self.seek(0)
        self.playing = True
        self.playback.emit()

    def pause(self) -> None:
        """Stop playing."""
        if self.playing:
            self.playing = False
            self.playback.emit()

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def set_speed(self, speed: float) -> None:
        """Choose the speed: one of `SPEEDS`."""
        self.speed = speed
        self.playback.emit()

    def faster(self, direction: int) -> None:
        """Choose the next higher (1) or lower (-1) speed."""
        at = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        self.set_speed(SPEEDS[int(np.clip(at + direction, 0, len(SPEEDS) - 1))])

    def set_loop(self, loop: bool) -> None:
        """Start again at the end, or stop there."""
        self.loop = loop
        self.playback.emit()

    def advance(self, seconds: float) -> None:
        """Let time pass: while playing, go on by as many steps as belong to it."""
        if not self.playing or not self.steps:
            return
        # After a stall the picture goes on where it was instead of leaping.
        position = self._position + min(seconds, 0.25) * self.rate
        if position >= self.steps:
            if not self.loop:
                self.seek(self.steps - 1)
                self.pause()
                return
            position %= self.steps
        step = int(position)
        if step != self.step:
            self.step = step
            self.stepped.emit()
        self._position = position

    def pick(self, cell: tuple[int, int] | None, block: int | None = None) -> None:
        """Choose a cell (array index, element in memory order) and, when given, a block."""
        self.cell = cell
        if block is not None and block >= 0:
            self.block = block
        self.picked.emit()

    @property
    def warps(self) -> int:
        """Warps of a block; 0 without a recording, and on a CPU, which has none."""
        recording = self.playable.recording if self.playable else None
        return -(-recording.threads // WARP) if recording is not None and recording.backend == "cuda" else 0

    def choose_warp(self, warp: int) -> None:
        """Choose a warp of the chosen block; one that does not exist means the nearest."""
        self.warp = int(np.clip(warp, 0, max(self.warps - 1, 0)))
        self.picked.emit()

    # How it is shown

    def set_theme(self, theme: str) -> None:
        """Choose ``"dark"`` or ``"light"``."""
        self.theme = theme
        self.themed.emit()

    def set_type_scale(self, scale: float) -> None:
        """Choose how large type is, relative to what the system asks for; within a half and three."""
        self.type_scale = float(np.clip(scale, *_TYPE_SCALES))
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
