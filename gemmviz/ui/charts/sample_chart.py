"""The samples of one kernel: a dot per launch, a row per round, and a box around the middle half of all."""

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QComboBox, QLabel

from gemmviz.bench.figures import Sampled
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.ui.charts.figures.axis import linear_ticks
from gemmviz.ui.charts.figures.figure_table import CHOICE, FigureTable
from gemmviz.ui.charts.figures.sample_rows import SampleRows, kernel_and_size, shown_samples
from gemmviz.ui.charts.painted import Mark, PaintedChart, page_font
from gemmviz.ui.look.figure_text import gflops_text, origin_name, telemetry_text
from gemmviz.ui.look.style import letters_wide

_CHOOSER_LETTERS = 15
_RADIUS, _REACH = 3.2, 8.0
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class SampleChart(PaintedChart):
    """The samples of the current measurement, or else of the chosen kernel, in the order in which they were taken.

    A filled dot was measured here, a hollow dot belongs to a reference.

    Parameters
    ----------
    session
        The session with the samples to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, tr("Samples"))
        self.chooser = QComboBox()
        self.chooser.setObjectName(CHOICE)
        self.chooser.setAccessibleName(tr("Kernel of the shown samples"))
        self.chooser.setToolTip(tr("The samples to show: those that arrive now, or always those of one kernel"))
        letters_wide(self.chooser, _CHOOSER_LETTERS)
        self.chooser.activated.connect(self._on_kernel)
        self.controls.insertWidget(2, self.chooser)
        self.telemetry = QLabel()
        self.telemetry.setObjectName("muted")
        self.column.addWidget(self.telemetry)
        self.rows: SampleRows | None = None

    def _on_kernel(self) -> None:
        self.session.chart_choices.samples = self.chooser.currentData()
        self.refresh()

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        rows: list[tuple[object, ...]] = []
        if self.rows is not None:
            for number, samples in enumerate(self.rows.rounds, 1):
                rows += [(self.rows.label, self.rows.size, number, value) for value in samples]
        return FigureTable(("kernel", "M × N × K", "round", "GFLOPS"), rows)

    def refresh(self) -> None:
        """Draw the samples as they are now."""
        self._list_kernels()
        self.chooser.setVisible(len(self.session.results.all_samples) > 1)
        rows = self.rows = shown_samples(self.session)
        self.telemetry.setText(self._telemetry())
        self.telemetry.setVisible(bool(self.telemetry.text()))
        if rows is None or not rows.all:
            self.tag.say("")
            none = tr("No samples yet: measure a kernel, and they appear here")
            self.hint.setText(tr("Reading the results…") if self.session.results.reading else none)
        else:
            whole = origin_name(rows.origin)
            self.tag.say(whole.rpartition(", ")[0] if rows.origin else tr("measured"), bool(rows.origin), whole)
            if rows.launches:
                text = tr(
                    "{what}: each launch a dot, each round a row; box: the middle half", what=kernel_and_size(rows)
                )
            else:
                text = tr(
                    "{what}: each sample a dot, each round a row; box: the middle half", what=kernel_and_size(rows)
                )
            self.hint.setText(text)
            self.hint.setToolTip(text)
        self.plot.update()

    def _list_kernels(self) -> None:
        entries: list[tuple[str, Sampled | None]] = [(tr("as they arrive"), None)]
        sizes = {size for _, size in self.session.results.all_samples}
        for label, size in self.session.results.all_samples:
            text = label if len(sizes) == 1 else tr("{kernel} at {size}", kernel=label, size=size)
            entries.append((text, (label, size)))
        choices = self.session.chart_choices
        if choices.samples not in self.session.results.all_samples:
            choices.samples = None
        if [self.chooser.itemText(i) for i in range(self.chooser.count())] != [text for text, _ in entries]:
            self.chooser.clear()
            for text, which in entries:
                self.chooser.addItem(text, which)
            self.chooser.setCurrentIndex([which for _, which in entries].index(choices.samples))

    def _telemetry(self) -> str:
        """Return clock, power and temperature of the row with these samples, as soon as the row exists."""
        label = self.rows.label if self.rows is not None else None
        rows = [r for r in self.session.results.figures if r.get("label") == label]
        known = [telemetry for r in rows if (telemetry := r.get("telemetry"))]
        return telemetry_text(known[-1]) if known else ""

    # Painting

    def paint_all(self, painter: QPainter) -> list[Mark]:
        """Paint a row per round, the box of all, and the axis."""
        rows = self.rows
        if rows is None or not rows.all:
            return []
        figures = np.array(rows.all)
        metrics = QFontMetricsF(page_font(True))
        line, theme = metrics.height(), self.theme
        names = [tr("round {number}", number=n) for n in range(1, len(rows.rounds) + 1)] + [tr("all")]
        left = max(map(metrics.horizontalAdvance, names)) + 12
        counts = _counts(rows)
        width = self.plot.width() - left - max(map(metrics.horizontalAdvance, counts)) - 14
        room = self.plot.height() - 2.3 * line
        pitch = min(room / (len(names) + 0.9), 3.5 * line)
        bottom = pitch * (len(names) + 0.9)
        low, high = float(figures.min()), float(figures.max())
        margin = max((high - low) * 0.05, abs(high) * 1e-4, 1e-9)
        low, high = low - margin, high + margin

        def x(value: float) -> float:
            return left + width * (value - low) / (high - low)

        self._axis(painter, (low, high), (left, width, bottom))
        colour = QColor(theme.accent)
        marks = []
        for number, samples in enumerate(rows.rounds):
            middle = pitch * (number + 0.5)
            self._name(painter, names[number], counts[number], middle, left, False)
            faded = QColor(colour)
            faded.setAlpha(150)
            painter.setPen(QPen(colour, 1) if rows.origin else Qt.PenStyle.NoPen)
            painter.setBrush(Qt.BrushStyle.NoBrush if rows.origin else faded)
            for value in samples:
                painter.drawEllipse(QPointF(x(value), middle), _RADIUS, _RADIUS)
                area = QRectF(x(value) - 1, middle - 1, 2, 2)
                marks.append(Mark(area, partial(self._facts, number + 1, value), reach=_REACH))
            if samples:
                at = x(float(np.median(samples)))
                painter.setPen(QPen(QColor(theme.text), 2))
                painter.drawLine(QPointF(at, middle - 0.36 * pitch), QPointF(at, middle + 0.36 * pitch))
        self._box(painter, figures, rows.median, x, (pitch * (len(names) + 0.3), pitch))
        self._name(painter, names[-1], counts[-1], pitch * (len(names) + 0.3), left, True)
        return marks

    def _facts(self, number: int, value: float) -> str:
        """Return a text about a sample: its round, from 1, and its GFLOPS."""
        label, figure = self.rows.label if self.rows is not None else "", gflops_text(value)
        return tr("{kernel}, round {number}: {gflops} GFLOPS", kernel=label, number=number, gflops=figure)

    def _name(self, painter: QPainter, name: str, count: str, middle: float, left: float, strong: bool) -> None:
        painter.setFont(page_font(strong))
        painter.setPen(QColor(self.theme.text))
        painter.drawText(QRectF(0, middle - 12, left - 10, 24), _RIGHT, name)
        painter.setFont(page_font())
        painter.setPen(QColor(self.theme.muted))
        painter.drawText(QRectF(0, middle - 12, self.plot.width() - 4, 24), _RIGHT, count)

    def _axis(self, painter: QPainter, ends: tuple[float, float], place: tuple[float, float, float]) -> None:
        (low, high), (left, width, bottom) = ends, place
        line = QFontMetricsF(page_font()).height()
        wide = QFontMetricsF(page_font()).horizontalAdvance(_figure(high, (high - low) / 5)) + 24
        ticks = linear_ticks(high, max(1, int(width / wide)), low)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
        faint = QColor(self.theme.outline)
        faint.setAlpha(70)
        painter.setFont(page_font())
        for tick in ticks:
            at = left + width * (tick - low) / (high - low)
            painter.setPen(QPen(faint, 1))
            painter.drawLine(QPointF(at, 0), QPointF(at, bottom + 3))
            painter.setPen(QColor(self.theme.muted))
            painter.drawText(QRectF(at - 60, bottom + 3, 120, line), _CENTRE, _figure(tick, step))
        painter.drawText(QRectF(left, bottom + 3 + line, width, line), _CENTRE, "GFLOPS")

    def _box(
        self,
        painter: QPainter,
        figures: np.ndarray,
        median: float,
        x: Callable[[float], float],
        place: tuple[float, float],
    ) -> None:
        """Paint a line over all samples, a box around the middle half, and the median with its figure."""
        middle, pitch = place
        q1, q3 = np.percentile(figures, (25, 75))
        high = 0.3 * pitch
        painter.setPen(QPen(QColor(self.theme.outline), 1))
        painter.drawLine(QPointF(x(float(figures.min())), middle), QPointF(x(float(figures.max())), middle))
        ground = QColor(self.theme.accent)
        ground.setAlpha(70)
        painter.setPen(QPen(QColor(self.theme.accent), 1.2))
        painter.setBrush(ground)
        painter.drawRect(QRectF(x(float(q1)), middle - high, max(x(float(q3)) - x(float(q1)), 1), 2 * high))
        painter.setPen(QPen(QColor(self.theme.text), 2.5))
        painter.drawLine(QPointF(x(median), middle - high), QPointF(x(median), middle + high))
        font = page_font(True)
        painter.setFont(font)
        text = tr("median {gflops}", gflops=gflops_text(median))
        wide = QFontMetricsF(font).horizontalAdvance(text) + 8
        start = min(max(x(median) - wide / 2, 0), self.plot.width() - wide)
        painter.drawText(QRectF(start, middle - high - QFontMetricsF(font).height(), wide, 18), _CENTRE, text)


def _figure(value: float, step: float) -> str:
    """Return a figure with enough digits to distinguish it from a figure that is one step away."""
    decimals = 0 if step >= 1 else min(6, 1 + int(np.ceil(-np.log10(step))))
    return thousands(value, decimals)


def _counts(rows: SampleRows) -> list[str]:
    """Return how many samples each round has, and all together: how many are drawn, if that is fewer."""
    drawn = [*map(len, rows.rounds), len(rows.all)]
    if not rows.taken:
        return [trn("{count} sample", "{count} samples", n) for n in drawn]
    taken = [*rows.taken, sum(rows.taken)]
    return [
        tr("{some} of {all} samples", some=thousands(some), all=thousands(all_of_them))
        for some, all_of_them in zip(drawn, taken, strict=True)
    ]
