"""The source in the right column: its name, the text, the line to find in it, and the findings in a few words."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.source.breaks import BreakBox, look_for
from gemmviz.ui.source.find_bar import FindBar
from gemmviz.ui.source.findings import FindingsPanel
from gemmviz.ui.source.now_box import NowBox
from gemmviz.ui.source.source import Source

_LEAST_LETTERS = 12  # of the name, beside the buttons


class Heading(QLabel):
    """The name of the text, cut in the middle where it is too long; the tooltip has all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("heading")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.whole = self._short = ""

    def say(self, text: str, tip: str, short: str = "") -> None:
        """Show a name; `short` is shown where there is no room for all of it."""
        self.whole, self._short = text, short or text
        self.setToolTip(f"{text}\n{tip}")
        self.setAccessibleName(text)
        self._cut()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the name anew."""
        super().resizeEvent(event)
        self._cut()

    def minimumSizeHint(self) -> QSize:
        """Return a small width: the name is cut rather than the column widened."""
        return QSize(0, super().minimumSizeHint().height())

    def _cut(self) -> None:
        room = self.contentsRect().width() - 16
        metrics = self.fontMetrics()
        shown = self.whole if metrics.horizontalAdvance(self.whole) <= room else self._short
        self.setText(metrics.elidedText(shown, Qt.TextElideMode.ElideMiddle, max(room, 40)))


class SourceSide(QWidget):
    """Puts the source and its parts into one column.

    Parameters
    ----------
    session
        The session with the source.
    """

    findings_wanted = Signal()
    """The findings are to be shown."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.source = Source(session)
        self.heading = Heading()
        self.broken = QLabel()
        self.broken.setObjectName("muted")
        self.broken.setWordWrap(True)
        self.broken.setContentsMargins(8, 0, 8, 4)
        self.find_bar = FindBar(self.source)
        self.findings = FindingsPanel(session)
        self.now = NowBox(session)
        self.found = QPushButton()
        self.found.setObjectName("found")
        self.found.setToolTip(tr("Show the findings of the checker (Ctrl+4)"))
        self.found.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.break_box = BreakBox(session.choice, session.messages)
        self.edit_button = QToolButton()
        self.edit_button.setObjectName("slim")
        self.edit_button.setText(tr("Edit"))
        self.edit_button.setCheckable(True)
        self.edit_button.setToolTip(tr("Let the source be edited, or lock it (Ctrl+Shift+E)"))
        self.edit_button.setAccessibleName(tr("Edit the source"))
        self.revert_button = QToolButton()
        self.revert_button.setObjectName("slim")
        self.revert_button.setText("↶")
        self.revert_button.setFixedWidth(30)
        self.revert_button.setAccessibleName(tr("Back to the text on file"))
        self.revert_button.setToolTip(tr("Back to the text on file (F6); Ctrl+Z brings yours back"))
        buttons = self._buttons = QHBoxLayout()
        buttons.setSpacing(6)
        buttons.addStretch(1)
        for widget in (self.break_box, self.revert_button, self.edit_button):
            buttons.addWidget(widget)
        head = self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(0, 2, 6, 2)
        head.setSpacing(2)
        head.addWidget(self.heading, 1)
        head.addLayout(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.broken)
        column.addWidget(self.source, 1)
        column.addWidget(self.find_bar)
        column.addWidget(self.now)
        column.addWidget(self.found)
        self.edit_button.clicked.connect(self._on_edit)
        self.revert_button.clicked.connect(lambda *_: session.choice.revert())
        self.source.locked_changed.connect(lambda locked: self.edit_button.setChecked(not locked))
        self.findings.chosen.connect(self._on_line)
        self.findings.refreshed.connect(self._show_found)
        self.found.clicked.connect(lambda *_: self.findings_wanted.emit())
        for signal in (session.choice.chosen, session.messages.changed, session.choice.drafted):
            listen(self, signal, self._name)
        self.source.load()
        self._name()
        self._show_found()

    def _show_found(self) -> None:
        found = self.findings
        sign = "✗" if found.has_defects() else "✓" if found.known else "–"
        self.found.setText(f"{sign}  {found.summary}  ›")
        self.found.setAccessibleName(tr("Findings: {count}", count=found.summary))

    def showEvent(self, event: QShowEvent) -> None:
        """Describe the step that was reached behind another tab."""
        super().showEvent(event)
        self.now.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the buttons a separate row if the name would be cut to nothing."""
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self) -> None:
        room = self.width() - self._buttons.sizeHint().width()
        short = room < self.fontMetrics().averageCharWidth() * _LEAST_LETTERS
        direction = QBoxLayout.Direction.TopToBottom if short else QBoxLayout.Direction.LeftToRight
        if direction != self._head.direction():
            self._head.setDirection(direction)

    def _name(self) -> None:
        session = self.session
        foreign = self.source.foreign[0] if self.source.foreign else ""
        name = session.choice.base.shown_file
        if session.choice.breaks:
            name = tr("{file}, changed", file=name)
        elif session.choice.unsaved(session.choice.base):
            name = tr("{file}, edited", file=name)
        tip = f"{title_text(session.choice.base)}\n{tr(session.choice.base.idea)}"
        self.heading.say(foreign or name, tip, foreign or session.choice.base.shown_file)
        self.broken.setText(self._changes_text())
        self.broken.setVisible(bool(session.choice.breaks) and not foreign)
        self.revert_button.setVisible(
            not foreign and not session.choice.breaks and session.choice.unsaved(session.choice.base)
        )
        self.break_box.setVisible(not foreign and bool(session.choice.base.breaks))
        self.edit_button.setEnabled(not foreign and session.choice.kernel.recordable)
        self._fit_head()

    def _changes_text(self) -> str:
        """Describe the changes of the kernel, and the effects to look for: also for users without a mouse."""
        session = self.session
        made = [change for change in session.choice.base.breaks if change.id in session.choice.breaks]
        return "\n".join(f"≠ {tr(change.title)}\n{look_for(change)}" for change in made)

    def _on_edit(self, *_: object) -> None:
        self.source.toggle_edit()
        self.edit_button.setChecked(not self.source.locked)

    def _on_line(self, line: int) -> None:
        """Show a line of a finding, and on the stage its next step where the recording has one."""
        self.source.go_to(line)
        self.session.player.seek_line(line)
