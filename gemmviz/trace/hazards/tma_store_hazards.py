"""Tiles of shared memory that the copy engine stores to C: overwritten too early, or not visible to it.

A store may read the tile at any time between its issue and the wait of its thread. It may not see the threads' writes
unless there is a fence after them (``shared_written``). Source: PTX ISA, "Async proxy" and "cp.async.bulk".
"""

from collections.abc import Callable, Iterator

import numpy as np

from gemmviz.language import tr
from gemmviz.trace.hazards.access_index import AccessIndex, Flags, Ints, by_lines
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import array_name, element_name, who
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import FENCE

_Text = Callable[[Recording, int, int, int, int], str]


def tma_store_hazards(recording: Recording, t: AccessIndex) -> Iterator[Finding]:
    """Look for tiles that change while they are being stored, and for writes to them without a fence afterwards."""
    issued, at = _reads(recording)
    touched = np.flatnonzero(issued[t.row] >= 0) if len(issued) else np.zeros(0, np.int64)
    if not len(touched):
        return
    writes = np.flatnonzero(t.write)
    first, end = (np.searchsorted(t.slot[writes], t.slot[touched], side) for side in ("left", "right"))
    which = np.repeat(np.arange(len(touched)), end - first)
    other = writes[
        np.arange(len(which)) - np.repeat(np.cumsum(end - first) - (end - first), end - first) + first[which]
    ]
    read = touched[which]
    begun = issued[t.row[read]]
    own = (t.thread[other] == t.thread[read]) & (t.row[other] < t.row[read]) & (t.row[other] >= at[t.row[read]])
    early = (t.phase[other] > begun) & (t.phase[other] < t.phase[read]) | (own & (t.phase[other] >= begun))
    yield from _findings(recording, t.row[read], t.row[other], t.slot[read], early, _overwritten)
    # The store reads the last write before its issue.
    before = (t.phase[other] < begun) | ((t.phase[other] == begun) & (t.row[other] < at[t.row[read]]))
    keep = np.flatnonzero(before)
    order = keep[np.lexsort((t.row[other[keep]], t.phase[other[keep]], which[keep]))]
    latest = order[np.append(which[order][1:] != which[order][:-1], True)] if len(order) else order
    unfenced = np.zeros(len(which), bool)
    unfenced[latest] = ~_fenced(
        recording, t.row[other[latest]], begun[latest] + (t.thread[other[latest]] == t.thread[read[latest]])
    )
    yield from _findings(recording, t.row[read], t.row[other], t.slot[read], unfenced, _unseen)


def _reads(recording: Recording) -> tuple[Ints, Ints]:
    """Return, per row that reads a tile for a store, the phase of the store's issue and its first row; -1 elsewhere."""
    boxes, rows = recording.boxes, len(recording.accesses)
    mine = np.flatnonzero((boxes.store > 0) & (boxes.reads > 0))
    if not len(mine):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    issued, first = np.full((2, rows), -1, np.int64)
    for i in mine:
        cut = slice(boxes.read[i], boxes.read[i] + boxes.reads[i])
        issued[cut], first[cut] = boxes.issued[i], boxes.read[i]
    return issued, first


def _fenced(recording: Recording, row: Ints, before: Ints) -> Flags:
    """Return for rows whether their thread has executed a fence after them, in a phase before `before`."""
    log, events = recording.accesses, recording.events
    fences = events.kind == FENCE
    owner = events.block[fences] << 16 | events.thread[fences]
    key = owner << 40 | events.row[fences]
    order = np.argsort(key, kind="stable")
    key, phase = key[order], events.phase[fences][order]
    wanted = (log.block[row].astype(np.int64) << 16 | log.thread[row]) << 40 | (row + 1)
    at = np.searchsorted(key, wanted)
    known = at < len(key)
    at = np.minimum(at, max(len(key) - 1, 0))
    if not len(key):
        return known
    found: Flags = known & (key[at] >> 40 == wanted >> 40) & (phase[at] < before)
    return found


def _overwritten(recording: Recording, read: int, write: int, line: int, other_line: int) -> str:
    return tr(
        "{thread} stores {element} in line {line}, and {other} writes it in line {other_line} before any thread has "
        "waited for the store",
        thread=who(recording, read),
        element=element_name(recording, write),
        line=line,
        other=who(recording, write),
        other_line=other_line,
    )


def _unseen(recording: Recording, read: int, write: int, line: int, other_line: int) -> str:
    return tr(
        "{other} writes {element} in line {other_line}, and {thread} lets the copy engine store it in line {line}: "
        "without a shared_written() between the two lines the copy engine may not see the new value",
        thread=who(recording, read),
        element=element_name(recording, write),
        line=line,
        other=who(recording, write),
        other_line=other_line,
    )


def _findings(
    recording: Recording, read: Ints, write: Ints, slot: Ints, found: Flags, text: _Text
) -> Iterator[Finding]:
    """Yield one finding per pair of lines."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    read, write = read[found], write[found]
    keys = np.stack([log.array[write], line[log.site[read]], line[log.site[write]]], axis=1)
    example, _, counts = by_lines(keys, slot[found])
    for at, count in zip(example, counts, strict=True):
        r, w = int(read[at]), int(write[at])
        here, there = int(line[log.site[r]]), int(line[log.site[w]])
        yield Finding("race", here, text(recording, r, w, here, there), int(count), there, array_name(recording, w))
