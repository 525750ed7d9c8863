"""Limits that every Unix has, and the rights of root, which are dropped before a stranger's text is read."""

import ctypes
import os
import resource
from contextlib import suppress
from dataclasses import dataclass

from gemmviz.sandbox import libc

_MIB = 1 << 20
_GRACE_S = 2
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522


@dataclass(frozen=True)
class Limits:
    """The limits for a stranger's text.

    Attributes
    ----------
    memory_bytes
        Resident memory of all processes that compile or run it; None: nine tenths of the free memory at the start.
    processes
        The largest number of processes at a time.
    compile_s
        The time limit in seconds for compiling it, for the clock and for each processor.
    run_s
        The limit of processor time in seconds for running it; the caller of the run watches the clock.
    file_bytes
        The largest size of a file that it may write.
    """

    memory_bytes: int | None = None
    processes: int = 256
    compile_s: int = 300
    run_s: int = 24 * 3600
    file_bytes: int = 1024 * _MIB


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def no_new_privs() -> None:
    """Make sure that this process and its children never gain further rights.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up the privileges of root.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    with suppress(OSError):  # beyond the last one of this kernel, or not ours to drop
        for capability in range(_LAST_CAPABILITY + 1):
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
    libc.capset(_Header(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)())


def no_core() -> None:
    """Write no core files."""
    _lower(resource.RLIMIT_CORE, 0)


def lower(cpu_s: int, file_bytes: int) -> None:
    """Limit this process, and each that it starts, in processor time and in the size of the files that it writes."""
    # The soft limit sends a signal; the hard limit ends a process that ignores it.
    _lower(resource.RLIMIT_CPU, cpu_s, cpu_s + _GRACE_S)
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _lower(resource.RLIMIT_MSGQUEUE, 0)
    no_core()


def _lower(which: int, most: int, at_last: int | None = None) -> None:
    _, hard = resource.getrlimit(which)
    wanted = most, most if at_last is None else at_last
    soft, hard = (limit if hard == resource.RLIM_INFINITY else min(limit, hard) for limit in wanted)
    resource.setrlimit(which, (soft, hard))


def free_memory() -> int:
    """Return the bytes of memory that are available without swapping."""
    with suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
        for line in lines:
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
