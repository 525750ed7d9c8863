"""What is wrong with a kernel, found in its recording: races, reads of memory nobody wrote, elements of C left out.

Two accesses to one element by different threads race when at least one writes, not both are atomic, and nothing puts
them in order: no barrier between them within a block, no ``__syncwarp`` within a warp, and nothing at all between
blocks. Source of the rules: CUDA C++ Programming Guide, "Synchronization Functions" and "Memory Fence Functions".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import WARP, Array, Recording

Ints = npt.NDArray[np.int64]
Kind = Literal[
    "out of bounds",
    "race",
    "read of memory nobody wrote",
    "barrier divergence",
    "element of C never written",
    "element of C written by two threads",
    "wrong result",
    "crash",
    "does not compile",
    "front matter",
]
_C = 2


@dataclass(frozen=True)
class Finding:
    """One defect.

    Attributes
    ----------
    kind
        Its class.
    line, other_line
        Lines of the kernel's file, from 1, of the two parties; 0 where unknown, or where there is one party.
    text
        Who does what to which element, for people, without the line.
    count
        How many elements it happens to; for accesses out of bounds, how many accesses.
    array
        The array that it is about, where it is about one.
    """

    kind: Kind
    line: int
    text: str
    count: int = 1
    other_line: int = 0
    array: str = ""


@dataclass(frozen=True)
class _Touches:
    """Accesses to arrays that somebody writes, one row per element covered, sorted by element and then by thread.

    ``slot`` numbers the elements; a shared array has a copy per block. The sort goes on with block, phase, warp, turn,
    thread and row.
    """

    slot: Ints
    row: Ints
    block: Ints
    phase: Ints
    warp: Ints
    turn: Ints
    thread: Ints
    write: npt.NDArray[np.bool_]
    atomic: npt.NDArray[np.bool_]
    base: Ints


def find(recording: Recording, *, c_is_input: bool = False) -> list[Finding]:
    """Return every defect that a recording shows, worst first, each once per pair of lines.

    Parameters
    ----------
    recording
        Any.
    c_is_input
        Whether the kernel may read C before it writes it (``C = alpha A B + beta C``).
    """
    found = [Finding(n.kind, n.line, n.text.split(": ", 1)[-1], n.count, array=n.array) for n in recording.noticed]
    touches = _touches(recording)
    races = list(_races(recording, touches))
    found += races
    found += _unwritten_reads(recording, touches, c_is_input)
    found += _coverage(recording, touches, bool(races))
    if recording.wrong and not found:
        found.append(Finding("wrong result", 0, f"{recording.wrong:,} elements of C are not A x B", recording.wrong))
    return found


def _touches(recording: Recording) -> _Touches:
    log = recording.accesses
    written = np.zeros(len(recording.arrays), bool)
    written[np.unique(log.array[log.write])] = True
    written |= [a.space == "shared" or i == _C for i, a in enumerate(recording.arrays)]
    picked = np.flatnonzero(written[log.array])
    position, element, _ = recording.covered(picked)
    row = picked[position]

    base = [0]
    for array in recording.arrays:
        base.append(base[-1] + array.size * (recording.blocks if array.space == "shared" else 1))
    starts = np.array(base, np.int64)
    per_block = np.array([a.size if a.space == "shared" else 0 for a in recording.arrays], np.int64)
    block = log.block[row].astype(np.int64)
    slot = starts[log.array[row]] + per_block[log.array[row]] * block + element
    thread = log.thread[row].astype(np.int64)
    columns = (slot, block, log.phase[row].astype(np.int64), thread // WARP, log.turn[row].astype(np.int64), thread)
    order = np.lexsort((row, *columns[::-1]))
    atomic = np.array([s.atomic for s in recording.sites] or [False])
    slot, block, phase, warp, turn, thread = (c[order] for c in columns)
    row = row[order]
    return _Touches(slot, row, block, phase, warp, turn, thread, log.write[row], atomic[log.site[row]], starts)


def _races(recording: Recording, t: _Touches) -> Iterator[Finding]:
    """Look for races between blocks, between the warps of a block, and between the lanes of a warp.

    Each is a grouping of the sorted accesses by more columns than the one before. In a group that holds a write and
    more than one block (or warp, or thread), the first and the last access are by different ones, so that one of both
    races with the write.
    """
    is_global = np.array([a.space == "global" for a in recording.arrays])
    in_global = is_global[recording.accesses.array[t.row]]
    pairs: list[tuple[Ints, Ints]] = []
    for who, groups, where in (
        (t.block, (t.slot,), in_global),
        (t.warp, (t.slot, t.block, t.phase), None),
        (t.thread, (t.slot, t.block, t.phase, t.warp, t.turn), None),
    ):
        first, last = _groups(groups)
        writes = np.add.reduceat(t.write, first) > 0 if len(first) else first > 0
        plain = np.add.reduceat(~t.atomic, first) > 0 if len(first) else first > 0
        race = writes & plain & (who[first] != who[last])
        if where is not None:
            race &= where[first]
        first, last = first[race], last[race]
        writer = _first_write(t.write, first)
        pairs.append((t.row[writer], t.row[np.where(who[first] != who[writer], first, last)]))
    writers, others = (np.concatenate(column) for column in zip(*pairs, strict=True))
    yield from _per_lines(recording, writers, others)


def _groups(columns: tuple[Ints, ...]) -> tuple[Ints, Ints]:
    """Return where each stretch of equal rows begins and ends (inclusive)."""
    count = len(columns[0])
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    change = np.zeros(count, bool)
    change[0] = True
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(change)
    return first, np.append(first[1:], count) - 1


def _first_write(write: npt.NDArray[np.bool_], first: Ints) -> Ints:
    """Return the first row at or after each of `first` that writes; there is one in its group."""
    writes = np.flatnonzero(write)
    found: Ints = writes[np.searchsorted(writes, first)] if len(first) else first
    return found


def _per_lines(recording: Recording, writers: Ints, others: Ints) -> Iterator[Finding]:
    """Yield one finding per array and pair of lines."""
    log = recording.accesses
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    keys = np.stack([log.array[writers], line[log.site[writers]], line[log.site[others]]], axis=1)
    _, example, counts = np.unique(keys.astype(np.int64), axis=0, return_index=True, return_counts=True)
    for at, count in zip(example, counts, strict=True):
        w, o = int(writers[at]), int(others[at])
        mine, other, missing = _disorder(recording, w, o, line)
        verb = "writes" if log.write[o] else "reads"
        text = (
            f"{_who(recording, w)} writes {_element(recording, w)} in line {line[log.site[w]]}{mine} while "
            f"{_who(recording, o)} {verb} it in line {line[log.site[o]]}{other}: {missing}"
        )
        yield Finding("race", int(line[log.site[w]]), text, int(count), int(line[log.site[o]]), _array(recording, w))


def _disorder(recording: Recording, writer: int, other: int, line: Ints) -> tuple[str, str, str]:
    """Say in which step a write and the other access of a race are, and where what puts them in order is missing.

    Which of both comes first is told by a thread that makes both in this phase: without the barrier after the use of a
    tile it reads the old tile and goes on to write the next one; without the barrier before, it writes and then reads.
    """
    log = recording.accesses
    if recording.backend == "c":
        return "", "", "nothing puts the two in order"
    if log.block[writer] != log.block[other]:
        return "", "", "nothing puts two blocks in order"
    in_warp = log.thread[writer] // WARP == log.thread[other] // WARP
    missing = "no barrier and no __syncwarp()" if in_warp else "no barrier"
    here, there = int(line[log.site[writer]]), int(line[log.site[other]])
    if here == there or not (here and there):
        return "", "", f"{missing} between the two"

    step = "tile step" if recording.arrays[int(log.array[writer])].space == "shared" else "step"
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
        if earlier and second < first:  # the way from the first line to the second one leads back to the loop's begin
            ahead, place = (
                f", already in the next {step},",
                f"{missing} between line {first} and line {second} of the next one",
            )
            return ("", ahead.rstrip(","), place) if write_first else (ahead, ", still in this one", place)
        looped = len(np.unique(log.phase[writes])) > 1
        return "", f" in the same {step}" if looped else "", f"{missing} between line {first} and line {second}"
    return "", "", f"{missing} between line {min(here, there)} and line {max(here, there)}"


def _in_same_stretch(recording: Recording, rows: Ints, row: int, in_warp: bool) -> Ints:
    """Return those rows that no barrier, and within a warp no ``__syncwarp``, parts from a row."""
    log = recording.accesses
    same = log.phase[rows] == log.phase[row]
    if in_warp:
        same &= log.turn[rows] == log.turn[row]
    found: Ints = rows[same]
    return found


def _unwritten_reads(recording: Recording, t: _Touches, c_is_input: bool) -> Iterator[Finding]:
    """Look for reads of shared memory and of C that come before any write.

    A write by another thread in the same phase does not count against the read: where it matters it is a race.
    """
    log = recording.accesses
    slots = int(t.slot[-1]) + 1 if len(t.slot) else 0
    never = np.iinfo(np.int64).max
    first_phase = np.full(slots, never)
    first_row = np.full(slots, never)
    writes = np.flatnonzero(t.write)
    np.minimum.at(first_phase, t.slot[writes], t.phase[writes])
    early = writes[t.phase[writes] == first_phase[t.slot[writes]]]
    np.minimum.at(first_row, t.slot[early], t.row[early])

    reads = np.flatnonzero(~t.write)
    if c_is_input:
        reads = reads[log.array[t.row[reads]] != _C]
    phase, row = first_phase[t.slot[reads]], first_row[t.slot[reads]]
    writer = np.where(row == never, 0, row)
    mine = (log.block[writer] == t.block[reads]) & (log.thread[writer] == t.thread[reads])
    same_block = log.block[writer] == t.block[reads]
    unwritten = (phase == never) | (same_block & (phase > t.phase[reads])) | (mine & (t.row[reads] < row))
    rows = t.row[reads[unwritten]]
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    keys = np.stack([log.array[rows], line[log.site[rows]]], axis=1).astype(np.int64)
    _, example, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
    for at, count in zip(example, counts, strict=True):
        r = int(rows[at])
        text = f"{_who(recording, r)} reads {_element(recording, r)}, which nobody has written yet"
        yield Finding(
            "read of memory nobody wrote", int(line[log.site[r]]), text, int(count), array=_array(recording, r)
        )


def _coverage(recording: Recording, t: _Touches, raced: bool) -> Iterator[Finding]:
    """Look for elements of C that no thread writes, or more than one."""
    log = recording.accesses
    in_c = t.write & (log.array[t.row] == _C) & ~t.atomic
    written = np.zeros(recording.arrays[_C].size, bool)
    all_writes = t.write & (log.array[t.row] == _C)
    written[t.slot[all_writes] - t.base[_C]] = True
    missing = np.flatnonzero(~written)
    if len(missing):
        row, column = _cell(recording.arrays[_C], int(missing[0]))
        text = f"{len(missing):,} of {len(written):,} elements of C are never written, the first is C[{row}, {column}]"
        yield Finding("element of C never written", 0, text, len(missing), array="C")
    rows = np.flatnonzero(in_c)
    first, last = _groups((t.slot[rows],))
    both = (t.block[rows[first]] != t.block[rows[last]]) | (t.thread[rows[first]] != t.thread[rows[last]])
    if both.any() and not raced:
        one, other = int(t.row[rows[first[both][0]]]), int(t.row[rows[last[both][0]]])
        line = recording.sites[int(log.site[one])].line
        text = f"{_element(recording, one)} is written by {_who(recording, one)} and by {_who(recording, other)}"
        other_line = recording.sites[int(log.site[other])].line
        yield Finding("element of C written by two threads", line, text, int(both.sum()), other_line, "C")


def _cell(array: Array, element: int) -> tuple[int, int]:
    row, column = array.cells(np.array([element]))
    return int(row[0]), int(column[0])


def _array(recording: Recording, row: int) -> str:
    return recording.arrays[int(recording.accesses.array[row])].name


def _element(recording: Recording, row: int) -> str:
    log = recording.accesses
    array = recording.arrays[int(log.array[row])]
    element = int(log.element[row])
    if array.space == "global":
        return "{}[{}, {}]".format(array.name, *_cell(array, element))
    index: tuple[Any, ...] = np.unravel_index(element, array.shape)
    return array.name + "".join(f"[{i}]" for i in index)


def _who(recording: Recording, row: int) -> str:
    log = recording.accesses
    block, thread = int(log.block[row]), int(log.thread[row])
    if recording.backend == "c":
        return f"thread {thread}" if recording.threads > 1 else "the loop"
    return f"thread {recording.thread_index(thread)} of block {recording.block_index(block)}"
