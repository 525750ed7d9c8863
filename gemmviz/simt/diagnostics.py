"""The recorder's diagnostics of a run, as texts."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr, trn
from gemmviz.simt.layout import MAX_NOTES, DiagnosticRecord, NoteKind, RecorderRun
from gemmviz.simt.meant_arrivals import arriving_line

Kind = Literal["out of bounds", "barrier divergence", "race"]
_RACES = (NoteKind.OPERAND, NoteKind.EARLY, NoteKind.LATE, NoteKind.MADE_TWICE)
_CROWDS = (NoteKind.CROWDED, NoteKind.COUNTS_DIFFER)
_KINDS: dict[int, Kind] = {NoteKind.OUT_OF_BOUNDS: "out of bounds", **dict.fromkeys(_RACES, "race")}


@dataclass(frozen=True)
class Diagnostic:
    """A defect of a kernel.

    Attributes
    ----------
    kind
        The class of defect.
    line
        The line of the kernel's file, from 1; 0 if unknown.
    text
        The message for the user. It begins with FILE:LINE and describes the first occurrence.
    count
        The number of occurrences in all threads.
    array
        The array that the access missed, or an empty text.
    writes
        Whether an access out of bounds is a write.
    other_line
        The other line that the text names, such as that of the thread that does not come; 0 if there is none.
    """

    kind: Kind
    line: int
    text: str
    count: int = 1
    array: str = ""
    writes: bool = False
    other_line: int = 0


def diagnostics_of_run(
    job: RecorderRun,
    launch: Launch,
    names: Sequence[str],
    line_of: Callable[[int], int],
    unwatched: Collection[int] = (),
    barrier_name: Callable[[int], str] = hex,
) -> list[Diagnostic]:
    """Return the diagnostics of a run, each defect once. The compiler may make several instructions of one line.

    Parameters
    ----------
    job
        After the run.
    launch
        The launch.
    names
        The names of the watched arrays.
    line_of
        Returns the line of an instruction's address, 0 if unknown.
    unwatched
        Addresses beside the arrays that the compiler uses for its own data, and not the kernel.
    barrier_name
        Returns the name of the mbarrier at an address.
    """
    found: dict[tuple[int, int, int, int, int], Diagnostic] = {}
    for note in job.note[: job.notes]:
        if note.kind == NoteKind.OUT_OF_BOUNDS and job.array[note.array].start + note.offset in unwatched:
            continue
        line, other = line_of(note.pc), line_of(note.other_pc) if note.other_pc else 0
        # The compiler may make two instructions of one barrier in the source.
        if note.kind == NoteKind.BARRIERS_DIFFER and line == other:
            continue
        kind = _KINDS.get(note.kind, "barrier divergence")
        if note.kind in (NoteKind.STUCK_AT_MBARRIER, NoteKind.STUCK_AT_BARRIER):
            announced = line_of(note.announced_pc) if note.announced_pc else 0
            arrives = arriving_line(launch.kernel.text, barrier_name(note.barrier)) if _is_lonely(note) else 0
            sentence = _stuck(note, launch, barrier_name, other, announced, arrives)
            other = arrives or other
        elif note.kind in (NoteKind.EARLY, NoteKind.LATE, NoteKind.MADE_TWICE):
            sentence = _out_of_order(note, launch, barrier_name, other)
        else:
            sentence = _sentence(note, launch, names, job, other)
        text = f"{launch.kernel.path.name}:{line}: {sentence}"
        defect = (note.kind, line, other, note.array, note.write)
        if note.kind in _CROWDS:  # one pair of threads is enough for a line
            defect = (NoteKind.CROWDED, line, 0, note.array, note.write)
        known = found.get(defect)
        if known is None:
            array = names[note.array] if note.array >= 0 else ""
            writes = note.kind == NoteKind.OUT_OF_BOUNDS and bool(note.write)
            found[defect] = Diagnostic(kind, line, text, note.times, array, writes, other if other != line else 0)
        else:
            found[defect] = replace(known, count=known.count + note.times)
    reported = list(found.values())
    if reported and job.notes == MAX_NOTES:  # no room: later ones are lost
        more = tr("{what}; there may be more, but no more are kept", what=reported[-1].text)
        reported[-1] = replace(reported[-1], text=more)
    return reported


def who(launch: Launch, block: int, thread: int) -> str:
    """Return the name of a thread in CUDA's form, or of the loop of a C kernel."""
    if launch.kernel.backend == "c":
        return tr("the loop")
    x, y, _ = launch.grid
    bx, by, _ = launch.block
    return tr(
        "thread {thread} of block {block}",
        thread=(thread % bx, thread // bx % by, thread // (bx * by)),
        block=(block % x, block // x % y, block // (x * y)),
    )


def _is_lonely(note: DiagnosticRecord) -> bool:
    """Return whether a thread waits at an mbarrier at which nobody has arrived, and for which no bytes came."""
    return bool(note.kind == NoteKind.STUCK_AT_MBARRIER and note.arrivals and not note.other and not note.other_barrier)


def _stuck(
    note: DiagnosticRecord,
    launch: Launch,
    barrier_name: Callable[[int], str],
    line: int,
    announced: int,
    arrives: int,
) -> str:
    """Return a sentence about the event that a thread waits for when no thread can continue."""
    culprit = who(launch, note.block, note.thread)
    if note.kind == NoteKind.STUCK_AT_BARRIER:
        if not note.other:
            return tr("{thread} waits for the other blocks of its cluster, and no thread can continue", thread=culprit)
        return tr(
            "{thread} waits for {count} threads at this barrier, and no thread can continue",
            thread=culprit,
            count=note.other,
        )
    waits = trn(
        "{thread} waits for the end of the phase of {barrier} with parity {parity}, and no thread can continue: "
        "{count} arrival and {bytes} bytes are missing",
        "{thread} waits for the end of the phase of {barrier} with parity {parity}, and no thread can continue: "
        "{count} arrivals and {bytes} bytes are missing",
        note.arrivals,
        thread=culprit,
        barrier=barrier_name(note.barrier),
        parity=note.parity,
        bytes=note.copied,
    )
    return _came(note, barrier_name, waits, line, announced, arrives) if line else waits


def _came(
    note: DiagnosticRecord, barrier_name: Callable[[int], str], waits: str, line: int, announced: int, arrives: int
) -> str:
    """Add to a sentence about an mbarrier the lines of what happened there last, or is there to happen."""
    if note.other_barrier:
        return tr(
            "{waits}; {other} has got {bytes} bytes more than were announced there, from line {line}",
            waits=waits,
            other=barrier_name(note.other_barrier),
            bytes=note.surplus,
            line=line,
        )
    if not note.arrivals and announced:
        if not note.write:
            return tr("{waits}, and line {line} announces them", waits=waits, line=line)
        values = {"waits": waits, "announced": announced, "line": line}
        return tr("{waits}: line {announced} announces bytes, and line {line} brought the last ones", **values)
    if not note.other and arrives:
        values = {"waits": waits, "line": line, "arrives": arrives}
        return tr(
            "{waits}; none has come since line {line} initialised it; line {arrives} is there to arrive", **values
        )
    if not note.other:
        return tr("{waits}; none has come since line {line} initialised it", waits=waits, line=line)
    return trn(
        "{waits}; {count} has come so far, from line {line}",
        "{waits}; {count} have come so far, the last one from line {line}",
        note.other,
        waits=waits,
        line=line,
    )


def _out_of_order(note: DiagnosticRecord, launch: Launch, barrier_name: Callable[[int], str], line: int) -> str:
    """Return a sentence about a thread and the initialisation of a barrier in another line, `line`."""
    values = {"thread": who(launch, note.block, note.thread), "barrier": barrier_name(note.barrier)}
    if note.kind == NoteKind.MADE_TWICE:
        return tr(
            "{thread} initialises {barrier}, and {other} does the same, without a barrier in between: one thread has "
            "to do it",
            other=who(launch, note.block, note.other),
            **values,
        )
    if note.kind == NoteKind.LATE:
        return tr(
            "{thread} uses {barrier} of another block, but that block may have left the kernel already: the blocks "
            "of the cluster must synchronise once more",
            **values,
        )
    if note.other == note.block:
        return tr(
            "{thread} uses {barrier}, but does not wait until line {line} has initialised it: the threads of the "
            "block must synchronise in between",
            line=line,
            **values,
        )
    return tr(
        "{thread} uses {barrier} of another block, but does not wait until line {line} has initialised it there: the "
        "blocks of the cluster must synchronise in between",
        line=line,
        **values,
    )


def _crowded(note: DiagnosticRecord, culprit: str, other: str, other_line: int) -> str:
    """Return a sentence about two threads that should not wait at one named barrier."""
    values = {"thread": culprit, "other": other, "line": other_line, "count": note.offset}
    if note.kind == NoteKind.COUNTS_DIFFER:
        return tr(
            "{thread} waits at a named barrier for {count} threads, while {other} waits at the same one in line {line} "
            "for another number of threads",
            **values,
        )
    return tr(
        "{thread} waits at a named barrier for {count} threads, while more threads wait at the same one, such as "
        "{other} in line {line}: a GPU may release any of them",
        **values,
    )


def _sentence(note: DiagnosticRecord, launch: Launch, names: Sequence[str], job: RecorderRun, other_line: int) -> str:
    culprit, other = who(launch, note.block, note.thread), who(launch, note.block, note.other)
    if note.kind == NoteKind.BARRIER_LEFT:
        return tr(
            "{thread} waits at a barrier that {other} never reaches, because it has left the kernel",
            thread=culprit,
            other=other,
        )
    if note.kind == NoteKind.OPERAND:
        index = note.offset // job.array[note.array].itemsize
        return tr(
            "{thread} copies a box to {element} while the product of line {line} still reads it: no thread has "
            "waited for the product",
            thread=culprit,
            element=f"{names[note.array]}[{index}]",
            line=other_line,
        )
    if note.kind == NoteKind.BARRIERS_DIFFER:
        return tr(
            "{thread} waits at this barrier while {other} waits at the one in line {line}",
            thread=culprit,
            other=other,
            line=other_line,
        )
    if note.kind in _CROWDS:
        return _crowded(note, culprit, other, other_line)
    array = job.array[note.array]
    element, extent = f"{names[note.array]}[{note.offset // array.itemsize}]", array.bytes // array.itemsize
    if note.write:
        return tr(
            "{thread} writes {element}, out of bounds (it has {count} elements)",
            thread=culprit,
            element=element,
            count=extent,
        )
    return tr(
        "{thread} reads {element}, out of bounds (it has {count} elements)",
        thread=culprit,
        element=element,
        count=extent,
    )
