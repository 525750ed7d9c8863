"""The tab of a duel: counters of both recordings as pairs of bars that grow while they play, and differing lines."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.models.comparison import PACES
from gemmviz.session.rules.comparison_figures import figure_pairs, sentence
from gemmviz.ui.charts.tag import Tag
from gemmviz.ui.comparison.bars import Bars
from gemmviz.ui.comparison.lane_banks import LaneBanks, lane_banks
from gemmviz.ui.comparison.lines_panel import LinesPanel
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import shown_name

_REFRESH_MS = 66
_SIDES = 8  # pixels beside the sentence and the tag


class FiguresPanel(QWidget):
    """The bars, a sentence on which kernel is ahead, the unit to keep in step by, and the lines that differ.

    Parameters
    ----------
    session
        The session with the comparison.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session, self.comparison = session, session.comparison
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setAccessibleName(tr("Which kernel is ahead"))
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.pace = QComboBox()
        self.pace.setAccessibleName(tr("In step by"))
        self.pace.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.pace.addItem(tr("in step by work on K"), "work")
        self.pace.addItem(tr("in step by bytes moved"), "bytes")
        for number, tip in enumerate(
            (
                tr(
                    "Both have made the same share of the reads that feed products: they are equally far along K. "
                    "While a tile is loaded, its steps share the way to the next product."
                ),
                tr(
                    "Both have moved the same number of bytes to and from global memory, counted in whole sectors: "
                    "the kernel that needs fewer bytes is further ahead and finishes first. A CPU has no sectors: "
                    "the bytes that it asks for count."
                ),
            )
        ):
            self.pace.setItemData(number, tip, Qt.ItemDataRole.ToolTipRole)
        self.pace.currentIndexChanged.connect(self._on_pace)
        self.bars = Bars(session.playback, session.preferences)
        self.lanes = LaneBanks(session)
        self.lines = LinesPanel(session)
        head = QVBoxLayout()
        head.setContentsMargins(_SIDES, 4, _SIDES, 4)
        head.addWidget(self.sentence)
        self.tag = Tag(session.preferences)
        row = QHBoxLayout()
        row.addWidget(self.pace)
        row.addStretch(1)
        row.addWidget(self.tag, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.bars, 3)
        column.addWidget(self.lanes)
        column.addWidget(self.lines, 2)
        # Numbers that change sixty times a second cannot be read, and cost the stages their frames.
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        comparison, results = self.comparison, session.results
        for signal in (comparison.changed, comparison.matched, session.preferences.themed, results.measured):
            listen(self, signal, self._on_changed)
        listen(self, session.cursor.recorded, self._on_changed)
        listen(self, session.choice.bench_chosen, self._on_changed)
        for signal in (session.lens.changed, session.cursor.picked, session.second.cursor.picked):
            listen(self, signal, self._on_changed)
        listen(self, session.cursor.stepped, self._on_step)
        listen(self, session.second.cursor.stepped, self._on_step)
        listen(self, session.second.cursor.recorded, self._on_changed)
        self.refresh()

    def _on_pace(self) -> None:
        self.comparison.set_pace(self.pace.currentData())

    def _on_changed(self, *_: object) -> None:
        self.refresh()

    def _on_step(self) -> None:
        if not self.comparison.on:
            return
        if not self.session.playback.playing:
            self.refresh()
        elif not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Show the figures of the session's step now."""
        session, comparison = self.session, self.comparison
        self.pace.blockSignals(True)
        self.pace.setCurrentIndex(PACES.index(comparison.pace))
        self.pace.blockSignals(False)
        self.pace.setToolTip(self.pace.itemData(self.pace.currentIndex(), Qt.ItemDataRole.ToolTipRole))
        if not comparison.on:
            return
        names = shown_name(session.choice.kernel, session), shown_name(session.second.choice.kernel, session)
        steps, problem = (session.cursor.step, session.second.cursor.step), session.choice.bench_problem
        self.sentence.setText(sentence(comparison, steps, names))
        self.bars.show_lanes(figure_pairs(comparison, steps, session.results, problem), comparison.finished(*steps))
        self._say_origin()
        beside = session.second.cursor
        self.lanes.show_requests(names, lane_banks(session.cursor), lane_banks(beside))

    def _say_origin(self) -> None:
        """Show the origin of the figures; in a narrow panel its first word, which is the part that matters."""
        origin = self.bars.origin
        self.tag.say(origin)
        room = self.width() - 3 * _SIDES - self.pace.sizeHint().width()
        if origin and self.tag.sizeHint().width() > room:
            self.tag.say(tr("recorded"), tip=origin)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the origin where it does not fit."""
        super().resizeEvent(event)
        self._say_origin()
