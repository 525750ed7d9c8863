"""The list of claims by document: title, statement, verdict and both figures, and a button that runs it."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gemmviz.bench.claims import Claim
from gemmviz.control.claims_runner import ClaimsRunner
from gemmviz.language import tr
from gemmviz.ui.claims.claims_text import (
    RUNNING,
    Badge,
    badge,
    figures_text,
    reference_badge,
)
from gemmviz.ui.known import shortcut
from gemmviz.ui.look.theme import THEMES, Theme

_ID = Qt.ItemDataRole.UserRole
_MARGIN = 6.0
_MOVES = (Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Left, Qt.Key.Key_Right)
_WRAP = int(Qt.TextFlag.TextWordWrap)


class ClaimsList(QTreeWidget):
    """The claims under the title of their document; Enter runs the chosen one.

    Parameters
    ----------
    runner
        The runner with the claims and verdicts.
    """

    chosen = Signal(str)
    """The id of the claim that is current now."""
    asked = Signal(str)
    """The id of a claim to run."""

    def __init__(self, runner: ClaimsRunner) -> None:
        super().__init__()
        self.runner = runner
        self.setAccessibleName(tr("Claims of the documents"))
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QTreeWidget.ScrollMode.ScrollPerPixel)
        self.header().setStretchLastSection(False)
        self.header().setMinimumSectionSize(20)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        self.setItemDelegateForColumn(0, ClaimDelegate(self))
        self.items: dict[str, QTreeWidgetItem] = {}
        # Judged once per change, not once per paint.
        self._shown = {claim.id: self._judged(claim) for claim in runner.claims}
        self.buttons: dict[str, QPushButton] = {}
        for source in runner.sources:
            kind = ", ".join(str(part) for part in (f"{source.language} {source.kind}", source.year) if part)
            heading = QTreeWidgetItem([f"{source.id}  {source.title} ({kind})"])
            heading.setToolTip(0, heading.text(0))
            self.addTopLevelItem(heading)
            heading.setFirstColumnSpanned(True)
            for claim in runner.claims:
                if claim.source == source.id:
                    self._add(heading, claim)
        self.expandAll()
        self.currentItemChanged.connect(self._on_current)
        self.refresh()

    def _add(self, heading: QTreeWidgetItem, claim: Claim) -> None:
        item = QTreeWidgetItem([tr(claim.title)])
        item.setData(0, _ID, claim.id)
        item.setToolTip(
            0, tr("{claim} (on the command line: {command})", claim=claim.id, command=f"gemmviz claims {claim.id}")
        )
        heading.addChild(item)
        self.items[claim.id] = item
        self._speak(claim)
        if not claim.quantities:
            return
        button = QPushButton(tr("Run"))
        button.setAccessibleName(tr("Run: {claim}", claim=tr(claim.title)))
        button.setToolTip(tr("Measure and record for “{claim}” (Enter)", claim=tr(claim.title)))
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda *_, name=claim.id: self.asked.emit(name))
        # As tall as a button, however tall the row is.
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, int(_MARGIN), 6, 0)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        holder.setAutoFillBackground(False)
        self.setItemWidget(item, 1, holder)
        self.buttons[claim.id] = button

    def claim_of(self, item: QTreeWidgetItem | None) -> Claim | None:
        """Return the claim of a row; None for a document's heading."""
        name = item.data(0, _ID) if item is not None else None
        return next((claim for claim in self.runner.claims if claim.id == name), None)

    def choose(self, name: str) -> None:
        """Make a claim the current one."""
        self.setCurrentItem(self.items[name])

    def refresh(self) -> None:
        """Show the verdicts as they are now."""
        shown = {claim.id: self._judged(claim) for claim in self.runner.claims}
        for button in self.buttons.values():
            button.setEnabled(not self.runner.busy)
        if shown == self._shown:
            return
        self._shown = shown
        for claim in self.runner.claims:
            self._speak(claim)
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def _speak(self, claim: Claim) -> None:
        words = ", ".join(found.words for found in self.badges(claim))
        spoken = f"{tr(claim.title)}: {words}. {claim.statement} {self.figures(claim)}"
        self.items[claim.id].setData(0, Qt.ItemDataRole.AccessibleTextRole, spoken)

    def _judged(self, claim: Claim) -> tuple[list[Badge], str]:
        verdict, elsewhere = self.runner.judge.verdict(claim), self.runner.judge.reference(claim)
        badges = [RUNNING if self.runner.running(claim) else badge(verdict)]
        if elsewhere and elsewhere.is_decided:
            badges.append(reference_badge(elsewhere))
        drawn = verdict if elsewhere is None or verdict.has_figures else elsewhere
        return badges, figures_text(claim, drawn)

    def badges(self, claim: Claim) -> list[Badge]:
        """Return the text beside a claim's title."""
        return self._shown[claim.id][0]

    def figures(self, claim: Claim) -> str:
        """Return the text below a claim's statement."""
        return self._shown[claim.id][1]

    def _on_current(self, item: QTreeWidgetItem | None) -> None:
        claim = self.claim_of(item)
        if claim is not None:
            self.chosen.emit(claim.id)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that move through the list from the shortcuts of the window."""
        key = shortcut(event)
        if key is not None and not key.modifiers() and key.key() in _MOVES:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Run the chosen claim with Enter."""
        claim = self.claim_of(self.currentItem())
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and claim is not None:
            self.asked.emit(claim.id)
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the statements anew."""
        super().resizeEvent(event)
        self.header().resizeSection(1, max((b.sizeHint().width() for b in self.buttons.values()), default=0) + 8)
        self.scheduleDelayedItemsLayout()

    @property
    def room(self) -> float:
        """The possible width of a claim's text, in pixels."""
        return self.viewport().width() - self.header().sectionSize(1) - 2 * self.indentation() - 2 * _MARGIN - 3.0


class ClaimDelegate(QStyledItemDelegate):
    """Paints one claim: badge and title, statement, figures."""

    def __init__(self, view: ClaimsList) -> None:
        super().__init__(view)
        self._view = view

    def _fonts(self, base: QFont) -> tuple[QFont, QFont]:
        bold, small = QFont(base), QFont(base)
        bold.setBold(True)
        small.setPointSizeF(base.pointSizeF() * 0.9)
        return bold, small

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the height that a row needs at the column's width."""
        item = self._view.itemFromIndex(index)
        claim = self._view.claim_of(item)
        font = self._view.font()
        line = QFontMetricsF(font).height()
        if claim is None:
            return QSize(0, int(line * 1.8))
        return QSize(0, int(sum(self._heights(claim, font, self._view.room)) + 2 * _MARGIN))

    def _heights(self, claim: Claim, font: QFont, wide: float) -> tuple[float, float, float]:
        bold, small = self._fonts(font)
        line = QFontMetricsF(bold).height() * 1.25
        titles = line if self._beside(claim, font, wide) else 2 * line
        room = QRectF(0, 0, max(wide, 60), 1000)
        statement = QFontMetricsF(font).boundingRect(room, _WRAP, claim.statement).height()
        text = self._view.figures(claim)
        figures = QFontMetricsF(small).boundingRect(room, _WRAP, text).height() + 2 if text else 0.0
        return titles, statement + 2, figures

    def _beside(self, claim: Claim, font: QFont, wide: float) -> bool:
        """Return whether title and badges fit into one line."""
        bold, small = self._fonts(font)
        badges = sum(_badge_width(b, QFontMetricsF(small)) for b in self._view.badges(claim))
        return QFontMetricsF(bold).horizontalAdvance(tr(claim.title)) + badges + 8 <= wide

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        theme = THEMES[self._view.runner.session.preferences.theme]
        claim = self._view.claim_of(self._view.itemFromIndex(index))
        font = self._view.font()
        bold, small = self._fonts(font)
        area = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if claim is None:
            painter.setFont(bold)
            painter.setPen(QColor(theme.muted))
            text = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideRight, int(area.width()))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()
            return
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, QColor(theme.raised))
            painter.fillRect(QRectF(area.left(), area.top(), 3, area.height()), QColor(theme.accent))
        inner = area.adjusted(_MARGIN + 3, _MARGIN, -_MARGIN, -_MARGIN)
        titles, statement, figures = self._heights(claim, font, inner.width())
        beside = self._beside(claim, font, inner.width())
        line = titles if beside else titles / 2
        painter.setFont(bold)
        painter.setPen(QColor(theme.text))
        title = painter.fontMetrics().elidedText(tr(claim.title), Qt.TextElideMode.ElideRight, int(inner.width()))
        painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), line), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        if beside:
            wide = sum(_badge_width(b, QFontMetricsF(small)) for b in self._view.badges(claim))
            x, y = inner.right() - wide + 6, inner.top()
        else:
            x, y = inner.left(), inner.top() + line
        for found in self._view.badges(claim):
            x += _draw_badge(painter, x, y, line, found, theme)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        painter.drawText(QRectF(inner.left(), inner.top() + titles, inner.width(), statement), _WRAP, claim.statement)
        painter.setFont(small)
        painter.setPen(QColor(theme.muted))
        place = QRectF(inner.left(), inner.top() + titles + statement, inner.width(), figures)
        painter.drawText(place, _WRAP, self._view.figures(claim))
        painter.restore()


def _badge_width(found: Badge, metrics: QFontMetricsF) -> float:
    return metrics.horizontalAdvance(found.text) + 20.0


def _draw_badge(painter: QPainter, x: float, y: float, line: float, found: Badge, theme: Theme) -> float:
    """Draw a badge; return its width."""
    wide = _badge_width(found, QFontMetricsF(painter.font()))
    place = QRectF(x, y + 1, wide - 6, line - 3)
    colour = QColor(getattr(theme, found.colour))
    pen = QPen(colour, 1.5, Qt.PenStyle.DashLine if found.hollow else Qt.PenStyle.SolidLine)
    painter.setPen(pen)
    painter.drawRoundedRect(place, 5, 5)
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, found.text)
    return wide
