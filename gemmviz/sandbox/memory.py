"""Measures the memory of a run; a limit of the address space would also count reserved memory, as CUDA has much."""

import os
from contextlib import suppress
from pathlib import Path

from gemmviz.sandbox.processes import Process

_PROC = Path("/proc")
_KIB = 1024
_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(processes: list[Process], most: int) -> int:
    """Return the resident memory of some processes in bytes; shared memory counts once if the limit is near.

    Parameters
    ----------
    processes
        The processes.
    most
        Up to this limit a sum that counts shared memory several times is good enough.
    """
    pages = sum(_pages(process) for process in processes)
    if pages * _PAGE <= most or len(processes) == 1:
        return pages * _PAGE
    return sum(_proportional(process) for process in processes)


def _pages(process: Process) -> int:
    with suppress(OSError, IndexError, ValueError):
        return int((_PROC / str(process.listed) / "statm").read_text(encoding="ascii").split()[1])
    return 0


def _proportional(process: Process) -> int:
    """Return a process's share: memory that n processes have in common counts 1/n for each (proc(5), Pss)."""
    with suppress(OSError, ValueError):
        for line in (_PROC / str(process.listed) / "smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * _KIB
    return _pages(process) * _PAGE
