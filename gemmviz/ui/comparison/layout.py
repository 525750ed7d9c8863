"""Room for two stages in a window: while a rung stands beside, the race takes the place of chart and measuring."""

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSplitter, QWidget

from gemmviz.session.comparison import Comparison
from gemmviz.ui.connections import listen
from gemmviz.ui.known import known
from gemmviz.ui.window.pages import Pages

# Narrower than this (in widths of a letter), source and two stages would all be too small to read.
_SOURCE_FROM_LETTERS = 230
_ABOUT_THE_SOURCE = ("focus_source", "edit", "break", "find", "findings")


class ComparisonLayout(QObject):
    """Rearranges a window's splitters while there is a rung beside, and puts them back after.

    Parameters
    ----------
    window
        The window; its actions about the source bring the source back.
    comparison
        The comparison, with or without a rung beside.
    upper
        The splitter of the stages. Its last widget, the source, is put away in a narrow window.
    lower
        The splitter below the stages. Its first widget is the race; the last one, the counters, stays.
    pages
        The pages of the window.
    """

    def __init__(
        self, window: QWidget, comparison: Comparison, upper: QSplitter, lower: QSplitter, pages: Pages
    ) -> None:
        super().__init__(window)
        self._window, self._comparison, self._upper, self._lower, self._pages = window, comparison, upper, lower, pages
        self._source = source = known(upper.widget(upper.count() - 1))
        self._on = False
        self._sizes: list[int] = []
        self._upper_sizes: list[int] = []
        self._source_wanted = False
        for name in _ABOUT_THE_SOURCE:
            action = window.findChild(QAction, name)
            if action is not None:
                action.triggered.connect(self._show_source)
        # Turning the pages shows the source: it is put away again after that.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._fit)
        # On its first showing a widget claims more room than it needs until it has been laid out.
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(0)
        self._again.timeout.connect(self._put_back)
        for widget in (window, source):
            widget.installEventFilter(self)
        listen(self, comparison.changed, self.refresh)
        known(lower.widget(0)).hide()
        self.refresh()

    def refresh(self) -> None:
        """Give the stages the room that they need now."""
        on, lower = self._comparison.on, self._lower
        if on == self._on:
            return
        last = lower.count() - 1
        if on:
            self._sizes, self._upper_sizes, self._source_wanted = lower.sizes(), self._upper.sizes(), False
        for place in range(last):
            known(lower.widget(place)).setVisible(on == (place == 0))
        lower.setSizes([sum(self._sizes[:last]), *[0] * (last - 1), self._sizes[last]] if on else self._sizes)
        if self._on and self._pages.name() == "stage":
            self._source.show()
            self._upper.setSizes(self._upper_sizes)
        self._on = on
        self._fit()
        if not on:
            self._again.start()

    def adopt(self, other: "ComparisonLayout") -> None:
        """Go back, after the comparison, to the sizes of another window before it: this one is built during it."""
        if self._on and other._on:
            self._sizes, self._upper_sizes = other._sizes, other._upper_sizes
            self._source_wanted = other._source_wanted
            self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Check again when the window has another width or size of type, or when the source is shown."""
        seen = {QEvent.Type.Resize, QEvent.Type.FontChange} if watched is self._window else {QEvent.Type.ShowToParent}
        if self._on and event.type() in seen:
            self._soon.start()
        return False

    def _put_back(self) -> None:
        if not self._on:
            self._lower.setSizes(self._sizes)

    def _fit(self) -> None:
        if self._on and self._pages.name() == "stage":
            letters = self._window.width() / max(self._window.fontMetrics().averageCharWidth(), 1)
            self._source.setVisible(self._source_wanted or letters >= _SOURCE_FROM_LETTERS)

    def _show_source(self, *_: object) -> None:
        """Bring the source back when its key is pressed."""
        if self._on and not self._source_wanted:
            self._source_wanted = True
            self._fit()
