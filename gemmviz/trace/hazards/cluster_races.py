"""Accesses to the shared memory of another block of the cluster, and nothing orders them with that block's own ones.

Blocks of a cluster are ordered by a cluster barrier: what a thread did before its arrival happens before everything
behind the wait. A thread that has arrived and does not wait yet is ordered by the next one only. An arrival at an
mbarrier of another block orders, too: what the thread did before happens before what follows the wait there. A store
whose bytes an mbarrier counts (``st.async``) happens before what follows the wait there; it orders no other access. A
block's memory exists from its start to its end, so that there has to be such an order before the first remote access
and after the last one. Sources: PTX ISA, "barrier.cluster", "st.async" and "Memory Consistency Model"; CUDA C++
Programming Guide, "Distributed Shared Memory".

Within a block, a later phase counts as ordered. In clusters of more than two blocks an arrival at an mbarrier counts
for all other blocks, because a recording does not have the block of the thread that arrives.
"""

from collections.abc import Iterator

import numpy as np

from gemmviz.language import mark, tr
from gemmviz.trace.hazards.access_index import AccessIndex, Flags, Ints, by_lines, groups
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import array_name, capital, element_name, short_index
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import ARRIVE, BYTES, CLUSTER_ARRIVED, CLUSTER_MET, EXPECT, PASS, REMOTE

_NEVER = 1 << 40
# Key: whether the other access writes, too.
_RACE = {
    False: mark(
        "{writer} writes {element} of block {block} (line {line}) while {other} reads it (line {other_line}): nothing "
        "orders the two, such as a barrier of the cluster"
    ),
    True: mark(
        "{writer} writes {element} of block {block} (line {line}) while {other} writes it (line {other_line}): nothing "
        "orders the two, such as a barrier of the cluster"
    ),
}
_NOT_STARTED = mark(
    "{thread} uses {element} of block {block}, but that block may not have started yet: the blocks of the cluster must "
    "synchronise before"
)
_HAS_LEFT = mark(
    "{thread} uses {element} of block {block}, but that block may have left the kernel already: the blocks of the "
    "cluster must synchronise once more"
)


def cluster_races(recording: Recording, t: AccessIndex) -> Iterator[Finding]:
    """Look for remote accesses without an order, and for those to a block that may not run."""
    remote = _Remote(recording)
    if not len(remote.rows):
        return
    yield from _not_running(recording, remote)
    slots = np.unique(t.slot[remote.owner[t.row] >= 0])
    t = t.only(np.isin(t.slot, slots))
    owner = remote.owner[t.row]
    far = owner >= 0
    owner = np.where(far, owner, t.block)
    late = np.where(far, remote.late[t.row], remote.late_in_own_block(t))
    met = remote.met(owner, t.phase)
    late &= remote.shows(met)
    shown = remote.shown_before(met)

    # Accesses with the same number of meetings before them. One after an arrival is not before the next meeting either.
    which = np.concatenate([np.arange(len(t.row)), np.flatnonzero(late)])
    stretch = np.concatenate([shown, shown[late] + 1])
    order = np.lexsort((t.row[which], t.phase[which], stretch, t.slot[which]))
    which, stretch = which[order], stretch[order]
    one, other = _neighbours(t.write[which], *groups((t.slot[which], stretch)))
    one, other = which[one], which[other]
    in_one_block = far[one] & far[other] & (t.phase[one] == t.phase[other]) & (t.warp[one] != t.warp[other])
    meet = (owner[one] != owner[other]) | in_one_block
    meet &= ~(t.atomic[one] & t.atomic[other])
    one, other = one[meet], other[meet]
    free = remote.arrivals_end(owner[other], t.phase[one], remote.event[t.row[one]]) > t.phase[other]
    free |= t.phase[one] == t.phase[other]
    one, other = one[free], other[free]
    writer, other = np.where(t.write[one], one, other), np.where(t.write[one], other, one)
    yield from _per_lines(recording, t.row[writer], t.row[other], t.slot[writer], owner[writer], owner[other])


class _Remote:
    """The remote accesses of a recording, and what orders them.

    For each row of the recording: the block of the thread that makes a remote access (-1: it is none), whether this
    thread has arrived at a cluster barrier before, and the event of the access (-1).
    """

    def __init__(self, recording: Recording) -> None:
        log, events = recording.accesses, recording.events
        is_remote = np.array([s.remote for s in recording.sites] or [False])
        at = np.flatnonzero((events.kind == REMOTE) & (events.row >= 0) & (events.row < len(log)))
        at = at[is_remote[log.site[events.row[at]]]]
        self._recording = recording
        self.rows = events.row[at]
        self.owner, self.event = (np.full(len(log), -1, np.int64) for _ in range(2))
        self.late = np.zeros(len(log), bool)
        if not len(at):
            return
        self.owner[self.rows], self.event[self.rows] = events.number[at], at
        self.late[self.rows] = events.parity[at] > 0
        self._blocks = int(events.arrivals[at].max())
        meetings = np.flatnonzero(events.kind == CLUSTER_MET)
        key = events.block[meetings] // self._blocks << 16 | events.number[meetings]
        order = np.argsort(key, kind="stable")
        self._met, shows = key[order], events.parity[meetings[order]] == 0
        self._shows = np.append(shows, True)
        self._shown_before = np.append(0, np.cumsum(shows))
        self._arrivals()

    def met(self, block: Ints, phase: Ints) -> Ints:
        """Return the number of meetings before a phase, in all clusters up to that of the block."""
        found: Ints = np.searchsorted(self._met, block // self._blocks << 16 | phase)
        return found

    def shows(self, met: Ints) -> Flags:
        """Return whether the next meeting shows data."""
        found: Flags = self._shows[met]
        return found

    def shown_before(self, met: Ints) -> Ints:
        """Return how many of some meetings show data."""
        found: Ints = self._shown_before[met]
        return found

    def late_in_own_block(self, t: AccessIndex) -> Flags:
        """Return whether accesses are made between the arrival at a cluster barrier and the wait there."""
        events, log, threads = self._recording.events, self._recording.accesses, self._recording.threads
        mine = np.flatnonzero(events.kind == CLUSTER_ARRIVED)
        if not len(mine):
            return np.zeros(len(t.row), bool)
        key = _place(log.block.astype(np.int64), log.phase.astype(np.int64), log.thread.astype(np.int64))
        first = np.searchsorted(key, _place(events.block[mine], events.number[mine], events.thread[mine]))
        began = (events.block[mine] * threads + events.thread[mine]) << 32 | first + events.arrivals[mine]
        order = np.argsort(began, kind="stable")
        wanted = (t.block * threads + t.thread) << 32 | t.row
        at = np.searchsorted(began[order], wanted, side="right") - 1
        of_thread = began[order][np.maximum(at, 0)] >> 32 == wanted >> 32
        late: Flags = (at >= 0) & of_thread & (t.row < events.row[mine[order]][np.maximum(at, 0)])
        return late

    def _arrivals(self) -> None:
        """Find the arrivals from other blocks, and the phase in which their block has waited for each."""
        events = self._recording.events
        barrier = events.block * len(self._recording.barriers) + events.barrier
        passes = np.flatnonzero(events.kind == PASS)
        key = barrier[passes] << 32 | events.number[passes]
        passes, key = passes[np.argsort(key, kind="stable")], np.sort(key)

        def ends(mine: Ints) -> Ints:
            wanted = np.searchsorted(key, barrier[mine] << 32 | (events.number[mine] + 1))
            taken = np.append(key >> 32, -1)[wanted] == barrier[mine]
            found: Ints = np.where(taken, np.append(events.phase[passes], 0)[wanted], _NEVER)
            return found

        # The bytes of a remote access are counted by the event after its own.
        counted = np.flatnonzero((events.kind[1:] == BYTES) & (events.remote[1:] > 0) & (events.kind[:-1] == REMOTE))
        self._sent = np.full(len(events) + 1, _NEVER)
        self._sent[counted] = ends(counted + 1)
        mine = np.flatnonzero(((events.kind == ARRIVE) | (events.kind == EXPECT)) & (events.remote > 0))
        end = ends(mine)
        order = np.lexsort((mine, events.phase[mine], events.block[mine]))
        mine, end = mine[order], end[order]
        self._block, self._end = events.block[mine], end.copy()
        for i in range(len(end) - 2, -1, -1):
            if self._block[i] == self._block[i + 1]:
                self._end[i] = min(self._end[i], self._end[i + 1])
        self._arrival = _place(self._block, events.phase[mine], mine)

    def arrivals_end(self, block: Ints, phase: Ints, event: Ints) -> Ints:
        """Return the phase from which on a block knows of an access that another block made; `_NEVER` if it does not.

        Parameters
        ----------
        block
            The block that may know of it.
        phase, event
            The phase and the event of the access; the event -1 is before all events of the phase.
        """
        at = np.searchsorted(self._arrival, _place(block, phase, event), side="right")
        taken = np.append(self._block, -1)[at] == block
        found: Ints = np.where(taken, np.append(self._end, _NEVER)[at], _NEVER)
        known: Ints = np.minimum(found, self._sent[event])
        return known

    def may_not_run(self) -> tuple[Flags, Flags]:
        """Return for each remote access whether its block may not have started, and whether it may have left."""
        log = self._recording.accesses
        mine, theirs = self.owner[self.rows], log.block[self.rows].astype(np.int64)
        phase = log.phase[self.rows].astype(np.int64)
        met = self.met(mine, phase)
        cluster = mine // self._blocks
        first, end = (np.searchsorted(self._met, (cluster + i) << 16) for i in range(2))
        early = (met == first) & (self.arrivals_end(mine, phase * 0, phase * 0 - 1) > phase)
        late = met + self.late[self.rows] >= end
        late &= self.arrivals_end(theirs, phase, self.event[self.rows]) == _NEVER
        return early, late


def _place(block: Ints, phase: Ints, event: Ints) -> Ints:
    """Return numbers in the order of blocks, phases and events."""
    found: Ints = (block << 16 | phase) << 31 | (event + 1)
    return found


def _neighbours(write: Flags, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of each access with the last write before it, and of each read with the next write.

    Parameters
    ----------
    write
        Whether accesses write, in their order.
    first, last
        The groups that pairs are formed in.
    """
    size = last - first + 1
    begin, end = np.repeat(first, size), np.repeat(last, size)
    at = np.arange(len(write))
    before = np.append(-1, np.maximum.accumulate(np.where(write, at, -1))[:-1])[: len(at)]
    behind = np.minimum.accumulate(np.where(write, at, len(at))[::-1])[::-1]
    written, overwritten = before >= begin, ~write & (behind <= end)
    return np.concatenate([before[written], at[overwritten]]), np.concatenate([at[written], behind[overwritten]])


def _name(recording: Recording, row: int, block: int) -> str:
    """Return the name of the thread of an access, which is in this block."""
    thread = recording.thread_index(int(recording.accesses.thread[row]))
    return tr(
        "thread {thread} of block {block}", thread=short_index(thread, recording.block), block=_block(recording, block)
    )


def _block(recording: Recording, block: int) -> str:
    return short_index(recording.block_index(block), recording.grid)


def _per_lines(
    recording: Recording, writers: Ints, others: Ints, slot: Ints, of_writer: Ints, of_other: Ints
) -> Iterator[Finding]:
    """Yield one finding per array and pair of lines."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    keys = np.stack([log.array[writers], line[log.site[writers]], line[log.site[others]]], axis=1)
    example, _, counts = by_lines(keys, slot)
    for at, count in zip(example, counts, strict=True):
        w, o = int(writers[at]), int(others[at])
        here, there = int(line[log.site[w]]), int(line[log.site[o]])
        text = tr(
            _RACE[bool(log.write[o])],
            writer=_name(recording, w, int(of_writer[at])),
            element=element_name(recording, w),
            block=_block(recording, int(log.block[w])),
            line=here,
            other=_name(recording, o, int(of_other[at])),
            other_line=there,
        )
        yield Finding("race", here, capital(text), int(count), there, array_name(recording, w))


def _not_running(recording: Recording, remote: _Remote) -> Iterator[Finding]:
    """Yield one finding per line with accesses to a block that may not have started, or may have left."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    largest = max(array.size for array in recording.arrays)
    for text, found in zip((_NOT_STARTED, _HAS_LEFT), remote.may_not_run(), strict=True):
        position, element = recording.elements(remote.rows[found])
        rows = remote.rows[found][position]
        slot = (log.block[rows].astype(np.int64) * len(recording.arrays) + log.array[rows]) * largest + element
        example, _, counts = by_lines(line[log.site[rows]][:, None], slot)
        for at, count in zip(example.tolist(), counts.tolist(), strict=True):
            row, here = int(rows[at]), int(line[log.site[rows[at]]])
            sentence = tr(
                text,
                thread=_name(recording, row, int(remote.owner[row])),
                element=element_name(recording, row),
                block=_block(recording, int(log.block[row])),
            )
            yield Finding("race", here, capital(sentence), count, array=array_name(recording, row))
