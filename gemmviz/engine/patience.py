"""How long an engine's process may go without a reply: a busy machine does not shorten it."""

import time
from collections.abc import Callable

from gemmviz.sandbox.processor_time import processor_time

# A process that gets less than this share of a processor sleeps: one that waits for a processor gets more.
_LEAST_SHARE = 0.01
# A process alone on its processor has used a little less than the clock says.
_ENOUGH = 0.9
# A machine on which a process gets less than a tenth of a processor is too busy.
_TIMES = 10


class Patience:
    """Waits for the replies of a process.

    A limit is in seconds of processor time, nine tenths of which are enough. The clock is looked at first: within the
    limit by the clock, one thread cannot have used more. A process that sleeps is given up there, and any process after
    ten times the limit by the clock.

    Parameters
    ----------
    pid
        Returns the number of the process; None: it has ended.
    limit
        The longest time in seconds without a reply, until `heard` sets another one; None: no limit.
    """

    def __init__(self, pid: Callable[[], int | None], limit: float | None) -> None:
        self._pid = pid
        self.heard(limit)

    def heard(self, limit: float | None) -> None:
        """Begin again, with a limit in seconds, as a reply has come."""
        self._limit = limit
        self._since = time.monotonic()
        self._looks = 0
        self._used_before = self._used_last = None if limit is None else self._used()

    def is_over(self) -> bool:
        """Return whether the process has had its time."""
        limit = self._limit
        if limit is None or self.waited < (self._looks + 1) * limit:
            return False
        self._looks += 1
        used = self._used()
        before, last = self._used_before or 0.0, self._used_last or 0.0
        self._used_last = used
        return used - last < _LEAST_SHARE * limit or used - before >= _ENOUGH * limit or self._looks >= _TIMES

    @property
    def waited(self) -> float:
        """The seconds since the last reply, by the clock."""
        return time.monotonic() - self._since

    @property
    def given(self) -> float:
        """The seconds by the clock that the process has had at the last look."""
        return self._looks * (self._limit or 0.0)

    def _used(self) -> float:
        pid = self._pid()
        return 0.0 if pid is None else processor_time(pid)
