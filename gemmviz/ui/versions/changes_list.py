"""The findings of two versions: new ones, those that are gone, those in both; a choice goes to the line."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QResizeEvent
from PySide6.QtWidgets import QTreeWidgetItem

from gemmviz.language import tr
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.versions.figures_table import KeyedTree
from gemmviz.versions.changes import Change
from gemmviz.versions.comparison import Comparison
from gemmviz.versions.words import STATES, change_text, shown_thing

_MARK = {"new": "+", "gone": "-", "unclear": "?", "both": " "}
_CHANGE = Qt.ItemDataRole.UserRole


class ChangesList(KeyedTree):
    """Defects first, then wasted traffic; each row has its state in a word and a sign."""

    opened = Signal(bool, int)
    """A line is to be shown on the stage: whether of the second version, and the line (0: none)."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Findings of both versions"))
        self.setColumnCount(1)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setWordWrap(True)
        self.setVerticalScrollMode(KeyedTree.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._found: Comparison | None = None
        self.itemActivated.connect(self._on_item)
        self.itemDoubleClicked.connect(self._on_item)

    def show_changes(self, found: Comparison | None, theme: Theme) -> None:
        """Show the findings of a comparison; none where there is none."""
        self.clear()
        self._found = found
        if found is None:
            return
        if not found.checked:
            for version in (found.before, found.after):
                if version.no_report:
                    self._heading(tr("{name} was not checked: {why}", name=version.name, why=version.no_report), theme)
            return
        for defects, title in (
            (True, tr("Defects at this size")),
            (False, tr("Wasted traffic, which costs time only")),
        ):
            those = [change for change in found.changes if change.defect is defects]
            if those:
                heading = self._heading(title, theme)
                for change in those:
                    heading.addChild(self._row(change, found, theme))
            elif defects:
                self._heading(tr("No defect in either at this size."), theme)
            else:
                self._heading(tr("No wasted traffic in either at this size."), theme)
        if any(change.state == "unclear" for change in found.changes):
            self._heading(tr("Unclear: one has it, and the other one ended too early to show it."), theme)
        self.expandAll()
        self._fit()

    def _heading(self, text: str, theme: Theme) -> QTreeWidgetItem:
        heading = QTreeWidgetItem([text])
        heading.setForeground(0, QBrush(QColor(theme.muted)))
        heading.setToolTip(0, text)
        self.addTopLevelItem(heading)
        return heading

    def _row(self, change: Change, found: Comparison, theme: Theme) -> QTreeWidgetItem:
        text = change_text(change, (found.before, found.after))
        row = QTreeWidgetItem([f"{_MARK[change.state]} {tr(STATES[change.state])}: {text}"])
        colours = {"new": theme.bad if change.defect else theme.warn, "gone": theme.good}
        row.setForeground(0, QBrush(QColor(colours.get(change.state, theme.text))))
        row.setToolTip(0, tr("{finding} (Enter shows the line on the stage)", finding=text))
        row.setData(0, _CHANGE, change)
        return row

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make every row as high as its words need."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        width, flags = self.viewport().width() - self.indentation() - 12, Qt.TextFlag.TextWordWrap
        for number in range(self.topLevelItemCount()):
            heading = self.topLevelItem(number)
            if heading is None:
                continue
            for item in (heading, *(heading.child(at) for at in range(heading.childCount()))):
                area = self.fontMetrics().boundingRect(0, 0, max(width, 50), 10_000, flags, item.text(0))
                item.setSizeHint(0, QSize(0, area.height() + 7))

    def _on_item(self, item: QTreeWidgetItem) -> None:
        change = item.data(0, _CHANGE)
        if isinstance(change, Change) and self._found is not None:
            version, thing = shown_thing(change, (self._found.before, self._found.after))
            self.opened.emit(version is self._found.after, thing.line)
