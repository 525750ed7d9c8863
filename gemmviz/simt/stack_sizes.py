"""The size of a recorded thread's stack.

Few threads use more than a few KiB of the memory that CUDA allows. Stacks of that size lie side by side in few pages,
whose first use takes less time: see ``runtime/fibres.c`` and ``runtime/stacks.c``. They have no guard pages, so a run
that may need more memory, or ends with a fault, is made again with large stacks.
"""

import re

# CUDA gives a thread up to 512 KiB of local memory. Only touched pages are committed.
_LARGE = {"cuda": 1 << 20, "c": 8 << 20}
_SUBTRACTION = re.compile(rb"\x48\x81\xec(....)", re.DOTALL)  # sub $..., %rsp
_PAGE, _LINE = 4096, 64
_FURTHER = 5120  # bytes for the recorder's own functions, and for small frames


def largest_frame(machine: str, code: bytes) -> int | None:
    """Return the largest frame of any function, in bytes. Those of a page or more, or of any size, are None.

    Parameters
    ----------
    machine
        The name of the processor that pyelftools gives.
    code
        The machine code. It must be compiled with ``-fstack-clash-protection``: then a function that needs more than a
        page gets it page by page.
    """
    if machine != "x64":
        return None
    found = max((int.from_bytes(size[1], "little") for size in _SUBTRACTION.finditer(code)), default=0)
    return found if found < _PAGE else None


def stack_bytes(backend: str, largest: int | None, *, careful: bool) -> int:
    """Return the bytes of a stack.

    Parameters
    ----------
    backend
        ``"cuda"`` or ``"c"``, whose threads are few.
    largest
        From `largest_frame`.
    careful
        Whether nothing is known of what the threads need.
    """
    if careful or largest is None or backend == "c":
        return _LARGE[backend]
    # With an odd number of lines of the cache, the frames of several threads use different ones.
    return (-(-(largest + largest // 4 + _FURTHER) // _LINE) | 1) * _LINE
