"""A lane arrives at an mbarrier for its warp, and nothing orders the other lanes' accesses before this arrival.

A warp gives a stage of shared memory back with one arrival, by one lane. Its order covers the accesses of this lane,
and those of the lanes that it has met at a ``__syncwarp`` since. Without one, the next copy into the stage may come
before another lane has read it. Source: PTX ISA, "mbarrier.arrive" (release semantics of the thread that executes
it), and CUDA C++ Programming Guide, "Synchronization Functions".

Only a recording whose threads exchange no values by an instruction is looked at: the lanes of a warp meet at a shuffle
or a product of the tensor cores, too. Arrivals from another block of the cluster are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gemmviz.language import tr
from gemmviz.trace.distinct import distinct
from gemmviz.trace.hazards.access_index import AccessIndex, Flags, Ints, by_lines
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import array_name, capital, element_name, short_index, short_who
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.trace.recording.tma_boxes import ARRIVE, EXPECT, PASS, WAIT

# A missing __syncwarp() is missing in every round: the first accesses that a wait releases are enough.
_MOST_WRITES = 200_000


@dataclass(frozen=True)
class _Arrivals:
    """Arrivals of threads at mbarriers, sorted by key: the barrier in its block, and its phase.

    ``since`` and ``turn``: accesses of the warp's other lanes from this phase of the recording, and this turn in it,
    are not ordered before the arrival. An arrival is there twice if its thread has waited at an mbarrier since the
    phase before: once for the accesses after this wait, once for those before it.
    """

    key: Ints
    thread: Ints
    phase: Ints
    since: Ints
    turn: Ints
    line: Ints


def early_arrivals(recording: Recording, t: AccessIndex) -> Iterator[Finding]:
    """Look for accesses to a stage that its warp's arrival does not wait for, before the stage is written again."""
    if recording.together > 1 or not len(recording.events):
        return
    writes, key = _released(recording, t)
    if not len(writes):
        return
    waits = _waits(recording)
    arrivals = _arrivals(recording, waits)
    if not len(arrivals.key):
        return
    first, end = (np.searchsorted(arrivals.key, key, side) for side in ("left", "right"))
    pair, arrival = _expanded(first, end)
    write = writes[pair]
    pair, other = _accesses_of_its_warp(t, write, arrivals, arrival)
    write, arrival = write[pair], arrival[pair]
    lane = t.block[other] * recording.threads + t.thread[other]
    found = (t.thread[other] != arrivals.thread[arrival]) & (t.turn[other] >= arrivals.turn[arrival])
    # Before the wait: only if this lane has waited like the one that arrives.
    now, begun = arrivals.phase[arrival], waits.get(lane, arrivals.phase[arrival])
    found &= (t.phase[other] == now) | ((begun[0] == t.phase[other]) & (t.turn[other] >= begun[1]))
    found &= ~_has_arrived(recording, lane, t.phase[other], now)
    write, other, arrival = write[found], other[found], arrival[found]
    yield from _per_lines(recording, t.row[write], t.row[other], t.slot[write], arrivals, arrival)


def _released(recording: Recording, t: AccessIndex) -> tuple[Ints, Ints]:
    """Return writes to shared memory, and the barrier's phase whose end their thread has waited for last.

    Returns
    -------
    tuple
        Positions in the index; keys as in `_Arrivals`. A copy counts from its issue, a write to memory from itself.
    """
    log, events = recording.accesses, recording.events
    passes = np.flatnonzero(events.kind == PASS)
    owner = events.block[passes] * recording.threads + events.thread[passes]
    wide = len(log) + 1
    order = np.argsort(owner * wide + events.row[passes], kind="stable")
    passes, place = passes[order], (owner * wide + events.row[passes])[order]

    shared = np.array([a.space == "shared" for a in recording.arrays])
    writes = np.flatnonzero(t.write & shared[log.array[t.row]])
    began = np.arange(len(log), dtype=np.int64)
    began[log.copies[:, 0]] = log.copies[:, 1]  # -1: a copy of zeros, whose place in its thread is not known
    began = began[t.row[writes]]
    writes, began = writes[began >= 0], began[began >= 0]
    own = t.block[writes] * recording.threads + t.thread[writes]
    at = np.searchsorted(place, own * wide + began, "right") - 1
    known = (at >= 0) & (len(place) > 0)
    known[known] = place[at[known]] // wide == own[known]
    writes, at = writes[known], at[known]
    chosen = np.argsort(at, kind="stable")[:_MOST_WRITES]
    writes, last = writes[chosen], passes[at[chosen]]
    return writes, _key(recording, events.block[last], events.barrier[last], events.number[last] - 1)


@dataclass(frozen=True)
class _Waits:
    """The waits at mbarriers during which the recording began a new phase, sorted by key: the thread, and that phase.

    ``phase`` and ``turn``: when the thread began to wait.
    """

    key: Ints
    phase: Ints
    turn: Ints

    def get(self, thread: Ints, phase: Ints) -> tuple[Ints, Ints]:
        """Return phase and turn before the waits of threads (numbered through all blocks) that ended in phases.

        Both are -1 where there is none.
        """
        if not len(self.key):
            return np.full(len(thread), -1), np.full(len(thread), -1)
        wanted = thread << 16 | phase
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        there = self.key[at] == wanted
        return np.where(there, self.phase[at], -1), np.where(there, self.turn[at], -1)


def _waits(recording: Recording) -> _Waits:
    events = recording.events
    mine = np.flatnonzero(((events.kind == WAIT) | (events.kind == PASS)) & (events.remote == 0))
    thread = events.block[mine] * recording.threads + events.thread[mine]
    order = np.argsort(thread, kind="stable")
    mine, thread = mine[order], thread[order]
    ends = np.flatnonzero((events.kind[mine][1:] == PASS) & (events.kind[mine][:-1] == WAIT)) + 1
    ends = ends[(thread[ends] == thread[ends - 1]) & (events.phase[mine][ends] > events.phase[mine][ends - 1])]
    key = thread[ends] << 16 | events.phase[mine][ends]
    order = np.argsort(key, kind="stable")
    began = mine[ends - 1][order]
    return _Waits(key[order], events.phase[began], events.turn[began])


def _arrivals(recording: Recording, waits: _Waits) -> _Arrivals:
    events = recording.events
    mine = np.flatnonzero(_is_arrival(recording) & (events.remote == 0))
    mine = mine[~_with_its_whole_warp(recording, mine)]
    phase, turn = waits.get(events.block[mine] * recording.threads + events.thread[mine], events.phase[mine])
    before = (phase >= 0) & (events.turn[mine] == 0)
    since = np.concatenate([events.phase[mine], phase[before]])
    turn = np.concatenate([events.turn[mine], turn[before]])
    mine = np.concatenate([mine, mine[before]])
    key = _key(recording, events.block[mine], events.barrier[mine], events.number[mine])
    order = np.argsort(key, kind="stable")
    mine = mine[order]
    return _Arrivals(key[order], events.thread[mine], events.phase[mine], since[order], turn[order], events.line[mine])


def _is_arrival(recording: Recording) -> Flags:
    kind = recording.events.kind
    found: Flags = (kind == ARRIVE) | (kind == EXPECT)
    return found


def _with_its_whole_warp(recording: Recording, arrivals: Ints) -> Flags:
    """Return for some arrivals (rows of the events) whether all lanes of the warp arrive in the same phase.

    Then each lane's own arrival orders its accesses, and there are often hundreds of arrivals per write.
    """
    events, threads = recording.events, recording.threads
    warps = -(-threads // WARP)
    all_of_them = np.flatnonzero(_is_arrival(recording))
    thread = events.block[all_of_them] * threads + events.thread[all_of_them]
    once = distinct(thread << 16 | events.phase[all_of_them])
    block, lane = np.divmod(once >> 16, threads)
    keys, lanes = np.unique((block * warps + lane // WARP) << 16 | once & 0xFFFF, return_counts=True)
    whole = keys[lanes == np.minimum(WARP, threads - (keys >> 16) % warps * WARP)]
    warp = events.block[arrivals] * warps + events.thread[arrivals] // WARP
    found: Flags = np.isin(warp << 16 | events.phase[arrivals], whole)
    return found


def _has_arrived(recording: Recording, thread: Ints, first: Ints, last: Ints) -> Flags:
    """Return whether threads (numbered through all blocks) arrive at an mbarrier themselves, from phase to phase."""
    events = recording.events
    mine = _is_arrival(recording)
    key = np.sort((events.block[mine] * recording.threads + events.thread[mine]) << 16 | events.phase[mine])
    found: Flags = np.searchsorted(key, thread << 16 | last, "right") > np.searchsorted(key, thread << 16 | first)
    return found


def _key(recording: Recording, block: Ints, barrier: Ints, number: Ints) -> Ints:
    """Return one number for each phase of each mbarrier."""
    found: Ints = (block * len(recording.barriers) + barrier) << 32 | number
    return found


def _accesses_of_its_warp(t: AccessIndex, write: Ints, arrivals: _Arrivals, arrival: Ints) -> tuple[Ints, Ints]:
    """Return the accesses to the written element by the arrival's warp, in the phase that the arrival looks back to.

    Returns
    -------
    tuple
        For each access: the number of its pair of a write and an arrival, and its position in the index.
    """
    phases, warps = int(t.phase.max()) + 1, int(t.warp.max()) + 1
    sorted_by = (t.slot * phases + t.phase) * warps + t.warp
    wanted = (t.slot[write] * phases + arrivals.since[arrival]) * warps + arrivals.thread[arrival] // WARP
    wanted[arrivals.phase[arrival] >= t.phase[write]] = -1
    return _expanded(*(np.searchsorted(sorted_by, wanted, side) for side in ("left", "right")))


def _expanded(first: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return all numbers from `first` up to `end` of each range, and the range of each number."""
    size = end - first
    which = np.repeat(np.arange(len(first)), size)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(size) - size - first, size)


def _per_lines(
    recording: Recording, writes: Ints, others: Ints, slot: Ints, arrivals: _Arrivals, arrival: Ints
) -> Iterator[Finding]:
    """Yield one finding per array, line of the write, and line of the arrival."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    keys = np.stack([log.array[writes], line[log.site[writes]], arrivals.line[arrival]], axis=1)
    example, _, counts = by_lines(keys, slot)
    for at, count in zip(example, counts, strict=True):
        w, o, a = int(writes[at]), int(others[at]), int(arrival[at])
        here, there, arrives = int(line[log.site[w]]), int(line[log.site[o]]), int(arrivals.line[a])
        text = tr(
            "{writer} may overwrite {element} (line {line}) before {other} has used it (line {other_line}). Thread "
            "{lane} arrives for its warp in line {arrival_line}: a __syncwarp() is missing before this line.",
            writer=short_who(recording, w),
            element=element_name(recording, o),
            line=here,
            other=short_who(recording, o, block=False),
            other_line=there,
            lane=short_index(recording.thread_index(int(arrivals.thread[a])), recording.block),
            arrival_line=arrives,
        )
        yield Finding("race", arrives, capital(text), int(count), there, array_name(recording, w))
