"""The list of kernels by chapter: which chapter is open, and which kernel is selected."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.panels.kernel_rows import KernelRows
from gemmviz.ui.panels.row_painter import BELOW_LINES, CHAPTER, NAME, NAME_LINES, RowPainter
from gemmviz.ui.turns import InTurn

_CHAPTER_LINES = 1.7  # the height of a chapter, in lines of text


class Ladder(QListWidget):
    """A list of kernels by chapter, with the session's kernel selected.

    One chapter is open: that of the selected kernel, or the one clicked last.

    Parameters
    ----------
    session
        The session with the kernels and results.
    """

    changed = Signal()
    """The chapters look another way: another one is open, or a lesson was finished."""

    _fitted = 0
    """The width in pixels that the rows' heights were found for; Qt asks for it before `__init__` has ended."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.rows = KernelRows(session)
        """The texts and the progress that the list shows."""
        self.painter_of_rows = RowPainter(self.rows, self)
        self.setAccessibleName(tr("Kernels"))
        self.setItemDelegate(self.painter_of_rows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._items: dict[str, QListWidgetItem] = {}
        self._without_tip: set[str] = set()
        self._marked = ""
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
        self.in_turn = InTurn(self, self._tell_all, at_once=True)
        self._on_chosen()

    @property
    def open_chapter(self) -> str:
        """The id of the chapter whose kernels are shown; empty: none."""
        return self.painter_of_rows.open_chapter

    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        self.rows.read()
        self._items = {}
        for chapter, row in self.rows.chapters.items():
            heading = QListWidgetItem(row.title)
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            heading.setData(CHAPTER, chapter)
            heading.setToolTip(tr("Click to open or to close it"))
            self.addItem(heading)
            for name in row.kernels:
                item = QListWidgetItem(self.rows.title(name))
                item.setData(NAME, name)
                self.addItem(item)
                self._items[name] = item
        self._fit_rows()
        self._tell_all()
        self.open(self.open_chapter)  # the new rows of all other chapters are hidden
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
        """Give each row its height; the kernels of closed chapters get theirs when it is opened."""
        self._fitted = self.viewport().width()
        for at in range(self.count()):
            item = self.item(at)
            if item.data(NAME) is None:
                item.setSizeHint(QSize(0, self._height(_CHAPTER_LINES)))
        self._fit_kernels()

    def _fit_kernels(self) -> None:
        chapter = self.rows.chapters.get(self.open_chapter)
        for name in chapter.kernels if chapter else ():
            titles = len(self.painter_of_rows.title_lines(name, self.font(), self._fitted)[1])
            lines = [NAME_LINES, BELOW_LINES, *[1.0] * (titles - 1)]
            self._items[name].setSizeHint(QSize(0, sum(map(self._height, lines))))

    def item_of(self, name: str) -> QListWidgetItem:
        """Return the item of the kernel with that name."""
        self._write_tip(name)
        return self._items[name]

    def viewportEvent(self, event: QEvent) -> bool:
        """Write the tip of the rung under the pointer before it is shown."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            item = self.itemAt(event.pos())
            self._write_tip(item.data(NAME) if item is not None else None)
        return super().viewportEvent(event)

    def _write_tip(self, name: str | None) -> None:
        if name is not None and name in self._without_tip:
            self._without_tip.discard(name)
            self._items[name].setToolTip(self.rows.tip(name))

    def _on_current(self, item: QListWidgetItem | None) -> None:
        name = item.data(NAME) if item is not None else None
        if name and name != self.session.choice.base.name:
            self.session.choice.choose_kernel(self.rows.kernels[name])
            self.session.demonstration.first_look()

    def _on_clicked(self, item: QListWidgetItem) -> None:
        chapter = item.data(CHAPTER)
        if chapter:
            self.open(chapter if chapter != self.open_chapter else "")

    def open(self, chapter: str) -> None:
        """Show the kernels of a chapter, given by its id, and hide all others; an empty id hides all kernels."""
        self.painter_of_rows.open_chapter = chapter
        self._fit_kernels()
        for one, row in self.rows.chapters.items():
            for name in row.kernels:
                self._items[name].setHidden(one != chapter)
        self.viewport().update()
        self.changed.emit()

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
        item, chapter = self._items.get(name), self.rows.chapter_of(name)
        if chapter and (name != self._marked or item is None or self._marked not in self._items):
            self.open(chapter)
        if item is not None and item is not self.currentItem():
            self.blockSignals(True)
            self.setCurrentItem(item)
            self.blockSignals(False)
        # The message about a variant of the chosen kernel disappears with the variant.
        for changed in {name, self._marked} & self._items.keys():
            self._tell(changed)
        self._marked = name

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the chosen kernel visible."""
        super().resizeEvent(event)
        if self.currentItem() is not None:
            self.scrollToItem(self.currentItem())

    def updateGeometries(self) -> None:
        """Fit the rows to another width: a scroll bar that appears takes some of it, without a resize of this list."""
        super().updateGeometries()
        if self.viewport().width() != self._fitted:
            self._fit_rows()

    def _on_measured(self, name: str) -> None:
        if self.session.results.shown_size() != self.rows.size_shown:
            self.in_turn.ask()
        elif name in self._items:
            self._tell(name)
        else:
            self.viewport().update()

    def _tell(self, name: str) -> None:
        self.rows.read_figure(name)
        self._without_tip.add(name)
        self._write_tip(name)
        self.viewport().update()

    def _tell_all(self) -> None:
        self.rows.read_figures()
        self._without_tip.update(self._items)  # each tip is written when it is shown: all at once take too long
        self.viewport().update()

    def _on_theme(self) -> None:
        self.viewport().update()
        self.changed.emit()
