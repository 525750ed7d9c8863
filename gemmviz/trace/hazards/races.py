"""Races: two threads access one element without a happens-before relation.

Two accesses to one element by different threads race if at least one writes, not both are atomic, and neither happens
before the other: no barrier between them within a block, no ``__syncwarp`` within a warp, and between blocks no flag
that one of them waits for (see `flags`). Source of the rules: CUDA C++ Programming Guide, "Synchronization Functions"
and "Memory Fence Functions".
"""

from collections.abc import Iterator

import numpy as np

from gemmviz.language import mark, tr
from gemmviz.trace.hazards.access_index import AccessIndex, Flags, Ints, by_lines, groups
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.flag_synchronisation import Waits
from gemmviz.trace.hazards.hazard_text import array_name
from gemmviz.trace.hazards.race_text import Order, is_early, race_text
from gemmviz.trace.recording.recording import WARP, Recording

# For two accesses in one line. Key: whether both are in one warp, where __syncwarp() would be enough.
_BETWEEN_TWO = {
    False: mark("no barrier between the two"),
    True: mark("no barrier and no __syncwarp() between the two"),
}


def races(recording: Recording, t: AccessIndex) -> Iterator[Finding]:
    """Look for races between blocks, between the warps of a block, and between the lanes of a warp.

    Each kind groups the sorted accesses by more columns than the previous one. If a group has a write and more than one
    block (or warp, or thread), its first and its last access are of different blocks (or warps, or threads), so that
    one of both races with the write.
    """
    remote = np.array([s.remote for s in recording.sites] or [False])
    if remote.any():  # these are left to `cluster_races`
        t = t.only(~remote[recording.accesses.site[t.row]])
    is_global = np.array([a.space in ("global", "device") for a in recording.arrays])
    in_global = is_global[recording.accesses.array[t.row]]
    waits = Waits(recording)
    pairs: list[tuple[Ints, Ints]] = []
    for owner, columns, where in (
        (t.block, (t.slot,), in_global),
        (t.warp, (t.slot, t.block, t.phase), None),
        (t.thread, (t.slot, t.block, t.phase, t.warp, t.turn), None),
    ):
        first, last = groups(columns)
        writes = np.add.reduceat(t.write, first) > 0 if len(first) else first > 0
        plain = np.add.reduceat(~t.atomic, first) > 0 if len(first) else first > 0
        race = writes & plain & (owner[first] != owner[last])
        if where is not None:
            race &= where[first]
        first, last = first[race], last[race]
        if where is not None and waits:
            pairs.append(_out_of_order(t, first, last, waits))
            continue
        writer = _first_write(t.write, first)
        pairs.append((writer, np.where(owner[first] != owner[writer], first, last)))
    writers, others = (np.concatenate(column) for column in zip(*pairs, strict=True))
    yield from _per_lines(recording, t.row[writers], t.row[others], t.slot[writers], waits)


def _out_of_order(t: AccessIndex, first: Ints, last: Ints, waits: Waits) -> tuple[Ints, Ints]:
    """Return, for each group of accesses of several blocks, a write and another access that no flag orders.

    Both are places in the index.
    """
    size = last - first + 1
    group = np.repeat(np.arange(len(first)), size)
    place = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(first, size)
    writing = t.write[place]
    group, place = group[writing], place[writing]
    writer = np.repeat(place, size[group])
    other = np.arange(len(writer)) - np.repeat(np.cumsum(size[group]) - size[group] - first[group], size[group])
    group = np.repeat(group, size[group])
    meet = (t.block[writer] != t.block[other]) & ~(t.atomic[writer] & t.atomic[other])
    group, writer, other = group[meet], writer[meet], other[meet]
    free = np.flatnonzero(~waits.in_order(t.row[writer], t.row[other]))
    free = free[np.unique(group[free], return_index=True)[1]]
    return writer[free], other[free]


def _first_write(write: Flags, first: Ints) -> Ints:
    """Return the first row at or after each of `first` that writes; there is one in its group."""
    writes = np.flatnonzero(write)
    found: Ints = writes[np.searchsorted(writes, first)] if len(first) else first
    return found


def _per_lines(recording: Recording, writers: Ints, others: Ints, slot: Ints, waits: Waits) -> Iterator[Finding]:
    """Yield one finding per array and pair of lines."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    keys = np.stack([log.array[writers], line[log.site[writers]], line[log.site[others]]], axis=1)
    example, kind, counts = by_lines(keys, slot)
    warp = log.thread // WARP
    for number, (at, count) in enumerate(zip(example, counts, strict=True)):
        w, o = int(writers[at]), int(others[at])
        order, why = _disorder(recording, w, o, line, waits)
        # For other threads the same race may be visible in the recording.
        alike = np.flatnonzero(kind == number)
        for other_at in alike[is_early(writers[alike], others[alike], order)][:1]:
            seen = int(writers[other_at]), int(others[other_at])
            if _disorder(recording, *seen, line, waits) == (order, why):
                w, o = seen
        # The barrier that is missing here may be missing for the neighbouring lines as well.
        near = (keys[:, 1] == keys[at, 1]) | (keys[:, 2] == keys[at, 2])
        in_warp = bool((warp[writers[near]] == warp[others[near]]).all())
        text = race_text(recording, w, o, order, why, in_warp)
        yield Finding(
            "race", int(line[log.site[w]]), text, int(count), int(line[log.site[o]]), array_name(recording, w)
        )


def _disorder(recording: Recording, writer: int, other: int, line: Ints, waits: Waits) -> tuple[Order, str]:
    """Return the order that the program needs for the accesses of a race, and why nothing ensures it.

    The reason is empty if a barrier is missing between two lines.

    A thread that makes both accesses in this phase shows their order: without the barrier after the use of a tile it
    reads the old tile and then writes the next one; without the barrier before the use, it writes and then reads.
    """
    log = recording.accesses
    if recording.backend == "c":
        return "unknown", tr("there is no happens-before order between the two")
    if log.block[writer] != log.block[other]:
        return "unknown", (waits.missing(writer, other) if waits else "") or tr(
            "there is no happens-before order between two blocks"
        )
    if _arrives_late(recording, writer, other, line):
        return "unknown", tr("the copy was not waited for before the barrier")
    in_warp = bool(log.thread[writer] // WARP == log.thread[other] // WARP)
    here, there = int(line[log.site[writer]]), int(line[log.site[other]])
    if here == there or not (here and there):
        return "unknown", tr(_BETWEEN_TWO[in_warp])

    alike = (log.block == log.block[writer]) & (log.array == log.array[writer])
    for thread in (log.thread[writer], log.thread[other]):
        rows = np.flatnonzero(alike & (log.thread == thread))
        writes = rows[(line[log.site[rows]] == here) & log.write[rows]]
        others = rows[(line[log.site[rows]] == there) & (log.write[rows] == log.write[other])]
        now = [_in_same_stretch(recording, found, writer, in_warp) for found in (writes, others)]
        if not all(map(len, now)):
            continue
        write_first = now[0][0] < now[1][0]
        first, second = (here, there) if write_first else (there, here)
        earlier = (others if write_first else writes)[0] < min(now[0][0], now[1][0])
        if earlier and second < first:  # the second line is executed in the next iteration of the loop
            return "other is ahead" if write_first else "writer is ahead", ""
        return "write first" if write_first else "other first", ""
    return "unknown", ""


def _arrives_late(recording: Recording, writer: int, other: int, line: Ints) -> bool:
    """Return whether a write belongs to an asynchronous copy whose thread waits only after the other access's line.

    Then there is a barrier after its issue, but without the wait it does not order the accesses.
    """
    log = recording.accesses
    copy = log.copies[log.copies[:, 0] == writer]
    if not len(copy) or copy[0, 2] >= log.phase[writer]:
        return False
    own = (log.block == log.block[writer]) & (log.thread == log.thread[writer]) & (log.phase == log.phase[writer])
    own &= (line[log.site] == line[log.site[other]]) & (log.write == log.write[other])
    return bool(own[:writer].any())


def _in_same_stretch(recording: Recording, rows: Ints, row: int, in_warp: bool) -> Ints:
    """Return the rows that no barrier, and within a warp no ``__syncwarp``, separates from a row."""
    log = recording.accesses
    same = log.phase[rows] == log.phase[row]
    if in_warp:
        same &= log.turn[rows] == log.turn[row]
    found: Ints = rows[same]
    return found
