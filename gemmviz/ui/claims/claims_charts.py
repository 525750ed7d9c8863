"""The chart of one claim: a heat map for a two-dimensional table, else bars in pairs."""

from collections import Counter

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.bench.claims import Claim, ClaimVerdict, VerdictTable
from gemmviz.bench.claims.claim_text import ORIGINS
from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.charts.heat_map import HeatMap, HeatTable
from gemmviz.ui.claims.claims_bars import NOT_STATED, Pair, PairedBars

# With fewer rows or columns there is no pattern to see, and lengths read better than colours.
_PATTERN_FROM = 3
_TIMES = ("ms", "s", "us", "µs")
_NOTHING = mark("nothing found here yet")
_UNITS = {"x": mark("times as much"), "": mark("count")}


class ClaimChart(QWidget):
    """Draws both figures of a claim.

    Parameters
    ----------
    session
        The session with the theme.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.heat_map = HeatMap(session.preferences)
        self.bars = PairedBars(session.preferences)
        self.current: QWidget = self.bars
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.heat_map, self.bars):
            column.addWidget(widget)
            widget.setVisible(widget is self.current)

    def show_verdict(self, claim: Claim, verdict: ClaimVerdict) -> bool:
        """Draw the figures of a verdict; False if there are none."""
        stated = tr("stated: {figure}", figure=claim.where or claim.source)
        table = verdict.table
        if table is not None and min(len(table.rows), len(table.columns)) >= _PATTERN_FROM:
            self._heat(table, stated, table.origin if verdict.has_figures else tr(_NOTHING))
            self._turn_to(self.heat_map)
            return True
        pairs, unit, origin = _of_table(table) if table is not None else _of_findings(verdict)
        if not any(v is not None for pair in pairs for v in (pair.theirs, pair.ours)):
            return False
        origin = origin if verdict.has_figures else tr(_NOTHING)
        ratio, reference = unit == tr(_UNITS["x"]), origin.startswith(tr(ORIGINS["reference"]))
        self.bars.show_pairs(unit, (stated, origin), pairs, ratio=ratio, reference=reference)
        self._turn_to(self.bars)
        return True

    def _turn_to(self, chart: QWidget) -> None:
        # Hidden ones take no room, as the pages of a stack would.
        for widget in (self.heat_map, self.bars):
            widget.setVisible(widget is chart)
        self.current = chart

    def _heat(self, table: VerdictTable, stated: str, found: str) -> None:
        caption = tr(
            "{title}: {rows} (down) by {columns} (across), {unit}",
            title=tr(table.title),
            rows=table.row_axis,
            columns=table.column_axis,
            unit=table.unit,
        )
        less = table.unit in _TIMES
        both = [(stated, table.theirs), (found, table.ours)]
        if all(value is None for row in table.theirs for value in row):
            caption, both = f"{caption}; {tr(NOT_STATED)}", both[1:]
        tables = [HeatTable(title, table.rows, table.columns, values, table.unit, less) for title, values in both]
        self.heat_map.show_tables(caption, tables)


def _of_table(table: VerdictTable) -> tuple[list[Pair], str, str]:
    pairs = []
    # Column by column: the figures that a document compares stand in its rows.
    for j, column in enumerate(table.columns):
        for i, row in enumerate(table.rows):
            name = f"{row}, {column}" if len(table.columns) > 1 else row
            pairs.append(Pair(name, table.theirs[i][j], table.ours[i][j]))
    return pairs, f"{tr(table.title)}, {table.unit}", table.origin


def _of_findings(verdict: ClaimVerdict) -> tuple[list[Pair], str, str]:
    """Return the findings that are numbers in the unit that most of them share: one scale cannot show two."""
    units = Counter(f.unit for f in verdict.findings if _number(f.theirs) is not None or _number(f.ours) is not None)
    if not units:
        return [], "", ""
    unit = units.most_common(1)[0][0]
    findings = [f for f in verdict.findings if f.unit == unit and not isinstance(f.theirs or f.ours, str)]
    pairs = [Pair(f.label, _number(f.theirs), _number(f.ours)) for f in findings]
    origins = dict.fromkeys(f.origin for f in findings if f.ours is not None)
    return pairs, tr(_UNITS[unit]) if unit in _UNITS else unit, ", ".join(origins)


def _number(value: float | str | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
