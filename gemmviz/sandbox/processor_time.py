"""The processor time that a process and all processes below it have used."""

import os
from contextlib import suppress
from pathlib import Path

from gemmviz.sandbox.processes import descendants

_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat after the name (proc(5)): utime, stime, and those of ended children.
_FIRST, _LAST = 11, 15


def processor_time(listed: int) -> float:
    """Return the processor time in seconds of a process, its descendants and those of them that have ended.

    Parameters
    ----------
    listed
        Its number in /proc. The time of a process that is gone is 0.
    """
    return sum(_ticks(one) for one in (listed, *(process.listed for process in descendants(listed)))) / _TICKS_PER_S


def _ticks(listed: int) -> int:
    with suppress(OSError, ValueError):
        stat = (_PROC / str(listed) / "stat").read_text(encoding="ascii", errors="replace")
        return sum(map(int, stat.rpartition(")")[2].split()[_FIRST:_LAST]))
    return 0
