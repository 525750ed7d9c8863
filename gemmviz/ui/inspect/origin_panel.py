"""The tab of origins: the owner of the chosen element of C and every way to it, or the accesses to the chosen cell."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableView, QVBoxLayout

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.session.values.kernel_names import no_source
from gemmviz.trace.cost.wavefronts import BANKS
from gemmviz.trace.origin.value_path import Cell
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.inspector_text import block_text, cell_text, hop_text
from gemmviz.ui.inspect.origin_models import NOW, AccessTable, LazyTable, OperandTable
from gemmviz.ui.inspect.panel import InspectPanel
from gemmviz.ui.look.style import TYPE_PT, larger
from gemmviz.ui.stage.caption import BETWEEN, fed_text, sums_text, thread_text, wrong_text

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_OWN_KEYS = (*_ENTER, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
_SIZES = (1.0, 14), (0.9, 8), (0.8, 7)  # of the type, and pixels between columns: the first that fits is taken
_MOST_MISREAD = 64  # rows that are measured one by one
_PAGE_KEYS = (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class OriginPanel(InspectPanel):
    """A table about the chosen cell: arrows walk through it, Enter goes to the step of its row.

    Parameters
    ----------
    session
        The session to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.head = QLabel()
        self.head.setWordWrap(True)
        self.head.setContentsMargins(8, 3, 8, 2)
        self.table = QTableView()
        self.table.setAccessibleName(tr("Origin of the chosen cell"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.table.doubleClicked.connect(self._go)
        self.table.installEventFilter(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.table, 1)
        self._shown: tuple[Playable | None, object] | None = None
        listen(self, session.preferences.themed, self._anew)

    def forget(self) -> None:
        """Let go of the recording that was shown, with the table of it."""
        self._shown = None
        self._put(None)

    def _anew(self) -> None:
        """Fit the table to another size of type."""
        self._shown = None
        self._now()

    def refresh(self) -> None:
        """Show the chosen cell; the table stands where it was as long as the cell is the same."""
        session, playable = self.session, self.session.cursor.playable
        model, key = self.table.model(), (session.cursor.cell, session.cursor.shown_block)
        if self._shown is not None and self._shown[0] is playable and self._shown[1] == key:
            if isinstance(model, LazyTable):
                model.show_step(session.cursor.step)
            return
        self._shown = playable, key
        if playable is None or session.cursor.cell is None:
            self.table.hide()
            self._put(None)
            self.head.setText(
                no_source(session.choice.kernel) or tr("Record a kernel (Ctrl+R) to see where its results come from.")
                if playable is None
                else tr(
                    "Choose a cell on the stage: click it, or press X and Shift+arrows. An element of C shows every "
                    "value that fed it; any other cell shows the threads that accessed it, and the steps."
                )
            )
            return
        cell = session.cursor.cell
        model = self._of_element(playable, cell) if cell[0] == C else self._of_cell(playable, cell)
        self._show(model)

    def _show(self, model: LazyTable) -> None:
        self._put(model)
        for column in range(model.columnCount()):
            self.table.setColumnHidden(column, False)
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self.table.setVisible(model.rowCount() > 0)
        model.show_step(self.session.cursor.step)
        if isinstance(model, OperandTable):
            for column in (4, 5):  # nothing went by shared memory: these two say nothing
                self.table.setColumnHidden(column, not (model.fed.write >= 0).any())
        self._fit_columns(model)
        at = model.first_after(self.session.cursor.step)
        if at >= 0:
            # No row is chosen yet: the stage goes on showing the ways that are taken at each step.
            self.table.scrollTo(model.index(at, 0), QAbstractItemView.ScrollHint.PositionAtTop)

    def _put(self, model: LazyTable | None) -> None:
        """Let the table show a model, or nothing; the one before is deleted, as it holds its recording."""
        before = self.table.model(), self.table.selectionModel()
        if model is not None:
            model.setParent(self.table)
        self.table.setModel(model)
        for gone in before:
            if gone is not None:
                gone.deleteLater()

    def _fit_columns(self, model: LazyTable) -> None:
        """Make columns as wide as the first and the last rows need: looking at all would make all."""
        rows = model.rowCount()
        looked = {0, rows // 2, rows - 1}
        if isinstance(model, OperandTable):
            looked |= set(model.misread[:_MOST_MISREAD].tolist())  # longer than the others
        tried = [model.texts(row) for row in sorted(looked) if 0 <= row < rows]
        columns = [
            [*tr(heading).split("\n"), *(texts[column] for texts in tried)]
            for column, heading in enumerate(model.headings)
        ]
        if tried:
            columns[0].append(f"{NOW} {tried[-1][0]}")
        for size, padding in _SIZES:
            metrics = QFontMetrics(larger(self.font(), size))
            widths = [max(map(metrics.horizontalAdvance, texts)) + padding for texts in columns]
            if sum(width for at, width in enumerate(widths) if not self.table.isColumnHidden(at)) <= self.width() - 2:
                break
        points = TYPE_PT * size * self.session.preferences.type_scale
        smaller = f"QTableView, QHeaderView {{ font-size: {points:.1f}pt; }} QHeaderView::section {{ padding: 2px; }}"
        style = smaller if size != 1 else ""
        if style != self.table.styleSheet():  # setting it takes time, even where nothing changes
            self.table.setStyleSheet(style)
        self.table.verticalHeader().setDefaultSectionSize(metrics.height() + 4)
        for at, width in enumerate(widths):
            self.table.setColumnWidth(at, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to another width."""
        super().resizeEvent(event)
        model = self.table.model()
        if isinstance(model, LazyTable):
            self._fit_columns(model)

    def _of_element(self, playable: Playable, cell: Cell) -> OperandTable:
        recording = playable.recording
        _, row, column = cell_name(recording, cell)
        owner, fed = playable.provenance.owner(row, column), playable.provenance.operand_paths(row, column)
        parts = [cell_text(recording, cell)]
        if recording.wrong and playable.wrong_from[row, column] < playable.timeline.steps:
            parts.append(wrong_text(recording, row, column))
        if owner is None:
            parts.append(tr("no thread writes it"))
        else:
            if recording.backend == "cuda":
                parts.append(tr("owned by {thread}", thread=thread_text(recording, owner.block, owner.thread)))
            writes = owner.writes
            parts.append(
                trn(
                    "written once, at step {step}, line {line}",
                    "written {count} times, last at step {step}, line {line}",
                    len(writes.rows),
                    step=int(writes.steps[-1]) + 1,
                    line=int(writes.lines[-1]),
                )
            )
        model = OperandTable(playable, fed, cell)
        if not len(fed.use):
            parts.append(fed_text(playable, row, column))
        elif fed.unknown or fed.rest or fed.gives_stored:
            parts.append(trn("{count} value fed it", "{count} values fed it", len(fed.use)))
        else:
            parts.append(
                trn(
                    "{count} value was read for it, but does not give the stored value ({sums})",
                    "{count} values were read for it, but do not give the stored value ({sums})",
                    len(fed.use),
                    sums=sums_text(fed),
                )
            )
        if len(model.misread):
            lost = len(model.misread)
            parts.append(trn("✗ {count} READ as another value", "✗ {count} READ as other values", lost))
        if fed.by_warp:
            together = (
                tr("values that its warpgroup read together")
                if fed.by_group
                else tr("values that its warp read together")
            )
            parts.append(together)
        if fed.unknown and len(fed.use):
            parts.append(tr("some values in shared memory have an unknown origin: ways may be missing"))
        if fed.rest:
            parts.append(tr("the rest of its sum was computed elsewhere, and came in memory that is not recorded"))
        self.head.setText(BETWEEN.join(parts))
        return model

    def _of_cell(self, playable: Playable, cell: Cell) -> AccessTable:
        session = self.session
        array, element = cell
        touches = playable.provenance.accesses_of(array, element, session.cursor.shown_block)
        info, parts = playable.recording.arrays[array], [cell_text(playable.recording, cell)]
        if info.space == "shared":
            block = block_text(playable.recording, session.cursor.shown_block)
            parts.append(tr("bank {bank} of block {block}", bank=element * info.itemsize // 4 % BANKS, block=block))
        reads = int((~touches.write).sum())
        parts.append(tr("read {reads}×, written {writes}× in all", reads=reads, writes=len(touches.rows) - reads))
        self.head.setText(BETWEEN.join(parts))
        return AccessTable(playable, touches, cell)

    # Events of the table

    def _on_row(self, index: QModelIndex, _: QModelIndex) -> None:
        model = self.table.model()
        if isinstance(model, LazyTable) and index.isValid():
            hop = model.hop(index.row())
            self.table.setAccessibleDescription(hop_text(model.playable, hop) if hop else self.head.text())
            self.session.inspection.choose_hop(hop)

    def _go(self, index: QModelIndex) -> None:
        """Go to the step that a cell of the table is about."""
        model = self.table.model()
        if isinstance(model, LazyTable) and index.isValid():
            self.session.playback.pause()
            self.session.cursor.seek(model.step(index.row(), index.column()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the arrows for the table while it has the focus; Enter goes to the step."""
        if isinstance(event, QKeyEvent) and not event.modifiers():
            if event.type() == QEvent.Type.ShortcutOverride and event.key() in (*_OWN_KEYS, *_PAGE_KEYS):
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() in _ENTER:
                self._go(self.table.currentIndex())
                return True
        return super().eventFilter(watched, event)
