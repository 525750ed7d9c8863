"""The state of each mbarrier at a step: its current phase, the missing arrivals and bytes, and the waiting threads.

Events of barriers access no array, so that they have no separate steps. An event takes effect at the last step of its
thread before it in the same phase of the recording; if there is none, at the first step of that phase; and never
earlier than a previous event of the same barrier. This is an order of events, never a time.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.hopper.async_copies import phase_starts
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import ARRIVE, BYTES, COMPLETE, EXPECT, INIT, WAIT


@dataclass(frozen=True)
class BarrierState:
    """An mbarrier of one block after a step.

    Attributes
    ----------
    ready
        Whether it is initialised: before that, the other values have no meaning.
    ended
        The number of its phases that have ended.
    arrivals, needed
        Missing arrivals of the current phase, and the arrivals that it needs in total.
    bytes, announced
        Missing bytes of the current phase, and the bytes announced for it up to now. If more bytes have arrived than
        were announced, none are missing.
    waiting
        int64, the threads of the block that wait for the end of the phase, ascending.
    """

    ready: bool
    ended: int
    arrivals: int
    needed: int
    bytes: int
    announced: int
    waiting: Ints

    @property
    def parity(self) -> int:
        """Parity of the current phase."""
        return self.ended % 2


@dataclass(frozen=True)
class MbarrierStates:
    """The mbarriers of a recording, step by step.

    The number of a barrier is: block * `barriers` + its index in `Recording.barriers`.

    Attributes
    ----------
    barriers, steps
        The number of mbarriers of a block; the number of steps of the timeline.
    order
        The barriers that any block initialises, in the order of their first initialisation.
    counts_bytes
        The barriers for which bytes are ever announced.
    key
        int64, sorted: each change of a barrier, as (number * (steps + 1) + step).
    values
        int64 (changes, 5): ended, arrivals, needed, bytes and announced after each change; see `BarrierState`.
    waits
        int64 (waits, 4), sorted by the barrier's number: that number, the thread, the first step after which it waits,
        and the first step after which it no longer waits.
    """

    barriers: int
    steps: int
    order: tuple[int, ...]
    counts_bytes: frozenset[int]
    key: Ints
    values: Ints
    waits: Ints

    def at(self, step: int, block: int) -> list[BarrierState]:
        """Return the state of each mbarrier of a block after a step, in the order of `Recording.barriers`."""
        if not self.barriers:
            return []
        number = block * self.barriers + np.arange(self.barriers)
        place = np.searchsorted(self.key, number * (self.steps + 1) + step, side="right") - 1
        first, last = np.searchsorted(self.waits[:, 0], (number[0], number[-1] + 1))
        mine = self.waits[first:last]
        mine = mine[(mine[:, 2] <= step) & (step < mine[:, 3])]
        found = []
        for own, at in zip(number.tolist(), place.tolist(), strict=True):
            ready = at >= 0 and int(self.key[at]) // (self.steps + 1) == own
            ended, arrivals, needed, missing, announced = self.values[at].tolist() if ready else (0, 0, 0, 0, 0)
            waiting = np.sort(mine[mine[:, 0] == own, 1]) if len(mine) else mine[:0, 1]
            found.append(BarrierState(ready, ended, arrivals, needed, max(missing, 0), announced, waiting))
        return found


def mbarrier_states(recording: Recording, timeline: Timeline) -> MbarrierStates:
    """Return the states of a recording's mbarriers at each step."""
    events, barriers = recording.events, len(recording.barriers)
    number = events.block * barriers + events.barrier
    changes = np.flatnonzero((events.barrier >= 0) & np.isin(events.kind, (INIT, ARRIVE, EXPECT, BYTES, COMPLETE)))
    waits = np.flatnonzero((events.barrier >= 0) & (events.kind == WAIT) & (events.parity == events.number % 2))
    if not len(changes) or not timeline.steps:
        none = np.zeros(0, np.int64)
        return MbarrierStates(
            barriers, timeline.steps, (), frozenset(), none, np.zeros((0, 5), np.int64), np.zeros((0, 4), int)
        )
    step = _steps(recording, timeline)
    order = events.barrier[changes[events.kind[changes] == INIT]]
    changes = changes[np.argsort(number[changes], kind="stable")]
    # The events of a barrier keep their order, also if the steps of two threads have the reverse order.
    key = np.maximum.accumulate(number[changes] * (timeline.steps + 1) + step[changes])
    values = _values(events.kind[changes], number[changes], *(c[changes] for c in (events.arrivals, events.bytes)))
    values = np.column_stack([events.number[changes], values])
    first = step[waits]
    end = _ends(key, number[changes], values[:, 0], number[waits], events.number[waits], timeline.steps)
    found = np.stack([number[waits], events.thread[waits], first, end], axis=1)[first < end]
    return MbarrierStates(
        barriers,
        timeline.steps,
        tuple(dict.fromkeys(order.tolist())),
        frozenset((number[changes][values[:, 4] > 0] % barriers).tolist()),
        key,
        values,
        found[np.argsort(found[:, 0], kind="stable")],
    )


def _steps(recording: Recording, timeline: Timeline) -> Ints:
    """Return the step at which each event takes effect."""
    events, log = recording.events, recording.accesses
    key = log.block.astype(np.int64) << 32 | log.phase.astype(np.int64) << 16 | log.thread
    wanted = events.block << 32 | events.phase << 16 | events.thread
    begin, end = np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right")
    # A thread that arrives at another block's barrier may have made more accesses than its counterpart in that block.
    before = np.minimum(events.row, end) - 1
    starts = phase_starts(recording, timeline, events.block, events.phase, timeline.order_by == "grid")
    step: Ints = np.where(before >= begin, timeline.step_of_row[before], np.minimum(starts, timeline.steps - 1))
    return step


def _values(kind: Ints, number: Ints, arrivals: Ints, missing: Ints) -> Ints:
    """Return (arrivals, needed, bytes, announced) after each change of barriers, sorted by barrier."""
    at, fresh = np.arange(len(kind)), np.isin(kind, (INIT, COMPLETE))
    began = np.maximum.accumulate(np.where(fresh, at, 0))
    before = np.where((at > 0) & (number == np.roll(number, 1)), np.roll(missing, 1), 0)
    total = np.cumsum(np.where(kind == EXPECT, missing - before, 0))
    return np.stack([arrivals, arrivals[began], missing, total - total[began]], axis=1)


def _ends(key: Ints, number: Ints, ended: Ints, of: Ints, phase: Ints, steps: int) -> npt.NDArray[np.int64]:
    """Return the step at which a phase of a barrier ends; the number of steps if it never ends.

    Parameters
    ----------
    key, number, ended
        For each change: `MbarrierStates.key`, the barrier's number, and the number of phases that have ended after it.
    of, phase
        The barriers, and the phase of each.
    steps
        The number of steps of the timeline.
    """
    # Phases of a barrier only ever end, so that these numbers are sorted.
    most = int(ended.max()) + 2
    place = np.searchsorted(number * most + ended, of * most + phase + 1)
    known = np.minimum(place, len(key) - 1)
    does = (place < len(key)) & (number[known] == of)
    return np.where(does, key[known] % (steps + 1), steps)
