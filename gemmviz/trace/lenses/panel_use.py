"""The rows of several GPUs, the panels of A that cross the links, and the steps that need them (*recorded*)."""

from dataclasses import dataclass

import numpy as np

from gemmviz.trace.cost.link import links
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.playable import Playable


@dataclass(frozen=True)
class LaunchSteps:
    """A launch: its GPU, the GPU whose rows of A it multiplies, and its first and last step."""

    device: int
    owner: int
    first: int
    last: int


@dataclass(frozen=True)
class PanelUse:
    """The rows of A that a GPU reads and another one owns.

    Attributes
    ----------
    device, owner, once_bytes, read_bytes
        As `gemmviz.trace.cost.link.LinkUse`.
    needed
        The first step whose product reads them.
    crossed
        The first and the last step at which they cross the link; the last one is -1 if they cross before all steps.
    """

    device: int
    owner: int
    once_bytes: int
    read_bytes: int
    needed: int
    crossed: tuple[int, int]


@dataclass(frozen=True)
class SharedProduct:
    """A product on several GPUs.

    Attributes
    ----------
    devices
        The number of GPUs.
    crossing, in_panels
        As `gemmviz.trace.recording.sharing.Sharing`.
    launches, panels
        In the order of the GPUs, and of each GPU's launches.
    """

    devices: int
    crossing: str
    in_panels: bool
    launches: tuple[LaunchSteps, ...]
    panels: tuple[PanelUse, ...]

    def crosses(self, panel: PanelUse, step: int) -> bool:
        """Return whether a panel crosses its link at a step."""
        first, last = panel.crossed
        return first <= step <= last

    def held(self, panel: PanelUse, step: int) -> bool:
        """Return whether a panel's copy is there at a step."""
        return self.crossing != "reads" and step > panel.crossed[1]

    def done(self, launch: LaunchSteps, step: int) -> float:
        """Return the share of a launch's steps that have begun at a step, 0 to 1."""
        return min(1.0, max(0.0, (step + 1 - launch.first) / (launch.last + 1 - launch.first)))


@per_recording
def shared_product(playable: Playable) -> SharedProduct | None:
    """Return the product that several GPUs share in a recording; None for one GPU."""
    recording, timeline = playable.recording, playable.timeline
    sharing, log = recording.sharing, recording.accesses
    if sharing is None:
        return None
    step_of = np.empty(len(log), np.int64)
    step_of[timeline.order] = np.repeat(np.arange(timeline.steps), np.diff(timeline.start))
    launch_of = log.block.astype(np.int64) // (recording.blocks // len(sharing.launches))
    launches = []
    for number, (device, owner) in enumerate(sharing.launches):
        mine = step_of[launch_of == number]
        launches.append(LaunchSteps(device, owner, int(mine.min()), int(mine.max())))
    panels = []
    for one in links(recording):
        needed = int(step_of[one.rows].min(initial=timeline.steps))
        if sharing.crossing == "inside":
            steps = step_of[one.copying]
            crossed = int(steps.min(initial=timeline.steps)), int(steps.max(initial=-1))
        elif sharing.crossing == "reads":
            its = next(launch for launch in launches if (launch.device, launch.owner) == (one.device, one.owner))
            crossed = its.first, its.last
        else:  # while its GPU has other work, or before all work
            crossed = 0, needed - 1 if sharing.in_panels else -1
        panels.append(PanelUse(one.device, one.owner, one.once_bytes, one.read_bytes, needed, crossed))
    return SharedProduct(sharing.devices, sharing.crossing, sharing.in_panels, tuple(launches), tuple(panels))
