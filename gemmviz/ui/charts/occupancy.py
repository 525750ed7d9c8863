"""The occupancy panel: the number of warps of the chosen kernel that fit on an SM, and the effect of other values."""

from dataclasses import replace

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.bench.model.devices import Limits, limits
from gemmviz.bench.model.occupancy import Use, advice, occupancy
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.ui.charts.device_box import DeviceBox
from gemmviz.ui.charts.kernel_use import kernel_use
from gemmviz.ui.charts.whatif import WhatIf
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import TYPE_PT, scaled
from gemmviz.ui.look.theme import THEMES

_REFRESH_MS = 100
_SMALLEST = (300, 150)
_ROOM_FOR_SOURCE = 230
_SHARED_STEP = 256


class OccupancyPanel(QWidget):
    """Three curves over block size, registers and shared memory, for a device that the user chooses.

    Parameters
    ----------
    session
        The session with the kernel and the results that give the first values.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setAccessibleName(tr("Theoretical occupancy"))
        # Without it, the large text of a large panel would prevent a smaller panel.
        self.setMinimumSize(*_SMALLEST)
        self.device = DeviceBox(session, "occupancy")
        self.headline = QLabel()
        self.headline.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.reset = QPushButton(tr("Reset"))
        self.reset.setToolTip(tr("Back to the values of the chosen kernel"))
        self.threads = WhatIf(tr("threads per block"), tr("threads"), "threads", 1024, 32, 1)
        self.registers = WhatIf(tr("registers per thread"), tr("registers"), "registers", 255, 1, 1)
        self.shared = WhatIf(tr("shared KiB per block"), tr("shared KiB"), "bytes", 48 * 1024, _SHARED_STEP, 0)
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(self.headline, 1)
        top.addWidget(self.device)
        top.addWidget(self.reset)
        curves = QHBoxLayout()
        curves.setSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 2, 4, 2)
        column.setSpacing(2)
        column.addLayout(top)
        column.addLayout(curves, 1)
        column.addWidget(self.text)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        for whatif in self._whatifs:
            curves.addWidget(whatif, 1)
            whatif.changed.connect(self._on_changed)
        self.reset.clicked.connect(self.follow)
        self.device.chosen.connect(self._soon)
        for signal in (
            session.choice.chosen,
            session.cursor.recorded,
            session.results.measured,
            session.results.referenced,
        ):
            listen(self, signal, self._on_session)
        listen(self, session.preferences.themed, self._fit)
        self._touched = False
        self._kernel = ""
        self._source = ""
        self._cluster, self._barriers = 1, 0
        self.follow()

    @property
    def _whatifs(self) -> tuple[WhatIf, WhatIf, WhatIf]:
        return self.threads, self.registers, self.shared

    @property
    def use(self) -> Use:
        """The resources of a block, from the sliders; its cluster and named barriers are those of the kernel."""
        threads, registers, shared = (whatif.value for whatif in self._whatifs)
        return Use(threads, registers, shared, self._cluster, self._barriers)

    # Initial values of the sliders

    def follow(self) -> None:
        """Set the sliders to the chosen kernel's values."""
        self._touched = False
        self._kernel = self.session.choice.kernel.name
        use, self._source = kernel_use(self.session)
        self._cluster, self._barriers = use.cluster, use.barriers
        self.threads.choose(use.threads)
        self.registers.choose(use.registers)
        self.shared.set_most(max(self._limits.shared_per_block, use.shared_bytes))
        self.shared.choose(use.shared_bytes)
        self._soon()

    def _on_session(self, *_: object) -> None:
        # New figures must not change the sliders while the user moves them.
        if not self._touched or self.session.choice.kernel.name != self._kernel:
            self.follow()

    def _on_changed(self) -> None:
        self._touched = True
        self._soon()

    def _soon(self) -> None:
        # A hidden panel is not drawn until it is shown.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the changes made while the panel was hidden."""
        super().showEvent(event)
        self.restyle()

    # Drawing

    @property
    def _limits(self) -> Limits:
        found = limits(self.device.facts)
        assert found is not None  # the box offers only devices that can be modelled
        return found

    def refresh(self) -> None:
        """Draw the curves and explain them; which device they are of is known when the results are read."""
        reading = self.session.results.reading
        for part in (*self._whatifs, self.device, self.reset, self.text):
            part.setVisible(not reading)
        if reading:
            self.headline.setText(tr("Reading the results…"))
            return
        found, use = self._limits, self.use
        self.shared.set_most(max(found.shared_per_block, use.shared_bytes))

        def percent(**changed: int) -> float:
            return 100 * occupancy(replace(use, **changed), found).fraction

        self.threads.draw(lambda v: percent(threads=v))
        self.registers.draw(lambda v: percent(registers=v))
        self.shared.draw(lambda v: percent(shared_bytes=v))
        now = occupancy(use, found)
        share = f"{100 * now.fraction:.3g}"
        self.headline.setText(tr("Occupancy <b>{percent} %</b>, modelled", percent=share))
        what = tr("What if: the values of the sliders") if self._touched else self._source
        blocks = trn("{count} block", "{count} blocks", now.blocks)
        warps = trn("{count} warp", "{count} warps", use.warps)
        text = tr(
            "{now} of {most} warps: {blocks} of {warps} per SM.",
            now=now.warps,
            most=found.warps_per_sm,
            blocks=blocks,
            warps=warps,
        )
        self.text.setText(f"{text} {advice(use, found)}")
        explained = f"{what}\n{self.device.toolTip()}\n{tr('Arithmetic: cuda_occupancy.h of the CUDA toolkit')}"
        self.text.setToolTip(explained)
        self.headline.setToolTip(explained)
        self.reset.setEnabled(self._touched)
        self.setAccessibleDescription(f"{share} %. {self.text.text()}")
        self._say_source(what)

    def _say_source(self, what: str) -> None:
        """Show the origins of the values if there is room."""
        if self.height() >= _ROOM_FOR_SOURCE:
            self.text.setText(f"{self.text.text()}\n{what}")

    def restyle(self) -> None:
        """Apply the theme's colours and the size of type."""
        theme = THEMES[self.session.preferences.theme]
        points = scaled(TYPE_PT)
        self.device.give_room(self.width())
        for whatif in self._whatifs:
            whatif.restyle(theme, points)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text to the new size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.isVisible():
            self.restyle()
