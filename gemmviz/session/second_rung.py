"""The second rung: what the stage beside shows, a player like the session, but moved by it."""

from typing import TYPE_CHECKING

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.matrices import MATRICES, C
from gemmviz.catalogue.problem import Problem
from gemmviz.session.cursor import Cursor
from gemmviz.trace.playable import Playable

if TYPE_CHECKING:
    from gemmviz.session.state import Message, Session

Cell = tuple[int, int]
# An access glows from the last picture on; where a picture leaves out more accesses than these, the newest glow.
_MOST_GLOWING = 40_000
# The session's own trail may be that of a CPU loop, whose steps are single accesses.
_LONGEST_TRAIL = 64


class SecondRung(Cursor):
    """The rung on the second stage, and where it stands.

    Parameters
    ----------
    session
        Whose theme and size of type it shares.
    """

    themed = Signal()
    chosen = Signal()
    drafted = Signal()
    progressed = Signal(str)
    told = Signal()
    """What is said about it: `message`."""
    pointed = Signal()
    """Somebody chose a cell on its stage."""

    def __init__(self, session: "Session") -> None:
        super().__init__()
        self._session = session
        self.kernel: Kernel = session.base
        self.problem: Problem | None = None
        self.params: dict[str, int] = {}
        self.message: Message | None = None
        self.progress: dict[str, tuple[str, float | None] | None] = {"record": None}
        self._passed = 1
        session.themed.connect(self._on_themed)

    @property
    def base(self) -> Kernel:
        """The kernel itself: a text beside is never edited."""
        return self.kernel

    @property
    def text(self) -> str:
        """Its source."""
        return self.kernel.text

    @property
    def theme(self) -> str:
        """The session's."""
        return self._session.theme

    @property
    def type_scale(self) -> float:
        """The session's."""
        return self._session.type_scale

    @property
    def calm(self) -> bool:
        """The session's."""
        return self._session.calm

    @property
    def outdated(self) -> bool:
        """Whether the picture is of another text, size, parameters or view than those wanted."""
        return self.playable is not None and not self.is_of(self.kernel, self.problem, self.params)

    def is_of(self, kernel: Kernel, problem: Problem | None, params: dict[str, int]) -> bool:
        """Say whether its recording is of a kernel at a size with parameters, in the session's view."""
        recording = self.playable.recording if self.playable else None
        if recording is None:
            return False
        size = Problem(recording.m, recording.n, recording.k)
        shown = recording.text, size, recording.params, recording.as_written
        return shown == (kernel.text, problem, params, self._session.as_written)

    @property
    def trail(self) -> int:
        """For how many steps an access glows: since the last picture, as its steps may be far shorter than mine."""
        if self.playable is None or self.calm:
            return 1
        start = self.playable.timeline.start
        first = int(np.searchsorted(start, start[min(self.step + 1, len(start) - 1)] - _MOST_GLOWING))
        passed = self._passed if self._session.playing else 1  # a jump is no play
        return max(min(passed, self.step - first + 1), min(self._session.trail, _LONGEST_TRAIL))

    def want(self, kernel: Kernel, problem: Problem, params: dict[str, int]) -> None:
        """Choose what is to be recorded."""
        self.kernel, self.problem, self.params = kernel, problem, params
        self.chosen.emit()

    def show(self, playable: Playable | None) -> None:
        """Put a recording on the second stage, at its first step."""
        self._passed = 1
        super().show(playable)

    def seek(self, step: int) -> None:
        """Go to a step; a step outside the recording means its nearest end."""
        self._passed = max(step - self.step, 1)
        super().seek(step)

    def pick(self, cell: Cell | None, block: int | None = None) -> None:
        """Choose a cell (array index, element in memory order) and, when given, a block, as a click on its stage."""
        self.point(cell, block)
        self.pointed.emit()

    def point(self, cell: Cell | None, block: int | None = None) -> None:
        """Choose a cell without telling the other stage."""
        super().pick(cell, block)

    def tell(self, message: "Message | None") -> None:
        """Say something about it, or take the last word back (None)."""
        self.message = message
        self.told.emit()

    def set_progress(self, progress: tuple[str, float | None] | None) -> None:
        """Say how far its recording is: (text, share or None); None when nothing is recorded."""
        self.progress["record"] = progress
        self.progressed.emit("record")

    def _on_themed(self) -> None:
        self.themed.emit()


def same_cell(cell: Cell | None, here: Playable | None, there: Playable | None) -> tuple[Cell | None, int | None]:
    """Return the cell of another recording that is the same element of A, B or C, and the block that owns it there.

    (None, None) where there is none: shared arrays are each kernel's own, and matrices may differ in size.
    """
    if cell is None or here is None or there is None or cell[0] >= len(MATRICES):
        return None, None
    mine, other = here.recording.arrays[cell[0]], there.recording.arrays[cell[0]]
    if mine.shape != other.shape:
        return None, None
    row, column = (int(v[0]) for v in mine.cells(np.array([cell[1]])))
    rows, columns = other.grid
    element = column * rows + row if other.column_major else row * columns + column
    block = int(there.recording.owners[0][row, column]) if cell[0] == C else None
    return (cell[0], element), block
