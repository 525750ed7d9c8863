"""The tables of the origin tab: put together row by row, when a row comes into sight."""

from abc import abstractmethod

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.origin.operand_paths import CellAccesses, OperandPaths
from gemmviz.trace.origin.value_path import Cell, Hop, PathStop, first_after, hop_at, touch_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.ui.inspect.inspector_text import block_text, cell_text, short_thread
from gemmviz.ui.stage.caption import BETWEEN, misread_text, number

_Index = QModelIndex | QPersistentModelIndex
FED = (
    mark("k"),
    mark("value"),
    mark("read by\nwarp:lane"),
    mark("read at\nstep:line"),
    mark("in shared\nmemory"),
    mark("written at\nstep:line"),
    mark("used at\nstep:line"),
)
TIPS = (
    mark("the place along K"),
    mark("the element of A or B, and its value"),
    mark("its reader from global memory: warp:lane; on a CPU the thread"),
    mark("step:line of that read"),
    mark("the cell of shared memory that it went to"),
    mark("step:line of that write"),
    mark("step:line at which the thread that multiplies it read it"),
)
TOUCHED = (mark("step"), mark("line"), mark("access"), mark("value"), mark("by"), mark("block"))


NOW = "▶"
"""Marks the rows with an access at the step that is shown."""


class LazyTable(QAbstractTableModel):
    """A table whose rows are made on demand."""

    def __init__(self, playable: Playable, headings: tuple[str, ...], rows: int) -> None:
        super().__init__()
        self.playable, self.headings, self._rows = playable, headings, rows
        self._made: tuple[int, tuple[str, ...]] | None = None
        self._now = -1

    @abstractmethod
    def texts(self, row: int) -> tuple[str, ...]:
        """Return the texts of a row, one per heading."""

    @abstractmethod
    def step(self, row: int, column: int) -> int:
        """Return the step that a cell of the table leads to."""

    @abstractmethod
    def is_now(self, row: int) -> bool:
        """Say whether a row has an access at the step that is shown."""

    def show_step(self, step: int) -> None:
        """Mark the rows of a step."""
        if step != self._now and self._rows:
            self._now, self._made = step, None
            self.dataChanged.emit(self.index(0, 0), self.index(self._rows - 1, 0))

    def hop(self, row: int) -> Hop | None:
        """Return the way that a row is about; None if it is about a single access."""
        return None

    def first_after(self, step: int) -> int:
        """Return the first row at a step or after it; -1 in an empty table."""
        return min(0, self._rows - 1)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """As many as there are."""
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """One per heading."""
        return 0 if parent.isValid() else len(self.headings)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell."""
        if role == Qt.ItemDataRole.DisplayRole:
            if self._made is None or self._made[0] != index.row():
                self._made = index.row(), self.texts(index.row())
            return self._made[1][index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr("Enter or a double-click: to this step")
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a heading."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return tr(self.headings[section])
        if role == Qt.ItemDataRole.ToolTipRole and self.headings is FED:
            return tr(TIPS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None


class OperandTable(LazyTable):
    """Every hop that fed an element of C.

    Parameters
    ----------
    playable, fed, target
        From the recording, for the element.
    """

    def __init__(self, playable: Playable, fed: OperandPaths, target: Cell) -> None:
        super().__init__(playable, FED, len(fed.use))
        self.fed, self.target = fed, target
        _, row, column = cell_name(playable.recording, target)
        self.misread = playable.provenance.stale_reads(fed, row, column).nonzero()[0]
        """The rows whose value was not read as it was copied."""

    def hop(self, row: int) -> Hop:
        """Return the hop of a row."""
        return hop_at(self.playable, self.fed, row, self.target)

    def texts(self, row: int) -> tuple[str, ...]:
        """Say where the value was, and when."""
        hop, recording = self.hop(row), self.playable.recording
        value = f"{cell_text(recording, hop.origin)} = {number(hop.read.value)}"
        if hop.misread:
            text = misread_text(hop.use.value, hop.read.value)
            value = f"{cell_text(recording, hop.origin)}{BETWEEN}✗ {text}"
        return (
            f"{NOW} {hop.k}" if self.is_now(row) else str(hop.k),
            value,
            _by(recording, hop.read.thread),
            _at(hop.read),
            cell_text(recording, hop.write.cell) if hop.write else "–",
            _at(hop.write) if hop.write else "–",
            _at(hop.use),
        )

    def is_now(self, row: int) -> bool:
        """Say whether the value is read, written or used at the step."""
        rows = (int(column[row]) for column in (self.fed.read, self.fed.write, self.fed.use))
        return any(at >= 0 and self.playable.timeline.step_of_row[at] == self._now for at in rows)

    def step(self, row: int, column: int) -> int:
        """Lead to the read, to the write to shared memory, or to the use."""
        hop = self.hop(row)
        if column in (4, 5) and hop.write is not None:
            return hop.write.step
        return hop.use.step if column >= 4 else hop.read.step

    def first_after(self, step: int) -> int:
        """Return the first hop that is used at a step or later."""
        return first_after(self.playable, self.fed, step)


class AccessTable(LazyTable):
    """Every access of a cell.

    Parameters
    ----------
    playable, touches, cell
        From the recording, for the cell.
    """

    def __init__(self, playable: Playable, touches: CellAccesses, cell: Cell) -> None:
        super().__init__(playable, TOUCHED, len(touches.rows))
        self.touches, self.cell = touches, cell

    def texts(self, row: int) -> tuple[str, ...]:
        """Say when the cell is touched, by whom."""
        stop, recording = touch_at(self.playable, self.touches, row, self.cell), self.playable.recording
        return (
            f"{NOW} {thousands(stop.step + 1)}" if self.is_now(row) else thousands(stop.step + 1),
            str(stop.line or "?"),
            tr("write") if self.touches.write[row] else tr("read"),
            number(stop.value),
            short_thread(recording, stop.thread),
            block_text(recording, stop.block),
        )

    def is_now(self, row: int) -> bool:
        """Say whether this is the access of the step."""
        return bool(self.touches.steps[row] == self._now)

    def step(self, row: int, column: int) -> int:
        """Lead to the access."""
        return int(self.touches.steps[row])

    def first_after(self, step: int) -> int:
        """Return the first access at a step or later."""
        count = len(self.touches.steps)
        return min(int(self.touches.steps.searchsorted(step)), count - 1)


def _at(stop: PathStop) -> str:
    return f"{thousands(stop.step + 1)}:{stop.line or '?'}"


def _by(recording: Recording, thread: int) -> str:
    return f"{thread // WARP}:{thread % WARP}" if recording.backend == "cuda" else str(thread)
