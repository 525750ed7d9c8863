"""The roofline panel: the roofs of a device, the measured rungs under them, and the bound of a tile size."""

from collections.abc import Callable
from dataclasses import replace
from math import hypot

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider

from gemmviz.bench.figures import Shown, fullest_size, usable
from gemmviz.bench.model.devices import memory_gbs
from gemmviz.bench.model.peaks import peak_gflops
from gemmviz.bench.model.roofline import Roof, attainable_gflops, cached_share, point, roofs, tile_intensity
from gemmviz.bench.results import new_row
from gemmviz.bench.row import Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.control.worker import EngineLike
from gemmviz.engine.supervisor import Engine
from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.charts.chart import Chart, FigureTable, small_font
from gemmviz.ui.charts.device_box import DeviceBox
from gemmviz.ui.charts.roofline_drawing import Drawing, Placed
from gemmviz.ui.charts.traffic_survey import TrafficSurvey
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import gflops_text, origin_text, percent, shown_name, size_text
from gemmviz.ui.look.style import scaled

_REFRESH_MS = 100
_SMALLEST = (300, 150)
_FULL_SIZE = (1300, 700)
_SMALLEST_PT, _LARGEST_PT = 8.0, 16.0
_REACH_PX = 18
_ROOM_FOR_ALL = 350
_WIDE = 600
_TILES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_UNMEASURED = mark("not measured on this device")
_LEGEND = mark(
    "Roofs: modelled, from published figures. Height of a rung: measured here (filled); a reference, or the modelled "
    "bound of what is not measured (hollow).\n"
    "Circle: FLOP per byte of the 32-byte sectors that its warps ask for, recorded and scaled. Diamond: each matrix "
    "moved once, modelled.\nTriangle (chosen rung): FLOP per byte of its shared-memory wavefronts, bank conflicts "
    "included, recorded from the source; a compiler that merges loads needs fewer."
)


class RooflinePanel(Chart):
    """Roofs (modelled), rungs (measured, or a reference), and the bound of a block tile (modelled).

    A circle stands where warps' recorded requests put a rung, a diamond where perfect caches would; a line joins both.

    Parameters
    ----------
    session
        The session with the results to place.
    make_engine
        Makes the engine that records the traffic of the measured rungs.
    """

    def __init__(self, session: Session, make_engine: Callable[[], EngineLike] | None = None) -> None:
        super().__init__(session, tr("Roofline"))
        self.setAccessibleName(self.name)
        self.setMinimumSize(*_SMALLEST)
        self.survey = TrafficSurvey(session, make_engine or (lambda: Engine(session.permission.trust)))
        self.survey.setParent(self)
        self.device = DeviceBox(session, "roofline")
        self.record = QPushButton(tr("Count bytes"))
        self.record.setToolTip(
            tr("Record each kernel shown, at a small size, to count the bytes that its warps ask for")
        )
        self.controls.addWidget(self.record)
        self.controls.addWidget(self.device)
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
        self._at: int | None = None
        self._drawing = Drawing(self.plot)
        self._points = _SMALLEST_PT
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        for signal in (
            session.choice.chosen,
            session.results.measured,
            session.results.referenced,
            session.choice.bench_chosen,
        ):
            listen(self, signal, self._soon)
        listen(self, session.preferences.themed, self._fit)
        self.survey.changed.connect(self._soon)
        self.device.chosen.connect(self._soon)
        self.tile.valueChanged.connect(self._soon)
        self.record.clicked.connect(self._on_record)
        self.plot.pointed.connect(self._on_pointed)
        # The axes get their widths only after they are laid out, and names stand beside their markers in pixels.
        self.plot.plotItem.vb.sigResized.connect(self._on_laid_out)
        self.plot.left.connect(lambda: self._point(None))
        self.plot.clicked.connect(self._on_clicked)
        self.plot.moved.connect(lambda right, down: self._point((-1 if self._at is None else self._at) + right + down))
        listen(self, session.progress.changed, self._on_progress)

    def stop(self) -> None:
        """End the recording under way; the window calls it when it closes."""
        self._timer.stop()
        self.survey.stop()

    def _soon(self, *_: object) -> None:
        # A hidden panel costs nothing: it is drawn when it is shown.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _on_laid_out(self, *_: object) -> None:
        if self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the changes made while the panel was hidden."""
        super().showEvent(event)
        self.restyle()

    # Rungs to place

    def _rows(self) -> list[tuple[str, str, Shown]]:
        """Return (name, kernel, figure) of each rung measured on the chosen device, and always of the chosen rung."""
        session, found = self.session, []
        for kernel in session.choice.kernels:
            if kernel.backend not in ("cuda", "cublas"):
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
        """Return the figure of a rung at the size most rungs have one, of the references from the chosen device."""
        if self.device.is_here or not self.session.results.references_shown:
            return None
        for reference in self.session.results.references:
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
        """Draw roofs, rungs and the bound as they are now."""
        rows = self._rows()
        self.placed = [self._place(*one) for one in rows]
        found = self._roofs()
        self._drawing.begin(self.theme, self._points, found, self.placed)
        self._drawing.roofs(found)
        self._drawing.rungs(self.placed, self.session.choice.kernel.name)
        self._draw_bound()
        missing = self.survey.missing([shown.row for _, _, shown in rows])
        self.record.setText(tr("Stop") if self.survey.running else tr("Count bytes"))
        self.record.setVisible(bool(missing) or self.survey.running)
        self._on_progress()
        self._say(missing)

    def _place(self, name: str, kernel: str, shown: Shown) -> Placed:
        row = shown.row
        placed = Placed(name, kernel, shown, point(row, self.survey.moved_by(row)))
        most = self._bound(row, placed.place.compulsory)
        return replace(placed, bound=self._bound(row, placed.intensity), most=most)

    def _bound(self, row: Row, intensity: float) -> float | None:
        return attainable_gflops(self.device.facts, intensity, row["dtype_in"], row["dtype_acc"])

    def _roofs(self) -> list[Roof]:
        """Return the roofs to draw: in a low panel the tensor cores' only where a rung can come near it."""
        found = roofs(self.device.facts)
        types = [self.session.choice.kernel.dtype, *(placed.shown.row["dtype_in"] for placed in self.placed)]
        halves = "float16" in types or "bfloat16" in types
        peak = peak_gflops(self.device.facts, "float32", "float32")
        if halves or peak is None or self.height() >= _ROOM_FOR_ALL:
            return found
        return [roof for roof in found if roof.kind == "memory" or roof.value <= peak[0]]

    def _say(self, missing: list[Row]) -> None:
        if self.survey.running:
            self.hint.setText(tr("Recording what the kernels move: {count} to go", count=len(missing)))
        elif not any(placed.place.gflops for placed in self.placed):
            self.hint.setText(tr("Modelled; none measured"))
        else:
            here = self.device.is_here
            said = tr("Roofs modelled, rungs measured") if here else tr("Roofs modelled, rungs reference")
            fault = self.survey.fault
            self.hint.setText(tr("{figures}; not recorded: {fault}", figures=said, fault=fault) if fault else said)
        self.hint.setToolTip(tr(_LEGEND))

    def _draw_bound(self) -> None:
        """Draw the bound of a block tile of the chosen size, and explain it."""
        kernel, facts = self.session.choice.kernel, self.device.facts
        side, itemsize = _TILES[self.tile.value()], np.dtype(kernel.dtype).itemsize
        intensity = tile_intensity(side, side, itemsize)
        most = attainable_gflops(facts, intensity, kernel.dtype, kernel.accumulate)
        figures = {"tile": f"{side}×{side}", "intensity": f"{intensity:.3g}"}
        if most is None:
            text = tr("tile {tile}: {intensity} FLOP/byte, no peak is published for these types", **figures)
        else:
            self._drawing.tile(intensity, most)
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
        """Return all facts about a rung's place, a line for each kind."""
        row, place, device = placed.shown.row, placed.place, self.device.facts
        size = size_text((row["M"], row["N"], row["K"]))
        where = origin_text(placed.shown, self.session)
        if place.gflops:
            what = tr("{gflops} GFLOPS, {origin}", gflops=gflops_text(place.gflops), origin=where)
        else:
            what = "; ".join(part for part in (where if placed.shown.origin else "", _allowed(placed)) if part)
        lines = [tr("{kernel} at {size}: {what}", kernel=row["label"], size=size, what=what)]
        if place.from_global is not None:
            said = tr(
                "{intensity} FLOP per byte of the sectors its warps ask for (recorded, scaled)",
                intensity=_3(place.from_global),
            )
            lines.append(said)
        if place.from_shared is not None:
            said = tr(
                "{intensity} FLOP per byte of its shared-memory wavefronts (recorded, scaled)",
                intensity=_3(place.from_shared),
            )
            lines.append(said)
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

    def _on_pointed(self, place: QPointF) -> None:
        self._point(self._nearest(place))

    def _nearest(self, place: QPointF) -> int | None:
        cursor = self.plot.pixel(place.x(), place.y())
        far = [(_distance(self.plot.pixel(*placed.at), cursor), i) for i, placed in enumerate(self.placed)]
        distance, index = min(far, default=(_REACH_PX + 1, 0))
        return index if distance <= _REACH_PX else None

    def _on_clicked(self, place: QPointF) -> None:
        index = self._nearest(place)
        if index is not None:
            name = self.placed[index].kernel
            self.session.choice.choose_kernel(next(k for k in self.session.choice.kernels if k.name == name))

    def _point(self, index: int | None) -> None:
        """Show all facts about a rung; None: hide them. An index beyond the ends means the nearest one."""
        if index is None or not self.placed:
            self._at = None
            self.plot.tell("", QPoint())
            return
        self._at = min(max(index, 0), len(self.placed) - 1)
        placed = self.placed[self._at]
        self.plot.tell(self.describe(placed), self.plot.pixel(*placed.at))

    def _on_progress(self, *_: object) -> None:
        # Recording would share the processor with the measurement.
        self.record.setEnabled(self.survey.running or self.session.progress["bench"] is None)

    def _on_record(self) -> None:
        if self.survey.running:
            self.survey.stop()
        else:
            self.survey.start([placed.shown.row for placed in self.placed])

    # Looks

    def restyle(self) -> None:
        """Apply the theme's colours, and a size of text that fits the panel's."""
        share = min(self.width() / _FULL_SIZE[0], self.height() / _FULL_SIZE[1], 1.0)
        self._points = scaled(_SMALLEST_PT + (_LARGEST_PT - _SMALLEST_PT) * max(0.0, share - 0.3) / 0.7)
        self.device.give_room(self.width())
        size = f"{self._points + 1:.1f}pt"
        self.setStyleSheet(f"QLabel, QComboBox, QPushButton {{ font-size: {size}; }}")
        for side, text in (("bottom", tr("arithmetic intensity, FLOP/byte")), ("left", "GFLOPS")):
            axis = self.plot.getAxis(side)
            axis.setLabel(text, **{"font-size": f"{self._points}pt", "color": self.theme.text})
        self.plot.getAxis("bottom").setHeight(round(self._points * 4.2))
        super().restyle()
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setStyle(tickFont=small_font(self._points))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text to the new size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.isVisible():
            self.restyle()


def _allowed(placed: Placed) -> str:
    """Name the bound that the roofs set for a rung that is not measured."""
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


def _distance(a: QPoint, b: QPoint) -> float:
    return hypot(a.x() - b.x(), a.y() - b.y())
