"""The GFLOPS strip below the stage: the kernel before, the chosen one and the library; while measuring, its samples.

It is visible from the first paint on, so it does not import pyqtgraph.
"""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.bench.figures import ON_GPU
from gemmviz.bench.row import FAILURES
from gemmviz.bench.status_names import status_name
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.session.measurable import why_not
from gemmviz.ui.charts.figures.ladder_figures import Bar, LadderFigures, figures_of_chosen
from gemmviz.ui.charts.painted import Mark, Surface, share_text
from gemmviz.ui.charts.strip_drawing import StripDrawing
from gemmviz.ui.charts.tag import Tag
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import (
    dtype_text,
    gflops_text,
    measured_briefly,
    origin_name,
    short_size,
    shown_name,
    status_text,
    times,
)
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.panels.place_button import PlaceButton
from gemmviz.ui.turns import InTurn

_REFRESH_MS = 200  # drawing more often would disturb the measurement
# Pixels at a scale of type of 1; the strip is higher in a wide window.
_LOW, _HIGH, _WIDE_FROM = 60, 68, 1600
_MARGIN, _LEFT, _MOST_TEXT = 16, 130, 300


class Strip(QWidget):
    """Three bars on one linear scale, a text that compares them, and the button that measures.

    Parameters
    ----------
    session
        The session with the figures and samples.
    """

    measure_wanted = Signal()
    stop_wanted = Signal()
    page_wanted = Signal()
    """The user wants the Measure page, which has the references."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.figures = LadderFigures(None)
        self._first = ""
        self.setAccessibleName("GFLOPS")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.heading, self.below = QLabel("GFLOPS"), QLabel()
        self.measuring, self.tag = Tag(session.preferences), Tag(session.preferences)
        self.headline, self.detail, self.note = QLabel(), QLabel(), QLabel()
        self.verified = QLabel()
        self.button = QPushButton()
        self.place = PlaceButton(session, alone=False)
        self._drawing = StripDrawing(session)
        self.bars = Surface(self._paint, tr("GFLOPS of the kernel before, the chosen one and the library"))
        self._arrange()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self.in_turn = InTurn(self, self.refresh, at_once=True)
        self._timer.timeout.connect(self.in_turn.ask)
        self.button.clicked.connect(self._on_button)
        self.bars.chosen.connect(session.choice.choose_kernel)
        results, choice = session.results, session.choice
        for signal in (
            *(results.measured, results.referenced, results.device_changed, results.size_chosen, results.sampled),
            *(choice.chosen, choice.kernels_changed, session.comparison.changed),
        ):
            listen(self, signal, self._soon)
        listen(self, session.progress.changed, lambda engine: self._soon() if engine == "bench" else None)
        listen(self, session.preferences.themed, self.refresh)
        self.refresh()

    def _arrange(self) -> None:
        self.heading.setStyleSheet("font-weight: bold")
        self.headline.setStyleSheet("font-weight: bold")
        for label in (self.below, self.detail, self.note):
            label.setObjectName("muted")
        for label in (self.headline, self.detail, self.note, self.verified):
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.heading)
        head.addWidget(self.measuring)
        head.addStretch(1)
        left, right, tags = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        left.addLayout(head)
        left.addWidget(self.below)
        for label in (self.headline, self.detail):
            right.addWidget(label)
        for widget in (self.tag, self.note, self.verified):
            tags.addWidget(widget, 0, Qt.AlignmentFlag.AlignRight)
        for column in (left, right, tags):
            column.setSpacing(1)
            column.insertStretch(0, 1)
            column.addStretch(1)
        self.bars.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        row = QHBoxLayout(self)
        row.setContentsMargins(_MARGIN, 2, _MARGIN, 2)
        row.setSpacing(14)
        row.addLayout(left)
        row.addWidget(self.bars, 1)
        row.addLayout(right)
        row.addLayout(tags)
        row.addWidget(self.place)
        row.addWidget(self.button)

    # Content

    def refresh(self) -> None:
        """Show the current figures, or the samples so far."""
        session = self.session
        self._fit()
        self.figures = figures_of_chosen(session)
        busy, kernel = session.progress["bench"] is not None, session.choice.kernel
        # While C is verified, the figures are still those of another size.
        size = self.figures.size if not busy or session.results.live is not None else None
        parts = [short_size(size)] if size is not None else []
        parts.append(dtype_text(kernel.dtype))
        if kernel.backend in ON_GPU:
            parts.append(tr("cold L2"))
        if session.results.away:
            parts.append(session.results.away)
        self.below.setText(" · ".join(parts))
        self.below.setMinimumWidth(round(scaled(_LEFT)))
        self.measuring.say(tr("measuring") if busy else "")
        if busy:
            self._say_running()
        else:
            self._say_figures()
        self._offer(busy)
        self.bars.setAccessibleDescription(f"{self.headline.text()}. {self.detail.text()}")
        self.bars.update()
        self.update()

    def compare_from(self, first: str) -> None:
        """Compare a kernel with the best one, as long as none is chosen; empty: the chosen one with the one before."""
        self._first = first
        self.refresh()

    def shown(self) -> list[Bar]:
        """Return the bars, from the top: the kernel before, the chosen one, the library; only those with a figure."""
        of = self.figures.of
        ends = self._ends()
        compared = _faster(ends) if ends is not None else of("chosen")
        named = (*(ends or (of("before"), compared)), self.figures.library_of(compared))
        return [bar for bar in named if bar is not None and bar.gflops]

    def _ends(self) -> tuple[Bar, Bar] | None:
        """Return the two kernels that are compared, if not the usual ones: both of a duel, or the first and the best.

        None if one has no figure, or if they were measured on two machines.
        """
        beside = self.session.comparison.kernel if self.session.comparison.on else None
        bars = {bar.kernel.name: bar for bar in self.figures.bars}
        if beside is not None:
            pair = self.figures.of("chosen"), bars.get(beside.name)
        else:
            pair = bars.get(self._first), self.figures.of("best")
        first, second = pair
        if first is None or second is None or not first.gflops or first.origin != second.origin:
            return None
        return first, second

    def _say_figures(self) -> None:
        chosen, before = self.figures.of("chosen"), self.figures.of("before")
        ends, parts = self._ends(), []
        if ends is not None:
            parts.append(self._ratio(*ends))
            chosen, before = _faster(ends), None
        ratio = self.figures.ratio(before) if before is not None else None
        if ratio is not None:
            parts.append(_against_before(ratio))
        share, library = chosen.standing.share if chosen is not None else None, self.figures.library_of(chosen)
        if share is not None and library is not None:
            name = tr(library.kernel.title).partition(",")[0]
            parts.append(tr("{share} of {library}", share=share_text(share), library=name))
        row = self.session.results.rows.get(self.session.choice.kernel.name)
        tip = ""
        if chosen is None or not chosen.gflops:
            failed = row is not None and row["status"] in FAILURES
            nothing_chosen = "" if self._first else tr("not measured yet")
            parts = [status_name(row["status"]) if row is not None and failed else nothing_chosen]
            tip = status_text(row)
        elif not parts:
            parts = [tr("{gflops} GFLOPS", gflops=gflops_text(chosen.gflops))]
        first, *rest = parts
        self._say(self.headline, first, tip)
        self._say(self.detail, " · ".join(rest))
        self.detail.setVisible(bool(rest))
        self.verified.hide()
        tagged = chosen or self._reference()
        origin = tagged.origin if tagged is not None else ""
        whole = origin_name(origin)
        results = self.session.results
        self.tag.say("" if tagged is None else self._tag(tagged), bool(origin), whole or measured_briefly(results))
        nothing = not results.away and bool(origin) and all(bar.origin for bar in self.figures.bars)
        self.note.setText(tr("nothing measured here") if nothing else "")
        self.note.setVisible(nothing)

    def _ratio(self, first: Bar, second: Bar) -> str:
        """Return how many times as fast as the other the faster one of two kernels is."""
        slow, fast = sorted((first, second), key=lambda bar: bar.gflops)
        names = {"fast": shown_name(fast.kernel, self.session), "slow": shown_name(slow.kernel, self.session)}
        ratio = times(fast.gflops / slow.gflops)
        whole = tr("{fast} is {times} as fast as {slow}", times=ratio, **names)
        return tr("{fast} is {times} as fast", times=ratio, fast=names["fast"]) if self._is_long(whole) else whole

    def _is_long(self, text: str) -> bool:
        return self.detail.fontMetrics().horizontalAdvance(text) > round(scaled(_MOST_TEXT))

    def _say(self, label: QLabel, text: str, tip: str = "") -> None:
        """Show as much of a text as fits; the tooltip has the complete text and `tip`."""
        label.setText(label.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, round(scaled(_MOST_TEXT))))
        label.setToolTip(tip or text)

    def _tag(self, chosen: Bar) -> str:
        """Return the text of the tag for a reference: its device, or the number of cores of a processor."""
        if not chosen.origin:
            return tr("measured")
        for reference in self.session.results.all_references:
            if reference.origin(chosen.standing.row) == chosen.origin and chosen.kernel.backend not in ON_GPU:
                cores = reference.cores
                return trn("reference: {count} core", "reference: {count} cores", cores) if cores else tr("reference")
        return origin_name(chosen.origin).rpartition(", ")[0].replace("NVIDIA ", "")

    def _reference(self) -> Bar | None:
        """Return the first bar that another machine measured."""
        return next((bar for bar in self.shown() if bar.origin), None)

    def _say_running(self) -> None:
        live, progress = self.session.results.live, self.session.progress["bench"]
        doing = progress[0] if progress is not None else ""
        sampled = live is not None and live.gflops
        reference = None if sampled else self._reference()
        self.tag.say("" if reference is None else self._tag(reference), True)
        self.note.hide()
        self.detail.show()
        turn = live.turn if live is not None else None
        if live is None or turn is None or not live.gflops:
            self._say(self.headline, tr("Measuring"))
            # Its bar has the kernel's name: of a long text the rest is more important.
            short = doing.partition(": ")[2]
            self._say(self.detail, short if short and self._is_long(doing) else doing, doing)
            self.verified.hide()
            return
        so_far = tr("{gflops} GFLOPS so far", gflops=gflops_text(live.median))
        self._say(self.headline, so_far, doing)
        parts = [
            trn("{count} sample", "{count} samples", len(live.gflops)),
            tr("spread {share}", share=share_text(live.spread)),
            tr("round {number} of {count}", number=turn.round, count=turn.rounds),
        ]
        self._say(self.detail, " · ".join(parts), doing)
        self.verified.setText(tr("✓ C verified") if turn.verified else "")
        self.verified.setStyleSheet(f"color: {THEMES[self.session.preferences.theme].good}")
        self.verified.setVisible(turn.verified)

    # The button

    def _offer(self, busy: bool) -> None:
        why = "" if self._first else why_not(self.session)
        self.button.setText(tr("Stop") if busy else tr("Measure…"))
        self.button.setObjectName("" if busy or why or self._first else "primary")
        self.button.style().unpolish(self.button)
        self.button.style().polish(self.button)
        stop = tr("Stop measuring (Esc)")
        usual = tr("To the page Measure") if self._first else tr("Verify the chosen kernel, then time it")
        self.button.setToolTip(stop if busy else why or usual)

    def _on_button(self) -> None:
        if self.session.progress["bench"] is not None:
            self.stop_wanted.emit()
            return
        if self._first:
            self.page_wanted.emit()
            return
        if why_not(self.session):
            # The page says why, beside the figures of another machine. A message would cover the strip's own.
            self.session.results.want_references(True)
            self.page_wanted.emit()
            return
        self.measure_wanted.emit()

    # Painting

    def _soon(self, *_: object) -> None:
        # A hidden strip is not updated until it is shown.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: object) -> None:
        """Show the changes made in the meantime."""
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the strip a little higher in a wide window."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(round(scaled(_HIGH if self.width() >= scaled(_WIDE_FROM) else _LOW)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the background, and a line at its upper edge."""
        theme = THEMES[self.session.preferences.theme]
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(theme.panel))
            line = QColor(theme.outline)
            line.setAlpha(110)
            painter.setPen(line)
            painter.drawLine(0, 0, self.width(), 0)

    def _paint(self, painter: QPainter) -> list[Mark]:
        live = self.session.results.live if self.session.progress["bench"] is not None else None
        return self._drawing.paint(painter, self.bars.size(), self.shown(), live)


def _faster(pair: tuple[Bar, Bar]) -> Bar:
    return max(pair, key=lambda bar: bar.gflops)


def _against_before(ratio: float) -> str:
    """Return how fast a kernel is, compared with the one before: `ratio` times as fast."""
    if times(ratio) == times(1.0) or times(1 / ratio) == times(1.0):
        return tr("as fast as the kernel before")
    if ratio < 1:
        return tr("the kernel before is {times} as fast", times=times(1 / ratio))
    return tr("{times} the kernel before", times=times(ratio))
