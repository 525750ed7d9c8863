"""The ladder as bars: GFLOPS of every rung at one size, beside the libraries, the first rung and the peak."""

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QScrollBar

from gemmviz.bench.figures import Shown, Size, size_of
from gemmviz.bench.ranking import LIBRARIES, Standing, place, standings
from gemmviz.bench.results import FAILURES
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.charts.chart import Chart, FigureTable, small_font
from gemmviz.ui.charts.chart_choices import PlaceBox, ReferenceBox, SizeBox, SourceLegend
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import (
    changes_text,
    gflops_text,
    of_base_text,
    percent,
    rung_text,
    short_size,
    shown_name,
    size_text,
    standing_text,
    times,
)

# Beyond this ratio the short bars of a linear axis are slivers that look alike.
_LOG_FROM = 100
_LOW_ROW, _HIGH_ROW = 16, 34
_WIDE_FROM = 560
# Below this height the choices above the plot give their room to the bars; the Charts page has them.
_SMALL_BELOW = 260
_PICTURE_ROW = 22
_LONGEST_NAME = 36
_HEAD_ROWS = 2
COLUMNS = (mark("GFLOPS"), mark("speed-up"), mark("of library"), mark("of peak"))


class LadderChart(Chart):
    """One horizontal bar per rung that has a figure, and a line at each library reference.

    A solid bar was measured here; a hollow one is a reference from elsewhere. A hatched one behind a rung is the same
    rung with a part taken away or edited: it has no rank, and its speed is given relative to its rung.

    Parameters
    ----------
    session
        The session with the results to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("GFLOPS of the ladder"))
        self.setAccessibleName(self.name)
        self.standings: list[Standing] = []
        self._at: int | None = None
        self._ends: dict[str, float] = {}
        self._font, self._heads = small_font(), 1
        self._bars: pg.BarGraphItem | None = None
        self._lines: list[pg.GraphicsObject] = []
        self.log = QCheckBox(tr("log"))
        self.log.setChecked(bool(session.results.log_wanted))
        self.log.setAccessibleName(tr("Logarithmic axis"))
        self.log.setToolTip(
            tr(
                "Logarithmic axis; switched on by itself when the figures differ by more than a factor of {factor}, "
                "until you choose",
                factor=_LOG_FROM,
            )
        )
        self.log.clicked.connect(self._on_log)
        self.sizes, self.reference = SizeBox(session.results), ReferenceBox(session.results)
        self.places = PlaceBox(session.chart_choices.places, "ladder")
        self.places.activated.connect(lambda *_: self.refresh())
        listen(self, session.results.size_chosen, self.refresh)
        for widget in (self.reference, self.places, self.sizes, self.log):
            self.controls.addWidget(widget)
        self.legend = SourceLegend(session.results)
        self.column.addWidget(self.legend)
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical)
        self.scroll_bar.valueChanged.connect(self._show_rows)
        self.body.addWidget(self.scroll_bar)
        self.axes = [self._add_axis(number) for number in range(len(COLUMNS))]
        self.plot.getAxis("left").setStyle(tickLength=0, tickAlpha=0)
        # The columns change the width of the bars' part only after they are laid out.
        self.plot.plotItem.vb.sigResized.connect(self._reference_lines)
        self.plot.pointed.connect(self._on_pointed)
        self.plot.left.connect(lambda: self._point(None))
        self.plot.clicked.connect(self._on_clicked)
        self.plot.moved.connect(lambda _, down: self._point((self._at if self._at is not None else -down) + down))

    def _add_axis(self, number: int) -> pg.AxisItem:
        axis = pg.AxisItem("right", linkView=self.plot.plotItem.vb, maxTickLength=0)
        axis.setStyle(tickLength=0, tickTextOffset=8, tickAlpha=0)
        self.plot.plotItem.layout.addItem(axis, 2, 3 + number)
        return axis

    # Content

    def shown_size(self) -> Size | None:
        """Return the shown (M, N, K), or None without figures."""
        return self.session.results.shown_size()

    def bars(self) -> list[tuple[str, float]]:
        """Return (name, GFLOPS) of the bars that are drawn, from the top."""
        return [(shown_name(s.kernel, self.session), s.gflops) for s in self.standings]

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        headings = (
            *(
                "kernel",
                "parameters",
                "M",
                "N",
                "K",
                "element type",
                "sums",
                "GFLOPS (cold median)",
                "spread (IQR / median)",
            ),
            *("speed-up over the first rung", "share of the library", "library", "share of the modelled peak"),
            *("flags", "origin"),
        )
        rows: list[tuple[object, ...]] = []
        for s in self.standings:
            row, kernel = s.row, s.kernel
            params = " ".join(f"{name}={value}" for name, value in (row.get("params") or {}).items())
            stats = row.get("stats")
            spread = stats.get("iqr_rel") if stats else None
            rows.append(
                (
                    *(
                        kernel.name,
                        params,
                        row["M"],
                        row["N"],
                        row["K"],
                        kernel.dtype,
                        kernel.accumulate,
                        s.gflops or None,
                    ),
                    *(spread, s.speedup, s.share, s.library, s.peak_share, "; ".join(row.get("flags") or ())),
                    s.origin or f"measured: {self.session.results.device or 'this machine'}",
                )
            )
        return FigureTable(headings, rows)

    # Drawing

    def refresh(self) -> None:
        """Draw the results as they are now."""
        session = self.session
        self.sizes.refresh()
        size = self.shown_size()
        wanted = self.places.currentData()
        kernels = [k for k in session.results.charted if wanted in (None, place(k))]
        found = standings(kernels, self._pick(kernels, size)) if size is not None else []
        self._say_what_is_drawn(found, size)
        if not found:
            self.standings = []
            self._clear()
            self.scroll_bar.hide()
            return
        figures = np.array([s.gflops for s in found])
        drawn, log = figures[figures > 0], self.session.results.log_wanted
        self.log.setChecked(len(drawn) > 1 and bool(drawn.max() > _LOG_FROM * drawn.min()) if log is None else log)
        self.plot.getAxis("bottom").setLogMode(self.log.isChecked())
        self._draw_bars(found, figures)
        self._show_rows()

    def _pick(self, kernels: list[Kernel], size: Size) -> Callable[[str], Shown | None]:
        """Return the function that finds a kernel's figure; of a variant that failed at this size, its row."""
        session, variants = self.session, {kernel.name for kernel in kernels if kernel.changes}

        def pick(name: str) -> Shown | None:
            row = session.results.figures.latest(name) if name in variants else None
            if row is not None and row["status"] in FAILURES:
                return Shown(row) if size_of(row) == size else None
            return session.results.shown(name, size)

        return pick

    def _say_what_is_drawn(self, found: list[Standing], size: Size | None) -> None:
        """Label the axis, name the origins, and update the choices."""
        session, count = self.session, len(found)
        self.hint.setText("" if count else tr("No rung is measured yet: press “Measure this”"))
        self.hint.setVisible(not count or self.width() >= _WIDE_FROM)
        small = self.height() < _SMALL_BELOW
        for widget in (self.places, self.log):
            widget.setVisible(bool(session.results.sizes()) and not small)
        self.reference.setVisible(bool(session.results.references) and not (small and count))
        self.sizes.setVisible(len(session.results.sizes()) > 1 and not small)
        origins = [s.origin for s in found]
        told = not small and any(s.is_variant for s in found)
        purpose = tr("changed on purpose").replace(" ", "\N{NO-BREAK SPACE}")
        changed = (f"▨\N{NO-BREAK SPACE}{purpose}",) if told else ()
        self.legend.say(origins if not small or any(origins) else [], "■", "□", brief=small, more=changed)
        for axis in (*self.axes, *(self.plot.getAxis(side) for side in ("left", "bottom"))):
            axis.setVisible(count > 0)
        if size is not None:
            # A long label would make the plot wider than its place.
            shown = short_size(size) if small else size_text(size)
            if small and not any(origins):
                text = tr("GFLOPS at {size}, measured here", size=shown)
            else:
                text = tr("GFLOPS at {size}", size=shown)
            self.plot.setLabel("bottom", text)

    def _draw_bars(self, found: list[Standing], figures: np.ndarray) -> None:
        theme, log = self.theme, self.log.isChecked()
        # A variant that failed has a row and no bar.
        drawn = figures[figures > 0]
        least = float(drawn.min()) if len(drawn) else 1.0
        low = float(np.floor(np.log10(least) - 0.2)) if log else 0.0
        ends = np.where(figures > 0, np.log10(np.maximum(figures, least)), low) if log else figures
        y = -np.arange(len(figures), dtype=float)
        pens, brushes = [], []
        for standing in found:
            chosen = standing.kernel.name == self.session.choice.kernel.name
            colour = theme.muted if standing.kernel.backend in LIBRARIES else theme.accent if chosen else theme.good
            pens.append(pg.mkPen(colour, width=1))
            hatched = QBrush(QColor(colour), Qt.BrushStyle.BDiagPattern)
            solid = hatched if standing.is_variant else pg.mkBrush(colour)
            brushes.append(pg.mkBrush(None) if standing.origin else solid)
        self._clear()
        self._bars = pg.BarGraphItem(
            x0=np.full(len(y), low), y=y, width=ends - low, height=0.66, brushes=brushes, pens=pens
        )
        self.plot.addItem(self._bars, ignoreBounds=True)
        most = float(ends.max())
        self.plot.setXRange(low, low + (most - low) * 1.02 if most > low else low + 1, padding=0)
        # Together: a resize in between draws the lines of the libraries from both.
        self.standings = found
        self._ends = {s.kernel.name: float(end) for s, end in zip(found, ends, strict=True)}

    def _show_rows(self, *_: object) -> None:
        """Show as many rows as are readable, from the scroll bar's position."""
        count = len(self.standings)
        if not count:
            self.scroll_bar.hide()
            return
        heads = _HEAD_ROWS if any(s.kernel.backend in LIBRARIES for s in self.standings) else 1
        room = max(self.plot.height() - self.plot.getAxis("bottom").height(), _LOW_ROW)
        fitting = max(int(room / _LOW_ROW) - heads, 1)
        shown = min(count, fitting)
        self.scroll_bar.setRange(0, count - shown)
        self.scroll_bar.setPageStep(shown)
        self.scroll_bar.setVisible(count > shown)
        first = self.scroll_bar.value()
        # Few bars stay on top and of a readable height instead of filling the chart.
        rows = max(shown + heads, room / _HIGH_ROW)
        top = -first + heads + 0.5
        self.plot.setYRange(top - rows, top, padding=0)
        self._label_rows(first, shown, room / rows, heads)

    def _label_rows(self, first: int, shown: int, pitch: float, heads: int) -> None:
        session, theme = self.session, self.theme
        font = small_font(7.5 if pitch < 16.5 else 8.5 if pitch < 22 else 10.5)
        visible = [(-at, self.standings[at]) for at in range(first, first + shown)]
        left = self.plot.getAxis("left")
        left.setStyle(tickFont=font)
        above = [None, *(s for _, s in visible)]
        left.setTicks([[(float(y), _label(s, session, over)) for (y, s), over in zip(visible, above, strict=False)]])
        wide = self.width() >= _WIDE_FROM
        head = float(heads - first)
        for number, axis in enumerate(self.axes):
            cells = [(float(y), _cell(s, number)) for y, s in visible]
            has_figures = any(text != "–" for _, text in cells)
            axis.setVisible(number == 0 or (wide and has_figures))
            axis.setStyle(tickFont=font)
            axis.setTextPen(theme.text if number == 0 else theme.muted)
            axis.setTicks([[(head, tr(COLUMNS[number]) if wide else ""), *cells]])
        self._font, self._heads = font, heads
        self._reference_lines()

    def _reference_lines(self, *_: object) -> None:
        """Draw a line where a library ends, with its name in the free rows on top."""
        if not self.standings:
            return
        first, heads, font = self.scroll_bar.value(), self._heads, self._font
        for item in self._lines:
            self.plot.removeItem(item)
        self._lines = []
        box = self.plot.plotItem.vb
        metrics, free = QFontMetricsF(font), [float("-inf")] * heads
        low = box.viewRange()[0][0]
        per_pixel = max(box.viewPixelSize()[0], 1e-12)
        libraries = [s for s in self.standings if s.kernel.backend in LIBRARIES]
        for s in sorted(libraries, key=lambda s: -self._ends[s.kernel.name]):
            end = self._ends[s.kernel.name]
            self._add(pg.InfiniteLine(end, angle=90, pen=pg.mkPen(self.theme.muted, style=Qt.PenStyle.DashLine)))
            # In a small chart a long name would begin left of the plot.
            title = metrics.elidedText(tr(s.kernel.title), Qt.TextElideMode.ElideRight, (end - low) / per_pixel - 10)
            name = pg.TextItem(title, color=self.theme.muted, fill=self.theme.background, anchor=(1, 0.5))
            name.setFont(font)
            name.setZValue(1)  # above the lines of the others
            width = (metrics.horizontalAdvance(title) + 10) * per_pixel
            row = next((r for r, taken in enumerate(free) if taken == float("-inf") or end <= taken), None)
            if row is None:
                continue  # its own bar names it
            free[row] = end - width
            name.setPos(end, heads - first - row)
            self._add(name)

    def _add(self, item: pg.GraphicsObject) -> None:
        self.plot.addItem(item, ignoreBounds=True)
        self._lines.append(item)

    def _clear(self) -> None:
        for item in (*self._lines, *([self._bars] if self._bars is not None else [])):
            self.plot.removeItem(item)
        self._bars, self._lines = None, []

    def restyle(self) -> None:
        """Apply the theme's colours."""
        super().restyle()
        for axis in (self.plot.getAxis("left"), *self.axes):
            axis.setPen(None)

    # Pointing

    def _on_log(self) -> None:
        self.session.results.log_wanted = self.log.isChecked()
        self.refresh()

    def _row_at(self, place: QPointF) -> int | None:
        row = round(-place.y())
        return row if 0 <= row < len(self.standings) and abs(-place.y() - row) < 0.5 else None

    def _on_pointed(self, place: QPointF) -> None:
        self._point(self._row_at(place), place.x())

    def _on_clicked(self, place: QPointF) -> None:
        row = self._row_at(place)
        if row is not None and self.standings[row].kernel is not self.session.choice.kernel:
            self.session.choice.choose_kernel(self.standings[row].kernel)

    def _point(self, row: int | None, x: float | None = None) -> None:
        """Show all figures of a bar."""
        if row is None or not self.standings:
            self._at = None
            self.plot.tell("", QPoint())
            return
        self._at = row = max(0, min(row, len(self.standings) - 1))
        first, shown = self.scroll_bar.value(), self.scroll_bar.pageStep()
        if not first <= row < first + shown:
            self.scroll_bar.setValue(row if row < first else row - shown + 1)
        standing = self.standings[row]
        x = self._ends[standing.kernel.name] if x is None else x
        self.plot.tell(standing_text(standing, self.session), self.plot.pixel(x, -row))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll."""
        self.scroll_bar.setValue(self.scroll_bar.value() - event.angleDelta().y() // 40)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many rows as fit now."""
        super().resizeEvent(event)
        if (event.size().height() < _SMALL_BELOW) != (event.oldSize().height() < _SMALL_BELOW):
            self.refresh()
        else:
            self._show_rows()

    def picture_size(self) -> QSize:
        """Return a size that shows every bar."""
        return super().picture_size().expandedTo(QSize(0, (len(self.standings) + 8) * _PICTURE_ROW))


def _cell(standing: Standing, column: int) -> str:
    match column:
        case 0 if not standing.gflops:
            return of_base_text(standing)
        case 0:
            flags = "  ⚑" if standing.row.get("flags") else ""
            return gflops_text(standing.gflops) + flags
        case 1 if standing.speedup is not None:
            return times(standing.speedup)
        case 1:
            return of_base_text(standing) if standing.gflops else "–"
        case 2:
            return percent(standing.share)
        case _:
            return percent(standing.peak_share)


def _label(standing: Standing, session: Session, above: Standing | None) -> str:
    kernel = standing.kernel
    if standing.is_variant and above is not None and above.kernel.base_name == kernel.base_name:
        # Its rung stands in the row above; the ends of two long names would look alike.
        text = f"↳ {changes_text(kernel)}"
        return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
    name = shown_name(kernel, session) if standing.is_variant else rung_text(kernel, standing.row, session)
    return name if len(name) <= _LONGEST_NAME else name[:10] + "…" + name[11 - _LONGEST_NAME :]
