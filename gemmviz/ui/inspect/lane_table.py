"""The table of a warp request: for each lane its thread, its element, and the bank or sector of it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.cost.wavefronts import BANK_BYTES, BANKS, SECTOR_BYTES
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.caption import index_text

_BEFORE = mark("lane"), mark("thread")
_SHARED, _GLOBAL = (mark("bank"), mark("wavefront")), (mark("byte"), mark("sector"))
"""Headings before and after the one of the element, which is the name of its array."""

Row = tuple[str, ...]


def lane_rows(playable: Playable, asked: WarpRequest) -> list[Row]:
    """Return a row per lane that takes part: lane, thread, element, then bank and wavefront, or first byte and sector.

    Parameters
    ----------
    playable
        The recording of the request.
    asked
        The request. Bytes and sectors are counted from the start of the array.
    """
    recording, info = playable.recording, playable.recording.arrays[asked.array]
    last, rows = asked.last_served(), list[Row]()
    for at, (lane, element) in enumerate(zip(asked.lane.tolist(), asked.element.tolist(), strict=True)):
        _, row, column = cell_name(recording, (asked.array, element))
        thread = index_text(recording.thread_index(asked.warp * WARP + lane))
        places = asked.place[asked.access == at].tolist()
        if asked.is_shared:
            ends = _range([place % BANKS for place in places]), str(int(last[at]) + 1)
        else:
            ends = thousands(element * info.itemsize), _range(places)
        rows.append((str(lane), thread, f"[{row}, {column}]", *ends))
    return rows


def formula(playable: Playable, asked: WarpRequest) -> str:
    """Say how the bank, or the sector, follows from the place of an element."""
    info = playable.recording.arrays[asked.array]
    if not asked.is_shared:
        return tr("sector = byte ÷ {bytes}, rounded down", bytes=SECTOR_BYTES)
    if info.itemsize != BANK_BYTES:
        return tr("bank = (byte ÷ {bytes}) mod {banks}", bytes=BANK_BYTES, banks=BANKS)
    if info.column_major:
        return tr("bank = (row + {rows} × column) mod {banks}", rows=info.grid[0], banks=BANKS)
    return tr("bank = ({columns} × row + column) mod {banks}", columns=info.grid[1], banks=BANKS)


def _range(places: list[int]) -> str:
    first, last = places[0], places[-1]
    return thousands(first) if first == last else f"{thousands(first)}–{thousands(last)}"


class LaneTable(QTableWidget):
    """Shows the lanes of a request; a click, or a move with the arrow keys, chooses a lane."""

    lane_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__(0, len(_BEFORE) + 1 + len(_SHARED))
        self._shown: tuple[object, ...] | None = None
        self._lanes: list[int] = []
        self.setAccessibleName(tr("From lane to bank or sector"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)  # Tab leads on, arrows choose
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setHighlightSections(False)
        self.currentCellChanged.connect(self._on_current)

    def show_request(self, playable: Playable, asked: WarpRequest, lane: int, theme: Theme) -> None:
        """Show the lanes of a request.

        Parameters
        ----------
        playable, asked
            The recording, and the request.
        lane
            The chosen lane: its row is selected.
        theme
            The colours: lanes of later wavefronts have the colour of waiting.
        """
        rows = lane_rows(playable, asked)
        key = tuple(rows), theme.name, asked.is_shared, asked.array
        self.blockSignals(True)
        if key != self._shown:
            self._shown = key
            name = playable.recording.arrays[asked.array].name
            ends = _SHARED if asked.is_shared else _GLOBAL
            self.setHorizontalHeaderLabels([*map(tr, _BEFORE), name, *map(tr, ends)])
            self._fill(rows, asked, theme)
        self._lanes = asked.lane.tolist()
        if lane in self._lanes:
            self.setCurrentCell(self._lanes.index(lane), 0)
        else:
            self.setCurrentCell(-1, -1)
        self.blockSignals(False)

    def _fill(self, rows: list[Row], asked: WarpRequest, theme: Theme) -> None:
        self.setRowCount(len(rows))
        high = self.fontMetrics().height() + 2
        bold = QFont(self.font())
        bold.setBold(True)
        for row, texts in enumerate(rows):
            self.setRowHeight(row, high)
            later = asked.is_shared and texts[-1] != "1"
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if later and column >= len(texts) - 2:
                    item.setForeground(QColor(theme.write))
                    item.setFont(bold)
                self.setItem(row, column, item)

    def forget(self) -> None:
        """Show no request."""
        self._shown = None
        self.setRowCount(0)

    def _on_current(self, row: int, *_: int) -> None:
        if 0 <= row < len(self._lanes):
            self.lane_chosen.emit(self._lanes[row])
