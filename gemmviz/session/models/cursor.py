"""The recording on the stage, and the current position in it: the step, the block, the warp, the cell."""

import numpy as np
from psygnal import Signal

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.stepping_units import UNITS, Unit, neighbour, possible, stations
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP

_ALMOST = 1 - 1e-9


class Cursor:
    """A recording, and a position in it."""

    arriving = Signal(object)
    """A new recording (`Playable`) will be on the stage soon; nothing has changed because of it yet."""
    recorded = Signal()
    shown = Signal()
    """A recording was put on the stage, and all listeners of the previous signal have run: go to a position in it
    now."""
    stepped = Signal()
    moved = Signal()
    """Playing has moved on between two steps."""
    picked = Signal()
    """The chosen block, warp or cell."""
    failed = Signal()
    """A recording has failed: see `failure`."""
    doubted = Signal()
    """`in_doubt` has changed."""
    unit_chosen = Signal()
    """The unit of the arrow keys, or the units that are possible now, have changed."""

    def __init__(self) -> None:
        self.playable: Playable | None = None
        self.failure: tuple[str, str] | None = None
        """The text whose recording failed or was cancelled last, and the kind of `gemmviz.engine.messages.Failed`;
        None after a success."""
        self.in_doubt = False
        """Whether other launches of the kernel are being tried: until they were, a wrong C, or a crash, need not be
        the fault of the kernel."""
        self.step = 0
        self.block = 0
        self.warp = 0
        self.cell: tuple[int, int] | None = None
        self.wanted_unit: Unit = "step"
        """The chosen one of `UNITS`, even if the recording does not have it; see `unit`."""
        self.position = 0.0
        """The position of playback, which may be between two steps: moving values follow it, cells change at whole
        steps."""
        self._found: dict[tuple[object, ...], Ints | None] = {}

    @property
    def fraction(self) -> float:
        """The position between the step and the next one, from 0 to less than 1."""
        return min(max(self.position - self.step, 0.0), _ALMOST)

    @property
    def steps(self) -> int:
        """Steps of the recording; 0 without one."""
        return self.playable.timeline.steps if self.playable else 0

    @property
    def line(self) -> int:
        """The source line that executes now; 0 if unknown."""
        return self.playable.line(self.step) if self.playable else 0

    @property
    def shown_block(self) -> int:
        """The block whose tiles are shown: the running block if blocks run one by one, unless a cell is picked."""
        return self.block_at(self.step)

    def block_at(self, step: int) -> int:
        """Return the block whose tiles are shown at a step, or at the last one: see `shown_block`."""
        if self.playable is None or self.cell is not None or self.playable.timeline.order_by != "block":
            return self.block
        rows = self.playable.timeline.rows(min(step, max(self.steps - 1, 0)))
        return int(self.playable.recording.accesses.block[rows[0]]) if len(rows) else self.block

    @property
    def warps(self) -> int:
        """Warps of a block; 0 without a recording, and on a CPU, which has none."""
        recording = self.playable.recording if self.playable else None
        return -(-recording.threads // WARP) if recording is not None and recording.backend == "cuda" else 0

    @property
    def threads(self) -> range:
        """The threads of the chosen warp; on a CPU all threads; none without a recording."""
        if self.playable is None:
            return range(0)
        threads = self.playable.recording.threads
        return range(self.warp * WARP, min((self.warp + 1) * WARP, threads)) if self.warps else range(threads)

    def show(self, playable: Playable | None) -> None:
        """Put a recording on the stage, at its first step."""
        self.playable = playable
        self.failure = None
        self.in_doubt = False
        self.block = self.warp = 0
        self.cell = None
        self.step = 0
        self.position = 0.0
        self._found.clear()
        self.recorded.emit()
        self.stepped.emit()
        self.unit_chosen.emit()
        self.shown.emit()

    def fail(self, text: str, kind: str) -> None:
        """Note that the recording of a text has failed: see `failure`."""
        self.failure = text, kind
        self.in_doubt = False
        self.failed.emit()

    def doubt(self, in_doubt: bool) -> None:
        """Set `in_doubt`."""
        if in_doubt != self.in_doubt:
            self.in_doubt = in_doubt
            self.doubted.emit()

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
        """Choose a warp of the chosen block; if it does not exist, the nearest one."""
        self.warp = int(np.clip(warp, 0, max(self.warps - 1, 0)))
        self.picked.emit()

    # Moving

    def seek(self, step: int, position: float | None = None) -> None:
        """Go to a step; for a step outside the recording, go to its nearest end.

        Parameters
        ----------
        step
            From 0.
        position
            The position of playback; None: the beginning of the step.
        """
        step = min(max(step, 0), max(self.steps - 1, 0))
        before, self.position = self.position, float(step) if position is None else position
        if step != self.step:
            self.step = step
            self.stepped.emit()
        elif self.position != before:
            self.moved.emit()

    def seek_phase(self, direction: int) -> None:
        """Go to the next phase (1), or back to the start of this phase or the previous one (-1)."""
        self.jump("phase", direction)

    def jump(self, unit: Unit, direction: int) -> bool:
        """Go to the start of the next unit (1), or back to the start of this unit or the previous one (-1).

        Parameters
        ----------
        unit
            One of `UNITS`.
        direction
            1 or -1.

        Returns
        -------
        bool
            Whether there is such a unit.
        """
        if unit not in self.units and unit != "phase":  # a recording without barriers has one phase
            return False
        begins = self.stations(unit)
        to = self.step + direction if begins is None else neighbour(begins, self.step, direction)
        if to is None:
            return False
        self.seek(to)
        return True

    # Units

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units that the recording has, for the chosen cell."""
        return tuple(u for u in UNITS if self.playable is not None and possible(self.playable, u, self.cell))

    @property
    def unit(self) -> Unit:
        """The unit of the arrow keys, one of `UNITS`: the chosen one if the recording has it, else the first."""
        return self.wanted_unit if self.wanted_unit in self.units else UNITS[0]

    def choose_unit(self, unit: Unit) -> None:
        """Choose one of `UNITS`."""
        self.wanted_unit = unit
        self.unit_chosen.emit()

    def next_unit(self, direction: int) -> None:
        """Choose the next (1) or the previous (-1) of the units that the recording has."""
        units = self.units
        if units:
            self.choose_unit(units[(units.index(self.unit) + direction) % len(units)])

    def stations(self, unit: Unit) -> Ints | None:
        """Return the steps at which a unit begins, for the current choice; None if every step begins a unit."""
        if self.playable is None:
            return None
        key: tuple[object, ...] = (unit,)
        if unit in ("request", "element"):
            # One result is kept: an arrow key that is held down needs the same one repeatedly.
            key = (unit, self.block, self.warp, self.cell)
            for other in [k for k in self._found if k[0] == unit and k != key]:
                del self._found[other]
        if key not in self._found:
            self._found[key] = stations(self.playable, unit, self.block, self.warp, self.cell)
        return self._found[key]
