"""The pages in the middle of the window, and the bar of buttons above them."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QSizePolicy, QStackedWidget, QToolButton, QWidget

from gemmviz.language import tr
from gemmviz.ui.known import known


class Pages(QStackedWidget):
    """A stack of pages, one of them visible; `bar` has a button for each.

    A page first has only its button. Its widget is made when the page is first shown or requested.
    """

    switched = Signal(str)
    """The page with this name is now visible."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = QWidget()
        self.bar.setObjectName("pages")
        self._row = QHBoxLayout(self.bar)
        self._row.setContentsMargins(8, 3, 8, 3)
        self._row.setSpacing(4)
        self._row.addStretch(1)
        self._group = QButtonGroup(self.bar)
        self._names: list[str] = []
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self.currentChanged.connect(self._on_current)
        self.buttons: dict[str, QToolButton] = {}

    def announce(self, name: str, title: str, key: str, tip: str, make: Callable[[], QWidget]) -> None:
        """Add a page with its button. `make` returns its widget and is called once, for the first page immediately."""
        button = QToolButton()
        button.setText(title)
        button.setCheckable(True)
        button.setToolTip(f"{tip} ({key})")
        button.setAccessibleName(tr("Page {title}", title=title))
        button.clicked.connect(lambda *_: self.turn_to(name))
        self._group.addButton(button)
        self._row.insertWidget(len(self._names), button)
        self.buttons[name] = button
        self._names.append(name)
        self._makers[name] = make
        self.addWidget(QLabel())
        if len(self._names) == 1:
            self.page(name)
            button.setChecked(True)

    def beside(self, widget: QWidget) -> None:
        """Put a widget at the end of the bar."""
        self._row.addWidget(widget)

    def page(self, name: str) -> QWidget:
        """Return the widget of a page; make it if it does not exist yet."""
        make, at = self._makers.pop(name, None), self._names.index(name)
        if make is not None:
            self._put(at, make())
        return known(self.widget(at))

    def made(self, name: str) -> bool:
        """Return whether the widget of a page exists."""
        return name not in self._makers

    def _put(self, at: int, widget: QWidget) -> None:
        shown, empty = self.name(), known(self.widget(at))
        self.removeWidget(empty)
        empty.deleteLater()
        self.insertWidget(at, widget)
        self.setCurrentIndex(self._names.index(shown))
        self._on_current(self.currentIndex())

    def _on_current(self, current: int) -> None:
        """Reserve room for the visible page only."""
        for at in range(self.count()):
            policy = QSizePolicy.Policy.Preferred if at == current else QSizePolicy.Policy.Ignored
            known(self.widget(at)).setSizePolicy(policy, policy)

    def name(self) -> str:
        """Return the name of the visible page."""
        return self._names[max(self.currentIndex(), 0)]

    def turn_to(self, name: str) -> None:
        """Show a page."""
        self.page(name)
        self.setCurrentIndex(self._names.index(name))
        self.buttons[name].setChecked(True)
        self.switched.emit(name)
