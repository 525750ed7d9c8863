"""The pages of the window's middle, and the slim bar of buttons above them."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QSizePolicy, QStackedWidget, QToolButton, QWidget

from gemmviz.language import tr
from gemmviz.ui.known import known


class Pages(QStackedWidget):
    """Widgets, one of them visible; `bar` holds a button for each.

    A page may be announced by its button before its widget exists: see `fill`.
    """

    switched = Signal(str)
    """The page with that name is visible."""

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
        self.currentChanged.connect(self._on_current)
        self.buttons: dict[str, QToolButton] = {}

    def announce(self, name: str, title: str, key: str, tip: str) -> None:
        """Add an empty page with its button."""
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
        self.addWidget(QLabel())
        if len(self._names) == 1:
            button.setChecked(True)

    def beside(self, widget: QWidget) -> None:
        """Put a widget at the end of the bar."""
        self._row.addWidget(widget)

    def fill(self, name: str, widget: QWidget) -> None:
        """Put the widget of a page in its place."""
        at, shown = self._names.index(name), self.name()
        empty = known(self.widget(at))
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
        self.setCurrentIndex(self._names.index(name))
        self.buttons[name].setChecked(True)
        self.switched.emit(name)
