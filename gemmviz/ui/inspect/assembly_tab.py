"""The tab of the machine code: source lines above, SASS or PTX below, linked both ways."""

from typing import get_args

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer
from PySide6.QtGui import QFont, QFontMetrics, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gemmviz.assembly.listing import Listing
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.models.machine_code import Form
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.assembly_models import CodeModel, SourceModel
from gemmviz.ui.inspect.assembly_text import loop_text, loop_tip, usage_text
from gemmviz.ui.inspect.panel import OneLine
from gemmviz.ui.look.accessible import name_parts
from gemmviz.ui.look.fonts import mono, mono_style
from gemmviz.ui.look.style import letters_wide, scaled

_POINTS = 8.5
_USUAL = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
"""Offered until the compiler says which architectures it knows."""
_MOST_COUNTS = 15  # letters of the counts beside a line
_LETTERS_ARCHITECTURE = 9
_FORMS: tuple[Form, ...] = get_args(Form)
_TOP = QAbstractItemView.ScrollHint.PositionAtTop


class CodeTable(QTableView):
    """A table of code: its rows are chosen as a whole, by the mouse or by keys."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._letters: tuple[int, ...] = ()
        self.setAccessibleName(name)
        self.verticalHeader().hide()
        self.horizontalHeader().hide()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.set_type()

    def set_type(self) -> None:
        """Take the size of type."""
        font = mono()
        font.setPointSizeF(scaled(_POINTS))
        self.setFont(font)
        self.setStyleSheet(f"{mono_style()} font-size: {scaled(_POINTS)}pt;")
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(font).height() + 2)

    def fit(self, *letters: int) -> None:
        """Give each column room for so many letters, and the last one the rest of the width, too."""
        self._letters = letters
        metrics = QFontMetrics(QFont(self.font()))
        widths = [metrics.horizontalAdvance("0") * count + round(scaled(8)) for count in letters]
        shown = [width for column, width in enumerate(widths[:-1]) if not self.isColumnHidden(column)]
        widths[-1:] = [max(widths[-1], self.viewport().width() - sum(shown))] if widths else []
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the new width out."""
        super().resizeEvent(event)
        self.fit(*self._letters)

    def show_row(self, row: int) -> None:
        """Make a row the current one, in sight, without telling."""
        index = self.model().index(row, 0)
        selection = self.selectionModel()
        blocked = selection.blockSignals(True)
        flags = QItemSelectionModel.SelectionFlag
        selection.setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        selection.blockSignals(blocked)
        self.executeDelayedItemsLayout()  # without it the scroll bar has the range of the rows before
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self.viewport().update()


class AssemblyTab(QWidget):
    """The machine code of the chosen launch.

    Parameters
    ----------
    session
        The session with the listing.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session, self.code = session, session.machine_code
        self.architecture, self.form, self.launch, self.file = QComboBox(), QComboBox(), QComboBox(), QComboBox()
        self.usage, self.loop, self.message = OneLine(), QLabel(), QLabel()
        self.again = QPushButton(tr("Try again"))
        self.source, self.rows = CodeTable(tr("Source lines")), CodeTable(tr("Instructions"))
        self.source_model, self.code_model = SourceModel(session), CodeModel(session)
        self._boxes()
        self._arrange()
        self._begun: Listing | None = None
        self._laid_out = QTimer(self)
        self._laid_out.setSingleShot(True)
        self._laid_out.timeout.connect(self._scroll)
        self.source.setModel(self.source_model)
        self.rows.setModel(self.code_model)
        self.source.selectionModel().currentRowChanged.connect(self._on_line)
        self.rows.selectionModel().currentRowChanged.connect(self._on_row)
        listen(self, self.code.changed, self.refresh)
        listen(self, self.code.pointed, self._point)
        listen(self, session.cursor.stepped, self._on_step)
        listen(self, session.preferences.themed, self._on_theme)
        self.refresh()

    def _boxes(self) -> None:
        for box, name, tip in (
            (self.architecture, tr("Architecture"), tr("The GPU that it is compiled for; the compiler needs no GPU")),
            (
                self.form,
                tr("SASS or PTX"),
                tr("The instructions of the GPU (SASS), or the compiler's form before (PTX)"),
            ),
            (self.launch, tr("Parameters"), ""),
            (self.file, tr("File"), tr("Files that instructions come from")),
        ):
            box.setAccessibleName(name)
            box.setToolTip(tip)
        letters_wide(self.architecture, _LETTERS_ARCHITECTURE)
        self.form.addItems([form.upper() for form in _FORMS])
        self.launch.addItems([tr("of the stage"), tr("as measured")])
        for wide in (self.launch, self.file):
            wide.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.architecture.activated.connect(self._on_architecture)
        self.form.activated.connect(lambda at: self.code.choose(form=_FORMS[at]))
        self.launch.activated.connect(lambda at: self.code.choose(as_measured=bool(at)))
        self.file.activated.connect(self._on_file)
        self.again.clicked.connect(lambda *_: self.code.refresh(again=True))
        name_parts(self)

    def _arrange(self) -> None:
        above = QHBoxLayout()
        above.setContentsMargins(6, 2, 6, 0)
        above.setSpacing(4)
        above.addWidget(self.architecture)
        above.addWidget(self.form)
        above.addWidget(self.launch, 1)
        for label in (self.loop, self.message):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setContentsMargins(8, 0, 8, 2)
        asked, of_file = QHBoxLayout(), QHBoxLayout()
        asked.setContentsMargins(8, 2, 8, 2)
        asked.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        of_file.setContentsMargins(6, 0, 6, 0)
        of_file.addWidget(self.file)
        used = QHBoxLayout()
        used.setContentsMargins(8, 0, 8, 0)
        used.addWidget(self.usage)
        self.message.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.tables = QSplitter(Qt.Orientation.Vertical)
        self.tables.addWidget(self.source)
        self.tables.addWidget(self.rows)
        self.tables.setStretchFactor(0, 2)
        self.tables.setStretchFactor(1, 3)
        self.tables.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(above)
        column.addWidget(self.message)
        column.addLayout(asked)
        column.addLayout(used)
        column.addWidget(self.loop)
        column.addLayout(of_file)
        column.addWidget(self.tables, 1)
        column.addStretch(0)

    # The listing

    def refresh(self) -> None:
        """Show the listing, or why there is none."""
        if not self.isVisible():
            return
        code, listing = self.code, self.code.listing
        self._fill_boxes()
        message = code.busy or code.fault
        if code.fault_line and not code.busy:
            message = tr("line {line}: ", line=code.fault_line) + message
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.again.setVisible(bool(code.fault) and not code.busy)
        for part in (self.usage, self.loop, self.tables):
            part.setVisible(listing is not None)
        if listing is None or code.summary is None:
            return
        self.usage.say(f"{listing.architecture}: {usage_text(listing)}")
        self.usage.setToolTip(f"{listing.label}: {listing.compiler}\n{usage_text(listing)}")
        self.loop.setText(loop_text(listing, code.summary))
        self.loop.setToolTip(loop_tip(code.summary.loop or code.summary.whole))
        self.source_model.refresh()
        self.code_model.refresh()
        self._fit()
        self._begin()
        self._point()

    def _begin(self) -> None:
        """Show the first lines that have instructions, and the main loop, of a listing that is new."""
        if self.code.listing is not self._begun:
            self._begun = self.code.listing
            self._laid_out.start()

    def _scroll(self) -> None:
        """Show where the code begins: once the tables have their place, and unless a line is chosen by then."""
        code = self.code
        if code.line or code.index >= 0 or code.summary is None:
            return
        first = min((line for line in self.source_model.counts if line), default=1)
        self.source.scrollTo(self.source_model.index(max(first - 2, 0), 0), _TOP)
        if code.summary.loop is not None and code.form == "sass":
            self.rows.scrollTo(self.code_model.index(max(code.summary.loop.instructions[0] - 2, 0), 0), _TOP)

    def _fill_boxes(self) -> None:
        code, listing = self.code, self.code.listing
        known = listing.architectures if listing is not None else _USUAL
        names = [*known, *([code.architecture] if code.architecture not in ("", *known) else [])]
        self.architecture.clear()
        default = (
            tr("default ({arch})", arch=listing.architecture) if listing and not code.architecture else tr("default")
        )
        self.architecture.addItem(default, "")
        for name in names:
            self.architecture.addItem(name, name)
        self.architecture.setCurrentIndex(max(self.architecture.findData(code.architecture), 0))
        self.form.setCurrentIndex(_FORMS.index(code.form))
        self.launch.setCurrentIndex(int(code.as_measured))
        for at, params in enumerate((self.session.choice.params, self.session.choice.bench_params)):
            self.launch.setItemData(at, _params(params), Qt.ItemDataRole.ToolTipRole)
        self.launch.setToolTip(
            tr(
                "The parameters of the stage, or those of a measurement: {params}",
                params=_params(self.session.choice.bench_params if code.as_measured else self.session.choice.params),
            )
        )
        self.launch.setVisible(bool(self.session.choice.kernel.params))
        files = listing.files if listing is not None else []
        with_text = [(number, file.name) for number, file in enumerate(files) if file.text]
        self.file.clear()
        for number, name in with_text:
            self.file.addItem(name, number)
        self.file.setCurrentIndex(max(self.file.findData(code.file), 0))
        self.file.setVisible(len(with_text) > 1)

    def _fit(self) -> None:
        counts = max((len(self.source_model.short(line)) for line in self.source_model.counts if line), default=1)
        lines = len(str(max(len(self.source_model.lines), 1)))
        text = max((len(line) for line in self.source_model.lines), default=1)
        self.source.fit(lines + 2, min(counts, _MOST_COUNTS), text + 1)
        listing = self.code.listing
        if listing is not None:
            widest = max(
                (len(o.text) for o in (listing.ptx if self.code_model.ptx else listing.instructions)), default=1
            )
            self.rows.setColumnHidden(1, self.code_model.ptx)
            self.rows.fit(lines + 1, 6, widest + 1)

    def _point(self) -> None:
        """Mark the chosen line and its instructions, and bring them in sight."""
        if not self.isVisible() or self.code.listing is None:
            return
        if self.file.currentData() != self.code.file:
            self.refresh()
            return
        self.source_model.repaint()
        self.code_model.repaint()
        if 0 < self.code.line <= len(self.source_model.lines):
            self._bring(self.source, self.code.line - 1)
        if self.code.index >= 0:
            self._bring(self.rows, self.code.index)
        elif self.code_model.first_marked >= 0:
            self._bring(self.rows, self.code_model.first_marked)

    def _bring(self, table: CodeTable, row: int) -> None:
        if table.currentIndex().row() != row:
            table.show_row(row)

    def _on_line(self, index: QModelIndex, _: QModelIndex) -> None:
        if index.isValid():
            self.code.choose_line(index.row() + 1)

    def _on_row(self, index: QModelIndex, _: QModelIndex) -> None:
        if index.isValid():
            self.code.choose_index(index.row())

    def _on_architecture(self, at: int) -> None:
        self.code.choose(architecture=str(self.architecture.itemData(at)))

    def _on_file(self, at: int) -> None:
        self.code.choose_file(int(self.file.itemData(at)))

    def _on_step(self) -> None:
        if self.isVisible() and not self.session.playback.playing:
            self.source_model.repaint()

    def _on_theme(self) -> None:
        for table in (self.source, self.rows):
            table.set_type()
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Compile the present choice: nothing is compiled while the tab is hidden."""
        super().showEvent(event)
        self.refresh()
        self.code.watch(id(self), True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Compile nothing any more."""
        super().hideEvent(event)
        self.code.watch(id(self), False)


def _params(params: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in params.items())
