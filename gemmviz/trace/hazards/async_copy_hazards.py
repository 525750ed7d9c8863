"""Accesses to shared memory while an asynchronous copy to it is in flight.

A copy may write at any time between its issue and the wait of its thread. Source: CUDA C++ Programming Guide,
"Asynchronous Data Copies". Accesses of another thread in the phase of the wait are ordinary races, see `races`.
"""

from collections.abc import Iterator

import numpy as np

from gemmviz.language import mark, tr
from gemmviz.trace.hazards.access_index import AccessIndex, Ints, by_lines
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import array_name, element_name, who
from gemmviz.trace.recording.recording import WARP, Recording

# Key: (whether the access is of the copying thread, whether it writes).
_EARLY = {
    (False, False): mark(
        "{thread} copies to {element} in line {line}, and {other} reads {other_element} in line {other_line} "
        "before the copy is waited for"
    ),
    (False, True): mark(
        "{thread} copies to {element} in line {line}, and {other} writes {other_element} in line {other_line} "
        "before the copy is waited for"
    ),
    (True, False): mark(
        "{thread} copies to {element} in line {line}, and it reads {other_element} in line {other_line} "
        "before the copy is waited for"
    ),
    (True, True): mark(
        "{thread} copies to {element} in line {line}, and it writes {other_element} in line {other_line} "
        "before the copy is waited for"
    ),
}


def async_copy_hazards(recording: Recording, t: AccessIndex) -> Iterator[Finding]:
    """Look for accesses to the destination of an asynchronous copy between its issue and its arrival."""
    log = recording.accesses
    if not len(log.copies):
        return
    copy_of = np.full(len(log), -1, np.int64)
    copy_of[log.copies[:, 0]] = np.arange(len(log.copies))
    arrivals = np.flatnonzero(copy_of[t.row] >= 0)
    copy = copy_of[t.row[arrivals]]
    written, read, issued = (log.copies[copy, i] for i in range(3))

    phases = int(t.phase.max()) + 1
    key = t.slot * phases + t.phase
    first = np.searchsorted(key, t.slot[arrivals] * phases + issued, "left")
    end = np.searchsorted(key, t.slot[arrivals] * phases + t.phase[arrivals], "right")
    which = np.repeat(np.arange(len(arrivals)), end - first)
    other = np.arange(len(which)) - np.repeat(np.cumsum(end - first) - (end - first), end - first) + first[which]
    row, mine = t.row[other], arrivals[which]

    same = t.thread[other] == t.thread[mine]
    before_wait = same & (row > read[which]) & (row < written[which]) & (read[which] >= 0)
    # Rows of one thread are in order; two copies that arrive at one wait do not conflict.
    before_wait &= copy_of[row] < 0
    early = ~same & (t.phase[other] < t.phase[mine])
    in_warp = t.thread[other] // WARP == t.thread[mine] // WARP
    turn = log.turn[np.maximum(read[which], 0)]
    early &= (t.phase[other] > issued[which]) | ~in_warp | (t.turn[other] <= turn)
    yield from _per_lines(recording, written[which], row, t.slot[other], before_wait | early)


def _per_lines(recording: Recording, written: Ints, row: Ints, slot: Ints, found: np.ndarray) -> Iterator[Finding]:
    """Yield one finding per pair of lines."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    written, row = written[found], row[found]
    keys = np.stack([log.array[written], line[log.site[written]], line[log.site[row]]], axis=1)
    example, _, counts = by_lines(keys, slot[found])
    for at, count in zip(example, counts, strict=True):
        w, o = int(written[at]), int(row[at])
        copy, here = int(line[log.site[w]]), int(line[log.site[o]])
        text = tr(
            _EARLY[bool(log.thread[o] == log.thread[w]), bool(log.write[o])],
            thread=who(recording, w),
            element=element_name(recording, w),
            line=copy,
            other=who(recording, o),
            other_element=element_name(recording, o),
            other_line=here,
        )
        yield Finding("race", copy, text, int(count), here, array_name(recording, w))
