"""The table of figures of two versions: a heading for each group, a row for each figure."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QBrush, QColor, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from gemmviz.language import tr
from gemmviz.ui.known import shortcut
from gemmviz.ui.look.theme import Theme
from gemmviz.versions.comparison import Comparison
from gemmviz.versions.figure import Figure
from gemmviz.versions.words import name_text, ratio_text, values_text

_DIFFERS = "*"
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
"""Keys that move through a list; in the window they are shortcuts of the stage."""


class KeyedTree(QTreeWidget):
    """A tree whose keys move through it, also where they are shortcuts of the window."""

    def event(self, event: QEvent) -> bool:
        """Keep the keys that move through the rows from the shortcuts of the window."""
        key = shortcut(event)
        if key is not None and not key.modifiers() and key.key() in MOVES:
            event.accept()
            return True
        return super().event(event)


class FiguresTable(KeyedTree):
    """The figures of two versions. Different figures are bold and marked with ``*``; equal ones can be left out."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Figures of both versions"))
        self.setColumnCount(4)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.header().setStretchLastSection(False)
        for column in range(4):
            mode = QHeaderView.ResizeMode.Stretch if column == 0 else QHeaderView.ResizeMode.Interactive
            self.header().setSectionResizeMode(column, mode)

    def show_figures(self, found: Comparison | None, theme: Theme, *, changed_only: bool) -> None:
        """Show the figures of a comparison; none where there is none."""
        self.clear()
        if found is None:
            self.setHeaderLabels(["", "", "", ""])
            return
        self.setHeaderLabels(["", found.before.name, found.after.name, tr("after / before")])
        for column in (1, 2, 3):
            self.headerItem().setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.headerItem().setToolTip(column, self.headerItem().text(column))
        origin = ""
        for group in found.groups:
            figures = [figure for figure in group.figures if figure.differs or not changed_only]
            if not figures and not group.note:
                continue
            words = [group.title, *([f"({group.origin})"] if group.origin not in ("", origin) else [])]
            origin = group.origin
            heading = QTreeWidgetItem(["   ".join(words) + (f": {group.note}" if group.note else "")])
            heading.setToolTip(0, heading.text(0))
            heading.setForeground(0, QBrush(QColor(theme.muted)))
            self.addTopLevelItem(heading)
            heading.setFirstColumnSpanned(True)
            for figure in figures:
                heading.addChild(_row(figure))
        self.expandAll()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the new width out."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give the values the width that they need, and no more than a share of the table."""
        most = self.viewport().width() * 3 // 10
        for column in (1, 2, 3):
            self.resizeColumnToContents(column)
            self.setColumnWidth(column, min(self.columnWidth(column) + 8, most))


def _row(figure: Figure) -> QTreeWidgetItem:
    one, other = values_text(figure)
    mark = f"{_DIFFERS} " if figure.differs else ""
    row = QTreeWidgetItem([mark + name_text(figure), one, other, ratio_text(figure)])
    for column in range(4):
        font = row.font(column)
        font.setBold(figure.differs)
        row.setFont(column, font)
        row.setToolTip(column, row.text(column))
        if column:
            row.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    text = tr("{name}: {before} before, {after} after", name=name_text(figure), before=one, after=other)
    row.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{text}; {tr('differs')}" if figure.differs else text)
    return row
