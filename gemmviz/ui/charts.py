"""The live charts: GFLOPS of every rung measured, and the samples of the run that goes on."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QSizePolicy, QTabWidget, QVBoxLayout, QWidget

from gemmviz.catalogue.kernel import Kernel
from gemmviz.session import Session
from gemmviz.ui.ladder import gflops_text, shown_name
from gemmviz.ui.theme import THEMES, Theme

_REFRESH_MS = 100
_MANY = 8
_AXIS_HEIGHT = 34
# Beyond this ratio the short bars of a linear axis are slivers that cannot be told apart.
_LOG_FROM = 100
_REFERENCES = ("numpy", "cublas")


def _plot() -> pg.PlotWidget:
    plot = pg.PlotWidget()
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setMouseEnabled(x=False, y=False)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    # By itself the axis leaves as much room as a second row of ticks would take.
    plot.getAxis("bottom").setHeight(_AXIS_HEIGHT)
    return plot


class LadderChart(QWidget):
    """One horizontal bar per rung that has a figure, and a line at each library reference.

    Parameters
    ----------
    session
        Whose results to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.plot = _plot()
        self.log = QCheckBox("logarithmic")
        self.log.setAccessibleName("Logarithmic axis")
        self.log.setToolTip(
            f"Switched on by itself when the figures differ by more than a factor of {_LOG_FROM}, until you choose"
        )
        self._log_chosen = False
        self.log.clicked.connect(self._on_log)
        self._items: list[pg.GraphicsObject] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 0, 4, 0)
        column.setSpacing(0)
        self.hint = QLabel()
        # A hint may be cut; it must not keep the window wider than an old projector.
        self.hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        # A label, not the plot's own title: that one makes the plot wider than its widget when it does not fit.
        top = QHBoxLayout()
        top.addWidget(self.hint, 1)
        top.addWidget(self.log)
        column.addLayout(top)
        column.addWidget(self.plot, 1)

    def _on_log(self) -> None:
        self._log_chosen = True
        self.refresh()

    def bars(self) -> list[tuple[str, float]]:
        """Return (name, GFLOPS) of the bars that are drawn, from the top."""
        return [(shown_name(k, self.session), self.session.results[k.name]["gflops"]) for k in self._measured()]

    def _measured(self) -> list[Kernel]:
        results = self.session.results
        return [k for k in self.session.kernels if results.get(k.name, {}).get("status") == "ok"]

    def refresh(self) -> None:
        """Draw the results as they are now."""
        session, theme = self.session, THEMES[self.session.theme]
        kernels = self._measured()
        figures = np.array([session.results[k.name]["gflops"] for k in kernels], float)
        y = -np.arange(len(kernels), dtype=float)
        if not self._log_chosen:
            self.log.blockSignals(True)
            self.log.setChecked(len(kernels) > 1 and bool(figures.max() > _LOG_FROM * figures.min()))
            self.log.blockSignals(False)
        log = self.log.isChecked() and len(kernels) > 0
        axis = self.plot.getAxis("bottom")
        axis.setLogMode(log)
        low = float(np.floor(np.log10(figures.min()) - 0.2)) if log else 0.0
        ends = np.log10(figures) if log else figures
        colours = [
            theme.muted if k.backend in _REFERENCES else theme.accent if k.name == session.kernel.name else theme.good
            for k in kernels
        ]
        for item in self._items:
            self.plot.removeItem(item)
        self._items = []
        if kernels:
            self._add(
                pg.BarGraphItem(
                    x0=np.full(len(kernels), low),
                    y=y,
                    width=ends - low,
                    height=0.66,
                    brushes=[pg.mkBrush(c) for c in colours],
                    pens=[pg.mkPen(c) for c in colours],
                )
            )
        for kernel, end, at in zip(kernels, ends, y, strict=True):
            row = session.results[kernel.name]
            flags = "".join(f"  ⚑ {flag}" for flag in row.get("flags") or ())
            if len(kernels) > _MANY and flags:
                flags = "  ⚑"  # the ladder's tooltip says which
            # Beside a short bar, inside a long one: the figure is never cut at the edge.
            inside = end - low > 0.6 * (ends.max() - low)
            text = pg.TextItem(
                gflops_text(row["gflops"]) + flags,
                color=theme.background if inside else theme.text,
                anchor=(1 if inside else 0, 0.5),
            )
            text.setFont(_small(8.5 if len(kernels) <= _MANY else 7))
            text.setPos(end, at)
            self._add(text)
            if kernel.backend in _REFERENCES:
                self._reference(kernel, float(end), theme)
        left = self.plot.getAxis("left")
        left.setStyle(tickFont=_small(8.5 if len(kernels) <= _MANY else 7))
        left.setTicks([[(float(at), _label(kernel, session)) for kernel, at in zip(kernels, y, strict=True)]])
        if len(kernels):
            most = float(ends.max())
            self.plot.setXRange(low, low + (most - low) * 1.04 if most > low else low + 1, padding=0)
            has_reference = any(k.backend in _REFERENCES for k in kernels)
            self.plot.setYRange(-len(kernels) + 0.4, 1.4 if has_reference else 0.6, padding=0)
        self._axis_label(kernels)

    def _reference(self, kernel: Kernel, end: float, theme: Theme) -> None:
        """Draw a line where a library reference ends, with its name in the free row on top."""
        self._add(pg.InfiniteLine(end, angle=90, pen=pg.mkPen(theme.muted, style=Qt.PenStyle.DashLine)))
        name = pg.TextItem(kernel.title, color=theme.muted, anchor=(1, 0.5))
        name.setFont(_small(7.5))
        name.setPos(end, 1.0)
        self._add(name)

    def _add(self, item: pg.GraphicsObject) -> None:
        self.plot.addItem(item, ignoreBounds=True)
        self._items.append(item)

    def _axis_label(self, kernels: list[Kernel]) -> None:
        session = self.session
        sizes = {tuple(session.results[k.name][n] for n in "MNK") for k in kernels}
        where = f" at {' × '.join(map(str, sizes.pop()))}" if len(sizes) == 1 else " (sizes differ)" if sizes else ""
        self.plot.setLabel("bottom", f"GFLOPS{where}")
        self.plot.setToolTip(
            f"GFLOPS: 10⁹ floating-point operations per second, median; measured on {session.device or 'this machine'}"
        )
        for side in ("left", "bottom"):
            self.plot.showAxis(side, bool(kernels))
        self.hint.setText("" if kernels else "No rung is measured yet: press “Measure this”")

    def restyle(self) -> None:
        """Take the theme's colours."""
        _restyle(self.plot, self.session)
        self.refresh()


class SampleChart(QWidget):
    """GFLOPS of each launch as the samples arrive, and their median.

    Parameters
    ----------
    session
        Whose samples to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.plot = _plot()
        self.curve = self.plot.plot([], [])
        self.curve.setDownsampling(auto=True, method="peak")
        self.curve.setClipToView(True)
        self.median = pg.InfiniteLine(0, angle=0)
        self.plot.addItem(self.median)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 0)
        self.title = QLabel()
        self.title.setWordWrap(True)
        column.addWidget(self.title)
        column.addWidget(self.plot, 1)

    def refresh(self) -> None:
        """Draw the samples as they are now."""
        samples = self.session.samples
        figures = np.array(samples.gflops)
        for side in ("left", "bottom"):
            self.plot.showAxis(side, len(figures) > 0)
        self.curve.setData(np.arange(1, len(figures) + 1), figures)
        self.median.setVisible(len(figures) > 0)
        if len(figures):
            self.median.setPos(samples.median)
            self.plot.setXRange(0, max(len(figures), 10), padding=0.02)
            self.plot.setYRange(0, float(figures.max()) * 1.1, padding=0)
        title = (
            f"{samples.label} at {samples.size}: median {gflops_text(samples.median)} GFLOPS"
            if len(figures)
            else ("No samples yet: measure a rung, and they appear here")
        )
        self.title.setText(title)

    def restyle(self) -> None:
        """Take the theme's colours."""
        theme = THEMES[self.session.theme]
        _restyle(self.plot, self.session)
        self.curve.setPen(pg.mkPen(theme.accent, width=1))
        self.curve.setSymbol("o")
        self.curve.setSymbolSize(4)
        self.curve.setSymbolBrush(theme.accent)
        self.curve.setSymbolPen(None)
        self.median.setPen(pg.mkPen(theme.write, style=Qt.PenStyle.DashLine))
        self.plot.setLabel("bottom", "sample number")
        self.plot.setLabel("left", "GFLOPS")
        self.refresh()


class Charts(QTabWidget):
    """Both charts, redrawn at most ten times a second.

    Parameters
    ----------
    session
        Whose results and samples to draw.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setDocumentMode(True)
        self.ladder = LadderChart(session)
        self.samples = SampleChart(session)
        self.addTab(self.ladder, "GFLOPS, measured here")
        self.addTab(self.samples, "Samples as they arrive")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        session.measured.connect(self._soon)
        session.sampled.connect(self._soon)
        session.chosen.connect(self._soon)
        session.themed.connect(self.restyle)
        self.restyle()

    def _soon(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Draw both now."""
        self.ladder.refresh()
        self.samples.refresh()

    def restyle(self) -> None:
        """Take the theme's colours."""
        self.ladder.restyle()
        self.samples.restyle()


def _small(points: float = 8.5) -> QFont:
    font = QFont()
    font.setPointSizeF(points)
    return font


def _label(kernel: Kernel, session: Session) -> str:
    params = session.results[kernel.name].get("params") or {}
    name = shown_name(kernel, session)
    name = name if len(name) <= 24 else name[:6] + "…" + name[-17:]
    return f"{name} {','.join(map(str, params.values()))}".rstrip()


def _restyle(plot: pg.PlotWidget, session: Session) -> None:
    theme = THEMES[session.theme]
    plot.setBackground(theme.background)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(theme.border)
        axis.setTextPen(theme.text)
        axis.setStyle(tickFont=_small())
        axis.enableAutoSIPrefix(False)
