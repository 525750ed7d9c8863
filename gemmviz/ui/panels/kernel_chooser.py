"""A list from which a kernel is chosen: type to search, arrows and Enter to choose."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gemmviz.catalogue.chapters import chapter_of
from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.rules.comparison_match import Offer, offers
from gemmviz.ui.look.figure_text import shown_name

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_ROWS, _COLUMNS = 18, 90


class Chooser(QDialog):
    """A list of kernels with a field to search in it.

    Parameters
    ----------
    session
        The session with the kernels.
    parent
        The window that it belongs to.
    title, keys
        The title, and what the keys do, for people.
    listed
        The kernels, the likeliest first.
    take
        Is called with the chosen one.
    """

    def __init__(
        self,
        session: Session,
        parent: QWidget,
        title: str,
        keys: str,
        listed: Iterable[Offer],
        take: Callable[[Offer], object],
    ) -> None:
        super().__init__(parent)
        self._act = take
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.box = QLineEdit()
        self.box.setAccessibleName(tr("Search"))
        self.box.setPlaceholderText(tr("Type to search: a name, a title, an idea, or a removed part"))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Kernels"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        for offer in listed:
            item = QListWidgetItem(_text(offer, session))
            item.setData(Qt.ItemDataRole.UserRole, offer)
            item.setToolTip(tr(offer.base.idea))
            self.list.addItem(item)
        self.none = QLabel(tr("No kernel has all of these words."))
        self.none.hide()
        said = QLabel(keys)
        said.setObjectName("muted")
        column = QVBoxLayout(self)
        for widget in (self.box, self.list, self.none, said):
            column.addWidget(widget)
        metrics = self.fontMetrics()
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.resize(metrics.horizontalAdvance("x") * _COLUMNS, metrics.height() * (_ROWS + 8))
        self.box.textChanged.connect(self._search)
        self.box.installEventFilter(self)
        self.box.returnPressed.connect(self._take)
        self.list.itemActivated.connect(lambda *_: self._take())
        self._choose_first()

    def _search(self, text: str) -> None:
        """Keep only the rows that have all the words."""
        words = text.casefold().split()
        for row in range(self.list.count()):
            item = self.list.item(row)
            offer = item.data(Qt.ItemDataRole.UserRole)
            held = f"{item.text()} {offer.name} {offer.base.title} {title_text(offer.base)}"
            if offer.change is None:
                held += f" {chapter_of(offer.base).title} {tr(offer.base.idea)}"
            item.setHidden(not all(word in held.casefold() for word in words))
        self._choose_first()

    def _choose_first(self) -> None:
        shown = self._shown()
        self.none.setVisible(not shown)
        self.list.setCurrentRow(min(shown, key=self._far) if shown else -1)
        self.list.scrollToItem(self.list.currentItem())

    def _far(self, row: int) -> tuple[bool, bool, bool]:
        """Return how far a row is from what was typed: its name is that, begins with it, or has it in its title."""
        typed, item = self.box.text().casefold().strip(), self.list.item(row)
        name, text = item.data(Qt.ItemDataRole.UserRole).name.casefold(), item.text().casefold()
        return name != typed, not name.startswith(typed), typed not in text

    def _shown(self) -> list[int]:
        return [row for row in range(self.list.count()) if not self.list.item(row).isHidden()]

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is not None and not item.isHidden():
            self.accept()
            self._act(item.data(Qt.ItemDataRole.UserRole))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list while the words are typed."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _MOVES:
            shown = self._shown()
            if shown:
                at = shown.index(self.list.currentRow()) if self.list.currentRow() in shown else 0
                far = 1 if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) else _ROWS
                back = event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp)
                self.list.setCurrentRow(shown[min(max(at - far if back else at + far, 0), len(shown) - 1)])
            return True
        return super().eventFilter(watched, event)


def _text(offer: Offer, session: Session) -> str:
    name = shown_name(offer.base, session)
    if offer.change is None:
        return f"{name}   {title_text(offer.base)}"
    return f"{name}   {tr(offer.change.title)}"


def choose_beside(session: Session, window: QWidget) -> Chooser:
    """Show the list of what can stand beside the chosen kernel: kernels with a source, and their variants."""
    box = Chooser(
        session,
        window,
        tr("Which kernel beside {rung}?", rung=shown_name(session.choice.kernel, session)),
        tr("↑ ↓ choose, Enter shows it beside, Esc closes"),
        offers(session.choice, session.side_by_side.default()),
        lambda offer: session.side_by_side.start(offer.kernel()),
    )
    return _shown(box)


def find_kernel(session: Session, window: QWidget) -> Chooser:
    """Show the list of all kernels: the one that is chosen there becomes the chosen kernel."""
    box = Chooser(
        session,
        window,
        tr("Which kernel?"),
        tr("↑ ↓ choose, Enter shows it, Esc closes"),
        map(Offer, session.choice.kernels),
        lambda offer: session.choice.choose_kernel(offer.base),
    )
    return _shown(box)


def _shown(box: Chooser) -> Chooser:
    box.show()
    box.box.setFocus()
    return box
