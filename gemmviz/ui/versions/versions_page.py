"""The page that compares two versions of a kernel: changes of accesses, findings, machine code and speed."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.problem import LARGEST, Problem
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.session.models.two_versions import Side
from gemmviz.ui.connections import listen
from gemmviz.ui.look.accessible import name_parts
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.versions.changes_list import ChangesList
from gemmviz.ui.versions.figures_table import FiguresTable
from gemmviz.ui.versions.version_chooser import VersionChooser
from gemmviz.versions.words import launch_text

_WIDE = 1100
"""From this width on, figures and findings stand beside each other."""


class VersionsPage(QWidget):
    """Two versions to choose, a button that compares them, and the result.

    Parameters
    ----------
    session
        The session with the versions.
    """

    file_wanted = Signal(bool)
    """A file is to be opened as a version: whether as the second one."""
    stage_wanted = Signal()
    """The stage is to be shown: a version is chosen there."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session, self.versions = session, session.versions
        self.setAccessibleName(tr("Versions"))
        self.before = VersionChooser(session, tr("Before"), tr("Open a file as the version before"))
        self.after = VersionChooser(session, tr("After"), tr("Open a file as the version after"))
        self.extent = QSpinBox()
        self.measures = QCheckBox(tr("Measure both, too"))
        self.changed_only = QCheckBox(tr("Only what changed"))
        self.compare, self.stop = QPushButton(tr("Compare")), QPushButton(tr("Stop"))
        self.show_before, self.show_after = QPushButton(), QPushButton()
        self.message, self.launches, self.bar = QLabel(), QLabel(), QProgressBar()
        self.question, self.asked = QFrame(), QLabel()
        self.run, self.look = QPushButton(tr("Run them")), QPushButton(tr("Do not run"))
        self.table, self.changes = FiguresTable(), ChangesList()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self._line = 0
        self._boxes()
        self._arrange()
        for chooser, later in ((self.before, False), (self.after, True)):
            chooser.chosen.connect(self._on_chosen)
            chooser.file_wanted.connect(lambda later=later: self.file_wanted.emit(later))
        self.extent.valueChanged.connect(self._on_wanted)
        self.measures.toggled.connect(self._on_wanted)
        self.changed_only.toggled.connect(self._on_changed_only)
        self.compare.clicked.connect(lambda *_: self._compare())
        self.stop.clicked.connect(lambda *_: self.versions.drop())
        self.run.clicked.connect(lambda *_: self.versions.allow())
        self.look.clicked.connect(lambda *_: self._refuse())
        self.show_before.clicked.connect(lambda *_: self.show_on_stage(False))
        self.show_after.clicked.connect(lambda *_: self.show_on_stage(True))
        self.changes.opened.connect(self.show_on_stage)
        listen(self, self.versions.changed, self.refresh)
        listen(self, session.preferences.themed, self.refresh)
        listen(self, session.cursor.recorded, self._on_recorded)
        self.refresh()

    def _boxes(self) -> None:
        self.extent.setRange(0, LARGEST)
        self.extent.setSpecialValueText(tr("automatic"))
        self.extent.setAccessibleName(tr("Size"))
        self.extent.setToolTip(tr("M = N = K; automatic: a small size that both take, with several blocks"))
        self.extent.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        self.measures.setToolTip(tr("Verify both on this machine, and measure them in turns"))
        self.changed_only.setChecked(self.session.sight.changed_only)
        self.measures.setChecked(self.versions.measures)
        self.extent.setValue(self.versions.problem.m if self.versions.problem is not None else 0)
        self.changed_only.setToolTip(tr("Leave out the figures that are equal in both"))
        self.compare.setObjectName("primary")
        self.compare.setToolTip(tr("Record, check and compile both versions at one size"))
        self.stop.setToolTip(tr("Stop the comparison (Esc)"))
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the comparison"))
        self.run.setObjectName("primary")
        self.question.setObjectName("question")
        self.question.setAccessibleName(tr("May these texts run?"))
        for label in (self.message, self.launches, self.asked):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.launches.setObjectName("muted")
        name_parts(self)

    def _arrange(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        self.before.place(grid, 0)
        self.after.place(grid, 1)
        grid.setColumnStretch(1, 1)
        of_size = QLabel(tr("M = N = K"))
        of_size.setBuddy(self.extent)
        first, second = QHBoxLayout(), QHBoxLayout()
        for line, widgets in (
            (first, (of_size, self.extent, self.measures)),
            (second, (self.compare, self.stop, self.changed_only)),
        ):
            line.setSpacing(6)
            for widget in widgets:
                line.addWidget(widget)
        for row, line in ((0, first), (1, second)):
            line.addStretch(1)
            grid.addLayout(line, row, 3)
        self.question.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        answers = QHBoxLayout(self.question)
        answers.addWidget(self.asked, 1)
        answers.addWidget(self.look)
        answers.addWidget(self.run)
        stages = QHBoxLayout()
        stages.addWidget(self.launches, 1)
        stages.addWidget(self.show_before)
        stages.addWidget(self.show_after)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.table)
        self.splitter.addWidget(self.changes)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 4)
        column.addLayout(grid)
        column.addWidget(self.question)
        column.addWidget(self.message)
        column.addWidget(self.bar)
        column.addLayout(stages)
        column.addWidget(self.splitter, 1)
        column.addStretch(0)

    def showEvent(self, event: QShowEvent) -> None:
        """Propose the chosen kernel as the version before, where it is one of the user's own."""
        super().showEvent(event)
        versions, kernel = self.versions, self.session.choice.base
        own = kernel.recordable and not self.session.choice.is_shipped_file(kernel)
        if own and versions.before is None and versions.after is None:
            versions.choose(Side(kernel.path.name, kernel), None)

    def _on_chosen(self) -> None:
        self.versions.choose(self.before.side, self.after.side)

    def _on_changed_only(self, on: bool) -> None:
        self.session.sight.changed_only = on
        self.refresh()

    def _on_wanted(self) -> None:
        side = self.extent.value()
        self.versions.want(Problem.cube(side) if side else None, self.measures.isChecked())

    def _compare(self) -> None:
        self.versions.compare()
        if self.versions.asked:
            self.look.setFocus(Qt.FocusReason.OtherFocusReason)

    def _refuse(self) -> None:
        self.versions.refuse()
        self.compare.setFocus(Qt.FocusReason.OtherFocusReason)

    # The stage

    def show_on_stage(self, later: bool, line: int = 0) -> None:
        """Choose a compared version on the stage, at the size of the comparison.

        Parameters
        ----------
        later
            Whether the second one.
        line
            Where to begin; 0: at the first step.
        """
        found = self.versions.result
        sides = self.versions.sides
        if found is None or sides is None or not self._can_show(later):
            return
        made, kernel = (found.before, found.after)[later].launch, sides[later].kernel
        choice = self.session.choice
        try:
            if kernel is not choice.kernel:
                if kernel.path in [known.path for known in choice.kernels] or "~" in kernel.path.stem:
                    choice.choose_kernel(kernel)
                else:
                    choice.add_kernel(kernel)
        except GemmvizError as error:
            self.session.messages.tell(Message(str(error), "warning", lasting=True))
            return
        self._line = line
        choice.choose(made.problem, made.params, stays=False)
        self.stage_wanted.emit()
        playable = self.session.cursor.playable
        if playable is not None and playable.recording.sha256 == kernel.sha256 and not self.session.progress["record"]:
            self._on_recorded()

    def _on_recorded(self) -> None:
        line, self._line = self._line, 0
        if line:
            self.session.player.seek_line(line)

    def _can_show(self, later: bool) -> bool:
        """Return whether a version can be chosen without losing an edit: not the text of a file that is edited."""
        sides = self.versions.sides
        if sides is None:
            return False
        kernel, choice = sides[later].kernel, self.session.choice
        known = next((one for one in choice.kernels if one.path == kernel.path), None)
        return kernel is choice.kernel or known is None or choice.text_of(known) == kernel.text

    # The result

    def refresh(self) -> None:
        """Show everything as it is now."""
        versions, found = self.versions, self.versions.result
        self.before.show_side(versions.before)
        self.after.show_side(versions.after)
        self.compare.setEnabled(versions.sides is not None and not versions.busy)
        self.stop.setEnabled(bool(versions.busy))
        self.bar.setVisible(bool(versions.busy))
        self.bar.setRange(0, 0 if versions.share is None else 1000)
        self.bar.setValue(int(1000 * (versions.share or 0.0)))
        self.question.setVisible(bool(versions.asked))
        self.asked.setText(self._question())
        self.question.setAccessibleDescription(self.asked.text())
        self.message.setText(self._message())
        self.message.setVisible(bool(self.message.text()))
        self.splitter.setVisible(found is not None)
        lines = [f"{one.name}: {launch_text(one)}" for one in (found.before, found.after)] if found else []
        self.launches.setText("\n".join(lines))
        for button, later in ((self.show_before, False), (self.show_after, True)):
            button.setVisible(found is not None)
            if found is not None:
                self._name_button(button, later, (found.before, found.after)[later].name)
        theme = THEMES[self.session.preferences.theme]
        self.table.show_figures(found, theme, changed_only=self.changed_only.isChecked())
        self.changes.show_changes(found, theme)

    def _name_button(self, button: QPushButton, later: bool, name: str) -> None:
        can = self._can_show(later)
        button.setText(tr("To the stage: after") if later else tr("To the stage: before"))
        button.setEnabled(can)
        button.setToolTip(
            tr("Play {name} at this size", name=name)
            if can
            else tr("The file has edits here: F6 goes back to its text, which can then be played.")
        )

    def _question(self) -> str:
        names = ", ".join(side.kernel.path.name for side in self.versions.asked)
        return tr(
            "Nothing of {files} has run yet, and you have not allowed it before. “Run them” compiles these texts and "
            "runs them on this machine, now and later.",
            files=names,
        )

    def _message(self) -> str:
        versions, found = self.versions, self.versions.result
        if versions.busy:
            return versions.busy
        if versions.fault:
            return versions.fault
        if found is not None:
            return tr(
                "{before} and {after} at {size}",
                before=found.before.name,
                after=found.after.name,
                size=found.before.launch.problem,
            )
        if versions.asked:
            return ""
        return tr(
            "Two versions of a kernel on one page: accesses, sectors, wavefronts, findings that are new or gone, "
            "registers, instructions per product. Choose both, or edit a kernel and press Shift+F6."
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put figures and findings beside each other where there is room."""
        super().resizeEvent(event)
        wide = self.width() >= _WIDE
        way = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if way != self.splitter.orientation() or not event.oldSize().isValid():
            self.splitter.setOrientation(way)
            self.splitter.setSizes([640, 450] if wide else [600, 320])
