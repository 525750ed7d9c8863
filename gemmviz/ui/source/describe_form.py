"""A form for a kernel without front matter: it shows the guess of gemmviz, which people can correct and try."""

from contextlib import suppress
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.dtypes import ELEMENT_TYPES, SUM_TYPES
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError, GemmvizError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import SURE, Guess, roles_for
from gemmviz.catalogue.guessing.roles import GuessReason
from gemmviz.catalogue.guessing.tokens import split_text
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.control.guess_reader import GuessedFile
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.session.trust.trust import Trust
from gemmviz.ui.discard import forget_style
from gemmviz.ui.look.fonts import mono_style
from gemmviz.ui.look.style import scaled, style_sheet
from gemmviz.ui.look.theme import DARK, LIGHT, Theme
from gemmviz.ui.source.describe_outcome import asked, has_open_flags, outcome
from gemmviz.ui.source.describe_trial import Trial
from gemmviz.ui.source.described_text import DescribedText

_UNKNOWN = "?"
_EXAMPLE = Problem(48, 32, 64)
_ABOUT = mark("The tinted lines, its front matter, say how to call the kernel. The code stays as it is.")


class DescribeForm(QDialog):
    """Asks for the description of a kernel's launch, filled in as far as it can be guessed.

    Parameters
    ----------
    file
        The file, without front matter, and its guess.
    trust
        Says whether the text may run: until it may, it is read and not tried.
    parent
        The window, whose colours it takes.
    try_at_once
        Whether to record small problems as soon as the form is shown, where the text may run.
    """

    def __init__(
        self, file: GuessedFile, trust: Trust, parent: QWidget | None = None, *, try_at_once: bool = True
    ) -> None:
        super().__init__(parent)
        path, text = file.path, file.text
        self.setWindowTitle(tr("Describe {file}", file=path.name))
        self.resize(1120, 660)
        self._path, self._text, self._trust = path, text, trust
        self._around, self._guess = file.around, file.guess
        self._trial: Trial | None = None
        self._try_at_once = try_at_once and trust.allows(path, text)
        self._touched = False
        self._filling = False
        self._rows: list[QComboBox] = []
        self._params: dict[str, QLineEdit] = {}
        self._build()
        self._fill(self._guess)

    def accepted_text(self) -> str:
        """Return the file's text with the front matter on top, as the form stands."""
        return self._described().described()

    def is_right(self) -> bool:
        """Return whether C was right in a trial of the form as it stands."""
        return self._guess.right

    # -- building

    def _build(self) -> None:
        self.entry = QComboBox()
        self.entry.addItems(list(self._guess.entries))
        self.entry.setAccessibleName(tr("Kernel to call"))
        self.entry.setToolTip(tr("The function of the file that is recorded: the entry"))
        self.entry.currentTextChanged.connect(self._on_entry)
        self.block, self.grid, self.shared, self.requires = (QLineEdit() for _ in range(4))
        self.dtype, self.accumulate, self.stores = QComboBox(), QComboBox(), QComboBox()
        self.columns = {matrix: QCheckBox(matrix) for matrix in MATRICES}
        self.dtype.addItems(list(ELEMENT_TYPES))
        for box in (self.accumulate, self.stores):
            box.addItems(list(SUM_TYPES))
        for box in (self.dtype, self.accumulate, self.stores):
            box.currentTextChanged.connect(self._on_changed)
        for line in (self.block, self.grid, self.shared, self.requires):
            line.textEdited.connect(self._on_changed)
        for tick in self.columns.values():
            tick.toggled.connect(self._on_changed)

        self._fields = QWidget()
        self._form = QFormLayout(self._fields)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(self._fields)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

        self.preview = DescribedText()
        about, self.verdict, self.outcome, self.doubts = QLabel(tr(_ABOUT)), QLabel(), QLabel(), QLabel()
        for label in (about, self.verdict, self.outcome, self.doubts):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.attempt = QPushButton()
        self.attempt.setAutoDefault(False)
        self.attempt.clicked.connect(self.try_it)
        QShortcut(QKeySequence("F5"), self, self.try_it)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setObjectName("primary")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)

        right = QVBoxLayout()
        right.addWidget(about)
        right.addWidget(self.preview, 1)
        for label in (self.verdict, self.outcome, self.doubts):
            right.addWidget(label)
        low = QHBoxLayout()
        low.addWidget(self.attempt)
        low.addStretch(1)
        low.addWidget(buttons)
        right.addLayout(low)
        both = QHBoxLayout(self)
        both.addWidget(scroll, 4)
        both.addLayout(right, 5)
        self._restyle()

    def _theme(self) -> Theme:
        return LIGHT if self.palette().window().color().lightness() > 128 else DARK

    def _restyle(self) -> None:
        t = self._theme()
        own = f"""
        QDialog, QScrollArea, QScrollArea > QWidget > QWidget {{ background: {t.panel}; }}
        QScrollArea {{ border: none; }}
        QLabel, QCheckBox {{ color: {t.text}; }}
        QDialog QWidget {{ font-size: {scaled(10.5):.2f}pt; }}
        QLineEdit {{ background: {t.background}; color: {t.text}; border: 1px solid {t.border}; border-radius: 4px;
            padding: 2px 4px; min-height: 18px; {mono_style()} }}
        QLineEdit:focus {{ border: 2px solid {t.text}; padding: 1px 3px; }}
        QComboBox[sure="no"] {{ border: 1px solid {t.warn}; }}
        QLabel[sure="no"] {{ color: {t.warn}; }}
        QPlainTextEdit {{ {mono_style()} }}
        """
        self.setStyleSheet(own if self.parent() else style_sheet(t) + own)

    def _label(self, text: str, known: GuessReason | None) -> QLabel:
        """Return the label of a row: a mark and a colour where the guess is unsure, and the reason as a tooltip."""
        unsure = known is not None and known.confidence < SURE
        label = QLabel(f"{text} (?)" if unsure else text)
        label.setProperty("sure", "no" if unsure else "yes")
        label.setToolTip(known.why if known else "")
        return label

    def _fill(self, made: Guess) -> None:
        """Show a guess in the fields."""
        self._filling = True
        kept: list[QWidget] = [self.entry, self.block, self.grid, self.shared, self.requires, *self.columns.values()]
        for field in (*kept, self.dtype, self.accumulate, self.stores):
            field.setParent(None)
        for box in (*self._rows, *self._params.values()):
            forget_style(box)
        while self._form.rowCount():
            self._form.removeRow(0)
        count = len(self._guess.entries)
        called = tr("Kernel to call, of {count}", count=count) if count > 1 else tr("Kernel to call")
        self._form.addRow(called, self.entry)
        self._add_parameters(made)
        self._add_launch(made)
        self._add_types(made)
        self._keep_tab_order()
        self._filling = False
        self._check()

    def _add_parameters(self, made: Guess) -> None:
        """Add a row for each parameter of the kernel, and for each of its template or macros."""
        self._rows = []
        for (name, kind), role in zip(made.parameters, made.roles, strict=True):
            box = QComboBox()
            offered = roles_for(kind)
            computed = role and role not in offered  # from sizes: "4 * N"
            box.addItems([*offered, *([role] if computed else []), _UNKNOWN])
            box.setCurrentText(role or _UNKNOWN)
            known = made.why.get(name)
            box.setProperty("sure", "no" if known and known.confidence < SURE else "yes")
            box.setToolTip(known.why if known else "")
            box.setAccessibleName(f"{kind} {name}")
            box.currentTextChanged.connect(self._on_changed)
            self._rows.append(box)
            self._form.addRow(self._label(f"{kind} {name}".replace("* ", "*"), known), box)
        self._params = {}
        for name, values in made.params.items():
            line = QLineEdit(", ".join(map(str, values)))
            line.setToolTip(tr("Values to offer; the first is the default"))
            line.setAccessibleName(name)
            line.textEdited.connect(self._on_changed)
            self._params[name] = line
            self._form.addRow(name, line)

    def _add_launch(self, made: Guess) -> None:
        """Add the rows of the block, the grid, the shared memory and the conditions."""
        lines = []
        if is_cuda(made.path):
            lines = [(self.block, "block", ", ".join(made.block)), (self.grid, "grid", ", ".join(made.grid))]
        lines += [(self.shared, "shared", made.shared), (self.requires, "requires", ", ".join(made.requires))]
        words = {"block": tr("block, threads"), "grid": tr("grid, blocks"), "shared": tr("shared, bytes")}
        words["requires"] = tr("requires, conditions")
        for line, key, value in lines:
            line.setText(value)
            line.setCursorPosition(0)
            line.setAccessibleName(key)
            line.setToolTip(made.why[key].why if key in made.why else "")
            self._form.addRow(self._label(words.get(key, key), made.why.get(key)), line)

    def _add_types(self, made: Guess) -> None:
        """Add the rows of the element types and of the matrices that are stored by columns."""
        self.dtype.setCurrentText(made.dtype)
        self.accumulate.setCurrentText(made.accumulate)
        self.dtype.setToolTip(tr("Element type of A and B"))
        self.stores.setCurrentText(made.stores)
        self.accumulate.setToolTip(tr("Type in which the products are summed"))
        self.stores.setToolTip(tr("Element type of C"))
        self._form.addRow(tr("A and B hold"), self.dtype)
        self._form.addRow(tr("Sums are kept in"), self.accumulate)
        self._form.addRow(tr("C holds"), self.stores)
        ticks = QWidget()
        row = QHBoxLayout(ticks)
        row.setContentsMargins(0, 0, 0, 0)
        for matrix, tick in self.columns.items():
            tick.setChecked(matrix in made.column_major)
            tick.setToolTip(tr("{matrix} is stored by columns, as in Fortran and cuBLAS", matrix=matrix))
            row.addWidget(tick)
        row.addStretch(1)
        self._form.addRow(tr("Stored by columns"), ticks)

    def _keep_tab_order(self) -> None:
        fields = [self.entry, *self._rows, *self._params.values()]
        if is_cuda(self._path):
            fields += [self.block, self.grid]
        fields += [self.shared, self.requires, self.dtype, self.accumulate, self.stores, *self.columns.values()]
        for before, after in zip(fields, [*fields[1:], self.preview], strict=True):
            QWidget.setTabOrder(before, after)

    # -- actions of the user

    def _on_entry(self, name: str) -> None:
        if not self._filling and name:
            self._stop()
            self._guess = guess(self._text, self._path, name, self._around)
            self._touched = False
            self._fill(self._guess)

    def _on_changed(self) -> None:
        if self._filling:
            return
        self._stop()
        self._touched = True
        self._guess = replace(self._guess, settled="", right=False)
        self._check()

    def _described(self) -> Guess:
        """Return the guess with the values of the fields."""
        params = {}
        for name, line in self._params.items():
            numbers = [part.strip() for part in line.text().split(",")]
            params[name] = tuple(int(n) for n in numbers if n.removeprefix("-").isdecimal() and len(n) < 10)
        return replace(
            self._guess,
            roles=tuple("" if box.currentText() == _UNKNOWN else box.currentText() for box in self._rows),
            params=params,
            block=split_text(self.block.text()),
            grid=split_text(self.grid.text()),
            shared=self.shared.text().strip() or "0",
            requires=split_text(self.requires.text()),
            dtype=ELEMENT_TYPES[self.dtype.currentIndex()],
            accumulate=SUM_TYPES[self.accumulate.currentIndex()],
            stores=SUM_TYPES[self.stores.currentIndex()],
            column_major=frozenset(matrix for matrix, box in self.columns.items() if box.isChecked()),
        )

    def _check(self) -> None:
        """Show whether the fields are valid, and the launch that they describe."""
        made, theme = self._described(), self._theme()
        self.preview.show_text(made.described() if made.entry else self._text)
        wrong_line = None
        untried = not self._touched and has_open_flags(made)
        try:
            kernel = guessed_kernel(made) if made.entry else None
            if kernel is None:
                raise FrontMatterError(made.doubts[0])
            size = nearest_size(kernel, _EXAMPLE, kernel.defaults)
            if size is None:
                raise ConstraintError(tr("No size near {size} meets the conditions.", size=_EXAMPLE))
            job = launch(kernel, size)
            blocks, threads = (" × ".join(map(str, shape[:2])) for shape in (job.grid, job.block))
            verdict = tr(
                "Valid. At {size}: blocks {blocks}, threads of each {threads} = {count}.",
                size=str(size).replace("x", "×"),
                blocks=blocks,
                threads=threads,
                count=thousands(job.threads),
            )
            if not is_cuda(made.path):
                verdict = tr("Valid.")
            good = True
        except (FrontMatterError, ConstraintError) as error:
            verdict, good = str(error), False
            wrong_line = getattr(error, "line", None)
            open_ones = [name or kind for (name, kind), role in made.arguments if not role]
            if open_ones:
                verdict = asked(open_ones[0], untried)
        self.preview.tint(made.front_matter().count("\n") if made.entry else 0, wrong_line, theme)
        self.verdict.setText(("✓ " if good else "✗ ") + verdict)
        self.verdict.setStyleSheet(f"color: {theme.good if good else theme.bad}; font-weight: bold;")
        self.ok.setEnabled(good)
        self.attempt.setEnabled(good or untried)  # a trial may show what an argument is
        doubts = [] if self._touched else made.doubts
        self.doubts.setText("\n".join(f"? {doubt}" for doubt in doubts if doubt != verdict))
        self.doubts.setVisible(bool(self.doubts.text()))
        self._show_outcome()

    def _show_outcome(self) -> None:
        theme, made = self._theme(), self._guess
        may_run = self._trust.allows(self._path, self._text)
        self.attempt.setText(tr("Try it (F5)") if may_run else tr("Run it (F5)"))
        self.attempt.setToolTip(
            tr("Records small problems on the CPU and compares C with the right result")
            if may_run
            else tr("Compiles this file and runs it on this machine, now and later, without asking again")
        )
        text, colour = outcome(made, self._trial is not None, may_run, theme)
        self.outcome.setText(text)
        self.outcome.setStyleSheet(f"color: {colour};")

    # -- trying

    def try_it(self) -> None:
        """Allow the text to run, and record small problems; with no field changed, also by guesses nearly as likely."""
        if not self.attempt.isEnabled():
            return
        with suppress(GemmvizError):  # it may run here, at least
            self._trust.allow(self._path, self._text)
        self._stop()
        self._trial = Trial(self._described(), alternatives=not self._touched, parent=self)
        self._trial.done.connect(self._on_tried)
        self._trial.start()
        self._show_outcome()

    def _on_tried(self, settled: Guess) -> None:
        self._stop()
        self._guess = replace(settled, others=())
        self._fill(self._guess)

    def _stop(self) -> None:
        if self._trial is not None:
            self._trial.done.disconnect(self._on_tried)
            self._trial.stop()
            self._trial.deleteLater()
            self._trial = None

    def showEvent(self, event: QShowEvent) -> None:
        """Try the guess when the form comes up."""
        super().showEvent(event)
        self._restyle()
        self._check()
        self.entry.setFocus()
        if self._try_at_once:
            self._try_at_once = False
            self.try_it()

    def done(self, result: int) -> None:
        """Close: whatever is still being tried is given up."""
        self._stop()
        super().done(result)
        forget_style(self)
