"""Faults that end a run early. Each is raised as an error with a message for the user."""

import signal
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.errors import (
    NO_COMMA,
    BuildError,
    ConstraintError,
    Defect,
    GemmvizError,
    KernelFault,
    KernelTimeout,
)
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.tensor_map import UNIT_BYTES
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.simt.diagnostics import who
from gemmviz.simt.inline_ptx.newer import is_newer
from gemmviz.simt.instruction_places import CodePlaces
from gemmviz.simt.layout import RecorderRun, Status
from gemmviz.simt.local_bounds import left_arrays
from gemmviz.simt.misaligned import misaligned
from gemmviz.simt.wild_access import NULL_PAGES, local_arrays, meant, meant_local

# The kernel's fault; if only the signal is known, the C library's English text.
_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: mark("Segmentation fault"),
    signal.SIGBUS: mark("Bus error"),
    # Only for integers: arithmetic on floats never raises this signal.
    signal.SIGFPE: mark("Division by zero (or of the smallest integer by -1)"),
    signal.SIGABRT: mark("Aborted"),
    # Compilers put such an instruction where a program may never arrive.
    signal.SIGILL: mark("Illegal instruction (such as the end of a function that should return a value)"),
}
# Key: whether the access writes.
_THROUGH_NULL = {
    False: mark("{what} in {thread}, which reads through a null pointer (address {address})"),
    True: mark("{what} in {thread}, which writes through a null pointer (address {address})"),
}
_FAR_OF_LOCAL = {
    False: mark("{what} in {thread}, which reads far outside of the local array {array}"),
    True: mark("{what} in {thread}, which writes far outside of the local array {array}"),
}
_AT_ADDRESS = mark("{what} in {thread}, address {address}")
_NO_ADDRESS = mark("{what} in {thread}: a pointer without a valid address")


class TooManyAccesses(ConstraintError):
    """The accesses of a run do not fit."""


class TooManyBarriers(ConstraintError):
    """A thread passes more barriers than a recording can number. ``line`` is the barrier's line, from 1, or None."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class _End:
    """How a run ended, for people.

    Attributes
    ----------
    text
        The sentence, with the names of `_values` in braces.
    error
        The error to raise.
    defect
        The defect of a `KernelFault`.
    before
        The prefix of the text: ``{where}`` is file and line.
    """

    text: str
    error: type[GemmvizError] = KernelFault
    defect: Defect = "crash"
    before: str = "{where}: "


_ENDS: dict[Status, _End] = {
    Status.FULL: _End(
        mark("{kernel} at {size} makes more than {count} accesses, the largest number that can be kept"),
        TooManyAccesses,
        before="",
    ),
    Status.STACK_OVERFLOW: _End(
        mark(
            "the stack is full ({size} MB) in {thread}: a function that calls itself without end, too large an array "
            "among the local variables, or an index far outside of one"
        )
    ),
    Status.DEADLINE: _End(
        mark(
            "still running after {time} s of processor time in {thread}: does it end? It is an endless loop, or too "
            "large a size to record"
        ),
        KernelTimeout,
    ),
    Status.WAITS: _End(
        mark("not ended after {time} s in {thread}: it sleeps or waits without end, or this machine is too busy"),
        KernelTimeout,
    ),
    Status.TOO_MANY_SITES: _End(
        mark("{file} has too many different memory instructions to record: unroll less"), ConstraintError, before=""
    ),
    Status.TOO_MANY_PHASES: _End(
        mark("more than 65 535 barriers cannot be recorded: does it end? If so, choose a smaller K"), TooManyBarriers
    ),
    Status.WARP_WAITS: _End(
        mark(
            "{thread} waits for the other lanes of its warp, and {other} never arrives: all lanes must reach the "
            "same warp instruction"
        )
    ),
    Status.PART_OF_WARP: _End(
        mark(
            "this instruction needs a whole warp of 32 threads, and {thread} is in a warp of fewer: make the block a "
            "multiple of 32 threads"
        )
    ),
    Status.ASSERTION: _End(mark("the assertion is false in {thread}"), defect="false assertion"),
    Status.TRAP: _End(mark("{thread} reaches a trap: there the kernel ends itself"), defect="false assertion"),
    Status.BARRIER_NOT_READY: _End(
        mark("{thread} uses {barrier}, which is uninitialised"), defect="barrier divergence"
    ),
    Status.ARRIVES_TOO_OFTEN: _End(
        mark(
            "{thread} arrives at {barrier} more often than its count allows: its phase has all of its arrivals and "
            "has not ended"
        ),
        defect="barrier divergence",
    ),
    Status.ADDS_NO_FLOATS: _End(mark("tma_add adds floats, and {matrix} has elements of another type")),
    Status.BOX_BETWEEN_UNITS: _End(
        mark(
            "{thread} asks for a box of {matrix} that begins at column {column}: the copy engine takes only columns "
            'that are multiples of {number} ({bytes} bytes); a GPU stops with "illegal instruction"'
        ),
        defect="misaligned vector access",
    ),
    Status.FLAG_NEVER_SET: _End(
        mark(
            "{thread} waits for a flag that is never set, or that a later block sets (blocks are recorded one after "
            "another, so no block can wait for a later one)"
        ),
        KernelTimeout,
    ),
    Status.PART_OF_GROUP: _End(
        mark(
            "this instruction needs a whole warpgroup of 128 threads, and {thread} is in one of fewer: make the "
            "block a multiple of 128 threads"
        )
    ),
    Status.GROUP_WAITS: _End(
        mark(
            "{thread} waits for the rest of its warpgroup, which never arrives: all 128 threads must reach the same "
            "wgmma"
        )
    ),
    Status.TOO_MANY_COPIES: _End(
        mark(
            "{thread} has more than 512 asynchronous copies in flight, which cannot be recorded: wait for some of them"
        ),
        ConstraintError,
    ),
    Status.UNKNOWN_PTX: _End(
        mark(
            "the PTX instruction {instruction} cannot be recorded: the recorder does not know it. Write it in CUDA "
            "C++, or measure the kernel without a recording (gemmviz bench)"
        ),
        ConstraintError,
    ),
    Status.NOT_SHARED: _End(
        mark("{instruction} works on shared memory, and {thread} gives it an address elsewhere: {place}"),
        defect="out of bounds",
    ),
    Status.NO_MEMORY: _End(mark("not enough memory for {count} threads per block"), ConstraintError, before="{file}: "),
}
_NEWER_PTX = _End(
    mark(
        "the PTX instruction {instruction} cannot be recorded: it needs compute capability 10.0 or later, and the "
        "recorder knows the instructions of 9.0. Choose a kernel for 9.0, or measure this one without a recording "
        "(gemmviz bench)"
    ),
    ConstraintError,
)
_NO_PTX = _End(mark("this is no PTX, and no assembler takes it: {instruction}"), BuildError)
_BLOCK_BEFORE = _End(
    mark("{thread} waits for an action of an earlier block: record from the first block on"), KernelTimeout
)


def raise_fault(
    job: RecorderRun, launch: Launch, info: CodePlaces, base: int, barrier_name: Callable[[int], str] = hex
) -> None:
    """Raise the fault of a run; do nothing when there is none.

    Parameters
    ----------
    job
        After the run.
    launch
        The launch.
    info, base
        The debug information of the recorder, and its load address.
    barrier_name
        Returns the name of the mbarrier at an address.

    Raises
    ------
    KernelFault
        When the kernel crashed or passed the deadline.
    TooManyAccesses, TooManyBarriers, ConstraintError
        When the run cannot be recorded at this size or with this launch.
    """
    status = Status(job.status)
    if status is Status.OK:
        return
    name = launch.kernel.path.name
    # A fault outside the kernel's own code (in the recorder, in a library) is attributed to the last access.
    line = next((line for pc in (job.fault_pc, job.last_pc) if (line := info.place(pc - base)[0])), 0) or None
    where = f"{name}:{line}" if line else name
    culprit = who(launch, job.fault_block, job.fault_thread)
    if status is Status.SIGNAL:
        raise _crash(job, launch, where, culprit, line)
    if status is Status.MISALIGNED:
        text, array = misaligned(job, culprit, info.shared)
        raise KernelFault(f"{where}: {text}", line, "misaligned vector access", array)
    end = _BLOCK_BEFORE if status is Status.FLAG_NEVER_SET and job.first_block > 0 else _ENDS[status]
    if status is Status.UNKNOWN_PTX:
        instruction = job.instruction.decode(errors="replace")
        end = _NO_PTX if NO_COMMA in instruction else _NEWER_PTX if is_newer(instruction) else end
    values = _values(status, job, launch, barrier_name)
    text = end.before.format(where=where, file=name) + tr(end.text, thread=culprit, file=name, **values)
    if issubclass(end.error, KernelFault):
        raise end.error(text, line, end.defect)
    raise end.error(text, line) if end.error in (TooManyBarriers, BuildError) else end.error(text)


def _values(status: Status, job: RecorderRun, launch: Launch, barrier_name: Callable[[int], str]) -> dict[str, object]:
    """Return the values for the message of a status, except thread and file."""
    match status:
        case Status.FULL:
            return {"kernel": launch.kernel.name, "size": launch.problem, "count": thousands(job.capacity)}
        case Status.STACK_OVERFLOW:
            return {"size": f"{job.stack_bytes >> 20}"}
        case Status.DEADLINE:
            return {"time": f"{job.deadline_s:g}"}
        case Status.WAITS:
            return {"time": f"{job.passed_s:.1f}".removesuffix(".0")}
        case Status.WARP_WAITS:
            return {"other": who(launch, job.fault_block, job.fault_other)}
        case Status.BARRIER_NOT_READY | Status.ARRIVES_TOO_OFTEN:
            return {"barrier": barrier_name(job.fault_address)}
        case Status.ADDS_NO_FLOATS:
            return {"matrix": MATRICES[job.fault_other]}
        case Status.BOX_BETWEEN_UNITS:
            matrix = MATRICES[job.fault_other]
            column = np.array(job.fault_address, np.uint64).astype(np.int64)
            number = UNIT_BYTES // np.dtype(launch.kernel.dtype_of(matrix)).itemsize
            return {"matrix": matrix, "column": int(column), "number": number, "bytes": UNIT_BYTES}
        case Status.UNKNOWN_PTX:
            return {"instruction": job.instruction.decode(errors="replace")}
        case Status.NOT_SHARED:
            return {"instruction": job.instruction.decode(errors="replace"), "place": _place(job)}
        case Status.NO_MEMORY:
            return {"count": launch.threads}
    return {}


def _place(job: RecorderRun) -> str:
    """Return the element or array at the address of a fault, as far as it is the same in each run."""
    for matrix, array in zip(MATRICES, job.array, strict=False):
        if 0 <= job.fault_address - array.start < array.bytes:
            return f"{matrix}[{(job.fault_address - array.start) // array.itemsize}]"
    return tr("in no array")


def _crash(job: RecorderRun, launch: Launch, where: str, culprit: str, line: int | None) -> KernelFault:
    """Return the error for a run that a signal ended."""
    known = _SIGNALS.get(job.signal)
    cause = tr(known) if known else signal.strsignal(job.signal) or tr("signal {number}", number=job.signal)
    values = {"what": cause, "thread": culprit, "address": f"{job.fault_address:#x}"}
    element = meant(job, launch, line or 0)
    left = left_arrays(job, launch, line or 0)
    if left:
        one = tr("{thread} uses an element outside of the local array {array}", array=left[0], **values)
        several = tr("{thread} uses an element outside of a local array ({arrays})", arrays=", ".join(left), **values)
        text = one if len(left) == 1 else several
        return KernelFault(f"{where}: {text}", line, "out of bounds", left[0] if len(left) == 1 else "")
    if job.signal not in (signal.SIGSEGV, signal.SIGBUS):  # other signals are not caused by a memory access
        return KernelFault(f"{where}: {tr('{what} in {thread}', **values)}", line)
    if job.fault_address < NULL_PAGES:
        return KernelFault(f"{where}: {_without_address(job, launch, values)}", line)
    if element is None:
        local = meant_local(job, launch, line or 0)
        far = _FAR_OF_LOCAL[bool(job.fault_write)] if local else _AT_ADDRESS
        text = tr(far, array=local, **values)
        return KernelFault(f"{where}: {text}", line)
    text = tr(
        "{what} in {thread}, address {address}: {element}, out of bounds (it has {count} elements)",
        element=element[0],
        count=element[1],
        **values,
    )
    return KernelFault(f"{where}: {text}", line, "out of bounds")


def _without_address(job: RecorderRun, launch: Launch, values: dict[str, str]) -> str:
    """Return the sentence about an access through a pointer that is null, or that has no address of any memory."""
    null = _THROUGH_NULL[bool(job.fault_write)]
    text = tr(null if job.fault_bytes else _NO_ADDRESS, **values)
    arrays = local_arrays(launch)
    if not arrays:
        return text
    more = tr(
        "The pointer may have been overwritten: by a local array ({arrays}) with an index out of bounds",
        arrays=", ".join(arrays),
    )
    if launch.shared_bytes:
        held = thousands(launch.shared_bytes)
        also = tr("or by a write after the {bytes} bytes of dynamic shared memory", bytes=held)
        more = f"{more}, {also}"
    return f"{text}. {more}"
