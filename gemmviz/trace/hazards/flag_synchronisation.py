"""Happens-before edges between blocks: one sets a flag in global memory, another one reads it until it is set.

An access of the first block happens before an access of the second block if the first access is before the setting of
the flag, the second one after its read, and there is a ``__threadfence`` between access and flag on both sides. A copy
engine's store has to be in the matrix before the flag is set (``tma_store_wait_written``), and its copies and loads
after the flag need ``global_read`` after the read of the flag. Source: PTX ISA, "Memory Consistency Model", "Async
proxy" and "cp.async.bulk.wait_group".

A flag counts as waited for if it is read after it was set. Within a block there is a barrier between two phases.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import numpy as np

from gemmviz.language import mark, tr
from gemmviz.trace.distinct import numbered
from gemmviz.trace.hazards.access_index import Flags, Ints
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import ASKED, FLAG_SEEN, FLAG_SET, GLOBAL_READ, LOADED, THREAD_FENCE, WRITTEN

_NOT_IN_MATRIX = mark("line {line} sets a flag before tma_store_wait_written() ensures that the copy is in the matrix")
_NO_FENCE_BEFORE = mark("there is no __threadfence() between the write and the flag that line {line} sets")
_NOT_SEEN = mark("the flag that line {line} reads is not waited for before this")
_NO_FENCE_AFTER = mark("there is no __threadfence() after line {line}, which waits for a flag")
_NO_GLOBAL_READ = mark(
    "there is no global_read() between line {line}, which waits for a flag, and the request to the copy engine"
)
# The later in this list, the less is missing for an order of two accesses: the last one that applies is reported.
_LACKS = ("", _NOT_IN_MATRIX, _NO_FENCE_BEFORE, _NOT_SEEN, _NO_FENCE_AFTER, _NO_GLOBAL_READ)


@dataclass(frozen=True)
class _Event:
    """An event of a thread: `at` numbers all events; the row is the next one after the event."""

    at: int
    block: int
    thread: int
    phase: int
    row: int
    number: int
    line: int


class Waits:
    """The flags of a recording, with the threads that set and saw them.

    Parameters
    ----------
    recording
        Any.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        events = recording.events
        self._of: dict[tuple[int, int, int], list[_Event]] = {}  # by kind, block and thread
        self._seen: dict[int, list[_Event]] = {}  # by block
        self._set: dict[int, _Event] = {}  # by number
        columns = (events.block, events.thread, events.phase, events.row, events.number, events.line)
        for at in np.flatnonzero(events.kind >= WRITTEN).tolist():
            event = _Event(at, *(int(column[at]) for column in columns))
            kind = int(events.kind[at])
            self._of.setdefault((kind, event.block, event.thread), []).append(event)
            if kind == FLAG_SEEN:
                self._seen.setdefault(event.block, []).append(event)
            elif kind == FLAG_SET:
                self._set[event.number] = event
        self._behind = cache(self._find_behind)
        self._missing = cache(self._find_missing)
        self._edges = cache(self._find_edges)
        if self:
            self._box, self._asked = self._boxes()
            self._loaded = self._of_loads()

    def __bool__(self) -> bool:
        return bool(self._seen)

    def in_order(self, one: Ints, other: Ints) -> Flags:
        """Return for pairs of rows of different blocks whether flags order them.

        Parameters
        ----------
        one, other
            Rows of the recording.
        """
        kind, example = self._kinds(np.concatenate([one, other]))
        pairs = kind[: len(one)], kind[len(one) :]
        first, which = numbered(*pairs)
        different = zip(pairs[0][first], pairs[1][first], strict=True)
        found = np.array([not self._missing(int(example[a]), int(example[b])) for a, b in different], bool)
        ordered: Flags = found[which]
        return ordered

    def missing(self, one: int, other: int) -> str:
        """Return a text about the missing happens-before edge between rows of two blocks, or an empty text."""
        text, line = self._missing(one, other) or ("", 0)
        return tr(text, line=line) if text else ""

    def _kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return a number per row, equal for rows without flag or fence between them, and one row of each number."""
        log = self._recording.accesses
        events = self._recording.events
        before = np.sort(events.row[events.kind >= WRITTEN])
        stretch = np.searchsorted(before, rows, "right")
        columns = (log.block[rows], log.thread[rows], log.phase[rows], stretch, self._box[rows], self._loaded[rows])
        first, number = numbered(*columns)
        return number, rows[first]

    def _boxes(self) -> tuple[Ints, list[_Event | None]]:
        """Return for each row its box in a matrix, -1: none; and the event that requests each box."""
        boxes = self._recording.boxes
        of_row = np.full(len(self._recording.accesses), -1, np.int64)
        asked: list[_Event | None] = [None] * len(boxes)
        taken: dict[tuple[int, int], int] = {}
        for i in range(len(boxes)):
            if boxes.store[i] == LOADED:
                continue
            # The copy engine moves a thread's stores in the order of their requests.
            who = int(boxes.block[i]), int(boxes.thread[i])
            mine, number = self._of.get((ASKED, *who), []), taken.get(who, 0)
            asked[i], taken[who] = (mine[number] if number < len(mine) else None), number + 1
            first = int(boxes.old[i] if boxes.old[i] >= 0 else boxes.write[i])
            of_row[first : int(boxes.write[i] + boxes.writes[i])] = i
        return of_row, asked

    def _of_loads(self) -> Flags:
        """Return for each row whether the copy engine reads the matrix for a thread, at the request."""
        boxes, found = self._recording.boxes, np.zeros(len(self._recording.accesses), bool)
        for i in np.flatnonzero(boxes.store == LOADED).tolist():
            found[boxes.read[i] : boxes.read[i] + boxes.reads[i]] = True
        return found

    def _find_missing(self, one: int, other: int) -> tuple[str, int] | None:
        """Return the missing edge between two rows: a text and its line; None if no edge is missing."""
        log, found = self._recording.accesses, ("", 0)
        for first, second in ((one, other), (other, one)):
            edges, phases = self._edges(int(log.block[first]), int(log.block[second]))
            for flag, seen in edges[bisect_left(phases, int(log.phase[first])) :]:
                if not (self._before(first, flag) or self._after(second, seen)):
                    return None
        for first, second in ((one, other), (other, one)):
            for seen in self._seen.get(int(log.block[second]), []):
                for number in self._behind(seen.number):
                    flag = self._set[number]
                    if flag.block != log.block[first]:
                        continue
                    lack = self._before(first, flag) or self._after(second, seen)
                    if not lack:
                        return None
                    found = max(found, lack, key=lambda text: _LACKS.index(text[0]))
        return found

    def _find_edges(self, setting: int, seeing: int) -> tuple[list[tuple[_Event, _Event]], list[int]]:
        """Return the flags that a block sets and another one sees, the earliest first, and their phases."""
        seen_flags = (
            (self._set[number], seen) for seen in self._seen.get(seeing, []) for number in self._behind(seen.number)
        )
        edges = sorted((edge for edge in seen_flags if edge[0].block == setting), key=lambda edge: edge[0].phase)
        return edges, [flag.phase for flag, _ in edges]

    def _find_behind(self, number: int) -> tuple[int, ...]:
        """Return the flags that a flag implies: the thread that set it had read them as set."""
        flag = self._set[number]
        found = {number}
        for seen in self._seen.get(flag.block, []):
            earlier = seen.at < flag.at if seen.thread == flag.thread else seen.phase < flag.phase
            if earlier and seen.number < number:
                found.update(self._behind(seen.number))
        return tuple(sorted(found))

    def _before(self, row: int, flag: _Event) -> tuple[str, int] | None:
        """Return the missing edge between a row and the setting of a flag."""
        log = self._recording.accesses
        thread, phase, at = int(log.thread[row]), int(log.phase[row]), -1
        if self._box[row] >= 0:
            waits = [e for e in self._of.get((WRITTEN, flag.block, thread), []) if e.row > row]
            if not waits or (waits[0].at > flag.at if thread == flag.thread else waits[0].phase >= flag.phase):
                return _NOT_IN_MATRIX, flag.line
            phase, at = waits[0].phase, waits[0].at
        own = [e for e in self._of.get((THREAD_FENCE, flag.block, thread), []) if e.row > row and e.at > at]
        if thread == flag.thread:
            enough = any(e.at < flag.at for e in own)
        else:  # either its own fence and then a barrier, or a barrier and then a fence of the thread that sets the flag
            others = self._of.get((THREAD_FENCE, flag.block, flag.thread), [])
            enough = any(e.phase < flag.phase for e in own) or any(e.at < flag.at and e.phase > phase for e in others)
        return None if enough else (_NO_FENCE_BEFORE, flag.line)

    def _after(self, row: int, seen: _Event) -> tuple[str, int] | None:
        """Return the missing edge between the read of a flag and a row."""
        log = self._recording.accesses
        box = int(self._box[row])
        asked = self._asked[box] if box >= 0 else None
        thread, phase = int(log.thread[row]), asked.phase if asked else int(log.phase[row])
        same = thread == seen.thread

        def between(kind: int) -> bool:
            own = self._of.get((kind, seen.block, thread), [])
            own = [e for e in own if (e.at < asked.at if asked else e.row <= row)]
            if same:
                return any(e.at > seen.at for e in own)
            others = self._of.get((kind, seen.block, seen.thread), [])
            return any(e.phase > seen.phase for e in own) or any(e.at > seen.at and e.phase < phase for e in others)

        read_later = seen.at > asked.at if asked else seen.row > row
        if read_later if same else seen.phase >= phase:
            return _NOT_SEEN, seen.line
        if not between(THREAD_FENCE):
            return _NO_FENCE_AFTER, seen.line
        engine = asked is not None or self._loaded[row]
        return (_NO_GLOBAL_READ, seen.line) if engine and not between(GLOBAL_READ) else None
