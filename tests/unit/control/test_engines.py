"""The engines of a window together."""

import threading

import pytest
from fake_engines import FakeLoop

from gemmviz.control.engines import Engines
from gemmviz.control.worker import CLOSING_S

PATIENCE_S = 60.0


def test_the_end_waits_for_all_threads_together_no_longer_than_for_one(monkeypatch):
    may_end, waited_s = threading.Event(), [0.0]
    before = set(threading.enumerate())
    engines = Engines(lambda: None, FakeLoop())
    for worker in engines.workers:
        worker.compute(lambda: may_end.wait(PATIENCE_S))
    threads = set(threading.enumerate()) - before
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", lambda thread, most_s: waited_s.append(most_s))  # it goes on
        patch.setattr("gemmviz.control.engines.monotonic", lambda: sum(waited_s))
        engines.close()
    assert len(threads) == len(waited_s) - 1 == len(engines.workers)
    assert sum(waited_s) == pytest.approx(CLOSING_S)
    may_end.set()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
