"""Paints the list of kernels: a chapter with its ring of finished lessons, a kernel with title, alias and figure."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.ui.look.figure_text import changes_text, shown_name, status_text
from gemmviz.ui.look.short_names import shortened
from gemmviz.ui.look.style import NARROWED, larger
from gemmviz.ui.look.theme import THEMES, Theme
from gemmviz.ui.panels.kernel_rows import KernelRows

NAME, CHAPTER = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
"""The roles of an item's data: the name of its kernel; the id of its chapter, in the row of a chapter."""
NAME_LINES, BELOW_LINES = 1.15, 1.1
"""Heights in lines of text: a kernel's title, and the line below it."""
_TITLE = 0.92
"""Size of a kernel's title relative to the list's type; its letters are narrow."""
_SMALL = 0.86
"""Size of aliases and figures, relative to the same."""
# Sizes of the letters of chapters where one is too long, which are narrow, too.
_SMALLER = (1.0, 0.92, 0.86, 0.8)
_BEFORE_TITLE, _AFTER_TITLE = 13, 8  # pixels beside the mark and the title of a kernel
_RING = 0.95  # of a line
_STATUS, _FIGURE = 0.6, 0.8  # of a row, for the status, or for the figure: half a number says nothing
# A shape and a letter show the status in addition to the colour.
_MARKS = {
    "ok": ("✓", "good"),
    "wrong": ("✗", "bad"),
    "skipped": ("–", "muted"),
    "unsupported": ("–", "muted"),
    "cancelled": ("■", "muted"),
}
_NO_RESULT = ("○", "muted")
# An exhibit shows a defect or an inefficiency of a printed kernel.
_EXHIBIT = ("◇", "warn")
_NO_FAULT = ("skipped", "unsupported", "cancelled")


class TitleLines:
    """Divides titles of kernels into lines, all in one size of type, and keeps the widths that it has measured."""

    def __init__(self) -> None:
        self._key = ""
        self._font = QFont()
        self._widths: dict[str, float] = {}

    def lines(self, title: str, font: QFont, width: float) -> tuple[QFont, list[str]]:
        """Return the font and the lines of a kernel's title.

        It is measured in bold letters: a row keeps its height when it is chosen.

        Parameters
        ----------
        title
            The title.
        font
            The font of the list.
        width
            Of the list's rows, in pixels.
        """
        self._use(font)
        room = width - _BEFORE_TITLE - _AFTER_TITLE - 1.1 * QFontMetrics(font).height()
        if self._wide(title) <= room:
            return QFont(self._font), [title]
        lines = [""]
        for word in title.split(" "):
            longer = f"{lines[-1]} {word}".lstrip()
            if lines[-1] and self._wide(longer) > room:
                lines.append(word)
            else:
                lines[-1] = longer
        metrics = QFontMetricsF(self._font)
        return QFont(self._font), [metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in lines]

    def _wide(self, text: str) -> float:
        found = self._widths.get(text)
        if found is None:
            found = self._widths[text] = QFontMetricsF(self._font).horizontalAdvance(text)
        return found

    def _use(self, font: QFont) -> None:
        """Take the font of titles from the list's font."""
        if self._key != font.key():
            self._key, self._font, self._widths = font.key(), _smaller(font, _TITLE), {}
            self._font.setBold(True)


class RowPainter(QStyledItemDelegate):
    """Paints a chapter, or a kernel: mark, title, alias, and its figure or the reason for a missing one."""

    def __init__(self, rows: KernelRows, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows, self._session = rows, rows.session
        self._titles = TitleLines()
        self._chapter_sizes: dict[tuple[str, float], tuple[float, float]] = {}
        self.open_chapter = ""
        """The id of the chapter whose title is bold."""

    def title_lines(self, name: str, font: QFont, width: float) -> tuple[QFont, list[str]]:
        """Return the font and the lines of a kernel's short title in a list of that width, in pixels."""
        return self._titles.lines(self._rows.short_title(name), font, width)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        theme = THEMES[self._session.preferences.theme]
        painter.save()
        area = QRectF(option.rect)
        name = index.data(NAME)
        if name is None:
            self._chapter(painter, area, option, str(index.data(CHAPTER)), str(index.data()), theme)
        else:
            self._rung(painter, area, option, self._rows.kernels[name], theme)
        painter.restore()

    def _chapter(
        self, painter: QPainter, area: QRectF, option: QStyleOptionViewItem, chapter: str, title: str, theme: Theme
    ) -> None:
        """Paint a chapter: its title, a ring that shows the share of finished lessons, and their number."""
        done, count = self._rows.progress(chapter)
        line = option.fontMetrics.height()
        ring = QRectF(area.left() + 9, area.center().y() - _RING * line / 2, _RING * line, _RING * line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_ring(painter, ring, done, count, theme)
        font = QFont(option.font)
        font.setBold(chapter == self.open_chapter)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        inside = area.adjusted(ring.right() - area.left() + 7, 0, -_AFTER_TITLE, 0)
        text = f"{done}/{count}"
        chapter_font, room = self._chapter_font(font, inside.width())
        painter.setFont(chapter_font)
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setFont(larger(font, _SMALL))
        painter.setPen(QColor(theme.muted))
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)

    def _chapter_font(self, font: QFont, width: float) -> tuple[QFont, float]:
        """Return the font for the titles of chapters and their room in pixels: the largest size that suits all."""
        bold = QFont(font)
        bold.setBold(True)
        key = bold.key(), width
        if key not in self._chapter_sizes:
            counts = ["{}/{}".format(*self._rows.progress(chapter)) for chapter in self._rows.chapters]
            small = QFontMetricsF(larger(bold, _SMALL))
            room = width - max(map(small.horizontalAdvance, counts), default=0.0) - 6
            titles = [chapter.title for chapter in self._rows.chapters.values()]

            def fits(factor: float) -> bool:
                metrics = QFontMetricsF(_smaller(bold, factor))
                return all(metrics.horizontalAdvance(title) <= room for title in titles)

            self._chapter_sizes[key] = next((factor for factor in _SMALLER if fits(factor)), _SMALLER[-1]), room
        factor, room = self._chapter_sizes[key]
        return _smaller(font, factor), room

    def _rung(
        self, painter: QPainter, area: QRectF, option: QStyleOptionViewItem, kernel: Kernel, theme: Theme
    ) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(area, QColor(theme.raised))
            painter.fillRect(QRectF(area.left(), area.top(), 3, area.height()), QColor(theme.accent))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(area, QColor(theme.panel))
        variant = self._rows.variant(kernel)
        row = self._session.results.rows.get((variant or kernel).name)
        figure = self._rows.figure(kernel.name)
        needs = self._rows.needs(kernel)
        if kernel.exhibit:
            mark, colour = _EXHIBIT
        elif row:
            mark, colour = _MARKS.get(row["status"], ("!", "bad"))
        else:
            mark, colour = _MARKS["unsupported"] if needs else _NO_RESULT
        painter.setPen(QColor(getattr(theme, colour)))
        line = option.fontMetrics.height()
        first = QRectF(area.left() + 9, area.top() + 1, 1.1 * line, NAME_LINES * line)
        painter.drawText(first, Qt.AlignmentFlag.AlignCenter, mark)
        left, right = area.left() + _BEFORE_TITLE + 1.1 * line, area.right() - _AFTER_TITLE
        small = larger(option.font, _SMALL)
        font, lines = self.title_lines(kernel.name, option.font, area.width())
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
        below = QRectF(left, first.bottom() - 1, right - left, BELOW_LINES * line)
        if variant is not None:
            painter.setPen(QColor(theme.warn))
            text = changes_text(variant)
            text = painter.fontMetrics().elidedText(f"≠ {text}", Qt.TextElideMode.ElideRight, int(below.width()))
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)
            return
        # A row has room for the most important facts only; the tip has the others.
        least = tr("needs compute capability {needed}", needed=kernel.capability.removesuffix("a"))
        at_fault = row is not None and row["status"] not in _NO_FAULT and not kernel.exhibit
        status = figure or (status_text(row) if row else "") or (least if needs else "")
        usual = theme.text if chosen else theme.muted
        painter.setPen(QColor(theme.bad if at_fault and not figure else usual))
        share = _FIGURE if figure else _STATUS
        status = painter.fontMetrics().elidedText(status, Qt.TextElideMode.ElideRight, int(below.width() * share))
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, status)
        below.setWidth(below.width() - painter.fontMetrics().horizontalAdvance(status) - 6)
        painter.setPen(QColor(theme.muted))
        alias = shown_name(kernel, self._session)
        if painter.fontMetrics().horizontalAdvance(alias) > below.width():
            painter.setFont(_smaller(option.font, _SMALL))
        alias = shortened(alias, QFontMetricsF(painter.font()), below.width())
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
    if factor < 1:
        made.setStretch(NARROWED)
    return made
