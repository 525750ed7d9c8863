"""Ends the processes of a run, also those that have left its group and its session."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gemmviz.sandbox import libc

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process: its number in /proc, and the number by which this process can send it signals."""

    listed: int
    number: int


def adopt() -> None:
    """Make this process the new parent of descendants that lose their parent.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)


def own_listed_number() -> int:
    """Return the number of this process in /proc, which may be mounted for another namespace."""
    return int((_PROC / "self").readlink().name)


def descendants(listed: int) -> list[Process]:
    """Return all processes below one, parents before their children.

    Parameters
    ----------
    listed
        Its number in /proc.
    """
    found: list[Process] = []
    waiting = [listed]
    while waiting:
        for child in _children(waiting.pop()):
            found.append(Process(child, _innermost(child)))
            waiting.append(child)
    return found


def end_descendants(within_s: float = 2.0) -> bool:
    """End every descendant of this process; return True if none is left.

    Parameters
    ----------
    within_s
        The time limit in seconds.
    """
    until = time.monotonic() + within_s
    me = own_listed_number()
    while time.monotonic() < until:
        _reap()
        left = descendants(me)
        if not left:
            return True
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.number, signal.SIGKILL)
        time.sleep(0.002)
    return False


def end_all_but_first() -> bool:
    """Like `end_descendants`, for the first process of a namespace: the kernel ends all others in one step."""
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return True
    return False


def end_tree(pid: int, within_s: float = 2.0) -> None:
    """End all descendants of a process, and then the process itself.

    The process is stopped first, so that it starts nothing more, and does not report the end of its descendants.
    """
    until = time.monotonic() + within_s
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)
    while (left := descendants(pid)) and time.monotonic() < until:
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.listed, signal.SIGKILL)
        if all(_is_over(process.listed) for process in left):
            break
        time.sleep(0.002)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _children(listed: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in (_PROC / str(listed) / "task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _innermost(listed: int) -> int:
    """Return the number of a process in its innermost namespace, which is that of this process, too."""
    with suppress(OSError):
        for line in (_PROC / str(listed) / "status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return listed


def _is_over(listed: int) -> bool:
    try:
        stat = (_PROC / str(listed) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
