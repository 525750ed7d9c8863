"""The panel of findings: the checker's findings in the recording and at other sizes; a choice goes to the line."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.guessing.trial_sizes import less_equal_sizes
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr, trn
from gemmviz.session import FindingGroup, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import short_size
from gemmviz.ui.look.theme import THEMES

_LINE = Qt.ItemDataRole.UserRole
_CHECK_KEY = "Ctrl+Shift+R"


class _Resizing(QListWidget):
    """A list whose rows are fitted to its own width: that of the panel around it is known before."""

    def __init__(self, fit: Callable[[], None]) -> None:
        super().__init__()
        self._fit = fit

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the rows."""
        super().resizeEvent(event)
        self._fit()


class FindingsPanel(QWidget):
    """A list of defects and of costs, with a heading that counts them.

    Parameters
    ----------
    session
        The session with the findings.
    """

    chosen = Signal(int)
    """A line is to be shown."""
    check = Signal()
    """Other sizes are to be checked."""
    refreshed = Signal()
    """The findings are shown anew."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.summary = ""
        """The findings in a few words."""
        self.known = False
        """Whether the present text was checked."""
        self.heading = QLabel()
        self.heading.setObjectName("heading")
        self.heading.setWordWrap(True)
        self.button = QPushButton(tr("Check sizes"))
        self.button.setAccessibleName(tr("Check at other sizes"))
        self.button.setToolTip(
            tr(
                "Look for defects at sizes that differ in M, N and K, and with each value offered ({key})",
                key=_CHECK_KEY,
            )
        )
        self.list = _Resizing(self._fit)
        self.list.setAccessibleName(tr("Findings"))
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.state = QLabel()
        self.state.setObjectName("muted")
        self.state.setWordWrap(True)
        self.state.setContentsMargins(8, 0, 8, 4)
        head = QHBoxLayout()
        head.setContentsMargins(4, 3, 6, 3)
        head.setSpacing(4)
        head.addWidget(self.heading, 1)
        head.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        column.addWidget(self.state)
        column.addStretch(0)
        self._entries: list[FindingGroup] = []
        self.button.clicked.connect(lambda *_: self.check.emit())
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        listen(self, session.findings.changed, self.refresh)
        listen(self, session.choice.chosen, self.refresh)
        listen(self, session.cursor.recorded, self.refresh)
        listen(self, session.guesses.confirmed, self.refresh)
        listen(self, session.preferences.themed, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the present findings."""
        session = self.session
        found = session.findings
        self._entries = found.entries() if found.text == session.choice.kernel.text else []
        defects = [e for e in self._entries if not e.is_cost]
        costs = [e for e in self._entries if e.is_cost]
        self.list.clear()
        theme = THEMES[session.preferences.theme]
        for entries, glyph, colour in ((defects, "✗", theme.bad), (costs, "!", theme.warn)):
            for entry in entries:
                line = tr("line {line}", line=entry.lines[0]) if entry.lines else tr("no line")
                item = QListWidgetItem(f"{glyph} {line}: {entry.text}")
                item.setForeground(QBrush(QColor(colour if not entry.is_cost else theme.text)))
                item.setData(_LINE, entry.lines[0] if entry.lines else 0)
                item.setToolTip(entry.text)
                self.list.addItem(item)
        self.known = found.text == session.choice.kernel.text and (found.here is not None or bool(found.others))
        self.summary = _count(defects, costs, self._only_at()) if self.known else tr("Not checked yet")
        self.heading.setText(self.summary)
        self.list.setVisible(bool(self._entries))
        self.button.setEnabled(session.choice.kernel.recordable and not found.checking)
        self.state.setText(self._state(bool(defects)))
        self.state.setVisible(bool(self.state.text()))
        self._fit()
        self.refreshed.emit()

    def count(self) -> int:
        """Return the number of findings in the list."""
        return len(self._entries)

    def has_defects(self) -> bool:
        """Say whether one of them is a defect."""
        return any(not entry.is_cost for entry in self._entries)

    def take_focus(self) -> None:
        """Let the keys choose a finding; the button has the focus where there is none."""
        place = self.list if self.list.count() else self.button
        if self.list.count() and self.list.currentRow() < 0:
            self.list.setCurrentRow(0)
        place.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _only_at(self) -> str:
        """Return the size if nothing is known of sizes that differ in M, N and K, and the kernel takes such; or empty.

        A launch that exchanges M and N is right where both are equal. Our own kernels were tried at many sizes.
        """
        session, choice = self.session, self.session.choice
        ours = choice.shipped(choice.kernel) or (choice.breaks and choice.shipped(choice.base))
        if ours or session.findings.others or session.guesses.is_confirmed(choice.kernel):
            return ""
        if session.cursor.playable is None:
            return ""
        recording = session.cursor.playable.recording
        size = Problem(recording.m, recording.n, recording.k)
        return short_size((size.m, size.n, size.k)) if less_equal_sizes(choice.kernel, size) else ""

    def _state(self, defects: bool) -> str:
        """Describe the finished checks, and the possible next one."""
        session, found = self.session, self.session.findings
        if not session.choice.kernel.recordable:
            return tr("A library call has no source to check.")
        if found.checking:
            return tr("Checking at other sizes: {count} done…", count=len(found.others))
        if found.text != session.choice.kernel.text:
            return tr("This text has not been recorded yet.")
        sentences = []
        if found.others:
            sentences += [] if defects else [tr("No defect found.")]
            checked = trn(
                "Checked at {count} other size or value.",
                "Checked at {count} other sizes and values.",
                len(found.others),
            )
            sentences.append(checked)
        elif found.here is None:
            too_large = tr(
                "This recording was too large to check along with it. Check at other sizes: {key}.", key=_CHECK_KEY
            )
            sentences.append(too_large)
        elif not self._entries:
            sentences.append(tr("No defect found in this recording. Check at other sizes: {key}.", key=_CHECK_KEY))
        sentences += [tr("Left out: {what}.", what=what) for what in found.left_out[:1]]
        if found.left_out[1:]:
            sentences.append(tr("And {count} more left out.", count=len(found.left_out) - 1))
        return " ".join(sentences)

    def _fit(self) -> None:
        """Make every row as high as its words need."""
        width, flags = self.list.viewport().width() - 12, Qt.TextFlag.TextWordWrap
        for row in range(self.list.count()):
            item = self.list.item(row)
            area = self.list.fontMetrics().boundingRect(0, 0, max(width, 50), 10_000, flags, item.text())
            item.setSizeHint(QSize(0, area.height() + 7))

    def _on_item(self, item: QListWidgetItem) -> None:
        if item.data(_LINE):
            self.chosen.emit(item.data(_LINE))


def _count(defects: list[FindingGroup], costs: list[FindingGroup], only_at: str) -> str:
    right = tr("Correct at {size}", size=only_at) if only_at else tr("Correct")
    found = trn("{count} defect", "{count} defects", len(defects)) if defects else right
    return "; ".join([found, *([trn("{count} inefficiency", "{count} inefficiencies", len(costs))] if costs else [])])
