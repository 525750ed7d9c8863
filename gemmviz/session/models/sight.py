"""The visible parts of a window, the visible part of its stages, and the settings above its charts."""

from dataclasses import dataclass, field

from gemmviz.bench.figures import Sampled


@dataclass
class StageSight:
    """The visible part of one stage.

    Attributes
    ----------
    zoom, dx, dy
        The zoom about the origin, then a shift in pixels.
    of
        The recording that was looked at; another one is shown whole.
    """

    zoom: float = 1.0
    dx: float = 0.0
    dy: float = 0.0
    of: object = None


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
    stage, second
        The visible part of the stage, and of the second one.
    changed_only
        Whether the page of two versions leaves out the figures that are equal in both.
    presented
        Whether presenter mode is on.
    presented_scale
        The size of its type, relative to the usual one.
    stop
        The number of the chosen line in the list of one's own stops, from 0; None: the list is closed.
    stops_place
        The place of that list on the screen: x, y, width and height in pixels; None: not opened yet.
    """

    page: str = "stage"
    chart: int = 0
    panel: int = 0
    stage: StageSight = field(default_factory=StageSight)
    second: StageSight = field(default_factory=StageSight)
    changed_only: bool = True
    presented: bool = False
    presented_scale: float = 1.0
    stop: int | None = None
    stops_place: tuple[int, int, int, int] | None = None


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
