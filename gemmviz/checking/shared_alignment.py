"""Finds kernels that need a shared array at an address that GPUs of compute capability 9.0 or later do not give it.

A block's shared memory begins at byte 0 up to compute capability 8.9, and at byte 1024 from 9.0 on, where the system
uses the first 1024 bytes of a block. An array with ``__align__(16384)`` is aligned relative to that beginning (seen in
machine code of nvcc 13.0 for 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0: it is at 1024 or 17408). So no alignment above
1024 holds on all GPUs. A kernel that swaps buffers by one bit of an address, ``address ^= 8192``, relies on one. The
recorder gives every array the alignment that it asks for, and never less than 64 KB. If an array asks for more than
`START` bytes, or if the source computes with bits of addresses (``address ^ mask``), the kernel is recorded once more
with shared memory that begins at byte `START`. There is a finding only if C is wrong then, or if an access misses the
array.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from gemmviz.backends.toolchain import with_own_headers
from gemmviz.catalogue.errors import BuildError, ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording

START = 1024
"""The first byte of a block's shared memory from compute capability 9.0 on, and the largest alignment that holds."""
_MACRO = "GV_SHARED_START"  # see simt/prelude/cuda.h
_ADDRESS = re.compile(r"\bcvta|__cvta_generic_to_shared|\b(?:uintptr_t|size_t|uint64_t|unsigned long)\)\s*&?\s*s\w*")
_ALIGNMENT = re.compile(r"\b(?:__align__|alignas|aligned)\s*\((?P<bytes>(?:[^();]|\([^();]*\))*)\)")


def alignment_findings(job: Launch, again: Callable[[Launch], Recording]) -> list[Finding]:
    """Return the finding about a C that is wrong if shared memory begins at byte `START`; none if it is right.

    Parameters
    ----------
    job
        A CUDA launch whose C is right as recorded.
    again
        Records another launch; called only if the source asks for an alignment above `START`.

    Raises
    ------
    KernelFault
        From `again`.
    """
    asked = _asked(job)
    line = asked[0] if asked else _toggles(job)
    if line is None:
        return []
    try:
        moved = again(replace(job, macros={**job.macros, _MACRO: START}))
    except (BuildError, ConstraintError):
        return []
    # Here arrays have no gaps between them: next to an array may be a barrier, which is not an array of the recording.
    astray = sum(one.count for one in moved.diagnostics if one.kind == "out of bounds" and not moved.barriers)
    if not moved.wrong and not astray:
        return []
    text = _text(asked[1], moved.wrong, astray) if asked else _text_of_toggled(moved.wrong, astray)
    return [Finding("alignment of shared memory", line, text, moved.wrong or astray)]


def _text(alignment: str, wrong: int, astray: int) -> str:
    values = {"alignment": alignment, "start": thousands(START)}
    if wrong:
        return trn(
            "the shared array needs its alignment of {alignment} bytes; from compute capability 9.0 on shared memory "
            "begins at byte {start}, and no larger alignment is kept: {count} element of C is wrong there",
            "the shared array needs its alignment of {alignment} bytes; from compute capability 9.0 on shared memory "
            "begins at byte {start}, and no larger alignment is kept: {count} elements of C are wrong there",
            wrong,
            count=thousands(wrong),
            **values,
        )
    return trn(
        "the shared array needs its alignment of {alignment} bytes; from compute capability 9.0 on shared memory "
        "begins at byte {start}, and no larger alignment is kept: {count} access misses the array there, although "
        "C is still right",
        "the shared array needs its alignment of {alignment} bytes; from compute capability 9.0 on shared memory "
        "begins at byte {start}, and no larger alignment is kept: {count} accesses miss the array there, although "
        "C is still right",
        astray,
        count=thousands(astray),
        **values,
    )


def _text_of_toggled(wrong: int, astray: int) -> str:
    values = {"start": thousands(START)}
    if wrong:
        return trn(
            "the kernel computes with bits of shared addresses, and no array has the alignment for that; from compute "
            "capability 9.0 on shared memory begins at byte {start}: {count} element of C is wrong there",
            "the kernel computes with bits of shared addresses, and no array has the alignment for that; from compute "
            "capability 9.0 on shared memory begins at byte {start}: {count} elements of C are wrong there",
            wrong,
            count=thousands(wrong),
            **values,
        )
    return trn(
        "the kernel computes with bits of shared addresses, and no array has the alignment for that; from compute "
        "capability 9.0 on shared memory begins at byte {start}: {count} access misses its array there, although C is "
        "still right",
        "the kernel computes with bits of shared addresses, and no array has the alignment for that; from compute "
        "capability 9.0 on shared memory begins at byte {start}: {count} accesses miss their array there, although C "
        "is still right",
        astray,
        count=thousands(astray),
        **values,
    )


def _toggles(job: Launch) -> int | None:
    """Return the line of the first ``^`` in a source that makes numbers of addresses; None for another source."""
    kernel = job.kernel
    whole = with_own_headers(kernel.text, kernel.path)
    code = plain_code(whole, directives=False)
    at = code.find("^")
    if at < 0 or not _ADDRESS.search(whole):
        return None
    at = plain_code(kernel.text, directives=False).find("^")
    return kernel.text.count("\n", 0, at) + 1 if at >= 0 else 0


def _asked(job: Launch) -> tuple[int, str] | None:
    """Return the line and the text of the first alignment above `START` that a shared array asks for."""
    kernel = job.kernel
    for text in (kernel.text, with_own_headers(kernel.text, kernel.path)):
        code, at = plain_code(text, directives=False), 0
        for statement in re.split(r"(?<=[;{}])", code):
            found = _ALIGNMENT.search(statement)
            if found and "__shared__" in statement:
                alignment = " ".join(found["bytes"].split())
                if not alignment.isdecimal() or int(alignment) > START:
                    line = code.count("\n", 0, at + found.start()) + 1 if text is kernel.text else 0
                    return line, thousands(int(alignment)) if alignment.isdecimal() else alignment
            at += len(statement)
    return None
