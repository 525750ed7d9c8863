"""Which recording is on the stage, and where in it people are: the step, the block, the warp, the cell."""

import numpy as np
from psygnal import Signal

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.stepping_units import UNITS, Unit, neighbour, possible, stations
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP

_ALMOST = 1 - 1e-9


class Cursor:
    """A recording, and a place in it."""

    recorded = Signal()
    shown = Signal()
    """A recording was put on the stage, and everybody has taken note of it: it is time to go to a place in it."""
    stepped = Signal()
    moved = Signal()
    """Playing has gone on between two steps."""
    picked = Signal()
    """The chosen block, warp or cell."""
    unit_chosen = Signal()
    """How far the arrow keys step, or by which units that is possible now."""

    def __init__(self) -> None:
        self.playable: Playable | None = None
        self.failure: tuple[str, str] | None = None
        """The text whose recording failed last, and the kind of `gemmviz.engine.messages.Failed`; None: none since."""
        self.step = 0
        self.block = 0
        self.warp = 0
        self.cell: tuple[int, int] | None = None
        self.wanted_unit: Unit = "step"
        """The chosen one of `UNITS`, even if the recording does not have it; see `unit`."""
        self.position = 0.0
        """The position of playing, between two steps: moving values follow it, cells change at the next step."""
        self._found: dict[tuple[object, ...], Ints | None] = {}

    @property
    def fraction(self) -> float:
        """How far it is from the step to the next one, from 0 to less than 1."""
        return min(max(self.position - self.step, 0.0), _ALMOST)

    @property
    def steps(self) -> int:
        """Steps of the recording; 0 without one."""
        return self.playable.timeline.steps if self.playable else 0

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

    @property
    def warps(self) -> int:
        """Warps of a block; 0 without a recording, and on a CPU, which has none."""
        recording = self.playable.recording if self.playable else None
        return -(-recording.threads // WARP) if recording is not None and recording.backend == "cuda" else 0

    def show(self, playable: Playable | None) -> None:
        """Put a recording on the stage, at its first step."""
        self.playable = playable
        self.failure = None
        self.block = self.warp = 0
        self.cell = None
        self.step = 0
        self.position = 0.0
        self._found.clear()
        self.recorded.emit()
        self.stepped.emit()
        self.unit_chosen.emit()
        self.shown.emit()

    def pick(self, cell: tuple[int, int] | None, block: int | None = None) -> None:
        """Choose a cell (array index, element in memory order) and, when given, a block.

        If the recording does not have the cell, none is chosen; if it does not have the block, the block stays.
        """
        recording = self.playable.recording if self.playable else None
        if recording is not None and cell is not None:
            array, element = cell
            if not (0 <= array < len(recording.arrays) and 0 <= element < recording.arrays[array].size):
                cell = None
        self.cell = cell
        if block is not None and 0 <= block < (recording.blocks if recording is not None else block + 1):
            self.block = block
        self.picked.emit()
        self.unit_chosen.emit()

    def choose_warp(self, warp: int) -> None:
        """Choose a warp of the chosen block; one that does not exist means the nearest."""
        self.warp = int(np.clip(warp, 0, max(self.warps - 1, 0)))
        self.picked.emit()

    # Going

    def seek(self, step: int, position: float | None = None) -> None:
        """Go to a step; a step outside the recording means its nearest end.

        Parameters
        ----------
        step
            From 0.
        position
            The position of playing; None: the beginning of the step.
        """
        step = min(max(step, 0), max(self.steps - 1, 0))
        before, self.position = self.position, float(step) if position is None else position
        if step != self.step:
            self.step = step
            self.stepped.emit()
        elif self.position != before:
            self.moved.emit()

    def seek_phase(self, direction: int) -> None:
        """Go to the next phase (1), or back to the start of this one or the last (-1)."""
        self.jump("phase", direction)

    def jump(self, unit: Unit, direction: int) -> bool:
        """Go to where the next unit begins (1), or back to where this or the last one does (-1).

        Parameters
        ----------
        unit
            One of `UNITS`.
        direction
            1 or -1.

        Returns
        -------
        bool
            Whether there is one.
        """
        if unit not in self.units and unit != "phase":  # the ends of a phase are there without barriers, too
            return False
        begins = self.stations(unit)
        to = self.step + direction if begins is None else neighbour(begins, self.step, direction)
        if to is None:
            return False
        self.seek(to)
        return True

    # By which unit

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units that the recording has, for the chosen cell."""
        return tuple(u for u in UNITS if self.playable is not None and possible(self.playable, u, self.cell))

    @property
    def unit(self) -> Unit:
        """The one of `UNITS` by which the arrow keys step: the chosen one if the recording has it, else the first."""
        return self.wanted_unit if self.wanted_unit in self.units else UNITS[0]

    def choose_unit(self, unit: Unit) -> None:
        """Choose one of `UNITS`."""
        self.wanted_unit = unit
        self.unit_chosen.emit()

    def next_unit(self, direction: int) -> None:
        """Choose the next (1) or the last (-1) of the units that the recording has."""
        units = self.units
        if units:
            self.choose_unit(units[(units.index(self.unit) + direction) % len(units)])

    def stations(self, unit: Unit) -> Ints | None:
        """Return the steps at which a unit begins, for the present choice; None if every step begins one."""
        if self.playable is None:
            return None
        key: tuple[object, ...] = (unit,)
        if unit in ("request", "element"):
            # One result at a time is kept: a held arrow key needs the same one again and again.
            key = (unit, self.block, self.warp, self.cell)
            for other in [k for k in self._found if k[0] == unit and k != key]:
                del self._found[other]
        if key not in self._found:
            self._found[key] = stations(self.playable, unit, self.block, self.warp, self.cell)
        return self._found[key]
