"""The right column: the source, and the tabs that look into the recording.

A tab first has only its title. Its panel is made when the tab is first shown or requested.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from gemmviz.catalogue.matrices import C
from gemmviz.language import mark, tr
from gemmviz.session import Message, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.panel import InspectPanel
from gemmviz.ui.known import known
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.present.source_lines import SourceLines
from gemmviz.ui.source.source_side import SourceSide
from gemmviz.ui.turns import Turns
from gemmviz.ui.window.actions import Action

if TYPE_CHECKING:
    from gemmviz.ui.inspect.assembly_tab import AssemblyTab
    from gemmviz.ui.inspect.counters import Counters
    from gemmviz.ui.inspect.origin_panel import OriginPanel
    from gemmviz.ui.inspect.thread_panel import ThreadPanel
    from gemmviz.ui.inspect.warp_panel import WarpPanel

PANELS = ("source", "warp", "thread", "origin", "counters", "assembly", "findings")
TITLES = (
    *(mark("Source"), mark("Warp"), mark("Thread"), mark("Origin"), mark("Counters")),
    *(mark("Assembly"), mark("Findings")),
)
_TIPS = (
    mark("The source that runs, and the line of this step"),
    mark("Freeze a warp (W): its lanes, the sectors or banks that they want, and the wavefronts that follow"),
    mark("The products and the sums of a thread; fragments of the tensor cores by lane"),
    mark("The origin of an element of C, value by value; the threads that accessed a cell, and the steps"),
    mark("Bytes moved so far and in total; predicted beside measured; occupancy"),
    mark("The machine code beside the source: SASS and PTX, registers, instructions per line and per product"),
    mark("Findings of the checker, and other sizes"),
)
# Where there is no room for its title.
_SHORT_ASSEMBLY = "SASS"
_SOURCE, _ASSEMBLY, _FINDINGS = 0, PANELS.index("assembly"), len(PANELS) - 1
_CODE_PIXELS = 12.5
_LEAST_WIDTH = 320
_NARROW = 540  # pixels, at a scale of type of 1


class Inspector(QTabWidget):
    """The tabs. Above each but those with lines of their own, three lines of the source follow the step.

    Parameters
    ----------
    session
        The session to look into.
    source_side
        The source with its findings.
    turns
        Distributes the frames among the slow parts of the window; None: no part waits for one.
    """

    def __init__(self, session: Session, source_side: SourceSide, turns: Turns | None = None) -> None:
        super().__init__()
        self.session = session
        self._laid_out: tuple[QSize, ...] = ()
        self._turns = source_side.source.in_turn.turns = source_side.now.in_turn.turns = turns
        self.source_side = source_side
        self.lines = SourceLines(session.cursor)
        self.lines.in_turn.turns = turns
        self.setDocumentMode(True)
        self.tabBar().setExpanding(True)  # in this mode the tabs would stay close together where there is room
        self.setAccessibleName(tr("Source and inspector"))
        self._pages = {name: _Page() for name in PANELS}
        self._pages["source"].fill(source_side)
        self._pages["findings"].fill(source_side.findings)
        for page, title, tip in zip(self._pages.values(), TITLES, _TIPS, strict=True):
            index = self.addTab(page, tr(title))
            self.setTabToolTip(index, tr(tip))
        self.setMinimumWidth(round(scaled(_LEAST_WIDTH)))
        self.setCurrentIndex(min(session.sight.panel, len(PANELS) - 1))
        self.currentChanged.connect(self._on_current)
        source_side.findings_wanted.connect(lambda: self.show_panel("findings"))
        source_side.findings.chosen.connect(lambda _: self._show_line())
        listen(self, session.inspection.panel_wanted, self.show_panel)
        listen(self, session.inspection.clicked, self._on_click)
        listen(self, session.preferences.themed, self._on_theme)
        listen(self, session.findings.changed, self._count)
        listen(self, session.choice.chosen, self._count)
        self._on_theme()
        self._on_current(self.currentIndex())
        self._count()

    @property
    def warp(self) -> "WarpPanel":
        """The tab of the warp; it is made when it is first shown or requested, as are the next four."""
        return cast("WarpPanel", self.made_panel("warp"))

    @property
    def by_thread(self) -> "ThreadPanel":
        """The tab of the thread."""
        return cast("ThreadPanel", self.made_panel("thread"))

    @property
    def origin(self) -> "OriginPanel":
        """The tab of the origin."""
        return cast("OriginPanel", self.made_panel("origin"))

    @property
    def counters(self) -> "Counters":
        """The tab of the counters."""
        return cast("Counters", self.made_panel("counters"))

    @property
    def assembly(self) -> "AssemblyTab":
        """The tab of the machine code."""
        return cast("AssemblyTab", self.made_panel("assembly"))

    def made_panel(self, name: str) -> QWidget:
        """Return the panel of one of `PANELS`; make it if it does not exist yet."""
        page = self._pages[name]
        if page.panel is None:
            panel = _MAKERS[name](self.session)
            if isinstance(panel, InspectPanel):
                panel.follow(self._turns)
            page.fill(panel)
        return known(page.panel)

    @property
    def panel(self) -> str:
        """The shown tab: one of `PANELS`, or ``"duel"``."""
        return (*PANELS, "duel")[self.currentIndex()]

    def add_duel(self, race: QWidget, title: str) -> None:
        """Add the tab of a comparison, and turn to it."""
        self.setCurrentIndex(self.addTab(race, title))
        self._fit_titles()

    def take_duel(self) -> None:
        """Take the tab of a comparison away."""
        if self.count() > len(PANELS):
            self.removeTab(len(PANELS))
            self._fit_titles()

    def show_panel(self, name: str) -> None:
        """Turn to one of `PANELS`; another name leaves things as they are."""
        if name in PANELS:
            self.setCurrentIndex(PANELS.index(name))

    def next_panel(self) -> None:
        """Turn to the next tab."""
        self.setCurrentIndex((self.currentIndex() + 1) % self.count())

    def _show_line(self) -> None:
        """Show the source, which has turned to the line of a finding; keys that chose the finding go on there."""
        by_keys = self.source_side.findings.list.hasFocus()
        self.show_panel("source")
        if by_keys:
            self.take_focus()

    def freeze(self) -> None:
        """Freeze the warp and turn to it, or release it."""
        steps = self.session.warp_steps
        steps.toggle()
        if self.session.frozen_warp.on:
            self.show_panel("warp")
        elif not steps.possible:
            self.session.messages.tell(Message(steps.why_not, "info"))

    def take_focus(self) -> None:
        """Give the keyboard to the visible part: the table or the picture, else the tabs."""
        tables: dict[str, Callable[[], QWidget]] = {
            "source": lambda: self.source_side.source,
            "warp": lambda: self.warp.scrolled,
            "thread": lambda: self.by_thread.scrolled,
            "origin": lambda: self.origin.table,
            "assembly": lambda: self.assembly.rows,
            "findings": lambda: self.source_side.findings.list,
        }
        within = tables[self.panel]() if self.panel in tables else None
        wanted = within if within is not None and within.isVisible() else self.tabBar()
        wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Bring the tabs closer together where they would not all be seen."""
        super().resizeEvent(event)
        narrow = self.width() < scaled(_NARROW)
        if self.property("narrow") != narrow:
            self.setProperty("narrow", narrow)
            for widget in (self, self.tabBar()):
                widget.style().unpolish(widget)
                widget.style().polish(widget)
        self._fit_titles()

    def event(self, event: QEvent) -> bool:
        """Do without a new layout where it would be the same one: Qt paints all of the tab again after each.

        A new text of one label asks for a layout of all widgets around it.
        """
        if event.type() == QEvent.Type.LayoutRequest:
            sizes = self.size(), self.tabBar().sizeHint(), self.minimumSizeHint()
            if sizes == self._laid_out:
                return True
            self._laid_out = sizes
        return super().event(event)

    def _fit_titles(self) -> None:
        """Shorten titles where the tabs would not all be seen: of the machine code, then of the findings."""
        findings, count = tr(TITLES[_FINDINGS]), self.source_side.findings.count()
        whole = f"{findings} {count}" if count else findings
        for assembly, title in ((tr(TITLES[_ASSEMBLY]), whole), (_SHORT_ASSEMBLY, whole), (_SHORT_ASSEMBLY, findings)):
            self.setTabText(_ASSEMBLY, assembly)
            self.setTabText(_FINDINGS, title)
            if self.tabBar().sizeHint().width() <= self.width():
                break

    def _on_click(self) -> None:
        """Turn from the counters, which say nothing of a cell, to the origin of a clicked element of C."""
        cell = self.session.cursor.cell
        if self.panel == "counters" and cell is not None and cell[0] == C:
            self.show_panel("origin")

    def _on_theme(self) -> None:
        self.lines.theme = THEMES[self.session.preferences.theme]
        self.lines.set_type(round(scaled(_CODE_PIXELS)))

    def _on_current(self, number: int) -> None:
        self.session.sight.panel = number
        if number < len(PANELS):
            self.made_panel(PANELS[number])
        if _SOURCE < number < _ASSEMBLY:
            self._pages[PANELS[number]].put_above(self.lines)

    def _count(self) -> None:
        """Write the number of findings beside the title of their tab."""
        self._fit_titles()


class _Page(QWidget):
    """The place of a panel, and of the lines above it."""

    def __init__(self) -> None:
        super().__init__()
        self.panel: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)

    def fill(self, panel: QWidget) -> None:
        """Put the panel into its place."""
        self.panel = panel
        self._column.addWidget(panel, 1)
        panel.show()

    def put_above(self, widget: QWidget) -> None:
        """Let a widget stand above the panel; it leaves where it stood."""
        self._column.insertWidget(0, widget)
        widget.show()


def _make_warp(session: Session) -> QWidget:
    from gemmviz.ui.inspect.warp_panel import WarpPanel  # late: made when it is first shown

    return WarpPanel(session)


def _make_thread(session: Session) -> QWidget:
    from gemmviz.ui.inspect.thread_panel import ThreadPanel  # late: made when it is first shown

    return ThreadPanel(session)


def _make_origin(session: Session) -> QWidget:
    from gemmviz.ui.inspect.origin_panel import OriginPanel  # late: made when it is first shown

    return OriginPanel(session)


def _make_counters(session: Session) -> QWidget:
    from gemmviz.ui.inspect.counters import Counters  # late: made when it is first shown

    return Counters(session)


def _make_assembly(session: Session) -> QWidget:
    from gemmviz.ui.inspect.assembly_tab import AssemblyTab  # late: made when it is first shown

    return AssemblyTab(session)


_MAKERS: dict[str, Callable[[Session], QWidget]] = {
    "warp": _make_warp,
    "thread": _make_thread,
    "origin": _make_origin,
    "counters": _make_counters,
    "assembly": _make_assembly,
}


def actions(inspector: Inspector) -> list[Action]:
    """Return the actions of the tabs."""
    steps = inspector.session.warp_steps
    return [
        Action("freeze", "Cell", tr("Freeze the warp / release it"), ("W",), inspector.freeze),
        Action("warp_on", "Cell", tr("Choose the next warp"), (".",), lambda: steps.next_warp(1)),
        Action("warp_back", "Cell", tr("Choose the previous warp"), (",",), lambda: steps.next_warp(-1)),
        Action("inspector", "View > Go to", tr("To the tabs beside the stage"), ("Ctrl+5",), inspector.take_focus),
        Action("next_panel", "View > Go to", tr("Next tab beside the stage"), ("I",), inspector.next_panel),
    ]
