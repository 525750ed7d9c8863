"""The engines of a window together."""

import threading

import pytest
from fake_engines import FakeLoop

from gemmviz.control.engines import Engines
from gemmviz.control.worker import CLOSING_S
from gemmviz.engine.messages import ProbeRequest, Progress

PATIENCE_S = 60.0


class EngineThatEndsWithOthers:
    """An engine whose process is over when those of the others are, too."""

    def __init__(self, together):
        self._together = together
        self.ended = False

    def run(self, request, cancel):
        yield Progress(request.run, "at work")
        cancel.wait(PATIENCE_S)

    def close(self):
        if not self.ended:  # the thread closes it again
            self._together.wait(PATIENCE_S)
            self.ended = True


def test_the_processes_of_all_engines_are_ended_at_the_same_time():
    made, loop, replies = [], FakeLoop(), []
    together = threading.Barrier(2)

    def make():
        made.append(EngineThatEndsWithOthers(together))
        return made[-1]

    engines = Engines(make, loop)
    for number, worker in enumerate((engines.recorder, engines.second)):
        worker.replied.connect(replies.append)
        worker.submit(ProbeRequest(number))
    loop.turn_until(lambda: len(replies) == 2)
    engines.close()
    assert [engine.ended for engine in made] == [True, True]


def test_the_end_waits_for_all_threads_together_no_longer_than_for_one(monkeypatch):
    may_end, waited_s = threading.Event(), [0.0]
    before = set(threading.enumerate())
    engines = Engines(lambda: None, FakeLoop())
    for worker in engines.workers:
        worker.compute(lambda: may_end.wait(PATIENCE_S))
    threads = set(threading.enumerate()) - before
    join = threading.Thread.join

    def goes_on(thread, most_s=None):
        return waited_s.append(most_s) if thread in threads else join(thread, most_s)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", goes_on)
        patch.setattr("gemmviz.control.engines.monotonic", lambda: sum(waited_s))
        engines.close()
    assert len(threads) == len(waited_s) - 1 == len(engines.workers)
    assert sum(waited_s) == pytest.approx(CLOSING_S)
    may_end.set()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
