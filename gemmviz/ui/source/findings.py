"""The panel of findings: the checker's findings in the recording and at other sizes; a choice goes to the line."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gemmviz.language import tr, trn
from gemmviz.session import FindingGroup, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES

_LINE = Qt.ItemDataRole.UserRole
# Heights of the list in pixels, at a scale of type of 1.
_LOWEST, _HIGHEST, _HIGHEST_OF_COSTS = 34, 150, 84
_CHECK_KEY = "Ctrl+Shift+R"


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

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.heading = QPushButton()
        self.heading.setObjectName("fold")
        self.heading.setCheckable(True)
        self.heading.setChecked(session.sight.findings)
        self.heading.setToolTip(tr("Show or hide what the checker found"))
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.button = QPushButton(tr("Check sizes"))
        self.button.setAccessibleName(tr("Check at other sizes"))
        self.button.setToolTip(
            tr(
                "Look for defects at sizes that differ in M, N and K, and with each value offered ({key})",
                key=_CHECK_KEY,
            )
        )
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Findings"))
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.state = QLabel()
        self.state.setObjectName("muted")
        self.state.setWordWrap(True)
        self.state.setContentsMargins(8, 0, 8, 4)
        head = self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(4, 3, 6, 3)
        head.setSpacing(4)
        head.addWidget(self.heading, 1)
        head.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.list)
        column.addWidget(self.state)
        self._entries: list[FindingGroup] = []
        self._counts = ("", "")
        self.heading.toggled.connect(self._on_folded)
        self.button.clicked.connect(lambda *_: self.check.emit())
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        listen(self, session.findings.changed, self.refresh)
        listen(self, session.choice.chosen, self.refresh)
        listen(self, session.cursor.recorded, self.refresh)
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
        known = found.text == session.choice.kernel.text and (found.here is not None or bool(found.others))
        count = _count(defects, costs) if known else tr("Not checked yet")
        # In the list's signs, where there is no room for the words.
        self._counts = (count, f"✗ {len(defects)}   ! {len(costs)}" if known else count)
        self.heading.setAccessibleName(tr("Findings: {count}", count=count))
        self.button.setEnabled(session.choice.kernel.recordable and not found.checking)
        self.state.setText(self._state(bool(defects)))
        self._fold()

    def take_focus(self) -> None:
        """Let the keys choose a finding; the heading has the focus where there is none."""
        self.heading.setChecked(True)
        place = self.list if self.list.count() else self.heading
        if self.list.count() and self.list.currentRow() < 0:
            self.list.setCurrentRow(0)
        place.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _state(self, defects: bool) -> str:
        """Describe the finished checks, and the possible next one."""
        session, found = self.session, self.session.findings
        if not session.choice.kernel.recordable:
            return tr("A library call has no source to check.")
        if found.checking:
            return tr("Checking at other sizes: {count} done…", count=len(found.others))
        if found.text != session.choice.kernel.text:
            return tr("This text has not been recorded yet.")
        told = []
        if found.others:
            told += [] if defects else [tr("No defect found.")]
            told.append(tr("Checked at {count} other sizes and values.", count=len(found.others)))
        elif found.here is None:
            too_large = tr(
                "This recording was too large to check along with it. Check at other sizes: {key}.", key=_CHECK_KEY
            )
            told.append(too_large)
        elif not self._entries:
            told.append(tr("No defect found in this recording. Check at other sizes: {key}.", key=_CHECK_KEY))
        told += [tr("Left out: {what}.", what=what) for what in found.left_out[:1]]
        if found.left_out[1:]:
            told.append(tr("And {count} more left out.", count=len(found.left_out) - 1))
        return " ".join(told)

    def _on_folded(self, unfolded: bool) -> None:
        self.session.sight.findings = unfolded
        self._fold()

    def _fold(self) -> None:
        shown, some = self.heading.isChecked(), self.list.count() > 0
        self.list.setVisible(shown and some)
        self.state.setVisible(shown and bool(self.state.text()))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the list the height that its sentences take, up to a third of the available height."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make every row as high as its words need, and the list as high as its rows, within limits."""
        self._fit_heading()
        width = self.list.viewport().width() - 12
        flags = Qt.TextFlag.TextWordWrap
        needed = 6
        for row in range(self.list.count()):
            item = self.list.item(row)
            area = self.list.fontMetrics().boundingRect(0, 0, max(width, 50), 10_000, flags, item.text())
            item.setSizeHint(QSize(0, area.height() + 5))
            needed += area.height() + 5
        highest = _HIGHEST if any(not entry.is_cost for entry in self._entries) else _HIGHEST_OF_COSTS
        self.list.setFixedHeight(round(max(scaled(_LOWEST), min(needed, scaled(highest)))))

    def _fit_heading(self) -> None:
        """Count in words where these fit beside the button, else in signs, else above the button."""
        sign = "▾" if self.heading.isChecked() else "▸"
        texts = [f"{sign} {count}" for count in self._counts]
        margins = self._head.contentsMargins()
        whole = self.width() - margins.left() - margins.right()
        beside = whole - self.button.sizeHint().width() - self._head.spacing()
        needed = [self._width_of_heading(text) for text in texts]
        is_beside = min(needed) <= beside
        direction = QBoxLayout.Direction.LeftToRight if is_beside else QBoxLayout.Direction.TopToBottom
        if direction != self._head.direction():
            self._head.setDirection(direction)
        room = beside if is_beside else whole
        self.heading.setText(texts[0] if needed[0] <= room else texts[1])

    def _width_of_heading(self, text: str) -> int:
        self.heading.setText(text)
        return self.heading.sizeHint().width()

    def _on_item(self, item: QListWidgetItem) -> None:
        if item.data(_LINE):
            self.chosen.emit(item.data(_LINE))


def _count(defects: list[FindingGroup], costs: list[FindingGroup]) -> str:
    found = trn("{count} defect", "{count} defects", len(defects)) if defects else tr("No defect")
    return ", ".join([found, *([trn("{count} cost", "{count} costs", len(costs))] if costs else [])])
