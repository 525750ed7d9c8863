"""Records a later launch of a kernel, which finds the variables of the device as the ones before have left them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gemmviz.backends.compiler import BUILD_TIMEOUT_S
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.whole_numbers import inputs_for
from gemmviz.language import tr
from gemmviz.simt import apart
from gemmviz.simt.build import build
from gemmviz.simt.device_state import FlagState
from gemmviz.simt.time_limits import clock_s
from gemmviz.trace.recording.joined import places
from gemmviz.trace.recording.record import Part, recording_of, room, run_part
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class LaterLaunch:
    """A recorded launch after earlier ones.

    Attributes
    ----------
    recording
        Its accesses, those to variables of the device included.
    earlier
        The number of launches before.
    left, again
        The flags that the launch before and this one have left with another value than before any launch.
    """

    recording: Recording
    earlier: int
    left: list[FlagState]
    again: list[FlagState]


def record_later_launch(
    launch: Launch, earlier: int, *, deadline_s: float, progress: Callable[[str, float | None], None]
) -> LaterLaunch:
    """Launch a kernel several times and record the last launch; of several GPUs, a launch of the first one.

    Parameters
    ----------
    launch, deadline_s, progress
        See `gemmviz.trace.recording.record.record`.
    earlier
        The number of launches before the recorded one.

    Raises
    ------
    BuildError, KernelFault, ConstraintError, Unavailable
        See there.
    """
    launch = launch.one_entry
    library = build(launch.part or launch)
    within_s = (earlier + 1) * clock_s(deadline_s) + BUILD_TIMEOUT_S
    progress(tr("Launching {kernel} repeatedly", kernel=launch.label), within_s)
    a, b = inputs_for(launch)
    own = launch
    if launch.part is not None:
        panel = launch.panels[0]
        rows, columns = places(launch.part.problem, panel, launch.part.problem.m < launch.problem.m)
        a, b = a[rows], b[:, columns]
        own = replace(launch.part, gpu=(panel.device, launch.devices))
    part = Part(own, None, as_written=False, capacity=room(), earlier=earlier)
    raw = run_part(part, apart.Process(library, own, part.capacity), a, b, deadline_s)
    assert raw.state is not None
    recording = recording_of(part, raw, a.astype(np.float64), b.astype(np.float64))
    return LaterLaunch(recording, earlier, raw.state.left, raw.state.again)
