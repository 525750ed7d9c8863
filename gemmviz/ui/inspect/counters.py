"""The counters: the traffic of the recording up to this step, and in all: *recorded*.

The texts below the table are in `gemmviz.ui.inspect.counter_text`.
"""

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QLabel, QScrollArea, QTableView, QVBoxLayout, QWidget

from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.session.values.kernel_names import no_source
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.counter_text import compared, explanation, occupied, of, proved, summary, timed
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.caption import BETWEEN

HEADINGS = (
    mark("so far /\nin all"),
    mark("reads"),
    mark("writes"),
    mark("bytes\nasked for"),
    mark("warp\nrequests"),
    mark("sectors or\nwavefronts"),
)
TIPS = (
    mark("an array and the memory it is in; shared: of all blocks together"),
    mark("accesses of single threads that read: up to this step / in all"),
    mark("accesses of single threads that write: up to this step / in all"),
    mark("bytes that the threads asked for: up to this step / in all"),
    mark("warp requests: the lanes of one warp executing one access together (in all)"),
    mark(
        "global: 32-byte sectors moved; shared: wavefronts, without bank conflicts one per request of up to 4 bytes a "
        "lane (up to this step / in all)"
    ),
)
_SPACES = {"global": mark("global"), "shared": mark("shared")}
_REFRESH_MS = 100
_KIB_FROM = 10_000
_OF, _OF_STACKED = " / ", "\n/ "
# Sizes of type at a scale of 1, the first one that fits; larger type gives way rather than be cut.
_POINTS, _LEAST_PT = (9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0), 7.5
_PADDING, _HEADING_PADDING = 9, 12
_LEAST_ROWS = 3  # of the table: the proved counters do not take their room


def table(playable: Playable, step: int) -> list[tuple[str, ...]]:
    """Return the rows of the table at a step: one per array, as texts."""
    rows: list[tuple[str, ...]] = []
    now = playable.traffic.running[step] if playable.timeline.steps else None
    cuda = playable.recording.backend == "cuda"
    for index, array in enumerate(playable.traffic.arrays):
        read, write = (now[index, way].tolist() for way in (0, 1)) if now is not None else ([0] * 3, [0] * 3)
        rows.append(
            (
                f"{array.name}  {tr(_SPACES[array.space])}" if cuda else array.name,
                of(read[0], array.reads),
                of(write[0], array.writes),
                _bytes(read[1] + write[1], array.read_bytes + array.write_bytes),
                # There are no warps on a CPU.
                thousands(array.read_requests + array.write_requests) if cuda else "–",
                of(read[2] + write[2], array.read_units + array.write_units) if cuda else "–",
            )
        )
    return rows


def _bytes(now: int, total: int) -> str:
    if total < _KIB_FROM:
        return f"{of(now, total)} B"
    return f"{thousands(round(now / 1024))} / {thousands(round(total / 1024))} KiB"


class CounterModel(QAbstractTableModel):
    """The table as a Qt model."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.rows: list[tuple[str, ...]] = []
        self.stacked = False
        """Whether "so far" stands above "in all": where the columns are narrow."""

    def refresh(self, reset: bool) -> None:
        """Take the figures of the session's step."""
        playable = self._session.cursor.playable
        rows = table(playable, self._session.cursor.step) if playable else []
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
            text = self.rows[index.row()][index.column()]
            return text.replace(_OF, _OF_STACKED) if self.stacked and index.column() else text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if index.column() else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(TIPS[index.column()])
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(THEMES[self._session.preferences.theme].text)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a heading or its explanation."""
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(HEADINGS[section])
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(TIPS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignBottom
        return None


class Counters(QWidget):
    """The table and the line of totals, refreshed at most ten times a second.

    Parameters
    ----------
    session
        The session with the recording to count.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = CounterModel(session)
        self.heading = QLabel()
        self.heading.setObjectName("heading")
        self.view = QTableView()
        self.view.setModel(self.model)
        self.view.setAccessibleName(tr("Counters"))
        self.view.verticalHeader().hide()
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.view.setSelectionMode(QTableView.SelectionMode.NoSelection)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.totals = QLabel()
        self.totals.setWordWrap(True)
        self.totals.setContentsMargins(8, 2, 8, 4)
        self.totals.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.below = QLabel()
        self.below.setWordWrap(True)
        self.below.setContentsMargins(8, 2, 8, 4)
        self.below.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.below.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.heading)
        column.addWidget(self.view, 1)
        self.totals_area = QScrollArea()
        self.totals_area.setWidget(self.totals)
        self.totals_area.setWidgetResizable(True)
        self.totals_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.totals_area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.totals_area.setAccessibleName(tr("Totals"))
        column.addWidget(self.totals_area)
        column.addWidget(self.below)
        column.addStretch()
        self._known: list[str] = []
        self._made_of = self._explained = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        listen(self, session.cursor.recorded, self._on_recorded)
        listen(self, session.cursor.stepped, self._on_step)
        listen(self, session.choice.chosen, self._on_chosen)
        listen(self, session.preferences.themed, self._fit_columns)
        for signal in (session.results.referenced, session.results.measured, session.results.device_changed):
            listen(self, signal, self._on_chosen)
        self._on_recorded()

    def _on_chosen(self, *_: object) -> None:
        # An older recording is still shown: the panel gives no figures of the kernel that is chosen now.
        known, playable = not self.session.staged.outdated, self.session.cursor.playable
        # A GPU runs compiled code: counters of the text as written have no counterpart.
        as_compiled = known and not self.session.choice.as_written
        where, details = proved(self.session) if as_compiled else ("", "")
        view = tr("recorded {view}", view=tr(playable.recording.view)) if playable else tr("recorded")
        self.heading.setText(BETWEEN.join([view, *([where] if where else [])]))
        self.heading.setToolTip(details)
        text, lines = compared(self.session) if as_compiled else ("", "")
        held, made_of = occupied(self.session) if known else ("", "")
        self._known = [part for part in (held, text) if part]
        self._made_of = made_of
        figure = timed(self.session) if known else ""
        self.below.setText("\n".join(part for part in (figure, lines) if part))
        self._give_room()
        self.refresh()

    def _give_room(self) -> None:
        """Give the measured figure and each proved counter a line below the totals, where there is room."""
        left = self.height() - self.below.heightForWidth(self.width())
        rows = self.view.horizontalHeader().height() + _LEAST_ROWS * self.view.verticalHeader().defaultSectionSize()
        self.below.setVisible(bool(self.below.text()) and left >= rows)
        # The totals are scrolled where they would take more than half of the panel.
        frame = 2 * self.totals_area.frameWidth()
        wanted = self.totals.heightForWidth(max(self.width() - frame, 1))
        lowest = self.totals.fontMetrics().height()
        self.totals_area.setFixedHeight(max(min(wanted, self.height() // 2), lowest) + frame)

    def _on_recorded(self) -> None:
        self.model.refresh(reset=True)
        playable = self.session.cursor.playable
        self._explained = explanation(playable) if playable else ""
        self._fit_columns()
        self._on_chosen()  # the recording's block goes into its occupancy

    def _fit_columns(self) -> None:
        """Make each column as wide as its last figures will be, so that nothing moves or is cut while playing."""
        playable = self.session.cursor.playable
        rows = table(playable, playable.timeline.steps - 1) if playable else []
        # Of the panel's own width: the table has its new one only after this. Room is left for its scroll bar.
        room = self.width() - 2 * self.view.frameWidth() - self.view.verticalScrollBar().sizeHint().width() - 2
        font = QFont(self.view.font())
        heads = [tr(heading) for heading in HEADINGS]
        # Where all type is small, the largest of these is.
        sizes = [p for p in _POINTS if scaled(p) >= _LEAST_PT] or _POINTS[:1]
        for points, stacked in [(sizes[0], False), (sizes[0], True), *((p, True) for p in sizes[1:])]:
            font.setPointSizeF(scaled(points))
            metrics = QFontMetrics(font)
            lines = [[cell.split(_OF) if stacked and at else [cell] for at, cell in enumerate(row)] for row in rows]
            widths = [
                max(
                    *(metrics.horizontalAdvance(line) + _HEADING_PADDING for line in heads[column].split("\n")),
                    *(metrics.horizontalAdvance(f"/ {part}") + _PADDING for row in lines for part in row[column]),
                    0,
                )
                for column in range(len(HEADINGS))
            ]
            if sum(widths) <= room:
                break
        self.model.stacked = stacked
        sheet = f"font-size: {scaled(points)}pt;"
        if sheet != self.view.styleSheet():  # styling anew takes as long as all the rest
            self.view.setStyleSheet(sheet)
        self.view.verticalHeader().setDefaultSectionSize(metrics.height() * (2 if stacked else 1) + 4)
        spare = max(room - sum(widths), 0) // len(HEADINGS)
        for column, width in enumerate(widths):
            self.view.setColumnWidth(column, width + spare)
        # In a high window the totals follow the last row, and the free room is below them.
        header, each = self.view.horizontalHeader(), self.view.verticalHeader().defaultSectionSize()
        whole = header.sizeHint().height() + each * self.model.rowCount() + 2 * self.view.frameWidth()
        along = self.view.horizontalScrollBar().sizeHint().height() if sum(widths) > room else 0
        self.view.setMaximumHeight(whole + along)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out again."""
        super().resizeEvent(event)
        self._give_room()
        self._fit_columns()

    def _on_step(self) -> None:
        if not self.session.playback.playing:
            self.refresh()
        elif not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Show the figures of the session's step now."""
        self.model.refresh(reset=False)
        playable = self.session.cursor.playable
        if playable is None:
            self.totals.setText(
                no_source(self.session.choice.kernel) or tr("Record a kernel to see its reads and writes.")
            )
            self.totals.setToolTip("")
            return
        text = BETWEEN.join([summary(playable, self.session.cursor.step), *self._known])
        if text != self.totals.text():
            self.totals.setText(text)
            self._give_room()
        self.totals.setToolTip("\n".join(part for part in (self._explained, self._made_of) if part))
