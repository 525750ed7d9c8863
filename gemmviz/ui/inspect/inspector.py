"""The inspector: the tabs beside the charts: counters, the frozen warp, a thread, and origins."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabWidget

from gemmviz.language import mark, tr
from gemmviz.session import Message, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.counters import Counters
from gemmviz.ui.inspect.origin_panel import OriginPanel
from gemmviz.ui.inspect.thread_panel import ThreadPanel
from gemmviz.ui.inspect.warp_panel import WarpPanel
from gemmviz.ui.window.actions import Action

PANELS = ("counters", "warp", "thread", "origin")
_TITLES = (mark("Counters"), mark("Warp"), mark("Thread"), mark("Origin"))
_TIPS = (
    mark("What was moved so far and in all; predicted beside measured; occupancy"),
    mark("Freeze a warp (W): its lanes, the sectors or banks that they want, and the wavefronts that follow"),
    mark("What a thread multiplies, the sums it holds; fragments of the tensor cores by lane"),
    mark("Where an element of C comes from, value by value; who touched a cell, and when"),
)


class Inspector(QTabWidget):
    """The tabs.

    Parameters
    ----------
    session
        The session to look into.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.counters = Counters(session)
        self.warp, self.by_thread, self.origin = WarpPanel(session), ThreadPanel(session), OriginPanel(session)
        self.setDocumentMode(True)
        self.setAccessibleName(tr("Inspector"))
        panels = (self.counters, self.warp, self.by_thread, self.origin)
        for widget, title, tip in zip(panels, _TITLES, _TIPS, strict=True):
            index = self.addTab(widget, tr(title))
            self.setTabToolTip(index, tr(tip))
        self.setCornerWidget(self.counters.heading, Qt.Corner.TopRightCorner)
        # The charts beside it must not give way to its text.
        self.setMinimumWidth(320)
        self.setCurrentIndex(session.sight.panel)
        self.currentChanged.connect(self._on_current)
        listen(self, session.inspection.panel_wanted, self.show_panel)

    @property
    def panel(self) -> str:
        """The tab in sight: one of `PANELS`."""
        return PANELS[self.currentIndex()]

    def show_panel(self, name: str) -> None:
        """Turn to one of `PANELS`; another name leaves things as they are."""
        if name in PANELS:
            self.setCurrentIndex(PANELS.index(name))

    def next_panel(self) -> None:
        """Turn to the next tab."""
        self.setCurrentIndex((self.currentIndex() + 1) % self.count())

    def freeze(self) -> None:
        """Freeze the warp and turn to it, or release it."""
        freeze = self.session.frozen_warp
        freeze.toggle()
        if freeze.on:
            self.show_panel("warp")
        elif not freeze.possible:
            self.session.messages.tell(Message(freeze.why_not, "info"))

    def take_focus(self) -> None:
        """Give the keyboard to the visible part: the table or the picture, else the tabs."""
        tables = {"warp": self.warp.scrolled, "thread": self.by_thread.scrolled, "origin": self.origin.table}
        within = tables.get(self.panel)
        wanted = within if within is not None and within.isVisible() else self.tabBar()
        wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the mark of the counters out where the tabs need its room."""
        super().resizeEvent(event)
        self._show_mark()

    def _on_current(self, number: int) -> None:
        self.session.sight.panel = number
        self._show_mark()

    def _show_mark(self) -> None:
        # The mark is about the counters alone.
        heading = self.counters.heading
        fits = self.tabBar().sizeHint().width() + heading.sizeHint().width() <= self.width()
        heading.setVisible(self.currentIndex() == 0 and fits)


def actions(inspector: Inspector) -> list[Action]:
    """Return the actions of the inspector."""
    freeze = inspector.session.frozen_warp
    return [
        Action("freeze", "Cell", tr("Freeze the warp / release it"), ("W",), inspector.freeze),
        Action("warp_on", "Cell", tr("Choose the next warp"), (".",), lambda: freeze.next_warp(1)),
        Action("warp_back", "Cell", tr("Choose the previous warp"), (",",), lambda: freeze.next_warp(-1)),
        Action("inspector", "View", tr("To the inspector"), ("Ctrl+5",), inspector.take_focus),
        Action("next_panel", "View", tr("Next tab of the inspector"), ("I",), inspector.next_panel),
    ]
