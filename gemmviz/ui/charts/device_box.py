"""Chooses the device of a model: this machine's GPU, or a published one."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy

from gemmviz.bench.model.devices import Facts, find, limits, published
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.kernel_use import default_published
from gemmviz.ui.connections import listen

_HERE = "here"
_NARROWEST = 90
_WIDE_FROM, _FEW_LETTERS, _LETTERS = 600, 9, 18


class DeviceBox(QComboBox):
    """A list of GPUs. The GPU of this machine is the first, and it is selected until the user selects another one.

    On a machine without a GPU it is the GPU of the shown references, or else a common one.

    Parameters
    ----------
    session
        The session with this machine's GPU, the references, and the choice.
    chart
        The chart with this box.
    """

    chosen = Signal()

    def __init__(self, session: Session, chart: str) -> None:
        super().__init__()
        self.session = session
        self._chart = chart
        self._devices: list[Facts] = []
        self.setAccessibleName(tr("Device"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(_NARROWEST)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.give_room(0)
        self.activated.connect(self._on_activated)
        listen(self, session.results.device_changed, self._fill)
        listen(self, session.results.referenced, self._fill)
        self._fill()

    @property
    def facts(self) -> Facts:
        """The chosen device, in the form of a result file."""
        return self._devices[self.currentIndex()]

    @property
    def is_here(self) -> bool:
        """Whether the chosen device is the GPU of this machine."""
        return self.facts is self.session.results.device_facts

    @property
    def origin(self) -> str:
        """The origin of the device's figures."""
        known = find(self.facts)
        if self.is_here:
            if not known:
                return tr("limits and clock as this machine's driver says")
            return tr(
                "limits and clock as this machine's driver says; bandwidth and tensor peak: {source}",
                source=known.source,
            )
        return tr("published: {source}", source=known.source) if known else tr("published limits")

    def give_room(self, pixels: int) -> None:
        """Set a width that suits the width of the panel in pixels; the tooltip has the complete name."""
        self.setMinimumContentsLength(_LETTERS if pixels >= _WIDE_FROM else _FEW_LETTERS)

    def _fill(self) -> None:
        here = self.session.results.device_facts
        wanted = self.session.chart_choices.devices.get(self._chart)
        devices: dict[str, Facts] = {d.name: d.facts() for d in published()}
        # A GPU that is newer than the table of limits cannot be modelled: then only published GPUs are offered.
        if here is not None and limits(here) is not None:
            devices = {tr("here: {device}", device=here["name"]): here, **devices}
            first = next(iter(devices))
            wanted = first if wanted == _HERE else wanted
        else:
            first = default_published(self.session)
        self._devices = list(devices.values())
        self.blockSignals(True)
        self.clear()
        self.addItems(list(devices))
        self.setCurrentText(wanted if wanted in devices else first)
        self.blockSignals(False)
        self._announce()

    def _on_activated(self) -> None:
        self.session.chart_choices.devices[self._chart] = _HERE if self.is_here else self.currentText()
        self._announce()

    def _announce(self) -> None:
        facts = self.facts
        what = tr(
            "{device}, compute capability {cc}, {sms} SMs", device=facts["name"], cc=facts["cc"], sms=facts["sms"]
        )
        self.setToolTip(f"{what}\n{self.origin}")
        self.chosen.emit()
