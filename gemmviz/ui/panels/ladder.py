"""The ladder: every rung with its alias, element type, status and last GFLOPS."""

from math import log10

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gemmviz.bench.figures import Shown, Size, size_of
from gemmviz.bench.row import figure_of
from gemmviz.catalogue.capability import need
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import (
    changes_text,
    details,
    dtype_text,
    gflops_text,
    origin_text,
    short_size,
    shown_name,
    size_text,
    status_text,
)
from gemmviz.ui.look.theme import THEMES, Theme

SECTIONS = {"c": "CPU", "cuda": "CUDA", "numpy": mark("LIBRARIES")}
_NAME = Qt.ItemDataRole.UserRole
# Heights in lines of text: the name, the line below it, a heading.
_NAME_LINES, _BELOW_LINES, _SECTION_LINES = 1.12, 1.06, 1.38
# Shape and letter give the status as well as the colour does.
_MARKS = {
    "ok": ("✓", "good"),
    "wrong": ("✗", "bad"),
    "skipped": ("–", "muted"),
    "unsupported": ("–", "muted"),
    "cancelled": ("■", "muted"),
}
_UNTOLD = ("○", "muted")
# An exhibit shows a fault of a printed kernel, or a waste in it.
_EXHIBIT = ("◇", "warn")
_NO_FAULT = ("skipped", "unsupported", "cancelled")
# The shortest bar of the ladder still shows: the axis begins below it by this factor.
_ROOM_BELOW = 2.0
# No text takes more of a row than this, and no shorter bar is drawn.
_TEXT_SHARE, _SHORTEST_BAR = 0.75, 24


class Ladder(QListWidget):
    """A list of rungs; the chosen one is the session's kernel.

    Parameters
    ----------
    session
        The session with the kernels and results.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setAccessibleName(tr("Ladder of kernels"))
        self.setItemDelegate(RungDelegate(session, self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._items: dict[str, QListWidgetItem] = {}
        self.figures: dict[str, Shown] = {}
        """The row and origin shown for each kernel with a figure, kept because painting reads them often."""
        self._told = ""
        self.size_shown: Size | None = None
        """The size of the figures, but for those that name another."""
        self._fill()
        self.currentItemChanged.connect(self._on_current)
        listen(self, session.choice.kernels_changed, self._fill)
        listen(self, session.choice.chosen, self._on_chosen)
        listen(self, session.results.measured, self._on_measured)
        for signal in (session.results.referenced, session.results.device_changed, session.results.size_chosen):
            listen(self, signal, self._tell_all)
        listen(self, session.preferences.themed, self._on_theme)
        self._on_chosen()

    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        self._items = {}
        for backends in (("c",), ("cuda",), ("numpy", "openblas", "cublas")):
            kernels = [k for k in self.session.choice.kernels if k.backend in backends]
            if kernels:
                heading = QListWidgetItem(tr(SECTIONS[backends[0]]))
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                self.addItem(heading)
            for kernel in kernels:
                item = QListWidgetItem(kernel.alias)
                item.setData(_NAME, kernel.name)
                self.addItem(item)
                self._items[kernel.name] = item
        self._fit_rows()
        self._tell_all()
        self.blockSignals(False)
        self._on_chosen()

    def _height(self, lines: float) -> int:
        return round(self.fontMetrics().height() * lines)

    def changeEvent(self, event: QEvent) -> None:
        """Make the rows as high as another size of type needs."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_rows()

    def _fit_rows(self) -> None:
        for at in range(self.count()):
            item = self.item(at)
            lines = (_SECTION_LINES,) if item.data(_NAME) is None else (_NAME_LINES, _BELOW_LINES)
            item.setSizeHint(QSize(0, sum(map(self._height, lines))))

    def item_of(self, name: str) -> QListWidgetItem:
        """Return the rung of the kernel with that name."""
        return self._items[name]

    def _on_current(self, item: QListWidgetItem | None) -> None:
        name = item.data(_NAME) if item is not None else None
        if name and name != self.session.choice.base.name:
            self.session.choice.choose_kernel(next(k for k in self.session.choice.kernels if k.name == name))

    def _on_chosen(self) -> None:
        name = self.session.choice.base.name
        item = self._items.get(name)
        if item is not None and item is not self.currentItem():
            self.blockSignals(True)
            self.setCurrentItem(item)
            self.blockSignals(False)
        # The message about the chosen rung's variant goes away with it.
        for told in {name, self._told} & self._items.keys():
            self._tell(told)
        self._told = name

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the chosen rung in sight."""
        super().resizeEvent(event)
        if self.currentItem() is not None:
            self.scrollToItem(self.currentItem())

    def figure_text(self, shown: Shown) -> str:
        """Return a figure in GFLOPS, with its size where that differs from the ladder's."""
        size = size_of(shown.row)
        cube = len(set(size)) == 1
        text = gflops_text(figure_of(shown.row))
        if size != self.size_shown:
            text = tr("{gflops} at {size}", gflops=text, size=size[0] if cube else short_size(size))
        return f"{text}{' ⚑' if shown.row.get('flags') else ''}"

    def _on_measured(self, name: str) -> None:
        if self.session.results.shown_size() != self.size_shown:
            self._tell_all()
        elif name in self._items:
            self._tell(name)
        else:
            self.viewport().update()

    def _tell(self, name: str) -> None:
        item = self._items[name]
        shown = self.session.results.shown(name)
        self.figures.pop(name, None)
        if shown is not None:
            self.figures[name] = shown
        kernel = next(k for k in self.session.choice.kernels if k.name == name)
        item.setToolTip(_tip(kernel, self.session))
        self.viewport().update()

    def _tell_all(self) -> None:
        self.size_shown = self.session.results.shown_size()
        for name in self._items:
            self._tell(name)

    def _on_theme(self) -> None:
        self.viewport().update()


class RungDelegate(QStyledItemDelegate):
    """Paints one rung: mark, alias, element type, then the figure with its bar, or why there is none."""

    def __init__(self, session: Session, parent: Ladder) -> None:
        super().__init__(parent)
        self._session = session
        self._ladder = parent

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        theme = THEMES[self._session.preferences.theme]
        painter.save()
        area = QRectF(option.rect)
        name = index.data(_NAME)
        if name is None:
            font = QFont(option.font)
            font.setBold(True)
            font.setPointSizeF(option.font.pointSizeF() * 0.88)
            painter.setFont(font)
            painter.setPen(QColor(theme.muted))
            inside = area.adjusted(10, 2, -8, 0)
            painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, str(index.data()))
            if self._ladder.size_shown is not None:
                font.setBold(False)
                painter.setFont(font)
                right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(inside, right, tr("GFLOPS at {size}", size=short_size(self._ladder.size_shown)))
        else:
            kernel = next(k for k in self._session.choice.kernels if k.name == name)
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
        variant = _variant(kernel, self._session)
        row = self._session.results.rows.get((variant or kernel).name)
        shown = self._ladder.figures.get(kernel.name)
        needs = _needs(kernel, self._session)
        mark, colour = _MARKS.get(row["status"], ("!", "bad")) if row else _MARKS["unsupported"] if needs else _UNTOLD
        if kernel.exhibit:
            mark, colour = _EXHIBIT
        painter.setPen(QColor(getattr(theme, colour)))
        line = option.fontMetrics.height()
        first = QRectF(area.left() + 9, area.top() + 1, 1.1 * line, _NAME_LINES * line)
        painter.drawText(first, Qt.AlignmentFlag.AlignCenter, mark)
        font = QFont(option.font)
        font.setBold(chosen)
        left, right = first.right() + 4, area.right() - 8
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
        painter.drawText(QRectF(left, first.top(), right - left, first.height()), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        below = QRectF(left, first.bottom() - 1, right - left, _BELOW_LINES * line)
        if variant is not None:
            painter.setPen(QColor(theme.warn))
            text = changes_text(variant)
            text = painter.fontMetrics().elidedText(f"≠ {text}", Qt.TextElideMode.ElideRight, int(below.width()))
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)
            return
        painter.setPen(QColor(theme.muted))
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, dtype_text(kernel.dtype))
        below.setLeft(left + painter.fontMetrics().horizontalAdvance(f"{dtype_text(kernel.dtype)} ") + 4)
        if shown is not None:
            self._bar(painter, below, shown, theme)
        else:
            # The tip has the rest: a row has room for the most necessary facts only.
            least = tr("needs compute capability {needed}", needed=kernel.capability.removesuffix("a"))
            text = status_text(row) if row else least if needs else tr(kernel.title)
            at_fault = row is not None and row["status"] not in _NO_FAULT and not kernel.exhibit
            painter.setPen(QColor(theme.bad if at_fault else theme.muted))
            # The difference of two rungs often stands last: "one thread per element, uncoalesced".
            mode = Qt.TextElideMode.ElideRight if row or needs else Qt.TextElideMode.ElideMiddle
            text = painter.fontMetrics().elidedText(text, mode, int(below.width()))
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)

    def _bar(self, painter: QPainter, area: QRectF, shown: Shown, theme: Theme) -> None:
        """Draw a figure with its bar, logarithmic; hollow for one measured elsewhere, faint at another size."""
        ladder, metrics = self._ladder, painter.fontMetrics()
        all_shown = ladder.figures.values()
        figures = [figure_of(other.row) for other in all_shown]
        low, high = log10(min(figures) / _ROOM_BELOW), log10(max(figures))
        # As wide as the widest text leaves: bars of one length mean one figure.
        widest = max(metrics.horizontalAdvance(ladder.figure_text(other)) for other in all_shown) + 8
        room = min(widest, area.width() * _TEXT_SHARE)
        same_size = size_of(shown.row) == ladder.size_shown
        high = area.height() * 0.42
        bar = QRectF(area.left(), area.center().y() - high / 2, area.width() - room, high)
        text = ladder.figure_text(shown)
        if bar.width() >= _SHORTEST_BAR and bar.width() + metrics.horizontalAdvance(text) <= area.width():
            painter.fillRect(bar, QColor(theme.raised))
            share = (log10(figure_of(shown.row)) - low) / max(high - low, 1e-9)
            bar.setWidth(max(bar.width() * share, 2))
            colour = QColor(theme.good if same_size else theme.faint)
            if shown.origin:
                painter.fillRect(bar, QColor(theme.background))
                painter.setPen(colour)
                painter.drawRect(bar.adjusted(0, 0, -1, -1))
            else:
                painter.fillRect(bar, colour)
        painter.setPen(QColor(theme.muted if shown.origin or not same_size else theme.text))
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)


def _variant(kernel: Kernel, session: Session) -> Kernel | None:
    """Return the present change of a rung; None where it is as on file, or not the chosen one."""
    return session.choice.kernel if session.choice.variant and kernel.name == session.choice.base.name else None


def _needs(kernel: Kernel, session: Session) -> str:
    """Name the GPU that a rung needs where this machine's is another one; empty where it suits, or there is none."""
    device = session.results.device_facts
    return need(kernel.capability, str(device["cc"])) if device and device.get("cc") else ""


def _tip(kernel: Kernel, session: Session) -> str:
    """Return the facts about a rung: its idea, its figures and their origins."""
    row, shown = session.results.rows.get(kernel.name), session.results.shown(kernel.name)
    lines = [f"{tr(kernel.title)} ({kernel.name})", tr(kernel.idea)]
    variant = _variant(kernel, session)
    if variant is not None:
        status = status_text(session.results.rows.get(variant.name))
        lines.append(tr("Now {changes}: {status}", changes=changes_text(variant), status=status))
    if kernel.exhibit:
        lines.append(tr("Exhibit: {why}", why=tr(kernel.exhibit)))
    if kernel.capability:
        needs = _needs(kernel, session) or need(kernel.capability)
        lines.append(needs[:1].upper() + needs[1:])
    if shown is None or shown.origin:
        lines.append(status_text(row))
    if shown is not None:
        size = size_text((shown.row["M"], shown.row["N"], shown.row["K"]))
        lines += [tr("{origin}, at {size}:", origin=origin_text(shown, session), size=size), *details(shown.row)]
    return "\n".join(line for line in lines if line)
