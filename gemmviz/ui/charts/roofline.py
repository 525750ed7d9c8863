"""The roofline: the roofs of a device, the kernels under them, and the bound of a tile size."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider

from gemmviz.bench.figures import Shown, fullest_size, usable
from gemmviz.bench.model.devices import memory_gbs
from gemmviz.bench.model.roofline import Roof, attainable_gflops, cached_share, point, roofs, tile_intensity
from gemmviz.bench.results import new_row
from gemmviz.bench.row import Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.control.worker import EngineLike
from gemmviz.engine.supervisor import Engine
from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.charts.device_box import DeviceBox
from gemmviz.ui.charts.figures.figure_table import FigureTable
from gemmviz.ui.charts.figures.ladder_figures import ladder_figures
from gemmviz.ui.charts.painted import Mark, PaintedChart
from gemmviz.ui.charts.roofline_drawing import Drawing, Placed
from gemmviz.ui.charts.traffic_survey import TrafficSurvey
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import gflops_text, origin_text, percent, shown_name, size_text

_REFRESH_MS, _COUNT_AFTER_MS = 100, 700
"""Milliseconds until changes are drawn, and until bytes that are not known are counted."""
_SMALLEST = (300, 150)
_REACH_PX = 14
_WIDE = 600
_TILES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_HALVES = {"float16", "bfloat16"}
_UNMEASURED = mark("not measured on this device")
_LEGEND = mark(
    "Roofs: modelled, from published figures. Height of a kernel: measured here (filled); a reference, or the modelled "
    "bound of what is not measured (hollow).\n"
    "Circle: FLOP per byte of the 32-byte sectors that its warps ask for, recorded and scaled. Diamond: each matrix "
    "moved once, modelled.\nTriangle (chosen kernel): FLOP per byte of its shared-memory wavefronts, bank conflicts "
    "included, recorded from the source; a compiler that merges loads needs fewer."
)


class RooflinePanel(PaintedChart):
    """Roofs (modelled), kernels (measured, or a reference), and the bound of a block tile (modelled).

    A circle is a kernel at the intensity of its recorded requests, a diamond at its intensity with perfect caches. A
    dotted line is the distance of the chosen kernel from the roof. While the panel is shown, launches whose bytes are
    not known are recorded in the background, the chosen kernel first; *Stop* ends this until *Count bytes* is pressed.

    Parameters
    ----------
    session
        The session with the results to place.
    make_engine
        Makes the engine that records the traffic of the measured kernels.
    """

    def __init__(self, session: Session, make_engine: Callable[[], EngineLike] | None = None) -> None:
        super().__init__(session, tr("Roofline"))
        self.setMinimumSize(*_SMALLEST)
        self.survey = TrafficSurvey(session, make_engine or (lambda: Engine(session.permission.trust)))
        self.survey.setParent(self)
        self.device = DeviceBox(session, "roofline")
        self.record = QPushButton(tr("Count bytes"))
        self.record.setToolTip(
            tr("Record each kernel shown, at a small size, to count the bytes that its warps ask for")
        )
        for widget in (self.device, self.record):
            self.controls.insertWidget(2, widget)
        self.tile = QSlider(Qt.Orientation.Horizontal)
        self.tile.setRange(0, len(_TILES) - 1)
        self.tile.setValue(_TILES.index(16))
        self.tile.setPageStep(1)
        self.tile.setAccessibleName(tr("Block tile of C"))
        self.tile.setToolTip(tr("What if a block computed a tile of C of this size, from shared memory or registers?"))
        self.bound = QLabel()
        self.bound.setTextFormat(Qt.TextFormat.PlainText)
        self.bound.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        below = QHBoxLayout()
        below.setSpacing(6)
        below.addWidget(self.tile, 1)
        below.addWidget(self.bound, 4)
        self.column.addLayout(below)
        self.placed: list[Placed] = []
        self._found: list[Roof] = []
        self._star: tuple[float, float] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        self._declined = False
        self._counting = QTimer(self)
        self._counting.setSingleShot(True)
        self._counting.setInterval(_COUNT_AFTER_MS)
        self._counting.timeout.connect(self._count)
        for signal in (
            session.choice.chosen,
            session.results.measured,
            session.results.referenced,
            session.choice.bench_chosen,
        ):
            listen(self, signal, self._soon)
        listen(self, session.preferences.themed, self.restyle)
        self.survey.changed.connect(self._soon)
        self.device.chosen.connect(self._soon)
        self.tile.valueChanged.connect(self._soon)
        self.record.clicked.connect(self._on_record)
        listen(self, session.progress.changed, self._on_progress)

    def stop(self) -> None:
        """End the current recording; the window calls it when it closes."""
        self._timer.stop()
        self._counting.stop()
        self.survey.stop()

    def _soon(self, *_: object) -> None:
        # A hidden panel is not drawn until it is shown.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the changes made while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Count no bytes for a chart that is not shown."""
        super().hideEvent(event)
        self._counting.stop()
        self.survey.stop()

    # Kernels to place

    def _rows(self) -> list[tuple[str, str, Shown]]:
        """Return (name, kernel, figure) of each kernel measured on the chosen device, and of the chosen kernel."""
        session, found = self.session, []
        on_gpu = session.choice.kernel.backend in ("cuda", "cublas")
        for kernel in session.choice.kernels:
            if kernel.backend not in ("cuda", "cublas") or (on_gpu and kernel.dtype != session.choice.kernel.dtype):
                continue
            row = session.results.rows.get(kernel.name) if self.device.is_here else None
            shown = Shown(row) if row is not None and usable(row) else self._reference(kernel)
            if shown is not None:
                found.append((shown_name(kernel, session), kernel.name, shown))
        kernel = session.choice.kernel
        if kernel.backend == "cuda" and kernel.name not in [name for _, name, _ in found]:
            row = new_row(kernel, session.choice.bench_problem, session.choice.bench_params)
            found.append(
                (tr("{kernel}, bound", kernel=shown_name(kernel, session)), kernel.name, Shown(row, tr(_UNMEASURED)))
            )
        return found

    def _reference(self, kernel: Kernel) -> Shown | None:
        """Return a kernel's figure from the references of the chosen device, at the size with the most figures."""
        if self.device.is_here:
            return None
        for reference in self.session.results.shown_references:
            if reference.gpu == self.device.facts["name"]:
                size = fullest_size(reference.figures)
                row = reference.figures.near(kernel.name, size, kernel.defaults) if size else None
                return Shown(row, reference.origin(row)) if row else None
        return None

    def table(self) -> FigureTable:
        """Return the figures that are drawn."""
        rows = []
        for placed in self.placed:
            row, place = placed.shown.row, placed.place
            where = origin_text(placed.shown, self.session)
            size = size_text((row["M"], row["N"], row["K"]))
            rows.append(
                (placed.name, size, place.gflops, place.from_global, place.from_shared, place.compulsory, where)
            )
        return FigureTable(
            (
                "kernel",
                "M × N × K",
                "GFLOPS",
                "FLOP/byte of global sectors (recorded)",
                "FLOP/byte of shared wavefronts (recorded)",
                "FLOP/byte, compulsory (modelled)",
                "GFLOPS from",
            ),
            rows,
        )

    # Drawing

    def refresh(self) -> None:
        """Draw the current roofs, kernels and bound; which device they are of is known when the results are read."""
        reading = self.session.results.reading
        for part in (self.device, self.tile, self.bound, self.plot, self.tag):
            part.setVisible(not reading)
        if reading:
            self.hint.setText(tr("Reading the results…"))
            return
        rows = self._rows()
        roles = {bar.kernel.name: bar.role for bar in ladder_figures(self.session).bars}
        roles[self.session.choice.kernel.name] = "chosen"
        self.placed = [replace(self._place(*one), role=roles.get(one[1], "other")) for one in rows]
        self._found = self._roofs()
        self._say_bound()
        missing = self.survey.missing([shown.row for _, _, shown in rows])
        self.record.setText(tr("Stop") if self.survey.running else tr("Count bytes"))
        self.record.setVisible(bool(missing) or self.survey.running)
        if missing and not self._declined and not self.survey.running and self.isVisible():
            self._counting.start()
        self._on_progress()
        self._say(missing)
        self.plot.update()

    def paint_all(self, painter: QPainter) -> list[Mark]:
        """Paint the chart; return one mark per kernel."""
        drawing = Drawing(self.plot.size(), self.theme, self._found, self.placed)
        drawing.paint(painter, self._star)
        kernels = {kernel.name: kernel for kernel in self.session.choice.kernels}
        marks = []
        for placed in self.placed:
            at = drawing.at(placed)
            area = QRectF(at.x() - 2, at.y() - 2, 4, 4)
            marks.append(Mark(area, partial(self.describe, placed), kernels.get(placed.kernel), _REACH_PX))
        return marks

    def _place(self, name: str, kernel: str, shown: Shown) -> Placed:
        row = shown.row
        placed = Placed(name, kernel, shown, point(row, self.survey.moved_by(row)))
        most = self._bound(row, placed.place.compulsory)
        return replace(placed, bound=self._bound(row, placed.intensity), most=most)

    def _bound(self, row: Row, intensity: float) -> float | None:
        return attainable_gflops(self.device.facts, intensity, row["dtype_in"], row["dtype_acc"])

    def _roofs(self) -> list[Roof]:
        """Return the roofs to draw. Roofs of arithmetic are left out if no kernel's element type can use them."""
        halves = {self.session.choice.kernel.dtype, *(p.shown.row["dtype_in"] for p in self.placed)} & _HALVES
        whole = self.session.choice.kernel.dtype not in _HALVES
        unwanted = {name for name, drawn in (("FP32", whole), ("FP16 tensor cores", halves)) if not drawn}
        return [roof for roof in roofs(self.device.facts) if roof.name not in unwanted]

    def _say(self, missing: list[Row]) -> None:
        counted = any(placed.place.from_global for placed in self.placed)
        if self.survey.running:
            text = tr("Recording the bytes that the kernels move: {count} left", count=len(missing))
        elif counted:
            text = tr("work per byte that the recording counted (sectors × 32 B); both axes logarithmic")
        else:
            text = tr("work per byte if each matrix moved once; “Count bytes” records the moved bytes")
        chosen = next((placed.shown.row for placed in self.placed if placed.role == "chosen"), None)
        fault = self.survey.fault(chosen) if chosen else ""
        if fault:
            text = tr("{figures}; not recorded: {fault}", figures=text, fault=fault)
        self.hint.setText(text)
        self.hint.setToolTip(tr(_LEGEND))
        if not any(placed.place.gflops for placed in self.placed):
            self.tag.say(tr("modelled"), True, tr("Modelled; none measured"))
        elif self.device.is_here:
            self.tag.say(tr("measured"), False, tr("Roofs modelled, kernels measured"))
        else:
            self.tag.say(tr("reference"), True, tr("Roofs modelled, kernels reference"))

    def _say_bound(self) -> None:
        """Compute the bound of a block tile of the chosen size, and explain it."""
        kernel, facts = self.session.choice.kernel, self.device.facts
        side, itemsize = _TILES[self.tile.value()], np.dtype(kernel.dtype).itemsize
        intensity = tile_intensity(side, side, itemsize)
        most = attainable_gflops(facts, intensity, kernel.dtype, kernel.accumulate)
        figures = {"tile": f"{side}×{side}", "intensity": f"{intensity:.3g}"}
        self._star = None if most is None else (intensity, most)
        if most is None:
            text = tr("tile {tile}: {intensity} FLOP/byte, no peak is published for these types", **figures)
        else:
            figures["gflops"] = gflops_text(most)
            if self.width() < _WIDE:
                text = tr("tile {tile}: {intensity} FLOP/byte, ≤ {gflops} GFLOPS", **figures)
            elif most == intensity * (memory_gbs(facts) or 0.0):
                text = tr("tile {tile}: {intensity} FLOP/byte, ≤ {gflops} GFLOPS by memory, modelled", **figures)
            else:
                text = tr("tile {tile}: {intensity} FLOP/byte, ≤ {gflops} GFLOPS by arithmetic, modelled", **figures)
        self.bound.setText(text)
        self.bound.setToolTip(
            tr(
                "2·{side}·{side} / ({bytes}·({side}+{side})) = {intensity} FLOP/byte: a step along K reads {side} "
                "elements of A and {side} of B, and makes {side}·{side} multiply-adds.\n"
                "At most min(peak, FLOP/byte × bandwidth): modelled, for tiles that only memory feeds.",
                side=side,
                bytes=itemsize,
                intensity=f"{intensity:.4g}",
            )
        )
        self.tile.setAccessibleDescription(text)

    # Pointing

    def describe(self, placed: Placed) -> str:
        """Return all facts about a kernel's place, a line for each kind."""
        row, place, device = placed.shown.row, placed.place, self.device.facts
        size = size_text((row["M"], row["N"], row["K"]))
        where = origin_text(placed.shown, self.session)
        if place.gflops:
            what = tr("{gflops} GFLOPS, {origin}", gflops=gflops_text(place.gflops), origin=where)
        else:
            what = "; ".join(part for part in (where if placed.shown.origin else "", _allowed(placed)) if part)
        lines = [tr("{kernel} at {size}: {what}", kernel=row["label"], size=size, what=what)]
        if place.from_global is not None:
            text = tr(
                "{intensity} FLOP per byte of the sectors its warps ask for (recorded, scaled)",
                intensity=_3(place.from_global),
            )
            lines.append(text)
        if place.from_shared is not None:
            text = tr(
                "{intensity} FLOP per byte of its shared-memory wavefronts (recorded, scaled)",
                intensity=_3(place.from_shared),
            )
            lines.append(text)
        lines.append(tr("{intensity} FLOP/byte if each matrix moved once (modelled)", intensity=_3(place.compulsory)))
        share = cached_share(place, device)
        if share:
            lines.append(
                tr("Caches served at least {share} of those sectors (modelled from the three)", share=percent(share))
            )
        if placed.most and place.gflops:
            share = place.gflops / placed.most
            lines.append(tr("{share} of what the roofs allow with perfect caches", share=percent(share)))
        return "\n".join(lines)

    def _on_progress(self, *_: object) -> None:
        # A recording would disturb the measurement.
        idle = self.session.progress["bench"] is None
        if idle and not self.record.isEnabled():
            self._soon()
        self.record.setEnabled(self.survey.running or idle)

    def _on_record(self) -> None:
        self._declined = self.survey.running
        if self.survey.running:
            self.survey.stop()
        else:
            self._count()

    def _count(self) -> None:
        """Record the launches whose bytes are not known, the chosen kernel's first; never during a measurement."""
        self._counting.stop()
        if self.session.progress["bench"] is None:
            first = sorted(self.placed, key=lambda placed: placed.role != "chosen")
            self.survey.start([placed.shown.row for placed in first])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the texts to the new size."""
        super().resizeEvent(event)
        self.device.give_room(self.width())
        self._soon()


def _allowed(placed: Placed) -> str:
    """Return a text about the bound that the roofs give for a kernel that is not measured."""
    if not placed.most:
        return ""
    most = gflops_text(placed.most)
    if not (placed.bound and placed.place.from_global):
        return tr("at most {gflops} GFLOPS if caches served all (modelled)", gflops=most)
    return tr(
        "at most {gflops} GFLOPS if caches served all, {uncached} if none did (modelled)",
        gflops=most,
        uncached=gflops_text(placed.bound),
    )


def _3(value: float) -> str:
    return f"{value:.3g}"
