"""Room for two stages in a window: their figures get a tab, and a narrow window folds the list of kernels."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gemmviz.language import tr
from gemmviz.session.models.comparison import Comparison
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.inspector import Inspector
from gemmviz.ui.panels.rail import Rail

_ROOMY_LETTERS = 280
"""Width of a window in letters from which on it has room for the list beside two stages."""


class ComparisonLayout(QObject):
    """Gives the figures their tab while there is a kernel beside, and removes it afterwards.

    Parameters
    ----------
    window
        The window.
    comparison
        The comparison, with or without a kernel beside.
    inspector
        The tabs beside the stage.
    figures
        The figures of both.
    rail
        The list of kernels.
    """

    def __init__(
        self, window: QWidget, comparison: Comparison, inspector: Inspector, figures: QWidget, rail: Rail
    ) -> None:
        super().__init__(window)
        self._window, self._comparison, self._inspector, self._figures, self._rail = (
            window,
            comparison,
            inspector,
            figures,
            rail,
        )
        self._on = False
        self._panel = inspector.panel
        figures.hide()
        listen(self, comparison.changed, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Give the stages the room that they need now."""
        on = self._comparison.on
        if on == self._on:
            return
        self._on = on
        if on:
            self._panel = self._inspector.panel
            self._inspector.add_duel(self._figures, tr("Duel"))
            letters = self._window.width() / max(self._window.fontMetrics().averageCharWidth(), 1)
            self._rail.make_room("duel", letters < _ROOMY_LETTERS)
            return
        self._inspector.take_duel()
        self._inspector.show_panel(self._panel)
        self._rail.make_room("duel", False)
