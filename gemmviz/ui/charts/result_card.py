"""The figure of the chosen kernel, large, with its verification, comparisons and samples."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.ui.charts.figures.ladder_figures import Bar, LadderFigures, figures_of_chosen
from gemmviz.ui.charts.figures.outlook import peak_share
from gemmviz.ui.charts.painted import share_text
from gemmviz.ui.charts.tag import Tag
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import gflops_text, origin_name, short_size, shown_name, times
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.shown import show_inside

_LARGE = 2.4  # times the usual size of type
_MARGIN = 8
_MOST_FACTS = 7


class ResultCard(QWidget):
    """Shows one figure; it is hidden where the chosen kernel has none.

    Parameters
    ----------
    session
        The session with the figures.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName(tr("Result"))
        self.heading, self.figure, self.unit, self.below = QLabel(tr("Result")), QLabel(), QLabel("GFLOPS"), QLabel()
        self.heading.setObjectName("heading")
        for label in (self.unit, self.below):
            label.setObjectName("muted")
        self.tag = Tag(session.preferences)
        self.facts = [(QLabel(), QLabel()) for _ in range(_MOST_FACTS)]
        """The names and the values below the figure."""
        rows = QVBoxLayout()
        rows.setSpacing(3)
        for left, right in self.facts:
            line = QHBoxLayout()  # of its own: in a grid, the longest value cuts the names of all lines
            left.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            left.setWordWrap(True)
            left.setObjectName("muted")
            right.setStyleSheet("font-weight: bold")
            line.addWidget(left, 1)
            line.addWidget(right, 0, Qt.AlignmentFlag.AlignTop)
            rows.addLayout(line)
        head, large, column = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(self)
        head.addWidget(self.heading, 1)
        head.addWidget(self.tag)
        large.addWidget(self.figure)
        large.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignBottom)
        column.setContentsMargins(0, 2 * _MARGIN, _MARGIN, 0)
        for part in (large, rows):  # below the text of the heading, which has a margin of its own
            part.setContentsMargins(_MARGIN, 0, 0, 0)
        self.below.setContentsMargins(_MARGIN, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(large)
        column.addWidget(self.below)
        column.addLayout(rows)
        column.addStretch(1)
        results, choice = session.results, session.choice
        for signal in (
            *(results.measured, results.referenced, results.device_changed, results.size_chosen),
            *(choice.chosen, choice.kernels_changed, session.preferences.themed),
        ):
            listen(self, signal, self._on_changed)
        self._live = False
        listen(self, results.sampled, self._on_sampled)
        self.refresh()

    def _on_changed(self, *_: object) -> None:
        around = self.parentWidget()
        if around is None or around.isVisible():  # on another page nobody sees it: see `refresh`
            self.refresh()

    def _on_sampled(self) -> None:
        """Follow a measurement, and its end: a cancelled one leaves the figure that was kept before."""
        live = self._session.results.live is not None
        if live or self._live:
            self._live = live
            self._on_changed()

    def refresh(self) -> None:
        """Show the figure of the chosen kernel, at the size that the charts show or at one that it was measured at."""
        figures = figures_of_chosen(self._session)
        chosen = figures.of("chosen")
        show_inside(self, chosen is not None and chosen.gflops > 0)
        if chosen is None or not chosen.gflops:
            return
        theme = THEMES[self._session.preferences.theme]
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * _LARGE)
        font.setBold(True)
        self.figure.setFont(font)
        self.figure.setStyleSheet(f"color: {theme.accent}; font-size: {font.pointSizeF():.1f}pt; font-weight: bold")
        self.figure.setText(gflops_text(chosen.gflops))
        name = shown_name(chosen.kernel, self._session)
        self.below.setText(tr("{kernel} at {size}", kernel=name, size=short_size(figures.size) if figures.size else ""))
        origin = tr("reference") if chosen.origin else tr("measured")
        self.tag.say(origin, bool(chosen.origin), origin_name(chosen.origin))
        facts = _facts(self._session, figures, chosen)
        for at, (left, right) in enumerate(self.facts):
            for label, text in zip((left, right), facts[at] if at < len(facts) else ("", ""), strict=True):
                label.setText(text)
                label.setVisible(bool(text))


def _facts(session: Session, figures: LadderFigures, chosen: Bar) -> list[tuple[str, str]]:
    """Return the facts about a figure, as names and values: its verification, comparisons and samples."""
    row, before, library = chosen.standing.row, figures.of("before"), figures.library_of(chosen)
    live = session.results.live if chosen.live else None
    right = row["status"] == "ok" if live is None or live.turn is None else live.turn.verified
    found = [("C", tr("verified"))] if right else []
    ratio = figures.ratio(before) if before is not None else None
    if ratio is not None:
        found.append((tr("the kernel before"), tr("{times} as fast", times=times(ratio))))
    if chosen.standing.share is not None and library is not None:
        name = tr(library.kernel.title).partition(",")[0]
        found.append((tr("of {library}", library=name), share_text(chosen.standing.share)))
    peak = peak_share(session, chosen)
    if peak is not None:
        text = tr("{share}, modelled", share=share_text(peak[0]))
        found.append((tr("of the {dtype} peak", dtype=peak[1]), text))
    if live is not None:  # the row is that of the measurement before
        return [*found, (tr("samples"), thousands(len(live.gflops))), (tr("spread"), share_text(live.spread))]
    stats, rounds = row.get("stats"), row.get("rounds") or ()
    if stats:
        found.append((tr("samples"), thousands(stats["n"])))
        found.append((tr("spread"), share_text(stats["iqr_rel"])))
    if rounds:
        found.append((tr("rounds"), " · ".join(gflops_text(one["gflops"]) for one in rounds)))
    return found
