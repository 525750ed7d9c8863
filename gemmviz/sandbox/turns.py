"""Processes that would make the same file take turns, so that it is made once."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POLL_S = 0.02


@contextmanager
def turn(file: Path, limit_s: float) -> Iterator[bool]:
    """Hold a lock, which Linux releases when its process has ended, however it ended.

    Parameters
    ----------
    file
        The lock's file. It is made, and removed at the end.
    limit_s
        The longest wait for another process, or another thread.

    Yields
    ------
    bool
        Whether the lock is held; it is not after the longest wait, or where the file system has no locks.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        yield False
        return
    try:
        held = _locked(descriptor, time.monotonic() + limit_s)
        try:
            yield held
        finally:
            if held:
                # A process that waits for this file gets its lock and finds the work done; a new file has a new lock.
                with suppress(OSError):
                    file.unlink()
    finally:
        os.close(descriptor)


def _locked(descriptor: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(_POLL_S)
        except OSError:
            return False
        else:
            return True
