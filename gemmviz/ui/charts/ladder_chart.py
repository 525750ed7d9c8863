"""The ladder as bars: GFLOPS of the kernels of one element type at one size, by chapter, compared with the library."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QLabel, QScrollBar, QSizePolicy

from gemmviz.bench.figures import Size
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.ui.charts.chart_choices import ReferenceBox, SizeBox, SourceLegend
from gemmviz.ui.charts.figures.figure_table import FigureTable
from gemmviz.ui.charts.figures.ladder_figures import LadderFigures, ladder_figures
from gemmviz.ui.charts.ladder_drawing import LadderDrawing
from gemmviz.ui.charts.painted import Mark, PaintedChart, role_colour
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import dtype_text, gflops_text, origin_name, short_size, shown_name
from gemmviz.ui.look.style import scaled

_PICTURE_ROW = 22
_TAG_FROM = 470  # pixels, at a scale of type of 1


class LadderChart(PaintedChart):
    """One horizontal bar per kernel with a figure, linear from 0, and a dashed line at the figure of each library.

    A filled bar was measured here; a hollow bar is a reference from another machine. A hatched bar after a kernel is a
    variant of it, with a part removed or edited: it has no rank, and its speed is given relative to that kernel.

    Parameters
    ----------
    session
        The session with the results to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("Kernels"))
        self.figures = LadderFigures(None)
        self.sizes, self.reference = SizeBox(session.results), ReferenceBox(session.results)
        listen(self, session.results.size_chosen, self.refresh)
        for widget in (self.reference, self.sizes):
            self.controls.insertWidget(2, widget)
        self.legend = SourceLegend(session.results)
        self.column.insertWidget(2, self.legend)
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical)
        self.scroll_bar.valueChanged.connect(lambda *_: self.plot.update())
        self.body.addWidget(self.scroll_bar)
        self.plot.scrolled.connect(lambda down: self.scroll_bar.setValue(self.scroll_bar.value() + down))
        self.key = QLabel()
        self.key.setObjectName("muted")
        self.key.setTextFormat(Qt.TextFormat.RichText)
        self.key.setWordWrap(True)
        self.key.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.column.addWidget(self.key)
        self._drawing = LadderDrawing(session)
        self._chosen: Kernel | None = None

    def shown_size(self) -> Size | None:
        """Return the shown (M, N, K), or None without figures."""
        return self.figures.size

    def bars(self) -> list[tuple[str, float]]:
        """Return (name, GFLOPS) of the drawn bars, from the top."""
        return [(shown_name(bar.kernel, self.session), bar.gflops) for bar in self.figures.bars]

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        headings = (
            *("kernel", "parameters", "M", "N", "K", "element type", "sums", "C", "GFLOPS (cold median)"),
            *("spread (IQR / median)", "speed-up over the first kernel", "share of the library", "library"),
            *("share of the modelled peak", "flags", "origin"),
        )
        rows: list[tuple[object, ...]] = []
        for bar in self.figures.bars:
            s, row, kernel = bar.standing, bar.standing.row, bar.kernel
            params = " ".join(f"{name}={value}" for name, value in (row.get("params") or {}).items())
            stats = row.get("stats")
            spread = stats.get("iqr_rel") if stats else None
            rows.append(
                (
                    *(kernel.name, params, row["M"], row["N"], row["K"]),
                    *(kernel.dtype, kernel.accumulate, kernel.dtype_out),
                    *(s.gflops or None, spread, s.speedup, s.share, s.library, s.peak_share),
                    "; ".join(row.get("flags") or ()),
                    s.origin or f"measured: {self.session.results.device_and_host or 'this machine'}",
                )
            )
        return FigureTable(headings, rows)

    def refresh(self) -> None:
        """Draw the results as they are now."""
        self.sizes.refresh()
        self.sizes.setVisible(len(self.session.results.sizes()) > 1)
        self.figures = ladder_figures(self.session)
        self._say_origins()
        self._say_roles()
        self.hint.setText(self._hint_text())
        self._fit()
        if self._chosen is not self.session.choice.kernel:
            self._chosen = self.session.choice.kernel
            self._show_chosen()

    def _say_origins(self) -> None:
        """Show the origin of the figures in the tag; below the heading if origins differ or the chart is narrow."""
        origins = [bar.origin for bar in self.figures.bars]
        whole = origin_name(origins[0]) if origins else ""
        alike = len({bool(origin) for origin in origins}) == 1 and self.width() >= scaled(_TAG_FROM)
        self.tag.say("")
        if alike:
            self.tag.say(whole.rpartition(", ")[0] if whole else tr("measured"), bool(whole), whole)
            margins = self.column.contentsMargins()
            # The name of a CPU is long.
            if self.controls.sizeHint().width() > self.width() - margins.left() - margins.right():
                self.tag.say("")
                alike = False
        self.legend.say([] if alike else origins, "■", "□", brief=True)

    def _say_roles(self) -> None:
        """Explain the colours below the bars if there is room and more than one colour."""
        names = {
            "chosen": tr("chosen"),
            "before": tr("the one before"),
            "best": tr("best own"),
            "library": tr("library"),
            "other": tr("others: click to choose"),
        }
        here = {bar.role for bar in self.figures.bars}
        colours = {role: role_colour(role, self.theme).name() for role in names}
        space = "\N{NO-BREAK SPACE}"  # within a part: a line breaks between two
        parts = [
            f'<span style="color:{colours[r]}">■</span>{space}{names[r].replace(" ", space)}'
            for r in names
            if r in here
        ]
        self.key.setText("&nbsp;&nbsp; ".join(parts))
        self.key.setVisible(len(parts) > 1 and self.width() >= scaled(_TAG_FROM))

    def _hint_text(self) -> str:
        """Return the sentence about the content of the bars."""
        size, kernel = self.figures.size, self.session.choice.kernel
        if size is None or not self.figures.bars:
            if self.session.results.reading:
                return tr("Reading the results…")
            return tr("No kernel of this element type is measured yet: press “Measure this”")
        texts = {"size": short_size(size), "dtype": dtype_text(kernel.dtype)}
        if kernel.backend in ("cuda", "cublas"):
            text = tr("GFLOPS at {size}, {dtype}, cold L2; linear: a bar twice as long is twice as fast", **texts)
        else:
            text = tr("GFLOPS at {size}, {dtype}; linear: a bar twice as long is twice as fast", **texts)
        parts = [text]
        live = self.session.results.live
        if live is not None and any(bar.live for bar in self.figures.bars):
            timed = tr("{kernel}: {gflops} so far", kernel=live.label, gflops=gflops_text(live.median))
            parts.append(timed)
        others = dict.fromkeys(origin for bar in self.figures.bars for origin, _ in bar.elsewhere)
        parts += [f"○ {origin_name(origin)}" for origin in others]
        here = self.session.results.cpu_cores
        for cores in self.figures.left_out:
            text = trn(
                "left out: references of a CPU with {count} core; this one has {here}",
                "left out: references of a CPU with {count} cores; this one has {here}",
                cores,
                here=here,
            )
            parts.append(text)
        return "  ·  ".join(parts)

    def _fit(self) -> None:
        """Let the rows scroll if they do not fit."""
        whole, room = self._drawing.heights(self.figures, self.plot.height())
        self.scroll_bar.setRange(0, max(0, round(whole - room)))
        self.scroll_bar.setPageStep(max(1, round(room)))
        self.scroll_bar.setVisible(whole > room + 1)
        self.plot.update()

    def _show_chosen(self) -> None:
        """Scroll to the chosen row."""
        _, room = self._drawing.heights(self.figures, self.plot.height())
        top, bottom = self._drawing.chosen_row(self.figures, self.plot.height())
        at = self.scroll_bar.value()
        self.scroll_bar.setValue(round(min(max(at, bottom - room), top)))

    def paint_all(self, painter: QPainter) -> list[Mark]:
        """Paint the bars."""
        return self._drawing.paint(painter, self.plot.size(), self.figures, self.scroll_bar.value())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many rows as fit now, the chosen one among them."""
        super().resizeEvent(event)
        self._say_origins()
        self._say_roles()
        self._fit()
        self._show_chosen()

    def picture_size(self) -> QSize:
        """Return a size that shows every bar."""
        return super().picture_size().expandedTo(QSize(0, self._drawing.rows(self.figures) * _PICTURE_ROW + 160))
