"""Fillings of stages: the tiles of A and B that are in a stage one after another, each with its steps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gemmviz.trace.order.requests import Ints

State = Literal["arriving", "ready", "multiplied", "done"]
NEVER = np.iinfo(np.int64).max
"""The number of a step that does not exist."""


@dataclass(frozen=True)
class Filling:
    """One tile pair in one stage of a block; steps count from 0, and `NEVER` is none.

    Attributes
    ----------
    number, stage, lap
        Its index among the block's fillings, in the order in which they are requested; its stage; the number of earlier
        fillings of this stage.
    k, deep
        Its beginning and its depth along K.
    row, column
        The beginning of its tile of C: the first row of A, and the first column of B.
    high, wide
        The number of rows of A and of columns of B that it has; 0: it has none of that matrix.
    asked, arrived
        The first step that reads it from global memory, and the last one that writes it to shared memory.
    used
        Per agent (see `Stages`), the first and the last step that reads it from shared memory; empty if it is never
        read.
    freed
        The step after which it may be overwritten: according to its mbarrier, else the step after its last read.
    full, empty
        The mbarriers (indices into `Recording.barriers`) that signal that it has arrived, and that it was used; -1:
        none.
    """

    number: int
    stage: int
    lap: int
    k: int
    deep: int
    row: int
    column: int
    high: int
    wide: int
    asked: int
    arrived: int
    used: dict[int, tuple[int, int]]
    freed: int
    full: int
    empty: int

    @property
    def first_use(self) -> int:
        """The first step that reads it from shared memory."""
        return min((first for first, _ in self.used.values()), default=NEVER)

    @property
    def last_use(self) -> int:
        """The last step that reads it from shared memory."""
        return max((last for _, last in self.used.values()), default=NEVER)

    def state(self, step: int) -> State:
        """Return its state after a step, which is not before the step of its request.

        A tensor core may still multiply after the last read: the state is "multiplied" until the stage is released.
        """
        if step < self.arrived:
            return "arriving"
        if step < self.first_use:
            return "ready"
        return "multiplied" if step < (self.freed if self.freed < NEVER else self.last_use + 1) else "done"


@dataclass(frozen=True)
class Stages:
    """The stages of one block.

    Attributes
    ----------
    count
        The number of stages.
    fillings
        The fillings in the order in which they are requested.
    asking, using
        The agents that request tiles, and that read them: warpgroups by number, or only 0 if all threads of a block do
        the same.
    written
        int64, per filling ascending: steps at which bytes of it are written, and `bytes`, those bytes.
    """

    count: int
    fillings: tuple[Filling, ...]
    asking: tuple[int, ...]
    using: tuple[int, ...]
    written: tuple[tuple[Ints, Ints], ...]

    def held(self, step: int) -> list[Filling | None]:
        """Return the filling that each stage holds after a step, or that is in flight to it; None before the first."""
        found: list[Filling | None] = [None] * self.count
        for filling in self.fillings:
            if filling.asked <= step:
                found[filling.stage] = filling
        return found

    def arrived_bytes(self, filling: Filling, step: int) -> tuple[int, int]:
        """Return the number of bytes of a filling that are written after a step, and its total."""
        steps, so_far = self.written[filling.number]
        at = int(np.searchsorted(steps, step, side="right"))
        return int(so_far[at - 1]) if at else 0, int(so_far[-1])
