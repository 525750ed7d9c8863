"""Controls for recording and measuring: sizes, parameters, order, and the buttons that start and stop."""

from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIntValidator, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.conditions import conditions, never
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import LARGEST
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.measurable import reason_and_remedy, why_not
from gemmviz.ui.charts.result_card import ResultCard
from gemmviz.ui.charts.what_next import WhatNext
from gemmviz.ui.connections import listen
from gemmviz.ui.discard import discard
from gemmviz.ui.known import known
from gemmviz.ui.look.accessible import name_parts
from gemmviz.ui.look.figure_text import shown_name
from gemmviz.ui.look.short_label import ShortLabel
from gemmviz.ui.look.style import letters_wide
from gemmviz.ui.panels.place_button import PlaceButton
from gemmviz.ui.panels.size_row import SizeRow, SizesBox

_PARAM_LETTERS = 3
_PARAMS_PER_ROW = 2


def tab_through(*widgets: QWidget) -> None:
    """Let the Tab key go through widgets in this order."""
    for one, following in pairwise(widgets):
        QWidget.setTabOrder(one, following)


class ParamsRow(QWidget):
    """One editable box per tunable parameter of a kernel.

    Parameters
    ----------
    per_row
        The number of boxes side by side.
    """

    changed = Signal(object)

    def __init__(self, per_row: int = 4) -> None:
        super().__init__()
        self._row = QGridLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._per_row = per_row
        self.boxes: dict[str, QComboBox] = {}
        self._kernel: Kernel | None = None

    def show_params(self, kernel: Kernel, values: dict[str, int]) -> None:
        """Show a kernel's parameters with their values, without a signal."""
        if kernel is not self._kernel:
            self._build(kernel)
        for name, box in self.boxes.items():
            box.blockSignals(True)
            box.setCurrentText(str(values[name]))
            box.blockSignals(False)

    def _build(self, kernel: Kernel) -> None:
        self._kernel = kernel
        while (item := self._row.itemAt(0)) is not None:
            widget = known(item.widget())
            self._row.removeWidget(widget)  # which deletes the item; nothing deletes one that takeAt() returns
            discard(widget)
            widget.setParent(None)
        self.boxes = {}
        requires = "; ".join(c.expression.text for c in conditions(kernel)) or tr("no constraint")
        for name, offered in kernel.params.items():
            # Tiles of 4 are completely visible, so they are offered where the kernel allows them.
            small = () if never(kernel, name, 4) else (4,)
            box = QComboBox()
            box.setEditable(True)
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            typed = known(box.lineEdit())
            typed.setValidator(QIntValidator(1, LARGEST, box))
            box.addItems([str(v) for v in sorted({*offered, *small})])
            letters_wide(box, _PARAM_LETTERS)
            box.setIconSize(QSize(0, 0))  # with room for an icon, a row of three is too wide for a small screen
            box.setToolTip(tr("{name}: any value that fits {requires}", name=name, requires=requires))
            box.setAccessibleName(tr("Parameter {name}", name=name))
            box.activated.connect(self._announce)
            typed.editingFinished.connect(self._announce)
            for widget in self._place(len(self.boxes), QLabel(name), box):
                widget.show()  # a hidden widget adds nothing to the width of the row
            self.boxes[name] = box
        name_parts(self)

    def _place(self, number: int, *pair: QWidget) -> tuple[QWidget, ...]:
        row, place = divmod(number, self._per_row)
        for column, widget in enumerate(pair, 2 * place):
            self._row.addWidget(widget, row, column)
        return pair

    def _announce(self, *_: object) -> None:
        self.changed.emit({name: int(box.currentText()) for name, box in self.boxes.items() if box.currentText()})


class RecordControls(QWidget):
    """The sheet at the stage's title: the size, parameters and order of the recording.

    Parameters
    ----------
    session
        The session with the choices.
    """

    record = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        rows = QVBoxLayout(self)
        rows.setContentsMargins(8, 4, 8, 4)
        rows.setSpacing(4)
        row, below = QHBoxLayout(), QHBoxLayout()
        row.setSpacing(8)
        rows.addLayout(row)
        rows.addLayout(below)
        self.size_row = SizeRow(session.choice.problem, tr("the recorded size"), session.choice.square)
        self.params = ParamsRow()
        self.order = QComboBox()
        self.order.addItem(tr("blocks together"), "grid")
        self.order.addItem(tr("block by block"), "block")
        self.order.setToolTip(
            tr(
                "Order in which the blocks are played (an order of events, not of time). Blocks together: one that "
                "waits for another one's flag may come before it."
            )
        )
        self.order.setAccessibleName(tr("Order of blocks"))
        self.button = QPushButton(tr("Record"))
        self.button.setToolTip(tr("Compile the source for the CPU and record every access (Ctrl+R)"))
        self.auto = QCheckBox(tr("auto"))
        self.auto.setChecked(session.choice.auto)
        self.auto.setToolTip(tr("Record again when the kernel, its size or a parameter changes"))
        for widget in (self.size_row, self.order):
            row.addWidget(widget)
        row.addStretch(1)
        below.addWidget(self.params)
        below.addStretch(1)
        row.addWidget(self.auto)
        row.addWidget(self.button)
        self.size_row.changed.connect(lambda problem: session.choice.choose(problem=problem))
        self.params.changed.connect(lambda params: session.choice.choose(params=params))
        self.order.activated.connect(lambda *_: session.choice.choose(order=self.order.currentData()))
        self.auto.toggled.connect(self._on_auto)
        self.button.clicked.connect(lambda *_: self.record.emit())
        listen(self, session.choice.chosen, self._on_chosen)
        self._on_chosen()

    def _on_auto(self, auto: bool) -> None:
        self.session.choice.auto = auto

    def _on_chosen(self) -> None:
        session = self.session
        self.size_row.show_problem(session.choice.problem)
        self.params.show_params(session.choice.kernel, session.choice.params)
        self.order.setCurrentIndex(self.order.findData(session.choice.order))
        self.order.setVisible(session.choice.kernel.backend == "cuda")
        self.button.setEnabled(session.choice.kernel.recordable)
        tab_through(self.size_row.link, self.order, self.auto, self.button, *self.params.boxes.values())


class MeasureControls(QWidget):
    """The panel beside the charts: size and parameters to measure with, start, cancel, progress.

    Parameters
    ----------
    session
        The session with the choices and the progress.
    """

    measure_this = Signal()
    measure_all = Signal()
    measure_over_n = Signal(list, bool)
    """(sizes, whether every rung)."""
    cancel = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.heading = ShortLabel()
        self.heading.setObjectName("heading")
        self.heading.setWordWrap(False)
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.size_row = SizeRow(session.choice.bench_problem, tr("the measured size"), session.choice.bench_square)
        self.params = ParamsRow(_PARAMS_PER_ROW)
        self.this = QPushButton(tr("Measure this"))
        self.this.setObjectName("primary")
        self.this.setToolTip(tr("Verify the chosen kernel against float64, then time it (Ctrl+M)"))
        self.all = QPushButton(tr("Measure all"))
        self.all.setToolTip(tr("Verify and time every kernel with its default parameters (Ctrl+Shift+M)"))
        self.quick = QCheckBox(tr("quick"))
        self.quick.setToolTip(tr("A first impression: fewer samples, less accuracy; without it, the full protocol"))
        self.quick.setChecked(session.choice.protocol == Protocol.quick().to_plain())
        self.quick.toggled.connect(self._on_quick)
        self.place = PlaceButton(session, alone=True)
        self.sizes = SizesBox(session.choice)
        self.over_this = QPushButton(tr("This"))
        self.over_this.setToolTip(tr("Measure the chosen kernel at each of these sizes, M = N = K (Ctrl+Alt+M)"))
        self.over_all = QPushButton(tr("All"))
        self.over_all.setToolTip(tr("Measure every kernel at each of these sizes, M = N = K"))
        self.stop = QPushButton(tr("Cancel"))
        self.stop.setToolTip(tr("Stop measuring and recording (Esc)"))
        self.why = QLabel()
        self.why.setWordWrap(True)
        self.progress = QProgressBar()
        self.progress.setAccessibleName(tr("Progress"))
        self.status = ShortLabel()
        self.status.setObjectName("muted")
        self.result, self.what_next = ResultCard(session), WhatNext(session)
        self._lay_out()
        self._connect()
        self._on_chosen()
        self._on_progress("bench")

    def _lay_out(self) -> None:
        inside, area, around = QWidget(), QScrollArea(), QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(area)
        # With many parameters, or large type, it is higher than a low window: its rows were squeezed into each other.
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 8, 6)
        column.setSpacing(5)
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 0, 0)
        head.addWidget(QLabel(tr("Measure on")))
        head.addWidget(self.place, 1)
        head.addWidget(self.quick)
        column.addWidget(self.heading)
        column.addLayout(head)
        self.why.setContentsMargins(8, 0, 0, 0)
        column.addWidget(self.why)
        grid = QGridLayout()
        grid.setContentsMargins(8, 0, 0, 0)
        grid.setVerticalSpacing(5)
        grid.addWidget(self.size_row, 0, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self.params, 1, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
        for at, widget in enumerate((self.this, self.all, self.stop)):
            grid.addWidget(widget, 2, at)
        over = QHBoxLayout()
        over.setSpacing(3)  # in Spanish the usual sizes had no room at 1280 pixels
        over.addWidget(QLabel(tr("Over N")))
        over.addWidget(self.sizes, 1)
        for button, what in ((self.over_this, tr("Measure this over N")), (self.over_all, tr("Measure all over N"))):
            button.setAccessibleName(what)
            over.addWidget(button)
        grid.addLayout(over, 3, 0, 1, 3)
        grid.addWidget(self.progress, 4, 0, 1, 3)
        grid.addWidget(self.status, 5, 0, 1, 3)
        column.addLayout(grid)
        column.addWidget(self.result)
        column.addWidget(self.what_next)
        column.addStretch(1)

    def _connect(self) -> None:
        session = self.session
        self.size_row.changed.connect(lambda problem: session.choice.choose_bench(problem=problem))
        self.params.changed.connect(lambda params: session.choice.choose_bench(params=params))
        self.this.clicked.connect(lambda *_: self.measure_this.emit())
        self.all.clicked.connect(lambda *_: self.measure_all.emit())
        self.over_this.clicked.connect(lambda *_: self.start_over_n(False))
        self.over_all.clicked.connect(lambda *_: self.start_over_n(True))
        self.stop.clicked.connect(lambda *_: self.cancel.emit())
        listen(self, session.choice.chosen, self._on_chosen)
        listen(self, session.choice.bench_chosen, self._on_chosen)
        listen(self, session.progress.changed, self._on_progress)
        listen(self, session.results.device_changed, lambda: self._on_progress("bench"))

    def showEvent(self, event: QShowEvent) -> None:
        """Show the present figure of the chosen kernel, its limit and the next chapter."""
        super().showEvent(event)
        self.result.refresh()
        self.what_next.refresh()

    def start_over_n(self, every: bool) -> None:
        """Measure the chosen rung or every rung over N, unless a measurement is running."""
        if not self.session.progress.is_any("bench", "beside"):
            self.measure_over_n.emit(self.sizes.sizes(), every)

    def _on_quick(self, quick: bool) -> None:
        self.session.choice.protocol = Protocol.quick().to_plain() if quick else {}

    def _on_chosen(self) -> None:
        session = self.session
        title = tr("Measure {kernel}", kernel=shown_name(session.choice.kernel, session))
        self.heading.say(title, title)
        self.size_row.show_problem(session.choice.bench_problem)
        self.params.show_params(session.choice.kernel, session.choice.bench_params)
        self.params.setVisible(bool(session.choice.kernel.params))
        self._offer()
        chain = (*self.params.boxes.values(), self.this, self.all, self.stop, self.sizes, self.over_this, self.over_all)
        tab_through(self.place, self.quick, *self.size_row.boxes.values(), self.size_row.link, *chain)

    def _offer(self) -> None:
        """Offer the measurements that are possible now; where the chosen kernel cannot be measured, say why."""
        idle, why = not self.session.progress.is_any("bench", "beside"), why_not(self.session)
        self.why.setText(reason_and_remedy(self.session, on_page=True))
        self.why.setVisible(bool(why))
        for button in (self.this, self.over_this):
            button.setEnabled(idle and not why)
        for button in (self.all, self.over_all):
            button.setEnabled(idle)

    def _on_progress(self, engine: str) -> None:
        progress = self.session.progress
        self._offer()
        shown = progress["bench"] or progress["beside"] or progress["record"]
        self.stop.setEnabled(shown is not None)
        self.progress.setVisible(shown is not None)
        if shown is None:
            where = self.session.results.device_and_host or tr("This machine")
            self.status.say(tr("{where}. Every figure is the median of verified launches.", where=where), where)
            return
        text, share = shown
        self.status.say(text, text)
        self.progress.setRange(0, 100 if share is not None else 0)
        if share is not None:
            self.progress.setValue(int(share * 100))
