"""Namespaces: groups of processes with separate numbers, which all end when the first of them ends."""

import os

from gemmviz.sandbox import libc

# linux/sched.h
_NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = 0x08000000, 0x10000000, 0x20000000, 0x40000000


def leave(*, network: bool) -> bool:
    """Make the next child process the first one of a new namespace of processes.

    Call this in a process with one thread. The process loses the rights of root outside, as it leaves the namespace of
    users, too.

    Parameters
    ----------
    network
        Whether to leave the network as well: without a filter of system calls nothing else blocks sockets.

    Returns
    -------
    bool
        Whether the kernel allows it.
    """
    flags = _NEW_USER | _NEW_PID | (_NEW_NET | _NEW_IPC if network else 0)
    try:
        libc.unshare(flags)
    except OSError:
        return False
    return True


def is_first() -> bool:
    """Whether this process is the first of its namespace: a process that loses its parent becomes its child."""
    return os.getpid() == 1
