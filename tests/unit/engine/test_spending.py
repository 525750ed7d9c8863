"""The processor time of an engine, which bounds a search: waiting does not count, and a new process adds to it."""

import os
import time
from types import SimpleNamespace
from typing import cast

from gemmviz.engine import spending
from gemmviz.engine.supervisor import Engine
from gemmviz.sandbox.processor_time import processor_time


def test_a_child_that_works_counts_and_one_that_waits_does_not() -> None:
    begun = processor_time(os.getpid())
    child = os.fork()
    if not child:
        until = time.process_time() + 0.1  # the system counts in steps of 0.01 s
        while time.process_time() < until:
            pass
        os._exit(0)
    os.waitpid(child, 0)
    assert processor_time(os.getpid()) - begun >= 0.04
    idle = processor_time(os.getpid())
    time.sleep(0.1)
    assert processor_time(os.getpid()) - idle < 0.09
    assert processor_time(child) == 0


def test_a_process_in_the_place_of_another_adds_to_its_time(monkeypatch) -> None:
    used = {1: 5.0, 2: 0.5}
    monkeypatch.setattr(spending, "processor_time", lambda pid: used[pid])
    engine = SimpleNamespace(pid=None)
    spent = spending.Spending(cast("Engine", engine))
    assert spent() == 0
    engine.pid = 1
    assert spent() == 5
    used[1] = 0  # it has ended
    assert spent() == 5
    engine.pid = 2
    assert spent() == 5.5
