"""A window may be closed while its engine's process starts: that is a cancelled request and no fault."""

import multiprocessing
import threading

import pytest

from gemmviz.engine.messages import ProbeRequest
from gemmviz.engine.process import EngineProcess, ProcessLost
from gemmviz.sandbox.limits import Limits


class ClosedAtTheStart:
    """Stands for `multiprocessing`: its process is closed by another thread before it has started."""

    def __init__(self):
        self.close = None

    def get_context(self, method):
        return self

    def Pipe(self):
        return multiprocessing.Pipe()

    def Process(self, **given):
        self.pid = None
        return self

    def start(self):
        closing = threading.Thread(target=self.close)
        closing.start()
        closing.join()


def test_a_request_whose_engine_is_closed_while_it_starts_is_cancelled(monkeypatch):
    starting, process = ClosedAtTheStart(), EngineProcess(Limits())
    starting.close = process.kill
    monkeypatch.setattr("gemmviz.engine.process.multiprocessing", starting)
    with pytest.raises(ProcessLost) as lost:
        list(process.converse(ProbeRequest(1), threading.Event(), None))
    assert lost.value.kind == "cancelled"
