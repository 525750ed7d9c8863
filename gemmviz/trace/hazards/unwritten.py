"""Reads of uninitialised shared memory, of elements of C before they are written, and of rows that nobody brought."""

from collections.abc import Iterator

import numpy as np

from gemmviz.catalogue.matrices import A, C
from gemmviz.language import tr
from gemmviz.trace.hazards.access_index import AccessIndex, Flags, Ints, by_lines
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import array_name, element_name, who
from gemmviz.trace.hazards.meant_lines import line_for_shared
from gemmviz.trace.recording.memories import owner_of_a
from gemmviz.trace.recording.recording import Recording


def unwritten_reads(recording: Recording, t: AccessIndex, c_is_input: bool) -> Iterator[Finding]:
    """Look for reads of shared memory, of C, and of rows of A from another GPU, that come before any write.

    A write by another thread in the same phase counts as earlier: if it is not, it is reported as a race.
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
        reads = reads[log.array[t.row[reads]] != C]
    if recording.sharing is not None:
        reads = reads[~_there_before(recording, t, reads)]
    phase, row = first_phase[t.slot[reads]], first_row[t.slot[reads]]
    writer = np.where(row == never, 0, row)
    mine = (log.block[writer] == t.block[reads]) & (log.thread[writer] == t.thread[reads])
    same_block = log.block[writer] == t.block[reads]
    unwritten = (phase == never) | (same_block & (phase > t.phase[reads])) | (mine & (t.row[reads] < row))
    unwritten &= ~_written_by_others(t, writes, reads)
    rows = t.row[reads[unwritten]]
    line = np.array([s.line for s in recording.sites] or [0], np.int64)
    keys = np.stack([log.array[rows], line[log.site[rows]]], axis=1)
    example, _, counts = by_lines(keys, t.slot[reads[unwritten]])
    writer = writer[unwritten]
    for at, count in zip(example, counts, strict=True):
        r, comes_later = int(rows[at]), bool(phase[unwritten][at] != never)
        filler = int(line[log.site[writer[at]]]) if comes_later else _writing_line(recording, t, r)
        here = int(line[log.site[r]])
        values = {"thread": who(recording, r), "element": element_name(recording, r)}
        unreached = 0 if filler else line_for_shared(recording, array_name(recording, r))
        if unreached:
            text = tr(
                "{thread} reads {element}, which is uninitialised; line {line} is there to write {array}, and never "
                "writes it",
                line=unreached,
                array=array_name(recording, r),
                **values,
            )
            filler = unreached
        elif filler in (0, here):
            text = tr("{thread} reads {element}, which is uninitialised", **values)
        elif comes_later:
            text = tr(
                "{thread} reads {element}, which is uninitialised; line {line} writes it only later",
                line=filler,
                **values,
            )
        else:
            text = tr(
                "{thread} reads {element}, which is uninitialised; line {line} writes other elements",
                line=filler,
                **values,
            )
        yield Finding("read of memory nobody wrote", here, text, int(count), filler, array_name(recording, r))


def _there_before(recording: Recording, t: AccessIndex, reads: Ints) -> Flags:
    """Return for reads whether they are of rows of A that the host has put there: the own ones, or all of them."""
    found: Flags = recording.accesses.array[t.row[reads]] == A
    if recording.sharing is not None and recording.sharing.crossing == "inside":
        of_a = np.flatnonzero(found)
        memory, element = np.divmod(t.slot[reads[of_a]], recording.arrays[A].size)  # A is the first array
        found[of_a] = memory == owner_of_a(recording, element)
    return found


def _written_by_others(t: AccessIndex, writes: Ints, reads: Ints) -> Flags:
    """Return for reads whether an earlier block writes the element: phases of two blocks have no order, see `races`.

    An atomic operation does not count, because it also reads the element.
    """
    first = np.full(int(t.slot[-1]) + 1 if len(t.slot) else 0, np.iinfo(np.int64).max)
    plain = writes[~t.atomic[writes]]
    np.minimum.at(first, t.slot[plain], t.block[plain])
    found: Flags = first[t.slot[reads]] < t.block[reads]
    return found


def _writing_line(recording: Recording, t: AccessIndex, row: int) -> int:
    """Return the line that writes the element nearest to the element of a row; 0 if the array is never written."""
    log = recording.accesses
    writes = t.row[t.write & (log.array[t.row] == log.array[row])]
    if not len(writes):
        return 0
    distance = np.abs(log.element[writes].astype(np.int64) - int(log.element[row]))
    nearest = int(writes[int(distance.argmin())])
    return recording.sites[int(log.site[nearest])].line
