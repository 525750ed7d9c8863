"""The visible parts of a window, and the settings above its charts."""

from dataclasses import dataclass, field

from gemmviz.bench.figures import Sampled


@dataclass
class Sight:
    """The visible parts.

    Attributes
    ----------
    page
        The page in the middle: ``"stage"``, ``"charts"``, ``"claims"`` or ``"versions"``.
    chart
        The number of the chart, from 0.
    panel
        The number of the tab beside the stage, from 0.
    """

    page: str = "stage"
    chart: int = 0
    panel: int = 0


@dataclass
class ChartChoices:
    """The settings above the charts.

    Attributes
    ----------
    devices
        The name of a published device, or ``"here"``, by chart; without an entry the chart shows this machine, else the
        default device.
    samples
        The label and size of the shown samples; None: the newest samples.
    """

    devices: dict[str, str] = field(default_factory=dict)
    samples: Sampled | None = None
