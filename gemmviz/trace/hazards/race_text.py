"""The sentence about a race: the thread that is too early, and the missing barrier between the two accesses."""

from typing import Literal

import numpy as np

from gemmviz.language import mark, tr
from gemmviz.trace.hazards.access_index import Flags, Ints
from gemmviz.trace.hazards.hazard_text import capital, element_name, short_who
from gemmviz.trace.recording.recording import Recording

Order = Literal["unknown", "write first", "other first", "writer is ahead", "other is ahead"]
"""The intended order of a write and another access of a race.

``write first``, ``other first``: that access comes first, in the same iteration of the loop. ``writer is ahead``: the
write is for the next iteration, and the other access belongs to this one. ``other is ahead``: the reverse.
"""
_WRITER_IS_EARLY = ("other first", "writer is ahead")
_AHEAD = ("writer is ahead", "other is ahead")
# Key: (whether the early access writes, whether the late access writes, whether the recording shows it).
_SAID = {
    (True, False, True): mark(
        "{early} overwrites {element}{when} (line {early_line}) before {late} has read it (line {late_line})."
    ),
    (True, False, False): mark(
        "{early} may overwrite {element}{when} (line {early_line}) before {late} has read it (line {late_line})."
    ),
    (False, True, True): mark(
        "{early} reads {element}{when} (line {early_line}) before {late} has written it (line {late_line})."
    ),
    (False, True, False): mark(
        "{early} may read {element}{when} (line {early_line}) before {late} has written it (line {late_line})."
    ),
    (True, True, True): mark(
        "{early} writes {element}{when} (line {early_line}) before {late} has written it (line {late_line})."
    ),
    (True, True, False): mark(
        "{early} may write {element}{when} (line {early_line}) before {late} has written it (line {late_line})."
    ),
}
# Key: whether the array is in shared memory, where an iteration of the loop is a tile.
_NEXT = {True: mark(" for the next tile"), False: mark(" in the next iteration of the loop")}
# Key: whether the other access writes, too.
_AT_ONCE = {
    False: mark("{writer} writes {element} (line {line}) while {other} reads it (line {other_line}): {why}"),
    True: mark("{writer} writes {element} (line {line}) while {other} writes it (line {other_line}): {why}"),
}
# Key: whether a barrier of a warp would be enough.
_MISSING = {
    False: mark("A __syncthreads() is missing between them."),
    True: mark("A __syncthreads() or a __syncwarp() is missing between them."),
}


def is_early(writer: Ints, other: Ints, order: Order) -> Flags:
    """Return for pairs of accesses whether they are in the wrong order in the recording itself.

    The recorded threads ran in one of the orders that the barriers allow, and the rows are in that order.

    Parameters
    ----------
    writer, other
        The rows of the writes and of the other accesses.
    order
        The order that the program needs.
    """
    if order == "unknown":
        return np.zeros(len(writer), bool)
    return writer < other if order in _WRITER_IS_EARLY else other < writer


def race_text(recording: Recording, writer: int, other: int, order: Order, why: str, in_warp: bool) -> str:
    """Return the sentence about a race.

    Parameters
    ----------
    recording, writer, other
        The recording, and the rows of the write and of the other access.
    order
        The order that the program needs.
    why
        The reason why nothing orders the accesses; empty: a barrier is missing.
    in_warp
        Whether a barrier of a warp would be enough.
    """
    log = recording.accesses
    lines = [recording.sites[int(log.site[row])].line for row in (writer, other)]
    element, both_write = element_name(recording, writer), bool(log.write[other])
    same_block = bool(log.block[writer] == log.block[other])
    names = [
        short_who(recording, writer, whole=not same_block),
        short_who(recording, other, whole=not same_block, block=not same_block),
    ]
    missing = tr(_MISSING[in_warp])
    if order == "unknown":
        sentence = tr(
            _AT_ONCE[both_write],
            writer=names[0],
            element=element,
            line=lines[0],
            other=names[1],
            other_line=lines[1],
            why=why or missing,
        )
        return capital(sentence)
    early, late = (0, 1) if order in _WRITER_IS_EARLY else (1, 0)
    writes = (True, both_write)
    in_shared = recording.arrays[int(log.array[writer])].space == "shared"
    shown = bool(is_early(np.array([writer]), np.array([other]), order)[0])
    sentence = tr(
        _SAID[writes[early], writes[late], shown],
        early=names[early],
        late=names[late],
        element=element,
        when=tr(_NEXT[in_shared]) if order in _AHEAD else "",
        early_line=lines[early],
        late_line=lines[late],
    )
    return f"{capital(sentence)} {missing}"
