"""The events of a block's pipeline in order: a tile is requested, arrives, is multiplied, its stage is released.

The order is that of the steps, and never a time.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gemmviz.trace.lenses.fillings import NEVER, Filling, Stages
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.lenses.stages import stages
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARPGROUP

Kind = Literal["arrive", "multiply", "free", "ask"]
# Within one step: a tile that has arrived may be multiplied, its stage released, and the next tile requested.
_RANK: dict[Kind, int] = {"arrive": 0, "multiply": 1, "free": 2, "ask": 3}
COPIES = -1
"""The agent of arrivals: copies in flight instead of threads."""


@dataclass(frozen=True)
class Event:
    """An event of a filling: its kind, the filling's number, the step, and the agent (see `Stages`)."""

    kind: Kind
    filling: int
    step: int
    agent: int


@dataclass(frozen=True)
class Wait:
    """An agent waits for an mbarrier: from its event `after` (-1: from the beginning) up to its event `until`."""

    agent: int
    asking: bool
    barrier: int
    after: int
    until: int


@dataclass(frozen=True)
class PipelineEvents:
    """The events of a block in order, its waits, and its arrows: the first event of an arrow enables the second one."""

    events: tuple[Event, ...]
    waits: tuple[Wait, ...]
    arrows: tuple[tuple[int, int], ...]

    def passed(self, step: int) -> int:
        """Return the number of events up to a step."""
        return int(np.searchsorted([event.step for event in self.events], step, side="right"))


@per_recording
def pipeline_events(playable: Playable, block: int) -> PipelineEvents | None:
    """Return the events of a block's pipeline in order.

    Parameters
    ----------
    playable, block
        The recording and the block.

    Returns
    -------
    PipelineEvents or None
        None if the block copies no tiles to shared memory.
    """
    found = stages(playable, block)
    if found is None:
        return None
    events = sorted(_events(found), key=lambda e: (e.step, _RANK[e.kind], e.filling, e.agent))
    place = {(e.kind, e.filling, e.agent): at for at, e in enumerate(events)}
    frees = {e.filling: at for at, e in enumerate(events) if e.kind == "free"}
    fillings = found.fillings
    arrows = []
    for at, event in enumerate(events):
        if event.kind == "multiply":
            arrived = place["arrive", event.filling, COPIES]
            if arrived < at:  # a kernel that does not wait may read a tile before it arrives
                arrows.append((arrived, at))
        if event.kind == "ask":
            before = _before(fillings, fillings[event.filling])
            freed = frees.get(before.number, -1) if before is not None else -1
            if 0 <= freed < at:
                arrows.append((freed, at))
    return PipelineEvents(tuple(events), tuple(_waits(playable, block, found, events)), tuple(arrows))


def _events(found: Stages) -> list[Event]:
    events = []
    for f in found.fillings:
        events += [Event("ask", f.number, f.asked, found.asking[0]), Event("arrive", f.number, f.arrived, COPIES)]
        events += [Event("multiply", f.number, first, agent) for agent, (first, _) in f.used.items()]
        if f.empty >= 0 and f.freed < NEVER and f.used:
            last = max(f.used, key=lambda agent: f.used[agent][1])
            events.append(Event("free", f.number, f.freed, last))
    return events


def _before(fillings: tuple[Filling, ...], one: Filling) -> Filling | None:
    """Return the filling that a stage held before one."""
    return next((f for f in reversed(fillings[: one.number]) if f.stage == one.stage), None)


def _waits(playable: Playable, block: int, found: Stages, events: list[Event]) -> list[Wait]:
    """Return the waits that end before an event of the agent that waited."""
    known = playable.mbarrier_states
    mine = known.waits[known.waits[:, 0] // max(known.barriers, 1) == block] if known.barriers else known.waits[:0]
    waits, last = [], dict[tuple[int, bool], int]()
    for at, event in enumerate(events):
        if event.kind == "arrive":
            continue
        lane = event.agent, event.kind == "ask"
        after = last.get(lane, -1)
        last[lane] = at
        if event.kind == "free":
            continue
        filling = found.fillings[event.filling]
        barrier = filling.empty if event.kind == "ask" else filling.full
        begun = events[after].step if after >= 0 else -1
        of = mine[(mine[:, 0] % max(known.barriers, 1) == barrier) & (mine[:, 1] // WARPGROUP == event.agent)]
        if ((of[:, 2] >= begun) & (of[:, 3] <= event.step)).any():
            waits.append(Wait(event.agent, event.kind == "ask", barrier, after, at))
    return waits
