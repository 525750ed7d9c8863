"""The counters: what the recording has moved up to this step, and in all. All of it is *recorded*, not measured."""

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, QTimer
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QLabel, QSizePolicy, QTableView, QVBoxLayout, QWidget

from gemmviz.proving.proofs import proved_on
from gemmviz.proving.verdict import Compared
from gemmviz.session import Session
from gemmviz.trace.playable import Playable
from gemmviz.trace.wavefronts import SECTOR_BYTES
from gemmviz.ui.stage.caption import BETWEEN, thousands
from gemmviz.ui.theme import THEMES

HEADINGS = ("array", "reads", "writes", "bytes\nasked for", "warp\nrequests", "sectors or\nwavefronts")
TIPS = (
    "an array and the memory it is in; shared: of all blocks together",
    "accesses of single threads that read: up to this step / in all",
    "accesses of single threads that write: up to this step / in all",
    "bytes that the threads asked for: up to this step / in all",
    "warp requests: the lanes of one warp executing one access together (in all)",
    "global: 32-byte sectors moved; shared: wavefronts, without bank conflicts one per request of up to 4 bytes a lane "
    "(up to this step / in all)",
)
_REFRESH_MS = 100
_KIB_FROM = 10_000


def table(playable: Playable, step: int) -> list[tuple[str, ...]]:
    """Return the rows of the table at a step: one per array, as texts."""
    rows = []
    now = playable.traffic.running[step] if playable.timeline.steps else None
    cuda = playable.recording.backend == "cuda"
    for index, array in enumerate(playable.traffic.arrays):
        read, write = (now[index, way].tolist() for way in (0, 1)) if now is not None else ([0] * 3, [0] * 3)
        rows.append(
            (
                f"{array.name}  {array.space}" if cuda else array.name,
                _of(read[0], array.reads),
                _of(write[0], array.writes),
                _bytes(read[1] + write[1], array.read_bytes + array.write_bytes),
                # There are no warps on a CPU.
                thousands(array.read_requests + array.write_requests) if cuda else "–",
                _of(read[2] + write[2], array.read_units + array.write_units) if cuda else "–",
            )
        )
    return rows


def summary(playable: Playable, step: int) -> str:
    """Return the figures that belong to no single array."""
    traffic, cuda = playable.traffic, playable.recording.backend == "cuda"
    parts = []
    if cuda:
        now, total = (int(playable.moved_bytes[s]) if playable.timeline.steps else 0 for s in (step, -1))
        parts.append(f"global sectors {_of(now // SECTOR_BYTES, total // SECTOR_BYTES)}")
        if traffic.conflict_degree():
            conflicts = traffic.bank_conflicts()
            said = f"{thousands(conflicts)} bank conflicts" if conflicts else "no bank conflicts"
            parts.append(f"wavefronts per shared request {traffic.conflict_degree():.2f}: {said}")
        if traffic.tile_steps:
            parts.append(f"tile steps per block {traffic.tile_steps}")
    # Where bytes are counted twice, those that really move say more: the tip has both.
    crossing = [level for level in playable.levels.levels if level.intensity]
    shown = [level for level in crossing if not (cuda and level.name.endswith(", asked"))]
    if shown:
        named = (f"{level.name.removesuffix(', moved')} {level.intensity:.3g}" for level in shown)
        parts.append(f"FLOP/byte: {', '.join(named)}")
    used = [f"{a.name} {a.reuse:.3g}×" for a in playable.levels.arrays if a.reuse > 1]
    if used:
        parts.append(f"reuse: {', '.join(used)}")
    return BETWEEN.join(parts)


def explanation(playable: Playable) -> str:
    """Return what the summary's figures mean, with those that it leaves out."""
    levels = playable.levels
    crossing = [
        f"{level.name}: {thousands(level.bytes)} bytes, {level.intensity:.3g} FLOP/byte"
        for level in levels.levels
        if level.intensity
    ]
    arrays = [
        f"{a.name}: {thousands(a.asked_bytes)} bytes asked for, {thousands(a.loaded_bytes)} loaded, reuse {a.reuse:.3g}"
        for a in levels.arrays
    ]
    return "\n".join(
        [
            f"Recorded. Arithmetic intensity: {thousands(levels.flops)} FLOP (2 M N K) / the bytes that cross a level.",
            "Compulsory: each element that is used crosses once. Asked: what threads ask for. Moved: whole sectors of "
            "32 bytes, whole wavefronts of 128.",
            *crossing,
            "Reuse: bytes asked for / bytes loaded. Loaded: in global memory each element once, in shared memory what "
            "is written to it.",
            *arrays,
        ]
    )


def _of(now: int, total: int) -> str:
    return f"{thousands(now)} / {thousands(total)}"


def _bytes(now: int, total: int) -> str:
    if total < _KIB_FROM:
        return f"{_of(now, total)} B"
    return f"{thousands(round(now / 1024))} / {thousands(round(total / 1024))} KiB"


def proved(session: Session) -> tuple[str, str]:
    """Return where the chosen source was proved, in a few words, and all that was compared; empty where it was not."""
    for file in session.proofs:
        found = [proof for proof in file.of(session.kernel) if proof.holds]
        if found:
            where = f"source proved on {file.machine.gpu}"
            rows = [f"{proved_on(session.kernel, [file])}:"]
            for proof in found:
                rows.append(f"{proof.label} at {proof.size}: C is exact in the recording and on the GPU")
                rows += [f"    {c.what}: {_beside(c)}" for c in proof.compared]
            return where, "\n".join(rows)
    return "", ""


def _beside(compared: Compared) -> str:
    if compared.verdict == "equal":
        return f"{thousands(compared.measured)}, predicted and measured"
    adjusted = "" if compared.adjusted is None else f", with that {thousands(compared.adjusted)}"
    return (
        f"{thousands(compared.predicted)} predicted{adjusted}, {thousands(compared.measured)} measured: {compared.note}"
    )


class CounterModel(QAbstractTableModel):
    """The table as a Qt model."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.rows: list[tuple[str, ...]] = []

    def refresh(self, reset: bool) -> None:
        """Take the figures of the session's step."""
        playable = self._session.playable
        rows = table(playable, self._session.step) if playable else []
        if reset or len(rows) != len(self.rows):
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
        elif rows != self.rows:
            self.rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(HEADINGS) - 1))

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """One row per array."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """One column per heading."""
        return 0 if parent.isValid() else len(HEADINGS)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return text, alignment or colour of a cell."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if index.column() else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS[index.column()]
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(THEMES[self._session.theme].text)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a heading or its explanation."""
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignBottom
        return None


class Counters(QWidget):
    """The table and the line of totals, refreshed at most ten times a second.

    Parameters
    ----------
    session
        Whose recording to count.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = CounterModel(session)
        self.heading = QLabel()
        self.heading.setObjectName("heading")
        # The charts beside it must not give way to its text.
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.view = QTableView()
        self.view.setModel(self.model)
        self.view.setStyleSheet("font-size: 9pt;")
        self.view.setAccessibleName("Counters")
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(19)
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.view.horizontalHeader().setStretchLastSection(True)
        self.view.setSelectionMode(QTableView.SelectionMode.NoSelection)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.totals = QLabel()
        self.totals.setWordWrap(True)
        self.totals.setContentsMargins(8, 2, 8, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.heading)
        column.addWidget(self.view, 1)
        column.addWidget(self.totals)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        session.recorded.connect(self._on_recorded)
        session.stepped.connect(self._on_step)
        session.chosen.connect(self._on_chosen)
        session.referenced.connect(self._on_chosen)
        self._on_recorded()
        self._on_chosen()

    def _on_chosen(self) -> None:
        where, details = proved(self.session)
        mark = f"{BETWEEN}✓ {where}" if where else ""
        self.heading.setText(f"Counters: recorded, so far / in all{mark}")
        self.heading.setToolTip(details)

    def _on_recorded(self) -> None:
        self.model.refresh(reset=True)
        playable = self.session.playable
        self.totals.setToolTip(explanation(playable) if playable else "")
        self._fit_columns()
        self.refresh()

    def _fit_columns(self) -> None:
        """Make each column as wide as its last figures will be, so that nothing moves or is cut while playing."""
        playable, metrics = self.session.playable, self.view.fontMetrics()
        rows = [HEADINGS, *(table(playable, playable.timeline.steps - 1) if playable else ())]
        widths = [
            max(metrics.horizontalAdvance(line) for row in rows for line in row[column].split("\n")) + 7
            for column in range(len(HEADINGS))
        ]
        # Of the panel's own width: the table has its new one only after this. Room is left for its scroll bar.
        room = self.width() - 2 * self.view.frameWidth() - self.view.verticalScrollBar().sizeHint().width()
        spare = max(room - sum(widths) - 2, 0) // len(HEADINGS)
        for column, width in enumerate(widths[:-1]):  # the last one takes what is left
            self.view.setColumnWidth(column, width + spare)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out again."""
        super().resizeEvent(event)
        self._fit_columns()

    def _on_step(self) -> None:
        if not self.session.playing:
            self.refresh()
        elif not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Show the figures of the session's step now."""
        self.model.refresh(reset=False)
        playable = self.session.playable
        self.totals.setText(
            summary(playable, self.session.step) if playable else "Record a kernel to see what it reads and writes."
        )
