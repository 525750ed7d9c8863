"""The list of kernels by chapter: each with its title, alias, status and last GFLOPS. One chapter is open."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gemmviz.bench.figures import Shown, Size, size_of
from gemmviz.bench.row import figure_of
from gemmviz.catalogue.capability import need
from gemmviz.catalogue.chapters import by_chapter
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import (
    changes_text,
    details,
    gflops_text,
    origin_text,
    short_size,
    shown_name,
    size_text,
    status_text,
)
from gemmviz.ui.look.style import NARROWED, larger
from gemmviz.ui.look.theme import THEMES, Theme

_NAME, _CHAPTER = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
# Heights in lines of text: the title, the line below it, a chapter.
_NAME_LINES, _BELOW_LINES, _CHAPTER_LINES = 1.15, 1.1, 1.7
# Sizes of the letters where a text is too long, which are narrow, too.
_SMALLER = (1.0, 0.92, 0.86, 0.8)
_BEFORE_TITLE, _AFTER_TITLE = 13, 8  # pixels beside the mark and the title of a kernel
_RING = 0.95  # of a line
_TOLD = 0.6  # of a row, for the figure or the status
# A shape and a letter show the status in addition to the colour.
_MARKS = {
    "ok": ("✓", "good"),
    "wrong": ("✗", "bad"),
    "skipped": ("–", "muted"),
    "unsupported": ("–", "muted"),
    "cancelled": ("■", "muted"),
}
_UNTOLD = ("○", "muted")
# An exhibit shows a defect or an inefficiency of a printed kernel.
_EXHIBIT = ("◇", "warn")
_NO_FAULT = ("skipped", "unsupported", "cancelled")


class Ladder(QListWidget):
    """A list of kernels by chapter, with the session's kernel selected.

    One chapter is open: that of the selected kernel, or the one clicked last.

    Parameters
    ----------
    session
        The session with the kernels and results.
    """

    told = Signal()
    """The chapters look another way: another one is open, or a lesson was finished."""

    _fitted = 0
    """The width in pixels that the rows' heights were found for; Qt asks for it before `__init__` has ended."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setAccessibleName(tr("Kernels"))
        self.setItemDelegate(RungDelegate(session, self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._items: dict[str, QListWidgetItem] = {}
        self._without_tip: set[str] = set()
        self._chapters: dict[str, tuple[QListWidgetItem, list[str]]] = {}
        self._titles: tuple[str, list[QFont], dict[str, list[float]]] | None = None
        self.open_chapter = ""
        """The id of the chapter whose kernels are shown; empty: none."""
        self.figures: dict[str, Shown] = {}
        """The row and origin shown for each kernel with a figure, kept because painting reads them often."""
        self._told = ""
        self.size_shown: Size | None = None
        """The size of the figures, except those that show another size."""
        self._fill()
        self.currentItemChanged.connect(self._on_current)
        self.itemClicked.connect(self._on_clicked)
        listen(self, session.preferences.learned, self._on_theme)
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
        self._items, self._chapters = {}, {}
        for chapter, kernels in by_chapter(self.session.choice.kernels):
            heading = QListWidgetItem(tr(chapter.title))
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            heading.setData(_CHAPTER, chapter.id)
            self.addItem(heading)
            self._chapters[chapter.id] = heading, [kernel.name for kernel in kernels]
            for kernel in kernels:
                item = QListWidgetItem(tr(kernel.title) or kernel.alias)
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
        """Adapt the height of the rows to a new size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_rows()

    def _fit_rows(self) -> None:
        self._fitted = self.viewport().width()
        for at in range(self.count()):
            item = self.item(at)
            name = item.data(_NAME)
            if name is None:
                lines = [_CHAPTER_LINES]
            else:
                titles = len(self.title_lines(self.short_title(name) or item.text())[1])
                lines = [_NAME_LINES, _BELOW_LINES, *[1.0] * (titles - 1)]
            item.setSizeHint(QSize(0, sum(map(self._height, lines))))

    def title_lines(self, title: str) -> tuple[QFont, list[str]]:
        """Return the font and the lines of a kernel's title: several where narrow letters do not help.

        It is measured in bold letters: a row keeps its height when it is chosen.
        """
        room = self.viewport().width() - _BEFORE_TITLE - _AFTER_TITLE - 1.1 * self.fontMetrics().height()
        fonts, widths = self._title_fonts()
        wide = widths.get(title)
        if wide is None:
            wide = widths[title] = [QFontMetricsF(font).horizontalAdvance(title) for font in fonts]
        for font, width in zip(fonts, wide, strict=True):
            if width <= room:
                return QFont(font), [title]
        metrics, lines = QFontMetricsF(fonts[-1]), [""]
        for word in title.split(" "):
            longer = f"{lines[-1]} {word}".lstrip()
            if lines[-1] and metrics.horizontalAdvance(longer) > room:
                lines.append(word)
            else:
                lines[-1] = longer
        return QFont(fonts[-1]), [metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in lines]

    def _title_fonts(self) -> tuple[list[QFont], dict[str, list[float]]]:
        """Return the fonts of titles, the largest first, and the widths of titles in them that are known by now."""
        key = self.font().key()
        if self._titles is None or self._titles[0] != key:
            font = QFont(self.font())
            font.setBold(True)
            self._titles = key, [font, *(_smaller(font, factor) for factor in _SMALLER[:2])], {}
        return self._titles[1:]

    def item_of(self, name: str) -> QListWidgetItem:
        """Return the rung of the kernel with that name."""
        self._write_tip(name)
        return self._items[name]

    def viewportEvent(self, event: QEvent) -> bool:
        """Write the tip of the rung under the pointer before it is shown."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            item = self.itemAt(event.pos())
            self._write_tip(item.data(_NAME) if item is not None else None)
        return super().viewportEvent(event)

    def _write_tip(self, name: str | None) -> None:
        if name in self._without_tip:
            self._without_tip.discard(name)
            kernel = next(k for k in self.session.choice.kernels if k.name == name)
            self._items[name].setToolTip(_tip(kernel, self.session))

    def _on_current(self, item: QListWidgetItem | None) -> None:
        name = item.data(_NAME) if item is not None else None
        if name and name != self.session.choice.base.name:
            self.session.choice.choose_kernel(next(k for k in self.session.choice.kernels if k.name == name))
            self.session.demonstration.first_look()

    def _on_clicked(self, item: QListWidgetItem) -> None:
        chapter = item.data(_CHAPTER)
        if chapter:
            self.open(chapter if chapter != self.open_chapter else "")

    def open(self, chapter: str) -> None:
        """Show the kernels of a chapter, given by its id, and hide all others; an empty id hides all kernels."""
        self.open_chapter = chapter
        for one, (heading, names) in self._chapters.items():
            for name in names:
                self._items[name].setHidden(one != chapter)
            heading.setToolTip(tr("Click to open or to close it"))
        self.viewport().update()
        self.told.emit()

    def short_title(self, kernel: str) -> str:
        """Return a kernel's title without the beginning that it shares with the kernel before it in its chapter."""
        names = next((names for _, names in self._chapters.values() if kernel in names), [])
        at = names.index(kernel) if kernel in names else 0
        title = self._items[kernel].text() if kernel in self._items else ""
        before = self._items[names[at - 1]].text() if at else ""
        head, comma, rest = title.partition(", ")
        if comma and head == before.partition(", ")[0]:
            return f"… {rest}"
        start, _, last = title.rpartition(" ")
        return f"… {last}" if start and start == before.rpartition(" ")[0] else title

    def chapters(self) -> list[str]:
        """Return the ids of the chapters, in their order."""
        return list(self._chapters)

    def chapter_title(self, chapter: str) -> str:
        """Return the title of a chapter, by id."""
        return self._chapters[chapter][0].text()

    def progress(self, chapter: str) -> tuple[int, int]:
        """Return the number of finished lessons of a chapter, and the number of its kernels."""
        names = self._chapters[chapter][1]
        return len(self.session.preferences.finished.intersection(names)), len(names)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next chapter from the end of a chapter, and to the previous one from its beginning."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        names = list(self._items)
        at = names.index(self.session.choice.base.name) + step if self.session.choice.base.name in names else -1
        if not step or not 0 <= at < len(names) or not self._items[names[at]].isHidden():
            super().keyPressEvent(event)
            return
        self.setCurrentItem(self._items[names[at]])

    def _on_chosen(self) -> None:
        name = self.session.choice.base.name
        item = self._items.get(name)
        chapter = next((one for one, (_, names) in self._chapters.items() if name in names), "")
        if chapter and (name != self._told or item is None or self._told not in self._items):
            self.open(chapter)
        if item is not None and item is not self.currentItem():
            self.blockSignals(True)
            self.setCurrentItem(item)
            self.blockSignals(False)
        # The message about a variant of the chosen rung disappears with the variant.
        for told in {name, self._told} & self._items.keys():
            self._tell(told)
        self._told = name

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the chosen rung visible."""
        super().resizeEvent(event)
        if self.currentItem() is not None:
            self.scrollToItem(self.currentItem())

    def updateGeometries(self) -> None:
        """Fit the rows to another width: a scroll bar that appears takes some of it, without a resize of this list."""
        super().updateGeometries()
        if self.viewport().width() != self._fitted:
            self._fit_rows()

    def figure_text(self, shown: Shown) -> str:
        """Return a figure in GFLOPS, with its size if it differs from the ladder's size."""
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
        self._take_figure(name)
        self._write_tip(name)
        self.viewport().update()

    def _take_figure(self, name: str) -> None:
        shown = self.session.results.shown(name)
        self.figures.pop(name, None)
        if shown is not None:
            self.figures[name] = shown
        self._without_tip.add(name)

    def _tell_all(self) -> None:
        self.size_shown = self.session.results.shown_size()
        for name in self._items:
            self._take_figure(name)  # the tips of all would keep the window waiting: each is written when it is shown
        self.viewport().update()

    def _on_theme(self) -> None:
        self.viewport().update()
        self.told.emit()


class RungDelegate(QStyledItemDelegate):
    """Paints a chapter, or a kernel: mark, title, alias, and its figure or the reason for a missing one."""

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
            self._chapter(painter, area, option, str(index.data(_CHAPTER)), str(index.data()), theme)
        else:
            kernel = next(k for k in self._session.choice.kernels if k.name == name)
            self._rung(painter, area, option, kernel, theme)
        painter.restore()

    def _chapter(
        self, painter: QPainter, area: QRectF, option: QStyleOptionViewItem, chapter: str, title: str, theme: Theme
    ) -> None:
        """Paint a chapter: its title, a ring that shows the share of finished lessons, and their number."""
        done, count = self._ladder.progress(chapter)
        line = option.fontMetrics.height()
        ring = QRectF(area.left() + 9, area.center().y() - _RING * line / 2, _RING * line, _RING * line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_ring(painter, ring, done, count, theme)
        font = QFont(option.font)
        font.setBold(chapter == self._ladder.open_chapter)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        inside = area.adjusted(ring.right() - area.left() + 7, 0, -_AFTER_TITLE, 0)
        said = f"{done}/{count}"
        room = inside.width() - painter.fontMetrics().horizontalAdvance(said) - 6
        whole = painter.font()
        for factor in _SMALLER:
            if painter.fontMetrics().horizontalAdvance(title) > room:
                painter.setFont(_smaller(whole, factor))
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setFont(whole)
        painter.setPen(QColor(theme.muted))
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, said)

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
        left, right = area.left() + _BEFORE_TITLE + 1.1 * line, area.right() - _AFTER_TITLE
        small = QFont(option.font)
        small.setPointSizeF(option.font.pointSizeF() * 0.86)
        title = self._ladder.short_title(kernel.name) or shown_name(kernel, self._session)
        font, lines = self._ladder.title_lines(title)
        font.setBold(chosen)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        for text in lines:
            painter.drawText(
                QRectF(left, first.top(), right - left, first.height()), Qt.AlignmentFlag.AlignVCenter, text
            )
            first.translate(0, line)
        first.translate(0, -line)
        painter.setFont(small)
        below = QRectF(left, first.bottom() - 1, right - left, _BELOW_LINES * line)
        if variant is not None:
            painter.setPen(QColor(theme.warn))
            text = changes_text(variant)
            text = painter.fontMetrics().elidedText(f"≠ {text}", Qt.TextElideMode.ElideRight, int(below.width()))
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)
            return
        # A row has room for the most important facts only; the tip has the others.
        least = tr("needs compute capability {needed}", needed=kernel.capability.removesuffix("a"))
        at_fault = row is not None and row["status"] not in _NO_FAULT and not kernel.exhibit
        told = self._ladder.figure_text(shown) if shown is not None else status_text(row) if row else ""
        told = told or (least if needs else "")
        painter.setPen(QColor(theme.bad if at_fault and shown is None else theme.text if chosen else theme.muted))
        told = painter.fontMetrics().elidedText(told, Qt.TextElideMode.ElideRight, int(below.width() * _TOLD))
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, told)
        below.setWidth(below.width() - painter.fontMetrics().horizontalAdvance(told) - 6)
        painter.setPen(QColor(theme.muted))
        alias = shown_name(kernel, self._session)
        alias = painter.fontMetrics().elidedText(alias, Qt.TextElideMode.ElideMiddle, int(below.width()))
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, alias)


def draw_ring(painter: QPainter, ring: QRectF, done: int, count: int, theme: Theme) -> None:
    """Draw the ring of a chapter: closed by the part of its lessons that was finished, ticked when all were."""
    painter.setPen(QPen(QColor(theme.outline), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(ring)
    painter.setPen(QPen(QColor(theme.good), 2.5))
    painter.drawArc(ring, 90 * 16, -round(360 * 16 * done / max(count, 1)))
    if done == count:
        painter.drawText(ring, Qt.AlignmentFlag.AlignCenter, "✓")


def _smaller(font: QFont, factor: float) -> QFont:
    made = larger(font, factor)
    made.setStretch(NARROWED)
    return made


def _variant(kernel: Kernel, session: Session) -> Kernel | None:
    """Return the current change of a rung; None if it is unchanged or not the chosen one."""
    return session.choice.kernel if session.choice.variant and kernel.name == session.choice.base.name else None


def _needs(kernel: Kernel, session: Session) -> str:
    """Return the needed GPU of a rung if this machine's GPU does not suit; else, or without a GPU, an empty text."""
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
