"""A process that is forked before its work is known: its work can then begin without waiting for a fork."""

import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from gemmviz.sandbox import libc

_MOST_DESCRIPTORS = 8
Ready = TypeVar("Ready")


class Spare(Generic[Ready]):
    """A child process that waits for the files of its work. It ends without them, or with its parent.

    Parameters
    ----------
    prepare
        Called in the child before it waits.
    work
        Called in the child with the result of `prepare`, and the numbers of the files that `start` was given.
    """

    def __init__(self, prepare: Callable[[], Ready], work: Callable[[Ready, list[int]], None]) -> None:
        ours, theirs = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                with suppress(OSError):
                    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
                ours.close()
                ready = prepare()
                mark, descriptors, _, _ = socket.recv_fds(theirs, 1, _MOST_DESCRIPTORS)
                theirs.close()
                if mark:
                    work(ready, descriptors)
            finally:
                os._exit(127)
        theirs.close()
        self._ours = ours

    def start(self, descriptors: Sequence[int]) -> int:
        """Let it work, and return its number.

        Raises
        ------
        OSError
            When it has ended.
        """
        with self._ours:
            socket.send_fds(self._ours, [b"."], descriptors)
        return self._pid

    def end(self) -> None:
        """End it, if it is not needed."""
        self._ours.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
