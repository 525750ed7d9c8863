"""The processor time that an engine has used, also over several processes: a busy machine does not shorten it."""

from gemmviz.engine.supervisor import Engine
from gemmviz.sandbox.processor_time import processor_time


class Spending:
    """A clock that runs while an engine works; a call returns the seconds.

    Parameters
    ----------
    engine
        The engine. The time of a process that replaces another is added to the last known time of that one.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._before = 0.0
        self._last: tuple[int | None, float] = (None, 0.0)

    def __call__(self) -> float:
        """Return the seconds of processor time up to now, in this engine's processes."""
        pid = self._engine.pid
        if pid != self._last[0]:
            self._before += self._last[1]
            self._last = (pid, 0.0)
        # A process that has just ended reads as 0.
        self._last = (pid, max(self._last[1], processor_time(pid) if pid is not None else 0.0))
        return self._before + self._last[1]
