"""The ladder: every rung with its alias, element type, status and last GFLOPS."""

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gemmviz.catalogue.kernel import Kernel
from gemmviz.session import Row, Session
from gemmviz.ui.theme import THEMES, Theme

SECTIONS = {"c": "CPU", "cuda": "CUDA", "numpy": "REFERENCES", "cublas": "REFERENCES"}
_NAME = Qt.ItemDataRole.UserRole
_HEIGHT, _SECTION_HEIGHT = 37, 22
# Shape and letter say the status as well as the colour does.
_MARKS = {
    "ok": ("✓", "good"),
    "wrong": ("✗", "bad"),
    "skipped": ("–", "muted"),
    "unsupported": ("–", "muted"),
    "cancelled": ("■", "muted"),
    "running": ("…", "accent"),
}


class Ladder(QListWidget):
    """A list of rungs; the chosen one is the session's kernel.

    Parameters
    ----------
    session
        Whose kernels and results to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setAccessibleName("Ladder of kernels")
        self.setItemDelegate(RungDelegate(session, self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._items: dict[str, QListWidgetItem] = {}
        self._fill()
        self.currentItemChanged.connect(self._on_current)
        session.kernels_changed.connect(self._fill)
        session.chosen.connect(self._on_chosen)
        session.measured.connect(self._on_measured)
        session.themed.connect(self._on_theme)
        self._on_chosen()

    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        self._items = {}
        for backends in (("c",), ("cuda",), ("numpy", "cublas")):
            kernels = [k for k in self.session.kernels if k.backend in backends]
            if kernels:
                heading = QListWidgetItem(SECTIONS[backends[0]])
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                heading.setSizeHint(QSize(0, _SECTION_HEIGHT))
                self.addItem(heading)
            for kernel in kernels:
                item = QListWidgetItem(kernel.alias)
                item.setData(_NAME, kernel.name)
                item.setSizeHint(QSize(0, _HEIGHT))
                self.addItem(item)
                self._items[kernel.name] = item
                self._on_measured(kernel.name)
        self.blockSignals(False)
        self._on_chosen()

    def item_of(self, name: str) -> QListWidgetItem:
        """Return the rung of the kernel with that name."""
        return self._items[name]

    def _on_current(self, item: QListWidgetItem | None) -> None:
        name = item.data(_NAME) if item is not None else None
        if name and name != self.session.kernel.name:
            self.session.choose_kernel(next(k for k in self.session.kernels if k.name == name))

    def _on_chosen(self) -> None:
        item = self._items.get(self.session.kernel.name)
        if item is not None and item is not self.currentItem():
            self.blockSignals(True)
            self.setCurrentItem(item)
            self.blockSignals(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the chosen rung in sight."""
        super().resizeEvent(event)
        if self.currentItem() is not None:
            self.scrollToItem(self.currentItem())

    def _on_measured(self, name: str) -> None:
        item = self._items.get(name)
        if item is None:
            return
        kernel = next(k for k in self.session.kernels if k.name == name)
        row = self.session.results.get(name)
        lines = [f"{kernel.title} ({kernel.name})", kernel.idea, status_text(row)]
        item.setToolTip("\n".join(line for line in lines if line))
        self.viewport().update()

    def _on_theme(self) -> None:
        self.viewport().update()


def shown_name(kernel: Kernel, session: Session) -> str:
    """Return a kernel's alias; its file's name where two kernels share the alias."""
    shared = sum(k.alias == kernel.alias for k in session.kernels) > 1
    return kernel.name if shared else kernel.alias


def status_text(row: Row | None) -> str:
    """Say in words what came of measuring a kernel."""
    if row is None:
        return "not measured yet"
    size = f"{row['M']} × {row['N']} × {row['K']}"
    if row["status"] == "ok":
        return ", ".join([f"{gflops_text(row['gflops'])} GFLOPS at {size}", *row.get("flags", ())])
    return f"{row['status']}: {row.get('message', '')}".rstrip(": ")


def gflops_text(value: float) -> str:
    """Write GFLOPS with at most 4 significant digits and thin thousands."""
    if value >= 1000:
        digits = len(str(int(value)))
        return f"{round(value, 4 - digits):,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return f"{value:.4g}" if value >= 100 else f"{value:.3g}"


class RungDelegate(QStyledItemDelegate):
    """Paints one rung: mark, alias, element type, then the figure with its bar, or why there is none."""

    def __init__(self, session: Session, parent: Ladder) -> None:
        super().__init__(parent)
        self._session = session

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Paint one row."""
        theme = THEMES[self._session.theme]
        painter.save()
        area = QRectF(option.rect)
        name = index.data(_NAME)
        if name is None:
            font = QFont(option.font)
            font.setBold(True)
            font.setPointSizeF(option.font.pointSizeF() * 0.88)
            painter.setFont(font)
            painter.setPen(QColor(theme.muted))
            painter.drawText(area.adjusted(10, 2, 0, 0), Qt.AlignmentFlag.AlignVCenter, str(index.data()))
        else:
            kernel = next(k for k in self._session.kernels if k.name == name)
            self._rung(painter, area, option, kernel, theme)
        painter.restore()

    def _rung(
        self, painter: QPainter, area: QRectF, option: QStyleOptionViewItem, kernel: Kernel, theme: Theme
    ) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(area, QColor(theme.raised))
            painter.fillRect(QRectF(area.left(), area.top(), 3, area.height()), QColor(theme.accent))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(area, QColor(theme.panel))
        row = self._session.results.get(kernel.name)
        mark, colour = _MARKS.get(row["status"], ("!", "bad")) if row else ("○", "muted")
        painter.setPen(QColor(getattr(theme, colour)))
        painter.drawText(QRectF(area.left() + 9, area.top() + 1, 16, 18), Qt.AlignmentFlag.AlignCenter, mark)
        font = QFont(option.font)
        font.setBold(chosen)
        left, right = area.left() + 29, area.right() - 8
        small = QFont(option.font)
        small.setPointSizeF(option.font.pointSizeF() * 0.86)
        # A long name is narrowed first: two names cut in the middle may look alike.
        name = shown_name(kernel, self._session)
        wide = QFontMetrics(font).horizontalAdvance(name)
        if wide > right - left:
            font.setBold(False)
            wide = QFontMetrics(font).horizontalAdvance(name)
        if wide > right - left:
            font.setStretch(max(62, int(100 * (right - left) / wide) - 1))
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        title = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, int(right - left))
        painter.drawText(QRectF(left, area.top() + 1, right - left, 18), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        below = QRectF(left, area.top() + 18, right - left, 17)
        painter.setPen(QColor(theme.muted))
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, _short(kernel))
        below.setLeft(left + painter.fontMetrics().horizontalAdvance("FP32 ") + 4)
        if row is not None and row["status"] == "ok":
            self._bar(painter, below, row, theme)
        else:
            text = status_text(row) if row else kernel.title
            painter.setPen(
                QColor(
                    theme.muted if not row or row["status"] in ("skipped", "unsupported", "cancelled") else theme.bad
                )
            )
            # What tells two rungs apart often stands last: "one thread per element, uncoalesced".
            mode = Qt.TextElideMode.ElideRight if row else Qt.TextElideMode.ElideMiddle
            text = painter.fontMetrics().elidedText(text, mode, int(below.width()))
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)

    def _bar(self, painter: QPainter, area: QRectF, row: Row, theme: Theme) -> None:
        figures = [r["gflops"] for r in self._session.results.values() if r["status"] == "ok"]
        text = f"{gflops_text(row['gflops'])} GFLOPS"
        room = painter.fontMetrics().horizontalAdvance("00 000 GFLOPS") + 6
        width = max(area.width() - room, 10)
        bar = QRectF(area.left(), area.top() + 5, width, 7)
        painter.fillRect(bar, QColor(theme.raised))
        bar.setWidth(max(width * row["gflops"] / max(figures), 2))
        painter.fillRect(bar, QColor(theme.good))
        painter.setPen(QColor(theme.text))
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)


def _short(kernel: Kernel) -> str:
    names = {"float32": "FP32", "float16": "FP16", "float64": "FP64", "int32": "INT32", "bfloat16": "BF16"}
    return names.get(kernel.dtype, kernel.dtype)
